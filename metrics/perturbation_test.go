package metrics

import "testing"

func TestCountChanged(t *testing.T) {
	unknown := func(w string) bool { return w == "xyzzy" || w == "plugh" }
	for _, c := range []struct {
		name          string
		before, after [][]string
		want          TokenCounts
	}{
		{"aligned", [][]string{{"a", "b", "c"}, {}}, [][]string{{"a", "x", "y"}, {}}, TokenCounts{2, 3, 0}},
		{"keep", [][]string{{"a", "xyzzy"}}, [][]string{{"b", "xyzzy"}}, TokenCounts{1, 2, 1}},
		{"drop", [][]string{{"xyzzy", "a", "plugh", "b"}}, [][]string{{"a", "c"}}, TokenCounts{3, 4, 2}},
		{"drop all", [][]string{{"xyzzy"}}, [][]string{{}}, TokenCounts{1, 1, 1}},
	} {
		got, err := CountChanged(c.before, c.after, unknown)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
	for name, after := range map[string][][]string{"lost document": {}, "lost word": {{"a"}},
		"gained word": {{"a", "b", "c"}}} {
		if _, err := CountChanged([][]string{{"a", "b"}}, after, nil); err == nil {
			t.Errorf("%s must be an error", name)
		}
	}
}
