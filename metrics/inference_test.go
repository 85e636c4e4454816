package metrics

import (
	"errors"
	"math"
	"testing"
)

// naive evaluates the definition of [X21] term by term.
func naive(prior []float64, f [][]float64, d func(a, b int) float64, best bool) float64 {
	m, sum := len(prior), 0.0
	for y := range f[0] {
		total, argmax := 0.0, 0
		for w := range m {
			total += prior[w] * f[w][y]
			if prior[w]*f[w][y] > prior[argmax]*f[argmax][y] {
				argmax = w
			}
		}
		if total == 0 {
			continue
		}
		for w := range m {
			for g := range m {
				share := prior[g] * f[g][y] / total
				if best {
					share = 0
					if g == argmax {
						share = 1
					}
				}
				sum += prior[w] * f[w][y] * share * d(g, w)
			}
		}
	}
	return sum
}

func randomProblem(label string, m, n int) (prior []float64, f [][]float64, distance func(a, b int) float64) {
	rng := testRand(label)
	counts := make([]int, m)
	position := make([]float64, m)
	for w := range m {
		counts[w] = 1 + rng.IntN(9)
		position[w] = rng.NormFloat64()
		row, sum := make([]float64, n), 0.0
		for y := range row {
			if rng.IntN(4) > 0 {
				row[y] = rng.ExpFloat64()
			}
			sum += row[y]
		}
		if sum == 0 {
			row[0], sum = 1, 1
		}
		for y := range row {
			row[y] /= sum
		}
		f = append(f, row)
	}
	prior, _ = EmpiricalPrior(counts, 0)
	return prior, f, func(a, b int) float64 { return math.Abs(position[a] - position[b]) }
}

func zeroOne(a, b int) float64 {
	if a == b {
		return 0
	}
	return 1
}

func TestExactInferenceIsTheDefinition(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {2, 5}, {7, 4}, {12, 40}} {
		prior, f, distance := randomProblem("exact", size[0], size[1])
		a := Adversary{Prior: prior, Distance: distance, Loss: func(w, y int) float64 { return zeroOne(w%2, y%2) }}
		got, err := a.ExactInference(func(w int) ([]float64, error) { return f[w], nil })
		if err != nil {
			t.Fatal(err)
		}
		near(t, "Posterior", got.Posterior, naive(prior, f, zeroOne, false), 1e-12)
		near(t, "MAP", got.MAP, naive(prior, f, zeroOne, true), 1e-12)
		near(t, "PosteriorEuclidean", got.PosteriorEuclidean, naive(prior, f, distance, false), 1e-12)
		near(t, "MAPEuclidean", got.MAPEuclidean, naive(prior, f, distance, true), 1e-12)
		lm := 0.0
		for w := range f {
			for y, p := range f[w] {
				lm += prior[w] * p * zeroOne(w%2, y%2)
			}
		}
		near(t, "LM", got.LM, lm, 1e-12)
		if got.MAP > got.Posterior+1e-12 {
			t.Errorf("MAP %v is weaker than posterior sampling %v", got.MAP, got.Posterior)
		}
	}
}

func TestExactInferenceExtremes(t *testing.T) {
	const m = 8
	a := Adversary{Prior: UniformPrior(m)}
	identity, err := a.ExactInference(func(w int) ([]float64, error) {
		row := make([]float64, m)
		row[w] = 1
		return row, nil
	})
	if err != nil || identity.MAP != 0 || identity.Posterior != 0 {
		t.Errorf("the identity must hide nothing: %+v, %v", identity, err)
	}
	if !math.IsNaN(identity.MAPEuclidean) || !math.IsNaN(identity.LM) {
		t.Error("what was not asked for must be missing")
	}
	blind, err := a.ExactInference(func(int) ([]float64, error) { return UniformPrior(m), nil })
	if err != nil {
		t.Fatal(err)
	}
	near(t, "blind MAP", blind.MAP, 1-1./m, 1e-12)
	near(t, "blind posterior", blind.Posterior, 1-1./m, 1e-12)
}

func TestInferenceErrors(t *testing.T) {
	row := func(int) ([]float64, error) { return []float64{1}, nil }
	if _, err := (Adversary{}).ExactInference(row); err == nil {
		t.Error("no candidates must be an error")
	}
	if _, err := (Adversary{Prior: []float64{.5, .6}}).ExactInference(row); err == nil {
		t.Error("a prior that does not sum to one must be an error")
	}
	if _, err := (Adversary{Prior: []float64{1}}).ExactInference(func(int) ([]float64, error) {
		return nil, errors.New("no")
	}); err == nil {
		t.Error("an error of the mechanism must come through")
	}
	a := Adversary{Prior: UniformPrior(2)}
	if _, err := a.ExactInference(func(w int) ([]float64, error) { return make([]float64, w+1), nil }); err == nil {
		t.Error("ragged rows must be an error")
	}
	for _, o := range [][]Outputs{{{1, 2}}, {{1}, {1}}, {{1, 2}, {1, 2, 3, 4}}, {{}, {}}} {
		if _, err := a.EstimateInference(o, nil); err == nil {
			t.Errorf("outputs %v must be an error", o)
		}
	}
	if _, err := EmpiricalPrior([]int{0, 0}, 0); err == nil {
		t.Error("a prior of nothing must be an error")
	}
	if _, err := EmpiricalPrior([]int{-1, 2}, 0); err == nil {
		t.Error("a negative count must be an error")
	}
}

// With many runs on few outputs learning is almost perfect, so the estimate
// must meet the exact value. Tolerances are 6 standard errors (< 1e-8) plus
// the learning bias, which is below 0.005 here: 10,000 runs of each candidate
// estimate every probability to ±0.005.
func TestEstimateMeetsExact(t *testing.T) {
	const m, n, runs = 6, 8, 20000
	prior, f, distance := randomProblem("estimate", m, n)
	a := Adversary{Prior: prior, Distance: distance, Loss: func(w, y int) float64 { return zeroOne(w%2, y%2) }}
	exact, err := a.ExactInference(func(w int) ([]float64, error) { return f[w], nil })
	if err != nil {
		t.Fatal(err)
	}
	candidates := []int32{0, 1, 2, 3, 4, 5}
	outputs, err := SampleOutputs(candidates, runs, sampler(f, "estimate draws"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.EstimateInference(outputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	tolerance := 6*got.StandardError + 0.005
	near(t, "MAP", got.MAP, exact.MAP, tolerance)
	near(t, "Posterior", got.Posterior, exact.Posterior, tolerance)
	near(t, "LM", got.LM, exact.LM, tolerance)
	near(t, "MAPEuclidean", got.MAPEuclidean, exact.MAPEuclidean, 5*tolerance) // distances up to 4
	near(t, "PosteriorEuclidean", got.PosteriorEuclidean, exact.PosteriorEuclidean, 5*tolerance)
	if !(got.StandardError > 0 && got.StandardError < 0.005) || got.Runs != runs || got.Candidates != m {
		t.Errorf("standard error %v, %d runs, %d candidates", got.StandardError, got.Runs, got.Candidates)
	}
	var mean RunError
	for _, r := range got.PerRun {
		mean.MAP += r.MAP / runs
		mean.Posterior += r.Posterior / runs
		mean.LM += r.LM / runs
	}
	near(t, "mean of MAP per run", mean.MAP, got.MAP, 1e-9)
	near(t, "mean of Posterior per run", mean.Posterior, got.Posterior, 1e-9)
	near(t, "mean of LM per run", mean.LM, got.LM, 1e-9)
}

// Few runs on many outputs: the estimate and the resubstitution error must
// bracket the exact error. The gap to either side is > 0.05 here, over 6
// standard errors of 4,000 judged runs (0.5/√4000 ≈ 0.008).
func TestEstimateBracketsExact(t *testing.T) {
	const m, n, runs = 20, 3000, 200
	rng := testRand("bracket rows")
	f := make([][]float64, m)
	for w := range f {
		f[w] = make([]float64, n)
		sum := 0.0
		for y := range f[w] {
			f[w][y] = math.Exp(2 * rng.NormFloat64())
			sum += f[w][y]
		}
		for y := range f[w] {
			f[w][y] /= sum
		}
	}
	a := Adversary{Prior: UniformPrior(m)}
	exact, err := a.ExactInference(func(w int) ([]float64, error) { return f[w], nil })
	if err != nil {
		t.Fatal(err)
	}
	candidates := make([]int32, m)
	for i := range candidates {
		candidates[i] = int32(i)
	}
	outputs, err := SampleOutputs(candidates, runs, sampler(f, "bracket draws"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.EstimateInference(outputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !(got.MAPLower+0.05 < exact.MAP && exact.MAP+0.05 < got.MAP) {
		t.Errorf("lower %v, exact %v, estimate %v: not a bracket", got.MAPLower, exact.MAP, got.MAP)
	}
}

func TestEstimateFallback(t *testing.T) {
	// Every output is new, so only the fallback can know: output = 10·candidate + run.
	outputs := []Outputs{{0, 1, 2, 3}, {10, 11, 12, 13}}
	a := Adversary{Prior: UniformPrior(2)}
	blind, err := a.EstimateInference(outputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "blind MAP", blind.MAP, 0.5, 1e-12) // always guesses candidate 0
	told, err := a.EstimateInference(outputs, func(y int) int { return y / 10 })
	if err != nil {
		t.Fatal(err)
	}
	near(t, "told MAP", told.MAP, 0, 1e-12)
	near(t, "told posterior", told.Posterior, 0, 1e-12)
}
