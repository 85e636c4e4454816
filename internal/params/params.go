// Package params converts the named values that mechanisms and models take:
// numbers, words, yes or no, and lists of numbers, from YAML, command lines and
// Go callers alike.
package params

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/list"
)

// Format returns the canonical form "gamma=theorem3 t=[1,0]", sorted by name.
func Format(values map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, name+"="+FormatValue(values[name]))
	}
	return strings.Join(parts, " ")
}

// FormatValue returns a value as Format writes it.
func FormatValue(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []float64:
		return "[" + strings.Join(list.Map(v, func(x float64) string {
			return FormatValue(x)
		}), ",") + "]"
	}
	return fmt.Sprint(v)
}

// parse gives text, as Format writes it, the type it looks like: a number, a
// list or a word.
func parse(text string) any {
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
		list = append(list, parse(part))
	}
	return list
}

// Convert converts v to the type of like: int, float64, string, bool or
// []float64. It reports false where that is not possible without loss, and for
// numbers that are not finite.
func Convert(v, like any) (any, bool) {
	f, isNumber := number(v)
	switch like.(type) {
	case int:
		return int(f), isNumber && f == math.Trunc(f) && math.Abs(f) <= 1<<53
	case float64:
		return f, isNumber
	case string:
		s, ok := v.(string)
		return s, ok
	case bool:
		b, ok := v.(bool)
		return b, ok
	case []float64:
		if isNumber {
			return []float64{f}, true
		}
		list, ok := v.([]float64)
		all, _ := v.([]any)
		for _, x := range all {
			if f, isNumber = number(x); !isNumber {
				return nil, false
			}
			list = append(list, f)
		}
		ok = ok || all != nil
		return list, ok &&
			!slices.ContainsFunc(list, func(f float64) bool {
				return math.IsNaN(f) || math.IsInf(f, 0)
			})
	}
	panic(fmt.Sprintf("params: a default of type %T", like))
}

// number returns a finite number of any type that YAML decodes to.
func number(v any) (f float64, ok bool) {
	x := reflect.ValueOf(v)
	switch {
	case x.CanFloat():
		f = x.Float()
	case x.CanInt():
		f = float64(x.Int())
	case x.CanUint():
		f = float64(x.Uint())
	default: // go-yaml writes 1e-05, which it reads as text
		s, _ := v.(string)
		var err error
		f, err = strconv.ParseFloat(s, 64)
		digits := strings.Trim(s, "0123456789.eE+-") == ""
		if err != nil || !digits || !strings.ContainsAny(s, "eE") {
			return 0, false
		}
	}
	return f, !math.IsNaN(f) && !math.IsInf(f, 0)
}
