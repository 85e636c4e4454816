package mechanisms

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/params"
)

// ParseParameters reads "name=value" pairs for a mechanism, values as
// Parameters.String writes them: 0.5, theorem3, [1,0] or 1,0.
func ParseParameters(mechanism string, pairs []string) (Parameters, error) {
	d, err := Find(mechanism)
	if err != nil {
		return nil, err
	}
	p := Parameters{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("parameter %q: must be name=value", pair)
		}
		if _, dup := p[name]; dup {
			return nil, fmt.Errorf("%s: parameter %q is given twice", mechanism, name)
		}
		def, err := d.parameter(name)
		if err != nil {
			return nil, err
		}
		if p[name], err = def.value(params.Parse(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", mechanism, err)
		}
	}
	return p, nil
}

// Settable returns the parameters that a user can set.
func (d Definition) Settable() []Parameter {
	return slices.DeleteFunc(slices.Clone(d.Parameters), func(p Parameter) bool { return p.Fixed })
}

func (d Definition) parameter(name string) (Parameter, error) {
	var names []string
	for _, p := range d.Parameters {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Parameter{}, fmt.Errorf("%s: unknown parameter %q: it has %q", d.Name, name, names)
}

// value converts v to the type of the default.
func (p Parameter) value(v any) (any, error) {
	x, ok := params.Convert(v, p.Default)
	if !ok && p.Number {
		x, ok = params.Convert(v, 0.0)
	}
	if ok && p.allows(x) {
		return x, nil
	}
	return nil, fmt.Errorf("%s = %v: must be %s", p.Name, v, cmp.Or(p.Legal, fmt.Sprint(p.Default)))
}

// allows applies Valid and Words.
func (p Parameter) allows(v any) bool {
	if p.Fixed {
		return v == p.Default
	}
	switch v := v.(type) {
	case string:
		return p.Words == nil || slices.Contains(p.Words, v)
	case float64:
		return p.Valid == nil || p.Valid(v)
	case []float64:
		return p.Valid == nil || !slices.ContainsFunc(v, func(x float64) bool { return !p.Valid(x) })
	}
	return true
}

func between(low, high float64) func(float64) bool {
	return func(x float64) bool { return x >= low && x <= high }
}

func strictly(low, high float64) func(float64) bool {
	return func(x float64) bool { return x > low && x < high }
}

// wholeNumber allows whole numbers from low to high.
func wholeNumber(low, high float64) func(float64) bool {
	return func(x float64) bool { return x == math.Trunc(x) && x >= low && x <= high }
}
