package ngram

import (
	"math"
	"math/rand/v2"
	"testing"

	"mldpbench/stream"
)

func train(t testing.TB, texts [][]int32, words, order int) *Model {
	t.Helper()
	m, err := Train(texts, words, order)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Computed by hand. Words a = 0, b = 1, c = 2; texts "a b a", "a b c", "b".
//
// Pairs: (^ a) 2, (^ b) 1, (a b) 2, (b a) 1, (b c) 1. Counts of single words are
// numbers of different words before them: a: ^, b = 2; b: ^, a = 2; c: b = 1;
// total 5. Too few to estimate discounts: ½, 1, 1½ everywhere.
//
// Single words, uniform over 4 (the unknown word is one): taken off are
// ½ + 1 + 1 = 2½. P(a) = P(b) = (2 − 1 + 2½/4)/5 = .325, P(c) = (½ + .625)/5 =
// .225, P(unknown) = .625/5 = .125.
//
// After b: total 2, both counts 1, taken off 1: P(a|b) = (½ + .325)/2 = .4125,
// P(b|b) = .325/2 = .1625. After a: total 2, one count of 2, taken off 1:
// P(b|a) = (1 + .325)/2 = .6625. At the start: total 3, counts 2 and 1, taken
// off 1½: P(a|^) = (1 + 1½·.325)/3. After c nothing was seen: P(a|c) = P(a).
//
// Of order 3: triples (^ a b) 2, (a b a) 1, (a b c) 1; the text "b" has none. Pairs
// now count different words before them: (a b) is after ^ only: 1; (b a): 1; (b c):
// 1; and at the start occurrences: (^ a) 2, (^ b) 1. Single words as before.
// P₂(b|a) = ½ + ½·P(b), P₂(a|b) = (½ + .325)/2.
func TestByHand(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		order   int
		history []int32
		start   bool
		word    int32
		want    float64
	}{
		{2, nil, false, 0, 0.325}, {2, nil, false, 2, 0.225}, {2, nil, false, 99, 0.125}, {2, nil, false, none, 0.125},
		{2, []int32{1}, false, 0, 0.4125}, {2, []int32{1}, false, 1, 0.1625}, {2, []int32{2, 0}, false, 1, 0.6625},
		{2, nil, true, 0, (1 + 1.5*0.325) / 3}, {2, []int32{2}, true, 0, 0.325},
		{3, []int32{0}, false, 1, 0.6625}, {3, []int32{0}, true, 1, (1 + 0.6625) / 2},
		{3, []int32{1}, false, 0, 0.4125}, {3, []int32{0, 1}, false, 0, (0.5 + 0.4125) / 2},
	} {
		m := train(t, [][]int32{{0, 1, 0}, {0, 1, 2}, {1}}, 3, c.order)
		h := m.After(c.history)
		if c.start {
			h = m.AfterStart(c.history)
		}
		if got := h.Probability(c.word); !(math.Abs(got-c.want) <= 1e-12) {
			t.Errorf("order %d: P(%d|%d) = %v, want %v", c.order, c.word, c.history, got, c.want)
		}
	}
}

// zipfian texts have every kind of count.
func zipfian(rng *rand.Rand, texts, words int) [][]int32 {
	out := make([][]int32, texts)
	for i := range out {
		w := int32(0)
		for range rng.IntN(20) {
			if rng.IntN(3) > 0 {
				w = int32(float64(words) * math.Pow(rng.Float64(), 3))
			} else {
				w = (w*7 + 1) % int32(words)
			}
			out[i] = append(out[i], w)
		}
	}
	return out
}

func TestSumsToOne(t *testing.T) {
	rng := stream.FromUint64(1).Derive("ngram").Rand()
	const words = 60
	texts := zipfian(rng, 800, words+3) // the last three are unknown
	for _, order := range []int{1, 2, 3, 5} {
		m := train(t, texts, words, order)
		for range 200 {
			history := zipfian(rng, 1, words+3)[0]
			if rng.IntN(2) == 0 {
				text := texts[rng.IntN(len(texts))]
				history = text[:rng.IntN(len(text)+1)]
			}
			h := m.After(history)
			if rng.IntN(2) == 0 {
				h = m.AfterStart(history)
			}
			sum := 0.0
			for w := range int32(words + 1) {
				p := h.Probability(w)
				if !(p > 0 && p < 1) {
					t.Fatalf("order %d: P(%d|%d) = %v, want a number between 0 and 1", order, w, history, p)
				}
				sum += p
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Fatalf("order %d: the probabilities of all words after %d sum to %v, want 1", order, history, sum)
			}
		}
	}
}

// A longer history must help on text with such dependence, and any order must
// beat the uniform distribution.
func TestOrderHelps(t *testing.T) {
	rng := stream.FromUint64(2).Derive("ngram").Rand()
	const words = 60
	texts, held := zipfian(rng, 4000, words), zipfian(rng, 300, words)
	perplexity := func(order int) float64 {
		m := train(t, texts, words, order)
		sum, n := 0.0, 0
		for _, text := range held {
			for i, w := range text {
				h := m.After(text[max(0, i-order):i])
				if i < order {
					h = m.AfterStart(text[:i])
				}
				sum += math.Log(h.Probability(w))
			}
			n += len(text)
		}
		return math.Exp(-sum / float64(n))
	}
	one, two := perplexity(1), perplexity(2)
	t.Logf("perplexity %.2f with one word, %.2f with two", one, two)
	if !(two < 0.9*one && one < words) {
		t.Errorf("perplexity %.2f with one word, %.2f with two, %d words", one, two, words)
	}
}

func TestTrainErrors(t *testing.T) {
	for _, c := range []struct {
		texts        [][]int32
		words, order int
	}{{nil, 3, 2}, {[][]int32{{}}, 3, 2}, {[][]int32{{0}}, 0, 2}, {[][]int32{{0}}, 3, 0}} {
		if _, err := Train(c.texts, c.words, c.order); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
}
