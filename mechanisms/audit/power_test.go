package audit

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/realdata"
	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// boxed is a mechanism as a command: only what it returns is seen. It returns one
// word for itself more often than the mechanism does.
type boxed struct {
	*mechanisms.Mechanism
	word  string
	extra float64 // probability
}

func (b boxed) Settings() mechanisms.Settings {
	return mechanisms.Settings{Mechanism: "boxed", Variant: mechanisms.External, Epsilon: b.Mechanism.Settings().Epsilon}
}
func (b boxed) Aligned() bool { return true }

func (b boxed) Rewrite(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	out, v := make([][]string, len(documents)), b.Vocabulary()
	for i, d := range documents {
		rng, ids := seeds[i].Rand(), v.Encode(nil, d)
		if err := b.Privatize(ctx, ids, ids, rng); err != nil {
			return nil, err
		}
		for j, id := range ids {
			out[i] = append(out[i], v.Word(id))
			if d[j] == b.word && rng.Float64() < b.extra {
				out[i][j] = b.word
			}
		}
	}
	return out, nil
}

func (b boxed) open(t *testing.T, s *embeddings.Space) *mechanisms.Mechanism {
	t.Helper()
	m, err := mechanisms.WordByWord(b, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// exactOnes are the mechanisms with rows and a promise between any two words.
var exactOnes = []string{"santext", "tem", "syntf", "k-rr", "diffractor"}

// A factor that an exact run says it would have found is found, for all words; the
// third part of it is not.
func TestPlantedOnAllWords(t *testing.T) {
	t.Parallel()
	s := spacetest.Gaussian(t, 200, 10, 1, 5)
	for _, name := range exactOnes {
		m := build(t, s, name, 2, 1)
		honest, err := Mechanism(t.Context(), m, s, Options{})
		if err != nil || honest.Violated || honest.Words != 200 || honest.Detects < 1 || honest.DetectsOne < honest.Detects {
			t.Fatalf("%s: %s, %s, %v", name, honest.Verdict(), honest.DetectsText(), err)
		}
		for factor, found := range map[float64]bool{1.01 * honest.Detects: true, 1 + (honest.Detects-1)/2: false} {
			if honest.Detects < 1.02 {
				continue // the bound is met: any more is found
			}
			r, err := Mechanism(t.Context(), build(t, s, name, 2*factor, 1).Promising(m.Guarantee()), s, Options{})
			if err != nil || r.Breach() != found {
				t.Errorf("%s, %v times its ε, would have found %v: %s, %v", name, factor, honest.Detects, r.Verdict(), err)
			}
		}
	}
}

// A word of 50 or of 1,000 that is always kept is found by an exact run, whichever
// it is: all are looked at.
func TestKeptWordIsFound(t *testing.T) {
	t.Parallel()
	for _, n := range []int{50, 1000} {
		s := spacetest.Gaussian(t, n, 10, 1, 6)
		m := build(t, s, "santext", 0.5, 1)
		for seed := range 10 {
			word := s.Vocabulary.Word(embeddings.WordID(seed * 7919 % n))
			planted := mechanisms.KeepWords(m, []string{word}).Promising(m.Guarantee())
			r, err := Mechanism(t.Context(), planted, s, Options{Seed: stream.FromUint64(uint64(seed))})
			if err != nil || !r.Breach() || r.Worst.A != word && r.Worst.B != word {
				t.Errorf("%s of %d: %s, %+v, %v", word, n, r.Verdict(), r.Worst, err)
			}
		}
	}
}

// A word that a black box keeps too often, by so much in the logarithm beyond what is
// allowed, is found in at least 9 of 10 seeds: by a quarter among 50 words; by .7
// among 1,000, where outputs are 14 times as rare.
func TestPlantedWordOfABox(t *testing.T) {
	t.Parallel()
	skipStatistics(t)
	plantWord(t, 50, 0.25, 60_000)
}

func TestLongPlantedWordOfABox(t *testing.T) {
	realdata.Long(t)
	t.Parallel()
	plantWord(t, 1000, 0.7, 200_000)
}

func plantWord(t *testing.T, n int, excess float64, samples int) {
	t.Helper()
	s := spacetest.Gaussian(t, n, 20, 1.5, 7)
	m, near := build(t, s, "santext", 0.5, 1), neighborsOf(s)
	found := 0
	for seed := range 10 {
		word := embeddings.WordID(seed * 7919 % n)
		own, err := m.Row(word)
		if err != nil {
			t.Fatal(err)
		}
		other, err := m.Row(near[word].ID)
		if err != nil {
			t.Fatal(err)
		}
		target := other[word] * math.Exp(0.5*near[word].Distance+excess)
		box := boxed{m, s.Vocabulary.Word(word), (target - own[word]) / (1 - own[word])}
		r, err := Mechanism(t.Context(), box.open(t, s), s,
			Options{Samples: samples, Words: n, Seed: stream.FromUint64(uint64(seed))})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d words, %s kept with %.3f for %.3f: %s %+v", n, box.word, target, own[word], r.Verdict(), r.Worst)
		if r.Breach() {
			found++
		}
	}
	if found < 9 {
		t.Errorf("one word of %d: found with %d of 10 seeds", n, found)
	}
}

// 300 honest audits of boxes, each accused with probability 1e-6 at most: 3e-4 in
// all.
func TestHonestBoxes(t *testing.T) {
	t.Parallel()
	skipStatistics(t)
	s := spacetest.Gaussian(t, 30, 5, 1, 8)
	for i := range 300 {
		m := build(t, s, []string{"k-rr", "santext", "cmp"}[i%3], []float64{0.1, 1, 4}[i/3%3], 1)
		r, err := Mechanism(t.Context(), boxed{m, "", 0}.open(t, s), s,
			Options{Samples: 1000, Words: 6, Seed: stream.FromUint64(12).Derive(strconv.Itoa(i))})
		if err != nil || r.Violated || r.DetectsText() != "what it would have found: not measured" {
			t.Errorf("run %d: %s, %+v, %v", i, r.Verdict(), r.Worst, err)
		}
	}
}

// Where ε times a distance is beyond float64 the verdict is "undefined", never
// "violated", whatever the method and the metric.
func TestHugeEpsilonIsUndefined(t *testing.T) {
	t.Parallel()
	s := spacetest.Gaussian(t, 80, 3, 10, 1)
	for _, name := range append([]string{"cmp", "vickrey", "mahalanobis", "custext"}, exactOnes...) {
		for _, epsilon := range []float64{1e300, 1e307, math.MaxFloat64} {
			r, err := Mechanism(t.Context(), build(t, s, name, epsilon, 1), s, Options{Samples: 1000})
			if err != nil || r.Violated {
				t.Errorf("%s at ε = %v: %s, %+v, %v", name, epsilon, r.Verdict(), r.Worst, err)
			}
			if name == "santext" && epsilon > 1e307 && !strings.Contains(r.Verdict(), "not audited: undefined: epsilon = ") {
				t.Errorf("%s at ε = %v: %s", name, epsilon, r.Verdict())
			}
		}
	}
}

// The words looked at are spread over the orders, different, and as many as asked.
func TestWordsLookedAt(t *testing.T) {
	t.Parallel()
	s := spacetest.Gaussian(t, 500, 5, 1, 9)
	for _, n := range []int{1, 2, 40, 499, 500} {
		seen, rare := map[embeddings.WordID]bool{}, 0
		for _, w := range look(s, n, neighborsOf(s), 0.7) {
			seen[w] = true
			if w >= 250 {
				rare++
			}
		}
		if len(seen) != n || n > 30 && (rare < n/3 || rare > n*2/3+1) {
			t.Errorf("%d words: %d different, %d in the rarer half", n, len(seen), rare)
		}
	}
}
