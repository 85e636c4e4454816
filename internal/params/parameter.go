package params

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// Parameter describes a named value for help texts and checks.
type Parameter struct {
	Name    string
	Default any    // int, float64, string, bool or []float64: its type is the parameter's
	Number  bool   // a word that may also be a number
	Legal   string // the legal range in words, e.g. "in [0, 1]"
	Doc     string // what it means, with its unit
	// Valid and Words say Legal to the program: which numbers, also those of a
	// list, and which words are allowed; nil allows all.
	Valid func(float64) bool
	Words []string
	// Variants lists the variants that have the parameter; nil means all.
	Variants []string
	// Fixed means that the parameter has one value, the default: it cannot be
	// set, and stays in resolved parameters because it is part of their name, from
	// which seeds are derived.
	Fixed bool
}

// Of reports whether a variant has the parameter.
func (p Parameter) Of(variant string) bool {
	return p.Variants == nil || slices.Contains(p.Variants, variant)
}

// AtLeast is a whole number; doc is its meaning, with its unit.
func AtLeast(name string, lo, otherwise int, doc string) Parameter {
	return Parameter{
		Name:    name,
		Default: otherwise,
		Legal:   fmt.Sprintf("a whole number >= %d", lo),
		Doc:     doc,
		Valid:   Between(float64(lo), math.Inf(1)),
	}
}

// Positive is a finite number above 0.
func Positive(name string, otherwise float64, doc string) Parameter {
	return Parameter{
		Name:    name,
		Default: otherwise,
		Legal:   "> 0 and finite",
		Doc:     doc,
		Valid:   Strictly(0, math.Inf(1)),
	}
}

// NonNegative is a finite number from 0 on.
func NonNegative(name string, otherwise float64, doc string) Parameter {
	return Parameter{
		Name:    name,
		Default: otherwise,
		Legal:   ">= 0 and finite",
		Doc:     doc,
		Valid:   Between(0, math.MaxFloat64),
	}
}

// OneOf is a word, by default the first.
func OneOf(name, doc string, allowed ...string) Parameter {
	quoted := list.Map(allowed, strconv.Quote)
	return Parameter{
		Name:    name,
		Default: allowed[0],
		Legal:   strings.Join(quoted, " or "),
		Doc:     doc,
		Words:   allowed,
	}
}

// Between allows numbers from low to high, Strictly those between, Whole whole ones.
func Between(low, high float64) func(float64) bool {
	return func(x float64) bool { return x >= low && x <= high }
}

// Strictly allows numbers between low and high.
func Strictly(low, high float64) func(float64) bool {
	return func(x float64) bool { return x > low && x < high }
}

// Whole allows whole numbers from low to high.
func Whole(low, high float64) func(float64) bool {
	return func(x float64) bool { return x == math.Trunc(x) && x >= low && x <= high }
}

// Value converts v to the type of the default and checks it.
func (p Parameter) Value(v any) (any, error) {
	x, ok := Convert(v, p.Default)
	if !ok && p.Number {
		x, ok = Convert(v, 0.0)
	}
	if ok && p.allows(x) {
		return x, nil
	}
	return nil, check.Wrong("%s = %v: must be %s", p.Name, v, p.legal(v))
}

// allows reports whether a parameter may have a value of its type.
func (p Parameter) allows(v any) bool {
	if p.Fixed {
		return v == p.Default
	}
	switch v := v.(type) {
	case string:
		return p.Words == nil || slices.Contains(p.Words, v)
	case int:
		return p.Valid == nil || p.Valid(float64(v))
	case float64:
		return p.Valid == nil || p.Valid(v)
	case []float64:
		return p.Valid == nil ||
			!slices.ContainsFunc(v, func(x float64) bool {
				return !p.Valid(x)
			})
	}
	return true
}

// legal says what would be allowed instead of v.
func (p Parameter) legal(v any) string {
	if p.Fixed {
		return FormatValue(p.Default)
	}
	said := p.Legal
	if said == "" {
		said = kindOf(p.Default)
	}
	word, _ := v.(string)
	return said + check.Meant(word, p.Words)
}

// kindOf says what a value of the type of a default is.
func kindOf(value any) string {
	switch value.(type) {
	case int:
		return "a whole number"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	case []float64:
		return "a list of numbers"
	}
	return "a word"
}

// find returns the parameter of a name; of says whose they are, in errors.
func find(of string, all []Parameter, name string) (Parameter, error) {
	var names []string
	for _, p := range all {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Parameter{}, check.Wrong("%s: unknown parameter %q: it has %q%s", of, name, names, check.Meant(name, names))
}

// Resolve checks values given to a variant and fills in defaults.
func Resolve(of, variant string, all []Parameter, given map[string]any) (map[string]any, error) {
	full := map[string]any{}
	for _, p := range all {
		if p.Of(variant) {
			full[p.Name] = p.Default
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p, err := find(of, all, name)
		if err != nil {
			return nil, err
		}
		if !p.Of(variant) {
			return nil, check.Wrong("%s: variant %s has no parameter %q", of, variant, name)
		}
		full[name], err = p.Value(given[name])
		if err != nil {
			return nil, check.Wrong("%s: %v", of, err)
		}
	}
	return full, nil
}

// ParsePairs reads "name=value" pairs, values as Format writes them.
func ParsePairs(of string, all []Parameter, pairs []string) (map[string]any, error) {
	values := map[string]any{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, check.Wrong("parameter %q: must be name=value", pair)
		}
		if _, twice := values[name]; twice {
			return nil, check.Wrong("%s: parameter %q is given twice", of, name)
		}
		p, err := find(of, all, name)
		if err != nil {
			return nil, err
		}
		values[name], err = p.Value(parse(text))
		if err != nil {
			return nil, check.Wrong("%s: %v", of, err)
		}
	}
	return values, nil
}
