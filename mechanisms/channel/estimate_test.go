package channel

import (
	"math"
	"slices"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
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
		words, seed := space.Vocabulary.IDs(), stream.FromUint64(5)
		prior := Uniform(n)
		measured := func(draws, fresh Draws) float64 { // of who learned, without the bound of simple guesses
			decoders, _ := learn(draws, [][]float64{prior}, n)
			return decoders[0].measured(prior, fresh, 0.95).Estimate
		}
		at := func(samples int) float64 {
			draws, err := draw(t.Context(), m, words, samples, seed.Derive("learn"), 1)
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := draw(t.Context(), m, words, samples, seed.Derive("measure"), 1)
			if err != nil {
				t.Fatal(err)
			}
			return measured(draws, fresh)
		}
		outcomes := func(label string) Draws {
			d := Draws{PerInput: 10}
			for w := range mechanisms.WordID(n) {
				words := slices.Repeat([]mechanisms.WordID{w}, d.PerInput)
				rng := stream.FromUint64(6).Derive(s.Mechanism).At(uint64(w)).Derive(label).Rand()
				if err := m.Privatize(t.Context(), words, words, rng); err != nil {
					t.Fatal(err)
				}
				for _, y := range words {
					d.Outputs = append(d.Outputs, int32(y))
				}
			}
			return d
		}
		truth, few, kind := at(300), at(10), measured(outcomes("learn"), outcomes("measure"))
		if few < truth-0.02 || few > truth+0.02 || s.Mechanism == "rank-fix" && kind < few+0.02 {
			t.Errorf("%s: %.4f, from ten draws %.4f, from ten outcomes %.4f", s.Mechanism, truth, few, kind)
		}
	}
}

// What is estimated from draws is never above the error of guessing the output itself, as
// counted here on draws of our own, nor of the most frequent word: over all words, with a
// uniform and a skewed prior, and over the words of a text. Intervals are of a level at which
// a false alarm is below 1e-6: 20,000 words, five standard errors.
func TestEstimateIsNotAboveReadingTheOutput(t *testing.T) {
	t.Parallel()
	const n, runs = 400, 20_000
	space := spacetest.Gaussian(t, n, 30, 1, 3)
	counts := make([]int, n)
	for w := range counts {
		counts[w] = 1 + 2000/(w+1)
	}
	for _, s := range []mechanisms.Settings{{Mechanism: "cmp", Epsilon: 6}, {Mechanism: "cmp", Epsilon: 0.1},
		{Mechanism: "mahalanobis", Epsilon: 7}, {Mechanism: "vickrey", Epsilon: 6}, {Mechanism: "rank-fix", Epsilon: 8},
		{Mechanism: "kth", Epsilon: 6, Parameters: mechanisms.Parameters{"k": 1.0}}} {
		m, err := mechanisms.New(mechanisms.Environment{Space: space}, s)
		if err != nil {
			t.Fatalf("%s: %v", s.Mechanism, err)
		}
		_, corpus := wordsOf(counts)
		i, err := Estimate(t.Context(), m, corpus, Options{Samples: 5, Seed: stream.FromUint64(5), Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		text, _, err := OfText(t.Context(), m, counts, textOf(counts, runs, stream.FromUint64(9)),
			Options{Samples: 5, Seed: stream.FromUint64(6), Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			counts []int
			got    float64
		}{
			{"uniform", slices.Repeat([]int{1}, n), i.Errors[0].MAP.Estimate},
			{"corpus", counts, i.Errors[1].MAP.Estimate},
			{"text", counts, text.Estimate},
		} {
			tokens := textOf(c.counts, runs, stream.FromUint64(7))
			outputs := slices.Clone(tokens)
			if err := m.Privatize(t.Context(), outputs, tokens, stream.FromUint64(8).Rand()); err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for k, y := range outputs {
				if y != tokens[k] {
					wrong++
				}
			}
			_, prior := wordsOf(c.counts)
			reads := min(float64(wrong)/runs, 1-slices.Max(prior))
			// Of five draws a word: the standard error of the estimate under this prior, and of ours.
			squares := 1.0 / runs
			for _, p := range prior {
				squares += p * p / 5
			}
			if most := reads + 5*math.Sqrt(squares*reads*(1-reads)); c.got > most {
				t.Errorf("%s, ε = %v, %s prior: E_M = %.4f, want at most %.4f, what simple guesses err in, and %.4f", s.Mechanism,
					s.Epsilon, c.name, c.got, reads, most-reads)
			}
		}
	}
}

// textOf draws n words of a text that has each so often.
func textOf(counts []int, n int, seed stream.Seed) []mechanisms.WordID {
	var text []mechanisms.WordID
	for w, count := range counts {
		text = append(text, slices.Repeat([]mechanisms.WordID{mechanisms.WordID(w)}, count)...)
	}
	rng := seed.Rand()
	drawn := make([]mechanisms.WordID, n)
	for i := range drawn {
		drawn[i] = text[rng.IntN(len(text))]
	}
	return drawn
}

// Of three tails that may fail each has a third of what is allowed.
func TestLevelOfEach(t *testing.T) {
	for _, level := range []float64{0.9, 0.95, 0.99} {
		tail := (1 - levelOfEach(level)) / 2
		if got := 3 * tail; math.Abs(got-(1-level)) > 1e-12 {
			t.Errorf("three tails fail with probability %v together, want %v at the level %v", got, 1-level, level)
		}
	}
}
