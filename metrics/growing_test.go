package metrics

import (
	"fmt"
	"math"
	"testing"

	"mldpbench/stream"
)

// A mechanism of noise whose E_M is known: the input is a place on a circle of
// 600, the output lies around it with exponentially falling probability. An
// attacker who learned from ten draws errs more than the ideal one by more than
// his interval; with more draws the interval has the truth.
func TestGrownInferenceHasTheTruth(t *testing.T) {
	const n, scale = 600, 4.0
	row := make([]float64, n)
	total := 0.0
	for d := range row {
		row[d] = math.Exp(-float64(min(d, n-d)) / scale)
		total += row[d]
	}
	truth := 1 - 1/total // uniform prior: the ideal attacker guesses the output itself
	seed := stream.FromUint64(5)
	draw := func(each, step int, learn bool) (Draws, error) {
		rng := seed.Derive(fmt.Sprint(learn)).At(uint64(step)).Rand()
		d := Draws{PerInput: each}
		for x := range n {
			for range each {
				u, k := rng.Float64()*total, 0
				for ; k < n-1 && u >= row[k]; k++ {
					u -= row[k]
				}
				d.Outputs = append(d.Outputs, int32((x+k)%n))
			}
		}
		return d, nil
	}
	priors := [][]float64{UniformPrior(n)}
	learn, _ := draw(10, 100, true)
	fresh, _ := draw(10, 100, false)
	few, err := SampledVocabulary(t.Context(), learn, fresh, n, priors, 0.95, 2)
	if err != nil {
		t.Fatal(err)
	}
	if few.Inference[0].MAP.Low <= truth {
		t.Errorf("ten draws: %+v has the truth %.4f: the test shows nothing", few.Inference[0].MAP, truth)
	}
	got, err := GrowInference(t.Context(), draw, n, priors, 10, 10_000, 0.004, 0.95, 2)
	if err != nil {
		t.Fatal(err)
	}
	g := got.Inference[0]
	t.Logf("truth %.4f; 10 draws %.4f, %.4f; %d draws %+v, moved %.4f, remaining %.4f", truth,
		few.Inference[0].MAP.Low, few.Inference[0].MAP.Estimate, g.Learned, g.MAP, g.Moved, g.Remaining)
	if !g.Settled || g.Learned < 40 || g.MAP.Low > truth || g.MAP.High < truth || g.MAP.Estimate-truth > 0.02 {
		t.Errorf("truth %.4f, grown %+v", truth, g)
	}
	// Without room to grow, the interval says how little is known.
	short, err := GrowInference(t.Context(), draw, n, priors, 10, 10, 0.002, 0.95, 2)
	if err != nil {
		t.Fatal(err)
	}
	if s := short.Inference[0]; s.Settled || s.MAP.Low > truth || s.Learned != 10 {
		t.Errorf("ten draws: %+v", s)
	}
	for _, bad := range [][3]float64{{0, 10, 0.1}, {10, 5, 0.1}, {10, 20, 0}} {
		if _, err := GrowInference(t.Context(), draw, n, priors, int(bad[0]), int(bad[1]), bad[2], 0.95, 1); err == nil {
			t.Errorf("%v must be an error", bad)
		}
	}
}
