package cluster

import (
	"slices"
	"testing"
)

func TestArrayNotation(t *testing.T) {
	for _, c := range []struct {
		tasks []int
		text  string
	}{
		{nil, ""}, {[]int{3}, "3"}, {[]int{9, 3, 8, 7}, "3,7-9"}, {[]int{1, 2}, "1-2"}, {[]int{5, 5, 1}, "1,5"},
	} {
		if got := FormatArray(c.tasks); got != c.text {
			t.Errorf("%v: %q, want %q", c.tasks, got, c.text)
		}
	}
	for text, want := range map[string][]int{
		"3,7-9": {3, 7, 8, 9}, "1-9:4%2": {1, 5, 9}, "0": {0}, "2-2": {2},
	} {
		if got, err := ParseArray(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "a", "3-1", "1,", "1-2:0", "-1", "1-99999999999", "0-2147483647"} {
		if got, err := ParseArray(text); err == nil {
			t.Errorf("%q: %v, no error", text, got)
		}
	}
}

func FuzzParseArray(f *testing.F) {
	for _, s := range []string{"3,7-9", "1-9:2%4", "-", "1-2-3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tasks, err := ParseArray(s)
		if err != nil {
			return
		}
		again, err := ParseArray(FormatArray(tasks))
		slices.Sort(tasks)
		if err != nil || !slices.Equal(again, slices.Compact(tasks)) {
			t.Fatalf("%q: %v, then %v, %v", s, tasks, again, err)
		}
	})
}
