package audit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// claimed is a mechanism of one text that claims ε for any two documents.
func claimed(epsilon float64, release func(text string, rng *rand.Rand) string) Claimed {
	return Claimed{
		Release: func(_ context.Context, texts []string, seeds []stream.Seed) ([]string, error) {
			out := make([]string, len(texts))
			for i, text := range texts {
				out[i] = release(text, seeds[i].Rand())
			}
			return out, nil
		},
		Allowed: func(string, string) (float64, bool) { return epsilon, true },
	}
}

// honestTexts are what honest releases.
var honestTexts = []string{"a good film", "oil prices rise, says bank", "The team won 3 games!", "new school",
	"a camera and a phone", "born in the city", "music", "nothing new today"}

// honest is ε-private between any two documents: a text that follows from the words is e^ε times
// as likely as any of the others.
func honest(epsilon float64) func(text string, rng *rand.Rand) string {
	return func(text string, rng *rand.Rand) string {
		near := 0
		for _, r := range text {
			near += int(r)
		}
		near %= len(honestTexts)
		weight := math.Exp(epsilon)
		if rng.Float64() < weight/(weight+float64(len(honestTexts)-1)) {
			return honestTexts[near]
		}
		other := rng.IntN(len(honestTexts) - 1)
		if other >= near {
			other++
		}
		return honestTexts[other]
	}
}

// leaks are planted in an honest mechanism.
var leaks = map[string]func(epsilon float64) func(text string, rng *rand.Rand) string{
	"words outside the vocabulary are kept": keeping(func(word string) bool {
		return strings.ContainsAny(word, "q") && strings.Contains(word, "zz") || word == "vrblk"
	}),
	"stop words are kept": keeping(func(word string) bool {
		return slices.Contains([]string{"the", "of", "not", "and", "a"}, word)
	}),
	"the number of words shows": func(epsilon float64) func(string, *rand.Rand) string {
		return func(text string, rng *rand.Rand) string {
			n := len(strings.Fields(text))
			return strings.TrimSpace(strings.Repeat(honest(epsilon)("", rng)+" ", n))
		}
	},
	"punctuation is kept": func(epsilon float64) func(string, *rand.Rand) string {
		return func(text string, rng *rand.Rand) string {
			signs := strings.Map(func(r rune) rune {
				if unicode.IsPunct(r) {
					return r
				}
				return -1
			}, text)
			return honest(epsilon)(text, rng) + signs
		}
	},
	"case is kept": func(epsilon float64) func(string, *rand.Rand) string {
		return func(text string, rng *rand.Rand) string {
			after := strings.ToLower(honest(epsilon)(strings.ToLower(text), rng))
			if text != "" && text == strings.ToUpper(text) {
				return strings.ToUpper(after)
			}
			return after
		}
	},
	"numbers are kept": keeping(func(word string) bool { return strings.ContainsAny(word, "0123456789") }),
	"the budget depends on the number of words": func(epsilon float64) func(string, *rand.Rand) string {
		return func(text string, rng *rand.Rand) string {
			own := epsilon * float64(len(strings.Fields(text))) / 5
			return honest(own)(text, rng)
		}
	},
	"a text without words comes back": func(epsilon float64) func(string, *rand.Rand) string {
		return func(text string, rng *rand.Rand) string {
			if strings.TrimSpace(text) == "" {
				return text
			}
			return honest(epsilon)(text, rng)
		}
	},
}

// keeping releases the words of a kind beside an honest text.
func keeping(kind func(word string) bool) func(epsilon float64) func(text string, rng *rand.Rand) string {
	return func(epsilon float64) func(text string, rng *rand.Rand) string {
		return func(text string, rng *rand.Rand) string {
			after := honest(epsilon)(text, rng)
			for _, w := range strings.Fields(text) {
				if kind(w) {
					after += " " + w
				}
			}
			return after
		}
	}
}

// Each planted leak is found with at least 9 of 10 seeds, with a pair that differs in it; where
// ε is larger as well.
func TestPlantedDocumentLeaks(t *testing.T) {
	t.Parallel()
	skipStatistics(t)
	for name, leak := range leaks {
		for _, epsilon := range []float64{1, 4} {
			found := 0
			var missed Search
			for seed := range uint64(10) {
				s, err := SearchDocuments(t.Context(), claimed(epsilon, leak(epsilon)),
					SearchOptions{Requests: 40_000, Seed: stream.FromUint64(seed)})
				if err != nil {
					t.Fatal(err)
				}
				if s.Violated {
					found++
				} else {
					missed = s
				}
			}
			if found < 9 {
				t.Errorf("%s, ε = %v: found with %d of 10 seeds, want at least 9: %s, %+v", name, epsilon, found,
					missed.Verdict(), missed)
			}
		}
	}
}

// Of 200 runs of honest mechanisms, none is accused; each is with a probability of 1e-6 at most,
// by construction.
func TestHonestDocumentsAreNotAccused(t *testing.T) {
	t.Parallel()
	skipStatistics(t)
	for seed := range uint64(200) {
		epsilon := []float64{0.2, 1, 2, 4}[seed%4]
		s, err := SearchDocuments(t.Context(), claimed(epsilon, honest(epsilon)),
			SearchOptions{Requests: 8_000, Seed: stream.FromUint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		if s.Violated {
			t.Fatalf("seed %d, ε = %v: %s, %+v, want that it is not refuted", seed, epsilon, s.Verdict(), s)
		}
		if s.Requests > 8_000 || s.Tested == 0 {
			t.Errorf("%d requests and %d tested pairs, want at most 8000 and some", s.Requests, s.Tested)
		}
	}
}

// What it says it would have found, it finds: randomised response at that factor on the pair, with
// at least 170 of 200 seeds where .9 are stated (fewer by chance in 1 of 100 such tests at most,
// of seeds that are fixed).
func TestSearchPower(t *testing.T) {
	const n, epsilon, alpha = 2000, 2.0, 1e-6
	factor := detects(epsilon, n, alpha)
	if !(factor > 1 && factor < 2) {
		t.Fatalf("%d releases would find %v times ε, want between 1 and 2", n, factor)
	}
	p := 1 / (1 + math.Exp(-factor*epsilon))
	found := 0
	for seed := range uint64(200) {
		rng := stream.FromUint64(seed).Rand()
		inA, inB := 0, 0
		for range n {
			if rng.Float64() < p {
				inA++
			}
			if rng.Float64() > p {
				inB++
			}
		}
		if logRatio(inA, inB, n, alpha) > epsilon {
			found++
		}
	}
	if found < 170 {
		t.Errorf("%v times ε is found with %d of 200 seeds, want at least 170", factor, found)
	}
	if got := detects(30, n, alpha); got != 0 {
		t.Errorf("ε = 30 would be found at %v times, want that none would", got)
	}
}

// select is not refuted, at what it claims; at half of that it is.
func TestSearchSelect(t *testing.T) {
	t.Parallel()
	skipStatistics(t)
	env := publicTexts(t)
	env.Tokens = func(text string) (tokens []string) { // any word is one of the space
		for _, w := range strings.Fields(text) {
			if env.Space.Vocabulary.ID(w) == embeddings.Unknown {
				w = fmt.Sprintf("w%d", 7*len(w)+int(w[0])%7)
			}
			tokens = append(tokens, w)
		}
		return tokens
	}
	m, err := mechanisms.New(env, mechanisms.Settings{Mechanism: "select", Epsilon: 4,
		Parameters: mechanisms.Parameters{"k": 2}})
	if err != nil {
		t.Fatal(err)
	}
	for claim, violated := range map[float64]bool{4: false, 1: true} {
		c := Claimed{Release: m.Documents().Draw, Allowed: func(string, string) (float64, bool) { return claim, true }}
		s, err := SearchDocuments(t.Context(), c, SearchOptions{Requests: 40_000, Seed: stream.FromUint64(1)})
		if err != nil {
			t.Fatal(err)
		}
		if s.Violated != violated {
			t.Errorf("ε = 4 that claims %v: %s, %+v", claim, s.Verdict(), s)
		}
	}
}

// Bad options, and mechanisms of which nothing is claimed or that fail.
func TestSearchDocumentsRefuses(t *testing.T) {
	c := claimed(1, honest(1))
	for _, o := range []SearchOptions{{Requests: 10}, {Alpha: 2}, {Requests: -1}} {
		if _, err := SearchDocuments(t.Context(), c, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	c.Allowed = func(string, string) (float64, bool) { return 0, false }
	s, err := SearchDocuments(t.Context(), c, SearchOptions{Requests: 8000})
	if err != nil || s.Violated || !strings.Contains(s.Verdict(), "nothing is claimed") {
		t.Errorf("%s, %v, want that nothing is claimed", s.Verdict(), err)
	}
	c = claimed(1, honest(1))
	c.Release = func(context.Context, []string, []stream.Seed) ([]string, error) { return nil, fmt.Errorf("broken") }
	if _, err := SearchDocuments(t.Context(), c, SearchOptions{Requests: 8000}); err == nil {
		t.Error("a mechanism that fails is audited")
	}
}
