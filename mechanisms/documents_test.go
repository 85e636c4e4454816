package mechanisms

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// poolEnvironment has n public texts of words of a space of 40.
func poolEnvironment(t testing.TB, n int) Environment {
	t.Helper()
	env := environment(spacetest.Gaussian(t, 40, 6, 1, 31))
	rng := stream.FromUint64(32).Rand()
	var texts []string
	for i := range n {
		texts = append(texts, fmt.Sprintf("public%d %s", i, wordsOf(rng, 1+rng.IntN(6))))
	}
	env.Pool = func(name string) ([]string, error) {
		if name != OwnPool {
			return nil, fmt.Errorf("no pool %s", name)
		}
		return texts, nil
	}
	return env
}

// wordsOf is a text of n words.
func wordsOf(rng *rand.Rand, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", rng.IntN(40))
	}
	return strings.Join(words, " ")
}

// someTexts are odd ones, and some of known words.
func someTexts() []string {
	texts := []string{"", " ", "?", "unheard", "UNHEARD 12", strings.Repeat("w1 ", 300), "w1", "w2 w3", "w3 w2"}
	rng := stream.FromUint64(33).Rand()
	for range 20 {
		texts = append(texts, wordsOf(rng, 1+rng.IntN(9)))
	}
	return texts
}

// documentMechanisms builds all variants of all mechanisms of documents.
func documentMechanisms(t *testing.T, env Environment, epsilon float64) (all []*Mechanism) {
	t.Helper()
	for _, d := range Definitions() {
		for _, v := range d.Variants {
			if !d.Documents {
				continue
			}
			s := Settings{Mechanism: d.Name, Variant: v, Epsilon: epsilon}
			if slices.ContainsFunc(d.Parameters, func(p Parameter) bool { return p.Name == "k" && p.Of(string(v)) }) {
				s.Parameters = Parameters{"k": 7}
			}
			all = append(all, mustNew(t, env, s))
		}
	}
	return all
}

// TestDocuments is TestConformance for mechanisms of documents: rows sum to one, keep the
// guarantee between any two texts and are what is drawn, whoever works and in which batches;
// empty texts are replaced. Each fit fails a true sample with a probability of 1e-6.
func TestDocuments(t *testing.T) {
	env := poolEnvironment(t, 50)
	for _, epsilon := range []float64{1e-9, 0.5, 4, 60} {
		for _, m := range documentMechanisms(t, env, epsilon) {
			name := fmt.Sprintf("%s %s at ε = %v", m.settings.Mechanism, m.settings.Variant, epsilon)
			requireDocumentRows(t, name, m)
			if epsilon == 4 {
				requireDocumentDraws(t, name, m)
			}
		}
	}
	for _, m := range documentMechanisms(t, env, 2) {
		g := m.Guarantee()
		says := "between any two documents, whatever their lengths; no metric"
		if g.Holds() && (g.Metric != AnyDocuments || !strings.Contains(g.String(), says)) || g.Reason == "" {
			t.Errorf("%s %s guarantees %q, want %q", m.settings.Mechanism, m.settings.Variant, g, says)
		}
		if other, err := m.At(3); err != nil || other.Settings().Epsilon != 3 || other.Documents() == nil {
			t.Errorf("%s at another ε: %v, %v", m.settings.Mechanism, other, err)
		}
		if m.TakesWords() {
			t.Errorf("%s takes words", m.settings.Mechanism)
		}
	}
}

// requireDocumentRows checks the rows of some texts.
func requireDocumentRows(t *testing.T, name string, m *Mechanism) {
	t.Helper()
	d := m.Documents()
	rows, err := d.LogRows(ctx, someTexts())
	if err != nil {
		t.Fatal(err)
	}
	most := 0.0
	for i, row := range rows {
		sum := 0.0
		for y, x := range row {
			sum += math.Exp(x)
			for _, other := range rows {
				if !math.IsInf(x, -1) {
					most = max(most, x-other[y])
				}
			}
		}
		if len(row) != len(d.Outputs) || math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: the %d probabilities of text %d sum to %v, want %d that sum to 1", name, len(row), i, sum,
				len(d.Outputs))
		}
	}
	g := m.Guarantee()
	if g.Holds() && most > g.Epsilon*(1+1e-9)+1e-12 {
		t.Errorf("%s: a log-ratio of %v, want at most %v", name, most, g.Epsilon)
	}
	if !g.Holds() && !math.IsInf(most, 1) {
		t.Errorf("%s guarantees nothing, and has no log-ratio above %v", name, most)
	}
	if m.settings.Variant == Proved && math.Abs(most-g.Epsilon) > 1e-9*max(1, g.Epsilon) {
		t.Errorf("%s: the greatest log-ratio is %v, want all of ε = %v", name, most, g.Epsilon)
	}
}

// requireDocumentDraws checks what is drawn of some texts.
func requireDocumentDraws(t *testing.T, name string, m *Mechanism) {
	t.Helper()
	d := m.Documents()
	number := map[string]int{}
	for i, text := range d.Outputs {
		number[text] = i
	}
	const draws = 20_000
	for _, text := range []string{"", "w1", "w2 w3 w9 unheard"} {
		rows, err := d.LogRows(ctx, []string{text})
		if err != nil {
			t.Fatal(err)
		}
		texts := slices.Repeat([]string{text}, draws)
		private, err := PrivatizeDocuments(ctx, m, texts, TextOptions{Seed: stream.FromUint64(34), Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, len(d.Outputs))
		for _, text := range private {
			counts[number[text]]++
		}
		law := make([]float64, len(counts))
		for y, x := range rows[0] {
			law[y] = math.Exp(x)
		}
		requireFit(t, name, counts, law)
		seeds := []stream.Seed{stream.FromUint64(34).At(77)}
		alone, err := PrivatizeDocuments(ctx, m, texts[:1], TextOptions{Seeds: seeds})
		if err != nil || alone[0] != private[77] {
			t.Errorf("%s: text 77 became %q alone, want %q as together, %v", name, alone, private[77], err)
		}
	}
	tokens := [][]string{{}, {"w1", "w2"}}
	private, err := PrivatizeText(ctx, m, tokens, TextOptions{})
	if err != nil || len(private[0]) == 0 || len(private[1]) == 0 {
		t.Errorf("%s: tokens became %q, want words for both, %v", name, private, err)
	}
}

// The k nearest of n texts have together k·e^ε/(k·e^ε + n − k), whatever is read, and are the
// nearest.
func TestSelectByHand(t *testing.T) {
	const n, k, epsilon = 50, 7, 2.5
	parameters := Parameters{"k": k}
	m := mustNew(t, poolEnvironment(t, n), Settings{Mechanism: "select", Epsilon: epsilon, Parameters: parameters})
	similar := mustNew(t, poolEnvironment(t, n), Settings{Mechanism: "select", Variant: bySimilarity, Epsilon: epsilon})
	rows, err := m.Documents().LogRows(ctx, someTexts())
	if err != nil {
		t.Fatal(err)
	}
	scores, err := similar.Documents().LogRows(ctx, someTexts())
	if err != nil {
		t.Fatal(err)
	}
	normaliser := k*math.Exp(epsilon) + n - k
	for i, row := range rows {
		var near, far []float64 // scores of similarity
		for y, x := range row {
			switch p := math.Exp(x); {
			case math.Abs(p-math.Exp(epsilon)/normaliser) < 1e-12:
				near = append(near, scores[i][y])
			case math.Abs(p-1/normaliser) < 1e-12:
				far = append(far, scores[i][y])
			default:
				t.Errorf("text %d: a probability of %v, want %v or %v", i, p, math.Exp(epsilon)/normaliser,
					1/normaliser)
			}
		}
		if len(near) != k || len(far) != n-k {
			t.Fatalf("text %d: %d texts are near and %d are not, want %d and %d", i, len(near), len(far), k, n-k)
		}
		if slices.Min(near) < slices.Max(far) {
			t.Errorf("text %d: a text that is not near has similarity %v, one that is %v", i, slices.Max(far),
				slices.Min(near))
		}
	}
}

// A private text that is public too is refused, whatever its case and spaces, unless that is
// allowed; so are pools that cannot be.
func TestSelectRefuses(t *testing.T) {
	env := poolEnvironment(t, 20)
	env.Tokens = func(text string) []string { return strings.Fields(strings.ToLower(text)) }
	texts, _ := env.Pool(OwnPool)
	shouted := "  " + strings.ToUpper(texts[3])
	privatized := func(p Parameters, text string) error {
		m := mustNew(t, env, Settings{Mechanism: "select", Epsilon: 1, Parameters: p})
		_, err := PrivatizeDocuments(ctx, m, []string{"w1", text}, TextOptions{})
		return err
	}
	if err := privatized(Parameters{"k": 3}, shouted); err == nil || !strings.Contains(err.Error(), "overlap=allow") {
		t.Errorf("a public text is private: %v, want an error that names overlap=allow", err)
	}
	if err := privatized(Parameters{"k": 3, "overlap": "allow"}, shouted); err != nil {
		t.Errorf("overlap=allow: %v, want no error", err)
	}
	if err := privatized(Parameters{"k": 3}, shouted+" more"); err != nil {
		t.Errorf("a longer text: %v, want no error", err)
	}
	for says, p := range map[string]Parameters{
		"k = 21: the pool has 20 texts":     {"k": 21},
		"size = 21: the pool own has 20":    {"size": 21},
		"k = 3: the pool has 2 texts":       {"size": 2, "k": 3},
		"must have two different texts":     {"size": 1, "k": 1},
		"no pool elsewhere":                 {"pool": "elsewhere"},
		"encoder = other: there are no":     {"encoder": "other"},
		`overlap = ignore: must be "refuse`: {"overlap": "ignore"},
		"k = 0: must be":                    {"k": 0},
	} {
		_, err := New(env, Settings{Mechanism: "select", Epsilon: 1, Parameters: p})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want an error that says %q", p, err, says)
		}
	}
	env.Pool = nil
	if _, err := New(env, Settings{Mechanism: "select", Epsilon: 1}); err == nil {
		t.Error("without public texts a mechanism is made")
	}
}

// A draw of the pool depends on its texts alone.
func TestSmallestHashes(t *testing.T) {
	env := poolEnvironment(t, 50)
	texts, _ := env.Pool(OwnPool)
	drawn := smallestHashes(texts, 10)
	backward := slices.Clone(texts)
	slices.Reverse(backward)
	again := smallestHashes(backward, 10)
	slices.Reverse(again)
	if !slices.Equal(drawn, again) {
		t.Errorf("of the same texts in another order %q are drawn, want %q", again, drawn)
	}
}

// A mechanism that gives only Draw has no rows, and one that gives neither is refused.
func TestByDocumentsDraws(t *testing.T) {
	env := poolEnvironment(t, 2)
	s := Settings{Mechanism: "mine", Epsilon: 1}
	echo := func(_ context.Context, texts []string, _ []stream.Seed) ([]string, error) { return texts, nil }
	m, err := ByDocuments(env, s, BetweenDocuments(1, "none"), Documents{Draw: echo})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Documents().Fingerprint(); got != "" {
		t.Errorf("without outputs the fingerprint is %q, want none", got)
	}
	private, err := PrivatizeDocuments(ctx, m, []string{"", " a  b\n"}, TextOptions{})
	if err != nil || !slices.Equal(private, []string{"", " a  b\n"}) {
		t.Errorf("texts became %q, want them as they are, %v", private, err)
	}
	if _, err := ByDocuments(env, s, Guarantee{}, Documents{}); err == nil {
		t.Error("a mechanism of nothing is made")
	}
	words := mustNew(t, env, Settings{Mechanism: "uniform", Epsilon: 1})
	if _, err := PrivatizeDocuments(ctx, words, []string{"a"}, TextOptions{}); err == nil {
		t.Error("a mechanism of words takes whole texts")
	}
}
