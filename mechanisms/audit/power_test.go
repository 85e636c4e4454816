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

// noisyOnes are the mechanisms whose promise is one of their noise.
func noisyOnes(t *testing.T, s *embeddings.Space) (names []string) {
	t.Helper()
	for _, d := range mechanisms.Ordered() {
		if d.Documents {
			continue
		}
		m, _, err := Open(environment(s), mechanisms.Settings{Mechanism: d.Name, Epsilon: 5})
		if err == nil && m != nil && m.Noise() != nil {
			names = append(names, d.Name)
		}
	}
	if len(names) < 6 {
		t.Fatalf("only %q add noise", names)
	}
	return names
}

func build(t *testing.T, s *embeddings.Space, name string, epsilon float64) *mechanisms.Mechanism {
	t.Helper()
	m, err := mechanisms.New(environment(s), mechanisms.Settings{Mechanism: name, Epsilon: epsilon})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Noise that is some times too small is found in many dimensions, where the outputs
// show nothing, from the factor on that an honest run says it would have found; at a
// third of that, as honest noise, it is not.
func TestPlantedFactors(t *testing.T) {
	t.Parallel()
	skipStatistics(t)
	s := spacetest.Gaussian(t, 200, 100, 1, 5)
	o := Options{Samples: 4_000, Words: 1, Seed: stream.FromUint64(7)}
	for _, name := range noisyOnes(t, s) {
		honest := judged(t, build(t, s, name, 5), s, o)
		if honest.Violated || !honest.InNoise || !(honest.Detects > 1 && honest.Detects < 1.5) {
			t.Errorf("%s: %s; would have found %v times its ε", name, honest.Verdict(), honest.Detects)
		}
		for factor, found := range map[float64]bool{1.5: true, honest.Detects * 1.02: true, 1 + (honest.Detects-1)/3: false} {
			r := judged(t, build(t, s, name, 5*factor).Promising(honest.Guarantee), s, o)
			if breach(r) != found {
				t.Errorf("%s, %v times its ε: %s; %+v", name, factor, r.Verdict(), r.Worst)
			}
		}
	}
}

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

// A factor that an exact run says it would have found is found, for all words; the
// third part of it is not.
func TestPlantedOnAllWords(t *testing.T) {
	t.Parallel()
	gaussian := spacetest.Gaussian(t, 200, 10, 1, 5)
	rows := []string{"santext", "tem", "syntf", "k-rr", "diffractor", "hyperbolic"} // known, between any two words
	for _, name := range rows {
		s := gaussian
		if name == "hyperbolic" {
			s = spacetest.Ball(t, s)
		}
		m := build(t, s, name, 2)
		honest := judged(t, m, s, Options{})
		if honest.Violated || honest.Words != 200 || honest.Detects < 1 || honest.DetectsOne < honest.Detects {
			t.Fatalf("%s: %s, %s", name, honest.Verdict(), honest.DetectsText())
		}
		for factor, found := range map[float64]bool{1.01 * honest.Detects: true, 1 + (honest.Detects-1)/2: false} {
			r := judged(t, build(t, s, name, 2*factor).Promising(m.Guarantee()), s, Options{})
			if breach(r) != found && honest.Detects > 1.02 { // else the bound is met: any more is found
				t.Errorf("%s, %v times its ε, would have found %v: %s", name, factor, honest.Detects, r.Verdict())
			}
		}
	}
}

// Of mechanisms that only draw words, one and a half times the promised ε is found in
// the outputs, where these show the noise: three bits, all of whose codes have a word.
func TestPlantedInOutputs(t *testing.T) {
	t.Parallel()
	skipStatistics(t)
	s := spacetest.Gaussian(t, 60, 4, 1, 5)
	o := Options{Samples: 40_000, Words: 60, Seed: stream.FromUint64(9)}
	brr := func(epsilon float64) *mechanisms.Mechanism {
		m, err := mechanisms.New(environment(s), mechanisms.Settings{Mechanism: "brr", Epsilon: epsilon,
			Parameters: mechanisms.Parameters{"bits": 3.0}})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	honest := brr(1)
	for factor, found := range map[float64]bool{1: false, 1.5: true, 2: true} {
		r := judged(t, brr(factor).Promising(honest.Guarantee()), s, o)
		if breach(r) != found {
			t.Errorf("brr, %v times its ε: %s; %+v", factor, r.Verdict(), r.Worst)
		}
	}
}

// A word of 50 or of 1,000 that is always kept is found by an exact run, whichever
// it is: all are looked at.
func TestKeptWordIsFound(t *testing.T) {
	t.Parallel()
	for _, n := range []int{50, 1000} {
		s := spacetest.Gaussian(t, n, 10, 1, 6)
		m := build(t, s, "santext", 0.5)
		for seed := range 10 {
			word := s.Vocabulary.Word(embeddings.WordID(seed * 7919 % n))
			planted := mechanisms.KeepWords(m, []string{word}).Promising(m.Guarantee())
			r := judged(t, planted, s, Options{Seed: stream.FromUint64(uint64(seed))})
			if !breach(r) || r.Worst.A != word && r.Worst.B != word {
				t.Errorf("%s of %d: %s, %+v", word, n, r.Verdict(), r.Worst)
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
	m, near := build(t, s, "santext", 0.5), neighborsOf(s)
	found := 0
	for seed := range 10 {
		word := embeddings.WordID(seed * 7919 % n)
		own, err := m.Row(word)
		other, failed := m.Row(near[word].ID)
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		target := other[word] * math.Exp(0.5*near[word].Distance+excess)
		box := boxed{m, s.Vocabulary.Word(word), (target - own[word]) / (1 - own[word])}
		r := judged(t, box.open(t, s), s, Options{Samples: samples, Words: n, Seed: stream.FromUint64(uint64(seed))})
		t.Logf("%d words, %s kept with %.3f for %.3f: %s %+v", n, box.word, target, own[word], r.Verdict(), r.Worst)
		if breach(r) {
			found++
		}
	}
	if found < 9 {
		t.Errorf("one word of %d: found with %d of 10 seeds", n, found)
	}
}

// 300 honest audits of boxes and of their noise, each accused with probability 1e-6 at
// most: 6e-4 in all.
func TestHonest(t *testing.T) {
	t.Parallel()
	skipStatistics(t)
	s := spacetest.Gaussian(t, 10, 3, 1, 8)
	names := []string{"k-rr", "santext", "cmp", "vickrey", "rank-fix"}
	for i := range 300 {
		m := build(t, s, names[i%len(names)], []float64{0.1, 1, 4}[i/len(names)%3])
		seed := stream.FromUint64(12).Derive(strconv.Itoa(i))
		r := judged(t, boxed{m, "", 0}.open(t, s), s, Options{Samples: 1000, Words: 2, Seed: seed})
		if r.Violated || r.Method == Sampled && !strings.HasPrefix(r.DetectsText(), "what it would have found: not measured; ") {
			t.Errorf("run %d: %s, %+v", i, r.Verdict(), r.Worst)
		}
		if m.Noise() == nil {
			continue
		}
		f, err := noise(t.Context(), m.Noise(), s, 2000, 1e-6, seed)
		if err != nil || f.LogRatio > m.Guarantee().Epsilon {
			t.Errorf("run %d, %s: %+v, ε = %v, %v", i, m.Settings().Mechanism, f, m.Guarantee().Epsilon, err)
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
