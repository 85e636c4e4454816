package mechanisms

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// wordList is a thesaurus for tests: w10k and the nine words after it are
// synonyms, printed as "W10k_lemma" and themselves; every seventh word is not
// covered.
type wordList struct{}

func (wordList) number(word string) (int, bool) {
	var i int
	_, err := fmt.Sscanf(word, "w%d", &i)
	return i, err == nil && i%7 != 6
}

func (l wordList) Covers(word string) bool {
	_, ok := l.number(word)
	return ok
}

func (l wordList) Lemmas(word string) []string {
	i, ok := l.number(word)
	if !ok {
		return nil
	}
	first := i / 10 * 10
	return []string{word, fmt.Sprintf("w%d", first), fmt.Sprintf("w%d", first+1), fmt.Sprintf("W%d_lemma", first), word}
}

func environment(s *embeddings.Space) Environment {
	return Environment{
		Space:     s,
		Thesaurus: wordList{},
		Documents: [][]string{{"w1", "w1", "w2", "w3", "outside"}, {"w0", "w5001"}},
		Seed:      stream.FromUint64(77),
	}
}

// instance is one mechanism × variant × parameters under test.
type instance struct {
	name     string
	settings Settings
	vector   bool
	// usable is an ε at which the instance is defined on the spaces of this
	// file.
	usable float64
	// returnsWord: as ε → ∞, a word whose vector is unique is returned
	// unchanged.
	returnsWord bool
	// forgets: as ε → 0, the output no longer depends on the input.
	forgets bool
}

// instances lists all registered mechanisms and variants, so a new one is
// always tested, and some with further parameters.
func instances() (all []instance) {
	returnsWord := []string{
		"cmp", "mahalanobis", "vickrey proved", "santext proved", "tem proved", "syntf proved", "identity", "k-rr",
		"diffractor", "custext", "two-stage", "hyperbolic",
		// Not "tem released": its γ rounds to 0 at large ε, and then the other
		// words together weigh n times the word itself.
	}
	extra := map[string][]Parameters{
		"santext-plus": {{"w": 0.9, "p": 0.3}, {"w": 1.0}, {"p": 0.0}, {"p": 1.0}},
		"custext":      {{"k": 1.0}, {"k": 3.0}, {"k": 1000.0}},
		"brr":          {{"bits": 1.0}, {"bits": 100.0}},
		"two-stage":    {{"w": 1.0}, {"ratio": 1.0}, {"w": 0.1, "ratio": 0.2}},
		"rank-fix":     {{"c": 2.0}},
		"vickrey":      {{"t": 0.0}, {"t": 1.0}},
		"vickrey-k":    {{"t": []float64{0.5}}, {"t": []float64{1, 0, 2, 0.3}}},
		"kth":          {{"k": 1.0}, {"k": 5.0}},
		"tem":          {{"gamma": 1.5}, {"gamma": 0.0}},
		"privemb":      {{"projection": "none"}},
	}
	for _, d := range Definitions() {
		if d.Documents {
			continue // see TestDocuments
		}
		for _, v := range d.Variants {
			for i, p := range append([]Parameters{nil}, extra[d.Name]...) {
				if _, err := Complete(Settings{Mechanism: d.Name, Variant: v, Epsilon: 1, Parameters: p}); err != nil {
					continue // the variant lacks the parameter
				}
				x := instance{name: fmt.Sprintf("%s %s %s", d.Name, v, p), vector: d.NewVector != nil, usable: 3,
					settings: Settings{Mechanism: d.Name, Variant: v, Epsilon: 3, Parameters: p}}
				x.returnsWord = i == 0 && (slices.Contains(returnsWord, d.Name) ||
					slices.Contains(returnsWord, fmt.Sprintf("%s %s", d.Name, v)))
				x.forgets = v == Proved || x.name == "mahalanobis released "
				switch d.Name {
				case "gumbel":
					x.forgets = false // undefined at small ε, or flat in it
					x.usable = 1e4
				case "custext", "santext-plus":
					x.forgets = false // groups have nothing in common, kept words are certain
				}
				all = append(all, x)
			}
		}
	}
	return all
}

func (x instance) at(epsilon float64) Settings {
	s := x.settings
	s.Epsilon = epsilon
	return s
}

// on is a space that the mechanism is defined on.
func (x instance) on(t *testing.T, s *embeddings.Space) *embeddings.Space {
	if x.settings.Mechanism == "hyperbolic" {
		return spacetest.Ball(t, s)
	}
	return s
}

// open builds an instance, of words or of vectors.
func (x instance) open(env Environment, epsilon float64) (m interface {
	Settings() Settings
	Guarantee() Guarantee
}, err error) {
	if x.vector {
		return NewVector(env, x.at(epsilon))
	}
	return New(env, x.at(epsilon))
}

// TestConformance runs every promise of this package against every mechanism:
// guarantees are stated and refuse nothing of their own; rows sum to one, keep the
// promise and are what is drawn; limits of ε; seeds, batches, workers and an ε for
// each document; words outside and words that are kept; bad settings.
func TestConformance(t *testing.T) {
	small, middle := spacetest.Gaussian(t, 8, 6, 1, 20), spacetest.Gaussian(t, 40, 4, 1, 21)
	for _, x := range instances() {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			small, middle := x.on(t, small), x.on(t, middle)
			requireStated(t, x, small)
			bad := []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)}
			for _, epsilon := range bad {
				if _, err := x.open(environment(small), epsilon); err == nil {
					t.Errorf("ε = %v is accepted", epsilon)
				}
			}
			if x.vector {
				return
			}
			m := mustNew(t, environment(middle), x.at(x.usable))
			if d, _ := Find(x.settings.Mechanism); d.Drawn == m.Closed() {
				t.Errorf("drawn %v in its definition, with a closed form: %v", d.Drawn, m.Closed())
			}
			for _, epsilon := range bad {
				if _, err := m.At(epsilon); err == nil || m.CheckEpsilon(epsilon) == nil {
					t.Errorf("ε = %v is accepted", epsilon)
				}
			}
			if err := m.CheckEpsilon(x.usable); err != nil {
				t.Error(err)
			}
			for _, factor := range []float64{0.1, 1, 3} {
				requireRows(t, mustNew(t, environment(small), x.at(factor*x.usable)))
			}
			for _, w := range []WordID{0, 6, 17} {
				if m.Closed() {
					requireFit(t, x.name, sample(m, w, 20000, stream.FromUint64(22).At(uint64(w))), lawOf(t, m, w))
				}
			}
			requireLimits(t, x)
			requireSeeds(t, x)
			requireText(t, m)
			requireKept(t, m)
		})
	}
}

// requireStated checks a guarantee against the variant and the definition.
func requireStated(t *testing.T, x instance, s *embeddings.Space) {
	t.Helper()
	m, err := x.open(environment(s), x.usable)
	if err != nil {
		t.Fatal(err)
	}
	g, got := m.Guarantee(), m.Settings()
	// What the study's code makes of Vickrey is post-processing of the noisy
	// vector, between words with a vector; mldp-text's Mahalanobis has another R.
	holds := got.Variant == Proved || got.Variant == AsRun && got.Mechanism == "vickrey" ||
		got.Variant == Released && got.Mechanism == "mahalanobis"
	if g.Holds() != holds || g.Reason == "" {
		t.Errorf("guarantee %q, reason %q", g, g.Reason)
	}
	d, _ := Find(got.Mechanism)
	metric, epsilon := d.Metric, x.usable
	if d.Constant {
		epsilon = 0
	}
	if g.Holds() && (g.Epsilon != epsilon || g.Distance == nil || g.Metric != metric) {
		t.Errorf("guarantee %+v", g)
	}
	if g.Holds() && (g.Scope == "") != (g.Covers == nil) || g.Scope != "" && g.EuclideanEpsilon != 0 ||
		!strings.Contains(g.String(), g.Scope) {
		t.Errorf("scope %q, covers %v, euclidean ε %v: %q", g.Scope, g.Covers != nil, g.EuclideanEpsilon, g)
	}
	if _, err := Complete(got); err != nil {
		t.Errorf("its own settings are refused: %v", err)
	}
}

// requireRows checks that rows sum to one and agree with their logarithms, and
// that their log-ratios keep the promise.
func requireRows(t *testing.T, m *Mechanism) {
	t.Helper()
	if !m.Closed() {
		return // the audit tests the promise by sampling
	}
	g, all := m.Guarantee(), make([][]float64, 8)
	together, err := m.Rows(0, 7)
	if err != nil {
		t.Fatal(err)
	}
	for w := range all {
		if all[w], err = m.LogRow(WordID(w)); err != nil {
			t.Fatal(err)
		}
		row := lawOf(t, m, WordID(w))
		if w < 7 && !slices.Equal(row, together[w]) { // bit for bit
			t.Errorf("the row of word %d differs when made with others", w)
		}
		var sum float64
		for y, p := range row {
			if sum += p; p < 0 || p > 1 || math.Abs(p-math.Exp(all[w][y])) > 1e-13 {
				t.Fatalf("probability %v, logarithm %v", p, all[w][y])
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("at ε = %v the probabilities of the outputs of word %d sum to %v, want 1", m.Settings().Epsilon,
				w, sum)
		}
	}
	for a := range WordID(8) {
		for b := range WordID(8) {
			if a == b || !g.Promises(a, b) {
				continue
			}
			bound := g.Epsilon * g.Distance(a, b)
			for y, x := range all[a] {
				if r := x - all[b][y]; r > bound*(1+1e-12)+1e-12 {
					t.Errorf("log-ratio %v of words %d, %d at %d exceeds %v", r, a, b, y, bound)
				}
			}
		}
	}
	for _, w := range []WordID{embeddings.Unknown, WordID(m.Vocabulary().Len())} {
		if _, err := m.Row(w); err == nil {
			t.Errorf("the row of word %d is given", w)
		}
	}
	if _, err := m.Rows(6, m.Vocabulary().Len()-5); err == nil {
		t.Error("rows beyond the vocabulary are given")
	}
}

func requireLimits(t *testing.T, x instance) {
	t.Helper()
	s := x.on(t, spacetest.Gaussian(t, 30, 5, 1, 23))
	if x.returnsWord {
		m := mustNew(t, environment(s), x.at(1e9))
		for w := range WordID(5) {
			if c := sample(m, w, 50, stream.FromUint64(24)); c[w] != 50 {
				t.Errorf("ε = 1e9: word %d is returned %d of 50 times", w, c[w])
			}
		}
	}
	for _, epsilon := range []float64{1e-9, math.SmallestNonzeroFloat64} {
		if x.forgets {
			m := mustNew(t, environment(s), x.at(epsilon))
			a := sample(m, 1, 10000, stream.FromUint64(25).At(1))
			b := sample(m, 2, 10000, stream.FromUint64(25).At(2))
			requireSameDistribution(t, fmt.Sprintf("%s at ε = %v", x.name, epsilon), a, b)
		}
	}
}

// requireSeeds: the same seeds give the same text, one by one or together.
func requireSeeds(t *testing.T, x instance) {
	t.Helper()
	s := x.on(t, spacetest.Gaussian(t, 60, 5, 1, 26))
	rng := stream.FromUint64(27).Rand()
	m := mustNew(t, environment(s), x.at(x.usable))
	src := make([][]WordID, 300) // some empty; together more than one batch
	together := make([]document, len(src))
	want := make([][]WordID, len(src))
	for i := range src {
		for range rng.IntN(25) {
			src[i] = append(src[i], WordID(rng.IntN(s.Len())))
		}
		want[i] = make([]WordID, len(src[i]))
		seed := stream.FromUint64(28).At(uint64(i))
		if err := m.Privatize(ctx, want[i], src[i], seed.Rand()); err != nil {
			t.Fatal(err)
		}
		together[i] = document{append([]WordID{}, src[i]...), seed.Rand()}
	}
	if err := m.sampler.draw(ctx, together, 2); err != nil {
		t.Fatal(err)
	}
	for i, d := range together {
		if !slices.Equal(d.words, want[i]) {
			t.Fatalf("document %d differs together with others", i)
		}
	}
}

func TestOddSpaces(t *testing.T) {
	spaces := map[string]*embeddings.Space{
		"one word":         spacetest.New(t, 3, []float32{1, 2, 3}),
		"two words":        spacetest.New(t, 2, []float32{1, 0, 0, 1}),
		"one zero vector":  spacetest.New(t, 1, []float32{0}),
		"all vectors zero": spacetest.New(t, 2, make([]float32, 20)),
		"duplicate vectors": spacetest.New(t, 2, []float32{1, 1, 1, 1, 1, 1, 2, 0, 2, 0, -1, 3, -1, 3, 0, 0, 0, 0, 5,
			5}),
		"tiny and huge": spacetest.New(t, 2, []float32{1e-30, 0, 1e30, 1e30, -1e30, 0, 3, 4, 1, 1, 2, 2, 3, 3, 9,
			9}),
		"one dimension, flat": spacetest.New(t, 2, []float32{0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 7, 0, 8, 0, 9}),
	}
	for name, s := range spaces {
		for _, x := range instances() {
			for _, epsilon := range []float64{1e-12, 1, 1e12} {
				what := fmt.Sprintf("%s, %s, ε = %v", name, x.name, epsilon)
				opened, err := x.open(environment(x.on(t, s)), epsilon)
				if err != nil {
					// Only an instance that cannot exist may return an error.
					if !slices.Contains([]string{"gumbel", "kth"}, x.settings.Mechanism) {
						t.Errorf("%s: %v", what, err)
					}
					continue
				}
				if x.vector {
					m := opened.(VectorMechanism)
					out := make([]float32, m.OutputDimension())
					m.Release(out, []WordID{0}, stream.FromUint64(31).Rand())
					if slices.ContainsFunc(out, func(v float32) bool {
						return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)
					}) {
						t.Errorf("%s: released %v", what, out)
					}
					continue
				}
				m := opened.(*Mechanism)
				for w := range WordID(s.Len()) {
					sample(m, w, 5, stream.FromUint64(32)) // an output beyond the vocabulary panics
					if !m.Closed() || w > 1 {
						continue
					}
					if sum := floats.Sum(lawOf(t, m, w)); !(math.Abs(sum-1) <= 1e-9) {
						t.Errorf("%s, word %d: probabilities sum to %v", what, w, sum)
					}
				}
			}
		}
	}
}
