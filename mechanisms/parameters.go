package mechanisms

import (
	"fmt"
	"math"
	"strconv"
	"strings"
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
		if p[name], err = def.value(parseValue(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", mechanism, err)
		}
	}
	return p, nil
}

// parseValue gives text the type it looks like: a number, a list or a word.
func parseValue(text string) any {
	text = strings.TrimSpace(text)
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f
	}
	inner, bracket := strings.CutPrefix(text, "[")
	inner = strings.TrimSuffix(inner, "]")
	if !bracket && !strings.Contains(text, ",") {
		return text
	}
	var list []any
	for part := range strings.SplitSeq(inner, ",") {
		list = append(list, parseValue(part))
	}
	return list
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

// value converts v to the type of the default, so that YAML, CLI and Go
// callers build the same settings.
func (p Parameter) value(v any) (any, error) {
	wrong := fmt.Errorf("%s = %v: must be %s", p.Name, v, p.Legal)
	if f, ok := number(v); ok {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, wrong
		}
		v = f
	}
	switch p.Default.(type) {
	case float64:
		if f, ok := v.(float64); ok {
			return f, nil
		}
	case string:
		if s, ok := v.(string); ok {
			return s, nil
		}
		if f, ok := v.(float64); ok && p.Number {
			return f, nil
		}
	case []float64:
		switch v := v.(type) {
		case float64:
			return []float64{v}, nil
		case []float64:
			return p.numbers(v, wrong)
		case []any:
			list := make([]float64, len(v))
			for i, x := range v {
				f, ok := number(x)
				if !ok {
					return nil, wrong
				}
				list[i] = f
			}
			return p.numbers(list, wrong)
		}
	}
	return nil, wrong
}

func (p Parameter) numbers(list []float64, wrong error) (any, error) {
	for _, f := range list {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, wrong
		}
	}
	return list, nil
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	}
	return 0, false
}
