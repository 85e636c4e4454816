package metrics

import (
	"strings"
	"testing"
)

func TestCountEnglish(t *testing.T) {
	list := map[string]bool{"good": true, "film": true}
	in, total := CountEnglish([][]string{{"good", "flim"}, {"film", "film"}}, func(w string) bool { return list[w] })
	if in != 3 || total != 4 {
		t.Errorf("CountEnglish = %d of %d, want 3 of 4", in, total)
	}
}

// Counted by hand: of five tokens the lower-cased list has english, paris, film
// and the; the list as printed has film and the. Unknown words are not in
// either.
func TestCountEnglishCapitals(t *testing.T) {
	printed, lower := map[string]bool{}, map[string]bool{}
	for _, w := range []string{"English", "Paris", "film", "the", "The"} {
		printed[w], lower[strings.ToLower(w)] = true, true
	}
	documents := [][]string{{"the", "english", "film"}, {"paris", "qzx1"}}
	for _, c := range []struct {
		list map[string]bool
		in   int
	}{{lower, 4}, {printed, 2}} {
		if in, total := CountEnglish(documents, func(w string) bool { return c.list[w] }); in != c.in || total != 5 {
			t.Errorf("%d of %d, want %d of 5", in, total, c.in)
		}
	}
	if in, total := CountEnglish(nil, func(string) bool { return true }); in != 0 || total != 0 {
		t.Errorf("no text: %d of %d", in, total)
	}
}
