package metrics

import (
	"math"
	"testing"

	"mldpbench/stream"
)

// Guesses at a known distance: on a circle of 120 with the output one to three
// places further, the best guess is two off at most.
func TestGuessDistance(t *testing.T) {
	const n = 120
	distance := func(a, b int) float64 { d := (a - b + n) % n; return float64(min(d, n-d)) }
	if m := meanDistance(n, distance); math.Abs(m-30.25) > 0.5 { // n²/4/(n−1) = 30.25
		t.Errorf("mean distance %v", m)
	}
	channel := Channel{Inputs: n, Outputs: n, Row: func(row []float64, x int) ([]float64, error) {
		clear(row)
		row[(x+1)%n], row[(x+2)%n], row[(x+3)%n] = 0.5, 0.3, 0.2
		return row, nil
	}}
	full, err := FullVocabulary(t.Context(), channel, [][]float64{UniformPrior(n)}, 2)
	if err != nil {
		t.Fatal(err)
	}
	got, err := GuessDistance(t.Context(), channel, full.Decoders[0], distance, 2)
	want := (0.3*1 + 0.2*2) / meanDistance(n, distance) // the best guess is one before the output
	if err != nil || math.Abs(got.Estimate-want) > 1e-12 || got.Low != got.High {
		t.Errorf("%+v, want %v, %v", got, want, err)
	}
	rng := stream.FromUint64(3).Rand()
	d := Draws{PerInput: 50}
	for x := range n {
		for range d.PerInput {
			step := 1
			if u := rng.Float64(); u > 0.8 {
				step = 3
			} else if u > 0.5 {
				step = 2
			}
			d.Outputs = append(d.Outputs, int32((x+step)%n))
		}
	}
	sampled, err := SampledGuessDistance(full.Decoders[0], d, distance)
	// Five standard errors: 2.6 half-widths, a false alarm of less than 1e-6.
	half := (sampled.High - sampled.Low) / 2
	if err != nil || math.Abs(sampled.Estimate-want) > 2.6*half || half > want/10 {
		t.Errorf("%+v, want %v, %v", sampled, want, err)
	}
	if _, err := SampledGuessDistance(full.Decoders[0], Draws{PerInput: 1, Outputs: []int32{n}}, distance); err == nil {
		t.Error("an output that is none must be an error")
	}
}
