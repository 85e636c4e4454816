package models

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/check"
)

// Parameter describes one parameter of a model for help texts, records and
// checks. The type of Default (int, float64, string or bool) is the
// parameter's type.
type Parameter struct {
	Name    string
	Default any
	Legal   string // the legal range in words, e.g. "> 0"
	Doc     string

	check func(v any) error
}

// values holds the parameters of one classifier, with defaults filled in.
type values map[string]any

func (v values) int(name string) int       { return v[name].(int) }
func (v values) float(name string) float64 { return v[name].(float64) }
func (v values) text(name string) string   { return v[name].(string) }
func atLeast(name string, lo int) Parameter {
	return Parameter{Name: name, Legal: fmt.Sprintf(">= %d", lo),
		check: func(v any) error { return check.AtLeast(name, v.(int), lo) }}
}
func positive(name string) Parameter {
	return Parameter{Name: name, Legal: "> 0", check: func(v any) error { return check.Positive(name, v.(float64)) }}
}
func nonNegative(name string) Parameter {
	return Parameter{Name: name, Legal: ">= 0", check: func(v any) error {
		return check.NonNegative(name, v.(float64))
	}}
}
func oneOf(name string, allowed ...string) Parameter {
	return Parameter{Name: name, Legal: strings.Join(allowed, ", "),
		check: func(v any) error { return check.OneOf(name, v.(string), allowed...) }}
}
func (p Parameter) is(def any, doc string) Parameter { p.Default, p.Doc = def, doc; return p }

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
		v, err := convert(name, given[name], d.Parameters[i].Default)
		if err != nil {
			return nil, fmt.Errorf("model %s: %w", d.Name, err)
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

// FormatParameters returns the canonical form "c=1 features=mean", sorted by
// name.
func FormatParameters(p map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		s := fmt.Sprint(p[name])
		if f, ok := p[name].(float64); ok {
			s = strconv.FormatFloat(f, 'g', -1, 64)
		}
		parts = append(parts, name+"="+s)
	}
	return strings.Join(parts, " ")
}

// convert converts v to the type of like. Study files decode whole numbers as
// one of several integer types.
func convert(name string, v, like any) (any, error) {
	switch like.(type) {
	case int:
		switch v := v.(type) {
		case int:
			return v, nil
		case int64:
			return int(v), nil
		case uint64:
			if v <= 1<<62 {
				return int(v), nil
			}
		case float64:
			if v == float64(int(v)) {
				return int(v), nil
			}
		}
		return nil, fmt.Errorf("%s = %v: must be a whole number", name, v)
	case float64:
		switch v := v.(type) {
		case float64:
			return v, nil
		case int:
			return float64(v), nil
		case int64:
			return float64(v), nil
		case uint64:
			return float64(v), nil
		}
		return nil, fmt.Errorf("%s = %v: must be a number", name, v)
	case string:
		if v, ok := v.(string); ok {
			return v, nil
		}
		return nil, fmt.Errorf("%s = %v: must be a word", name, v)
	case bool:
		if v, ok := v.(bool); ok {
			return v, nil
		}
		return nil, fmt.Errorf("%s = %v: must be true or false", name, v)
	}
	panic(fmt.Sprintf("models: parameter %s has a default of type %T", name, like))
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
