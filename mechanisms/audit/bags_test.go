package audit

import (
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Of bags of words CMP keeps ε·n·E (Fernandes, Dras & McIver 2019); with one and a half
// times its ε, where outputs show the noise, it does not. In one dimension CMP is nearly
// as far as ε·d allows.
func TestBags(t *testing.T) {
	t.Parallel()
	skipStatistics(t)
	line := make([]float32, 12)
	for i := range line {
		line[i] = float32(i)
	}
	s := spacetest.New(t, 1, line)
	o := Options{Samples: 40_000, Seed: stream.FromUint64(10)}
	honest := build(t, s, "cmp", 0.5)
	for _, size := range []int{1, 2, 3} {
		for factor, found := range map[float64]bool{1: false, 1.5: true} {
			m := build(t, s, "cmp", 0.5*factor).Promising(honest.Guarantee())
			r, err := bagsOf(t.Context(), m, s, o, size)
			if err != nil || breach(r) != found {
				t.Errorf("bags of %d words, %v times ε: %s, %v; %+v", size, factor, r.Verdict(), err, r.Worst)
			}
		}
	}
	for _, size := range []int{0, 7} {
		settings := mechanisms.Settings{Mechanism: "cmp", Epsilon: 1}
		if _, err := Bags(t.Context(), environment(s), settings, o, size); err == nil {
			t.Errorf("bags of %d words are accepted", size)
		}
	}
	plus, err := Bags(t.Context(), environment(s), mechanisms.Settings{Mechanism: "santext-plus", Epsilon: 1}, o, 2)
	if err != nil || plus.Method != NoAudit || plus.Reason == "" {
		t.Errorf("SanText+: %s, %v; want a reason why it is not audited", plus.Verdict(), err)
	}
	if n := len(multisets([]embeddings.WordID{1, 2, 3, 4, 5}, 3)); n != 35 {
		t.Errorf("%d bags of three of five words, want 35", n)
	}
}
