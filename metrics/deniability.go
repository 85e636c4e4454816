package metrics

import (
	"fmt"
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
// generator only. runs must be at least 1.
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

// countOutputs is the outcome of one word.
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
// N_w = Percent(Unchanged, Runs), S_w = Distinct/Words.
type DeniabilityTotals struct {
	Words, Runs, Unchanged, Distinct int
}

// Nw is the mean over words in percent, NaN without words.
func (t DeniabilityTotals) Nw() float64 { return Percent(t.Unchanged, t.Runs) }

// Sw is the mean over words of the number of distinct outputs, NaN without words.
func (t DeniabilityTotals) Sw() float64 { return float64(t.Distinct) / float64(t.Words) }

// TotalDeniability sums outcomes of equally many runs each.
func TotalDeniability[W comparable](outcomes []Deniability[W]) DeniabilityTotals {
	t := DeniabilityTotals{Words: len(outcomes)}
	for _, d := range outcomes {
		t.Runs += d.Runs
		t.Unchanged += d.Unchanged
		t.Distinct += d.Distinct
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
