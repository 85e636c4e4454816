// Package registry holds definitions by name: mechanisms, data sets, models,
// attackers.
package registry

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
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
	all := make([]D, 0, len(r.byName))
	for _, name := range r.Names() {
		all = append(all, r.byName[name])
	}
	return all
}

// Find returns the definition of that name. The error lists all names, and the
// one that was probably meant.
func (r *Registry[D]) Find(name string) (D, error) {
	d, ok := r.byName[name]
	if ok {
		return d, nil
	}
	names := r.Names()
	meant := ""
	if s := Suggest(name, names); s != "" {
		meant = fmt.Sprintf("; did you mean %q?", s)
	}
	return d, fmt.Errorf("%s = %q: must be one of %q%s", r.what, name, names, meant)
}

// typos is the number of typing errors that Suggest corrects.
const typos = 2

// Suggest returns the word that was probably meant by another: the one with the
// fewest insertions, deletions and substitutions, the first among equals; ""
// where none is close.
func Suggest(word string, among []string) string {
	best, bestDistance := "", min(typos, utf8.RuneCountInString(word)-1)+1
	target := []rune(word)
	for _, w := range among {
		if n := utf8.RuneCountInString(w); n > len(target)+bestDistance || n < len(target)-bestDistance {
			continue
		}
		if d := distance([]rune(w), target); d < bestDistance {
			best, bestDistance = w, d
		}
	}
	return best
}

// distance is Levenshtein's.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			substitute := diagonal
			if x != y {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
