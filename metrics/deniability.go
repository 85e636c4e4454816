package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Deniability is the outcome of running a mechanism on one word many times:
// the raw material of N_w and S_w. Source: [F20] §3.2, [M24] §4.1.3.
type Deniability[W comparable] struct {
	Word      W
	Runs      int
	Unchanged int // runs that returned the word itself
	Distinct  int // distinct outputs, the word itself included
}

// Nw is the share of runs that returned the word, in percent.
func (d Deniability[W]) Nw() float64 { return Percent(d.Unchanged, d.Runs) }

// Others is the number of distinct outputs that are not the word itself. The
// published S_w of [M24] counts this way (TEM prints N_w 100.0, S_w 0.0).
func (d Deniability[W]) Others() int {
	if d.Unchanged > 0 {
		return d.Distinct - 1
	}
	return d.Distinct
}

// blockTokens bounds the memory of one call of the mechanism; it is larger
// than the study's 25 words × 100 runs, which are one block.
const blockTokens = 1 << 14

// MeasureDeniability runs a mechanism `runs` times on each word. privatize
// writes one output per word of src to dst (same length); it is called on
// blocks of whole words, so mechanisms that handle many words at once stay
// fast, and the study's 25 × 100 outputs are one call. privatize should have a
// separate random generator: the outcome then depends on words, runs and
// generator only.
func MeasureDeniability[W comparable](words []W, runs int, privatize func(dst, src []W) error) ([]Deniability[W],
	error) {
	if runs < 1 {
		return nil, fmt.Errorf("runs = %d: must be >= 1", runs)
	}
	result := make([]Deniability[W], 0, len(words))
	var src, dst []W
	for block := range slices.Chunk(words, max(1, blockTokens/runs)) {
		src = src[:0]
		for _, w := range block {
			src = append(src, slices.Repeat([]W{w}, runs)...)
		}
		dst = append(dst[:0], src...)
		if err := privatize(dst, src); err != nil {
			return nil, err
		}
		for i, w := range block {
			result = append(result, countOutputs(w, dst[i*runs:(i+1)*runs]))
		}
	}
	return result, nil
}

func countOutputs[W comparable](word W, outputs []W) Deniability[W] {
	d := Deniability[W]{Word: word, Runs: len(outputs)}
	seen := make(map[W]struct{}, len(outputs))
	for _, y := range outputs {
		seen[y] = struct{}{}
		if y == word {
			d.Unchanged++
		}
	}
	d.Distinct = len(seen)
	return d
}

// DeniabilityTotals sums over words. The study reports means over words:
// N_w = Percent(Unchanged, Runs), S_w = Distinct/Words. [F20] §3.2 recommend
// the worst word: largest N_w, smallest S_w.
type DeniabilityTotals struct {
	Words, Runs, Unchanged, Distinct int
	WorstNw                          float64 // percent, largest over words
	WorstSw                          int     // smallest over words
}

// Nw is the mean over words in percent, NaN without words.
func (t DeniabilityTotals) Nw() float64 { return Percent(t.Unchanged, t.Runs) }

// Sw is the mean over words of the number of distinct outputs, NaN without words.
func (t DeniabilityTotals) Sw() float64 { return float64(t.Distinct) / float64(t.Words) }

// TotalDeniability sums outcomes of equally many runs each.
func TotalDeniability[W comparable](outcomes []Deniability[W]) DeniabilityTotals {
	t := DeniabilityTotals{Words: len(outcomes), WorstNw: math.NaN()}
	for i, d := range outcomes {
		t.Runs += d.Runs
		t.Unchanged += d.Unchanged
		t.Distinct += d.Distinct
		if i == 0 || d.Nw() > t.WorstNw {
			t.WorstNw = d.Nw()
		}
		if i == 0 || d.Distinct < t.WorstSw {
			t.WorstSw = d.Distinct
		}
	}
	return t
}

// SampleWords draws k distinct members of words uniformly, all of them (in
// order) when there are no more than k. The study draws 25 types, not tokens.
// words must be distinct and in a reproducible order.
func SampleWords[W any](words []W, k int, rng *rand.Rand) []W {
	if len(words) <= k {
		return slices.Clone(words)
	}
	pool := slices.Clone(words)
	for i := range k { // the first k steps of Fisher–Yates
		j := i + rng.IntN(len(pool)-i)
		pool[i], pool[j] = pool[j], pool[i]
	}
	return pool[:k]
}

// ExactNw returns N_w in percent for a word whose output distribution is known.
func ExactNw(probabilities []float64, word int) float64 { return 100 * probabilities[word] }

// EffectiveSupport returns S_w at tail mass eta in [0,1): the size of the
// smallest set S of outputs with Pr[M(w) ∉ S] <= eta ([F20] §3.2). With eta = 0
// it is the number of outputs of positive probability.
func EffectiveSupport(probabilities []float64, eta float64) int {
	positive := make([]float64, 0, len(probabilities))
	for _, p := range probabilities {
		if p > 0 {
			positive = append(positive, p)
		}
	}
	// The tail is summed from its smallest member up: no cancellation, and
	// eta = 0 removes nothing.
	slices.Sort(positive)
	tail := 0.0
	for i, p := range positive {
		if tail += p; tail > eta {
			return len(positive) - i
		}
	}
	return 0
}

// ExpectedDistinct returns the expectation of the study's estimator of S_w, the
// number of distinct outputs in `runs` independent runs: Σ_y 1−(1−p_y)^runs.
// Compare a sampled S_w with it where the distribution is known.
func ExpectedDistinct(probabilities []float64, runs int) float64 {
	sum := 0.0
	for _, p := range probabilities {
		switch {
		case p >= 1:
			sum++
		case p > 0:
			sum -= math.Expm1(float64(runs) * math.Log1p(-p)) // exact for tiny p
		}
	}
	return sum
}
