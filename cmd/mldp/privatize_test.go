package main

import (
	"reflect"
	"strings"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                              nil,
		" \t\r\n":                       nil,
		"one":                           {"one"},
		"Don't stop, 'quoted' rock’n’x": {"Don't", "stop", "quoted", "rock’n’x"},
		"well-known 3.5%":               {"well", "known", "3", "5"},
		"naïve e\u0301té":               {"naïve", "e\u0301té"},
		"'' a' 'b":                      {"a", "b"},
	} {
		if got, _ := splitWords(line); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// Words and what stands between them are the line, whatever it is.
func FuzzSplitWords(f *testing.F) {
	for _, s := range []string{"", "a b", "don't\n", "\xff\xfea\xff", "é’é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, between := splitWords(line)
		var b strings.Builder
		for i, w := range words {
			if w == "" {
				t.Fatalf("%q: an empty word", line)
			}
			b.WriteString(between[i] + w)
		}
		b.WriteString(between[len(words)])
		if len(between) != len(words)+1 || b.String() != line {
			t.Errorf("%q became %q", line, b.String())
		}
	})
}
