// Package registry holds definitions by name: mechanisms, data sets, models,
// attackers.
package registry

import (
	"maps"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// Registry is filled by init functions and read by everyone else.
type Registry[D any] struct {
	what   string
	byName map[string]D
}

// New returns an empty registry; what names its content in errors, e.g.
// "mechanism".
func New[D any](what string) *Registry[D] { return &Registry[D]{what, map[string]D{}} }

// Add panics if the name is taken, because that is an error of the program.
func (r *Registry[D]) Add(name string, d D) {
	if _, taken := r.byName[name]; taken {
		panic(r.what + " " + name + " is registered twice")
	}
	r.byName[name] = d
}

// Has reports whether a name is taken.
func (r *Registry[D]) Has(name string) bool { _, ok := r.byName[name]; return ok }

// Names returns all names, sorted.
func (r *Registry[D]) Names() []string { return slices.Sorted(maps.Keys(r.byName)) }

// All returns all definitions by name.
func (r *Registry[D]) All() []D {
	return list.Map(r.Names(), func(name string) D { return r.byName[name] })
}

// Find returns the definition of that name. The error lists all names, and the
// one that was probably meant.
func (r *Registry[D]) Find(name string) (D, error) {
	d, ok := r.byName[name]
	if ok {
		return d, nil
	}
	return d, check.OneOf(r.what, name, r.Names()...)
}
