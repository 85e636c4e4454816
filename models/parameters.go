package models

import (
	"fmt"
	"maps"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/internal/params"
)

// Parameter describes one parameter of a model for records and checks. The type
// of Default (int, float64, string or bool) is the parameter's type.
type Parameter struct {
	Name    string
	Default any
	check   func(v any) error
}

// values holds the parameters of one classifier, with defaults filled in.
type values map[string]any

func (v values) int(name string) int       { return v[name].(int) }
func (v values) float(name string) float64 { return v[name].(float64) }
func (v values) text(name string) string   { return v[name].(string) }

func atLeast(name string, lo, otherwise int) Parameter {
	return Parameter{name, otherwise, func(v any) error { return check.AtLeast(name, v.(int), lo) }}
}

func positive(name string, otherwise float64) Parameter {
	return Parameter{name, otherwise, func(v any) error { return check.Positive(name, v.(float64)) }}
}

func nonNegative(name string, otherwise float64) Parameter {
	return Parameter{name, otherwise, func(v any) error { return check.NonNegative(name, v.(float64)) }}
}

// oneOf has the first as its default.
func oneOf(name string, allowed ...string) Parameter {
	return Parameter{name, allowed[0], func(v any) error { return check.OneOf(name, v.(string), allowed...) }}
}

// Resolve fills in defaults and checks names, types and ranges of the
// parameters given to the model. Whole numbers are accepted where floats are
// expected.
func (d Definition) Resolve(given map[string]any) (map[string]any, error) {
	resolved := make(map[string]any, len(d.Parameters))
	var names []string
	for _, p := range d.Parameters {
		resolved[p.Name] = p.Default
		names = append(names, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, fmt.Errorf("model %s has no parameter %q: must be one of %q", d.Name, name, names)
		}
		like := d.Parameters[i].Default
		v, ok := params.Convert(given[name], like)
		if !ok {
			return nil, fmt.Errorf("model %s: %s = %v: must be %s", d.Name, name, given[name], kind(like))
		}
		resolved[name] = v
	}
	for _, p := range d.Parameters {
		if p.check == nil {
			continue
		}
		if err := p.check(resolved[p.Name]); err != nil {
			return nil, fmt.Errorf("model %s: %w", d.Name, err)
		}
	}
	return resolved, nil
}

// kind describes the values that a parameter takes, by its default.
func kind(like any) string {
	switch like.(type) {
	case int:
		return "a whole number"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	}
	return "a word"
}

// withDefaults returns a copy of parameters with some defaults replaced.
func withDefaults(parameters []Parameter, defaults map[string]any) []Parameter {
	parameters = slices.Clone(parameters)
	for i, p := range parameters {
		if v, ok := defaults[p.Name]; ok {
			parameters[i].Default = v
		}
	}
	return parameters
}
