package models

import (
	"slices"

	"mldpbench/internal/params"
)

// Parameter describes one parameter of a model for records and checks.
type Parameter = params.Parameter

// values holds the parameters of one classifier, with defaults filled in.
type values map[string]any

func (v values) int(name string) int       { return v[name].(int) }
func (v values) float(name string) float64 { return v[name].(float64) }

// Resolve fills in defaults and checks names, types and ranges of the
// parameters given to the model. Whole numbers are accepted where floats are
// expected.
func (d Definition) Resolve(given map[string]any) (map[string]any, error) {
	return params.Resolve("model "+d.Name, "", d.Parameters, given)
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
