package experiments

import (
	"fmt"
	"strings"
	"testing"

	"mldpbench/mechanisms/privatize"
)

// Texts that are written as they were are all found by their words; those of other words
// are found by chance, which is one of as many texts as there are.
func TestFoundByWords(t *testing.T) {
	t.Parallel()
	var same, other, half []privatize.Pair
	for i := range 200 {
		text := fmt.Sprintf("w%d w%d the", i, i+1)
		same = append(same, privatize.Pair{Original: text, Written: text})
		other = append(other, privatize.Pair{Original: text, Written: fmt.Sprintf("v%d the", i)})
		half = append(half, []privatize.Pair{same[i], other[i]}[i%2])
	}
	for name, c := range map[string]struct {
		texts []privatize.Pair
		want  float64
	}{"same": {same, 1}, "other": {other, 0.005}, "half": {half, 0.5025}} {
		found, err := foundByWords(t.Context(), c.texts, strings.Fields)
		if err != nil || found.Estimate < c.want-1e-9 || found.Estimate > c.want+1e-9 {
			t.Errorf("%s: %v found, %v, want %v", name, found, err, c.want)
		}
		if found.Low > c.want || found.High < c.want {
			t.Errorf("%s: interval %v, want one around %v", name, found, c.want)
		}
	}
}
