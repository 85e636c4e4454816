package params

import (
	"math"
	"reflect"
	"testing"
)

func TestConvert(t *testing.T) {
	for _, c := range []struct{ v, like, want any }{
		{3, 0, 3}, {uint64(3), 0, 3}, {3.0, 0, 3}, {3.5, 0, nil}, {"3", 0, nil}, {1e300, 0, nil},
		{3, 0.5, 3.0}, {float32(0.5), 0.5, 0.5}, {math.NaN(), 0.5, nil}, {math.Inf(1), 0.5, nil},
		{"a", "", "a"}, {1.0, "", nil},
		{true, false, true}, {"yes", false, nil},
		{1, []float64{}, []float64{1}}, {[]any{1, 0.5}, []float64{}, []float64{1, 0.5}},
		{[]any{1, "x"}, []float64{}, nil}, {[]float64{math.NaN()}, []float64{}, nil}, {"x", []float64{}, nil},
	} {
		if got, ok := Convert(c.v, c.like); ok != (c.want != nil) || ok && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v as %T: %v, %v", c.v, c.like, got, ok)
		}
	}
}

// What Format writes, Parse and Convert read.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0.5", "theorem3", "[1,0]", "1,0", "[", "", "[[1]]", "1e400"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := Convert(parse(s), []float64{})
		if !ok || len(v.([]float64)) == 0 {
			return
		}
		again, ok := Convert(parse(FormatValue(v)), []float64{})
		if !ok || !reflect.DeepEqual(v, again) {
			t.Errorf("%q: %v became %v", s, v, again)
		}
	})
}
