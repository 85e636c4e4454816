package metrics

import "testing"

func TestCountEnglish(t *testing.T) {
	list := map[string]bool{"good": true, "film": true}
	in, total := CountEnglish([][]string{{"good", "flim"}, {"film", "film"}}, func(w string) bool { return list[w] })
	if in != 3 || total != 4 {
		t.Errorf("CountEnglish = %d of %d, want 3 of 4", in, total)
	}
}
