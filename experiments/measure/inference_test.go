package measure

import (
	"slices"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// From ten draws of the noise and the probabilities of what follows, E_M is nearly
// that of three hundred; from ten outcomes it is too kind.
func TestChoicesNeedFewDraws(t *testing.T) {
	t.Parallel()
	const n = 200
	space := spacetest.Gaussian(t, n, 20, 1, 3)
	for _, s := range []mechanisms.Settings{{Mechanism: "rank-fix", Epsilon: 9, Parameters: mechanisms.Parameters{"c": 0.02}},
		{Mechanism: "vickrey-k", Epsilon: 9, Parameters: mechanisms.Parameters{"t": []float64{1, 1, 1, 1}}}} {
		m, err := mechanisms.New(mechanisms.Environment{Space: space}, s)
		if err != nil {
			t.Fatal(err)
		}
		at := func(samples int) float64 {
			i, err := Infer(t.Context(), m, metrics.UniformPrior(n), InferenceOptions{Samples: samples}, stream.FromUint64(5), 1)
			if err != nil {
				t.Fatal(err)
			}
			return i.Errors[0].MAP.Estimate
		}
		outcomes, err := metrics.InferSampled(func(each, step int, learn bool) (metrics.Draws, error) {
			d := metrics.Draws{PerInput: each}
			for w := range mechanisms.WordID(n) {
				words := slices.Repeat([]mechanisms.WordID{w}, each)
				if err := m.Privatize(t.Context(), words, words, stream.FromUint64(6).Derive(s.Mechanism).At(uint64(w)).
					Derive(map[bool]string{true: "learn", false: "measure"}[learn]).Rand()); err != nil {
					return d, err
				}
				for _, y := range words {
					d.Outputs = append(d.Outputs, int32(y))
				}
			}
			return d, nil
		}, n, nil, metrics.Growth{First: 10, Most: 10, Tolerance: 1, Level: 0.95})
		if err != nil {
			t.Fatal(err)
		}
		truth, few, kind := at(300), at(10), outcomes.Errors[0].MAP.Estimate
		if few < truth-0.02 || few > truth+0.02 || s.Mechanism == "rank-fix" && kind < few+0.02 {
			t.Errorf("%s: %.4f, from ten draws %.4f, from ten outcomes %.4f", s.Mechanism, truth, few, kind)
		}
	}
}
