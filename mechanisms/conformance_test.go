package mechanisms

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

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
func instances() []instance {
	returnsWord := map[string]bool{
		"cmp": true, "mahalanobis": true, "vickrey proved": true,
		"santext proved": true, "tem proved": true, "syntf proved": true,
		"identity": true, "k-rr": true, "diffractor": true, "custext": true,
		// Not "tem released": its γ rounds to 0 at large ε, and then the other
		// words together weigh n times the word itself.
	}
	extra := map[string][]Parameters{
		"santext-plus": {{"w": 0.9, "p": 0.3}, {"w": 1.0}, {"p": 0.0}, {"p": 1.0}},
		"custext":      {{"k": 1.0}, {"k": 3.0}, {"k": 1000.0}},
		"diffractor":   {{"lists": 3.0}},
		"rank-fix":     {{"c": 2.0}, {"base": "mahalanobis"}},
		"vickrey":      {{"t": 0.0}, {"t": 1.0}},
		"vickrey-k":    {{"t": []float64{0.5}}, {"t": []float64{1, 0, 2, 0.3}}},
		"kth":          {{"k": 1.0}, {"k": 5.0}},
		"tem":          {{"gamma": 1.5}, {"gamma": 0.0}},
		"privemb":      {{"projection": "none"}, {"m": 3.0}},
	}
	var all []instance
	for _, d := range Definitions() {
		for _, v := range d.Variants {
			for i, p := range append([]Parameters{nil}, extra[d.Name]...) {
				if _, err := Complete(Settings{Mechanism: d.Name, Variant: v, Epsilon: 1, Parameters: p}); err != nil {
					continue // the variant lacks the parameter
				}
				x := instance{
					name:     fmt.Sprintf("%s %s %s", d.Name, v, p),
					settings: Settings{Mechanism: d.Name, Variant: v, Epsilon: 3, Parameters: p},
					vector:   d.NewVector != nil,
					usable:   3,
				}
				if i == 0 {
					x.returnsWord = returnsWord[d.Name] || returnsWord[fmt.Sprintf("%s %s", d.Name, v)]
				}
				x.forgets = v == Proved
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

// eachWordInstance runs f for everything that releases words.
func eachWordInstance(t *testing.T, f func(t *testing.T, x instance)) {
	for _, x := range instances() {
		if !x.vector {
			t.Run(x.name, func(t *testing.T) { f(t, x) })
		}
	}
}

func TestGuaranteeAgreesWithVariant(t *testing.T) {
	s := spacetest.Gaussian(t, 8, 6, 1, 20)
	for _, x := range instances() {
		var g Guarantee
		var got Settings
		if x.vector {
			m, err := NewVector(environment(s), x.at(x.usable))
			if err != nil {
				t.Fatal(err)
			}
			g, got = m.Guarantee(), m.Settings()
		} else {
			m := mustNew(t, environment(s), x.at(x.usable))
			g, got = m.Guarantee(), m.Settings()
		}
		// What the study's code makes of Vickrey is post-processing of the noisy
		// vector, between words with a vector.
		if g.Holds() != (got.Variant == Proved || got.Variant == AsRun && got.Mechanism == "vickrey") {
			t.Errorf("%s: guarantee %q", x.name, g)
		}
		if g.Reason == "" {
			t.Errorf("%s: the guarantee gives no reason", x.name)
		}
		d, _ := Find(got.Mechanism)
		metric := d.Metric
		if chosen, ok := got.Parameters["metric"].(string); ok {
			metric = chosen
		}
		if base, ok := got.Parameters["base"].(string); ok {
			of, err := Find(base)
			if err != nil {
				t.Fatal(err)
			}
			metric = of.Metric
		}
		epsilon := x.usable
		if d.Constant {
			epsilon = 0
		}
		if g.Holds() && (g.Epsilon != epsilon || g.Distance == nil || g.Metric != metric) {
			t.Errorf("%s: guarantee %+v", x.name, g)
		}
		if g.Holds() && (g.Scope == "") != (g.Covers == nil) || g.Scope != "" && g.EuclideanEpsilon != 0 {
			t.Errorf("%s: scope %q, covers %v, euclidean ε %v", x.name, g.Scope, g.Covers != nil, g.EuclideanEpsilon)
		}
		if (g.String() == "") || g.Scope != "" && !strings.Contains(g.String(), g.Scope) {
			t.Errorf("%s: %q does not name the scope", x.name, g)
		}
		if _, err := Complete(got); err != nil {
			t.Errorf("%s: its own settings are refused: %v", x.name, err)
		}
	}
}

// maxLogRatio is the largest ln Pr[M(a)=y]/Pr[M(b)=y] that is certain given the
// error bounds.
func maxLogRatio(a, b Distribution) float64 {
	worst := math.Inf(-1)
	for y, p := range a.Probabilities {
		if p > a.AbsoluteError {
			worst = max(worst, math.Log(p-a.AbsoluteError)-math.Log(b.Probabilities[y]+b.AbsoluteError))
		}
	}
	return worst
}

func TestDistributionsSumToOneAndKeepTheirBound(t *testing.T) {
	// Eight words: few enough for Gumbel's guarantee to be claimed.
	s := spacetest.Gaussian(t, 8, 6, 1, 20)
	eachWordInstance(t, func(t *testing.T, x instance) {
		for _, epsilon := range []float64{x.usable / 10, x.usable, 3 * x.usable} {
			m := mustNew(t, environment(s), x.at(epsilon))
			d, ok := m.(Distributor)
			if !ok {
				t.Skip("no exact distribution; the audit tests the bound by sampling")
			}
			g := m.Guarantee()
			all := make([]Distribution, s.Len())
			for w := range all {
				var err error
				if all[w], err = d.Distribution(WordID(w)); err != nil {
					t.Fatal(err)
				}
				var sum float64
				for _, p := range all[w].Probabilities {
					if p < 0 || p > 1 {
						t.Fatalf("probability %v", p)
					}
					sum += p
				}
				if math.Abs(sum-1) > 1e-12+all[w].AbsoluteError*float64(s.Len()) {
					t.Errorf("ε = %v, word %d: probabilities sum to %v", epsilon, w, sum)
				}
			}
			for a := range all {
				for b := range all {
					if a == b || !g.Promises(WordID(a), WordID(b)) {
						continue
					}
					bound := g.Epsilon * g.Distance(WordID(a), WordID(b))
					if r := maxLogRatio(all[a], all[b]); r > bound*(1+1e-12)+1e-12 {
						t.Errorf("ε = %v: log-ratio %v of words %d, %d exceeds %v", epsilon, r, a, b, bound)
					}
				}
			}
		}
	})
}

func TestSamplerMatchesDistribution(t *testing.T) {
	s := spacetest.Gaussian(t, 40, 4, 1, 21)
	eachWordInstance(t, func(t *testing.T, x instance) {
		m := mustNew(t, environment(s), x.at(x.usable))
		d, ok := m.(Distributor)
		if !ok {
			t.Skip("no exact distribution; see TestNoiseFamilyOnTheLine")
		}
		for _, w := range []WordID{0, 6, 17} {
			exact, err := d.Distribution(w)
			if err != nil {
				t.Fatal(err)
			}
			p := slices.Clone(exact.Probabilities)
			if exact.AbsoluteError > 0 { // rare outputs may be possible though below the error
				for i := range p {
					p[i] = max(p[i], 1e-15)
				}
			}
			requireFit(t, x.name, sample(m, w, 40000, stream.FromUint64(22).At(uint64(w))), p)
		}
	})
}

// Certain bounds must contain the distribution and be as sharp as it is.
func TestLogBoundsContainTheDistribution(t *testing.T) {
	s := spacetest.Gaussian(t, 30, 4, 1, 21)
	eachWordInstance(t, func(t *testing.T, x instance) {
		m := mustNew(t, environment(s), x.at(x.usable))
		b, ok := m.(LogBounder)
		if !ok {
			t.Skip("no certain bounds")
		}
		d, err := m.(Distributor).Distribution(3)
		if err != nil {
			t.Fatal(err)
		}
		low, high, err := b.LogBounds(3)
		if err != nil {
			t.Fatal(err)
		}
		for y, p := range d.Probabilities {
			lo, hi := math.Exp(low[y]), math.Exp(high[y])
			if lo > hi || lo > p+d.AbsoluteError+1e-14 || hi < p-d.AbsoluteError-1e-14 ||
				hi-lo > 2*d.AbsoluteError+1e-14 {
				t.Errorf("word %d: [%v, %v], probability %v ± %v", y, lo, hi, p, d.AbsoluteError)
			}
		}
		if _, _, err := b.LogBounds(-1); err == nil {
			t.Error("the bounds of no word are given")
		}
	})
}

func TestLimitsOfEpsilon(t *testing.T) {
	s := spacetest.Gaussian(t, 30, 5, 1, 23)
	eachWordInstance(t, func(t *testing.T, x instance) {
		if x.returnsWord {
			m := mustNew(t, environment(s), x.at(1e9))
			for w := range WordID(5) {
				if c := sample(m, w, 50, stream.FromUint64(24)); c[w] != 50 {
					t.Errorf("ε = 1e9: word %d is returned %d of 50 times", w, c[w])
				}
			}
		}
		if x.forgets {
			for _, epsilon := range []float64{1e-9, 1e-300, math.SmallestNonzeroFloat64} {
				m := mustNew(t, environment(s), x.at(epsilon))
				a := sample(m, 1, 20000, stream.FromUint64(25).At(1))
				b := sample(m, 2, 20000, stream.FromUint64(25).At(2))
				requireSameDistribution(t, fmt.Sprintf("%s at ε = %v", x.name, epsilon), a, b)
			}
		}
	})
}

func TestSeedsReproduceAndBatchesDoNotMatter(t *testing.T) {
	s := spacetest.Gaussian(t, 60, 5, 1, 26)
	rng := stream.FromUint64(27).Rand()
	src := make([][]WordID, 300) // some empty; together more than one batch
	factors := make([][]float64, len(src))
	for i := range src {
		for range rng.IntN(25) {
			src[i] = append(src[i], WordID(rng.IntN(s.Len())))
			factors[i] = append(factors[i], 1+rng.Float64())
		}
	}
	eachWordInstance(t, func(t *testing.T, x instance) {
		m := mustNew(t, environment(s), x.at(x.usable))
		epsilons := make([][]float64, len(src))
		for i, f := range factors {
			if i%3 == 0 {
				continue // the instance's own
			}
			for _, factor := range f {
				epsilons[i] = append(epsilons[i], factor*x.usable)
			}
		}
		run := func() [][]WordID {
			out := make([][]WordID, len(src))
			for i := range src {
				out[i] = make([]WordID, len(src[i]))
				m.Privatize(out[i], src[i], epsilons[i], stream.FromUint64(28).At(uint64(i)).Rand())
			}
			return out
		}
		want := run()
		if !reflect.DeepEqual(run(), want) {
			t.Error("the same seeds give another text")
		}
		b, ok := m.(Batcher)
		if !ok {
			return
		}
		inPlace := make([][]WordID, len(src))
		rngs := make([]*rand.Rand, len(src))
		for i := range src {
			inPlace[i] = slices.Clone(src[i])
			if inPlace[i] == nil {
				inPlace[i] = []WordID{}
			}
			rngs[i] = stream.FromUint64(28).At(uint64(i)).Rand()
		}
		b.PrivatizeBatch(inPlace, inPlace, epsilons, rngs)
		if !reflect.DeepEqual(inPlace, want) {
			t.Error("a batch, in place, differs from one by one")
		}
	})
}

// Per-word epsilons act on their words: one huge, one tiny.
func TestEpsilonPerWord(t *testing.T) {
	s := spacetest.Gaussian(t, 50, 5, 1, 29)
	eachWordInstance(t, func(t *testing.T, x instance) {
		if !x.returnsWord || !x.forgets {
			return
		}
		m := mustNew(t, environment(s), x.at(1))
		const n = 400
		src, dst, epsilons := make([]WordID, n), make([]WordID, n), make([]float64, n)
		for i := range src {
			src[i] = WordID(i % 5)
			epsilons[i] = []float64{1e9, 1e-9}[i%2]
		}
		m.Privatize(dst, src, epsilons, stream.FromUint64(30).Rand())
		var kept [2]int
		for i := range src {
			if dst[i] == src[i] {
				kept[i%2]++
			}
		}
		if kept[0] != n/2 || kept[1] > n/4 {
			t.Errorf("returned %d of 200 at ε = 1e9, %d at 1e-9", kept[0], kept[1])
		}
	})
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
				if x.vector {
					m, err := NewVector(environment(s), x.at(epsilon))
					if err != nil {
						t.Errorf("%s, %s: %v", name, x.name, err)
						continue
					}
					out := make([]float32, m.OutputDimension())
					m.Release(out, []WordID{0}, stream.FromUint64(31).Rand())
					for _, v := range out {
						if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
							t.Errorf("%s, %s: released %v", name, x.name, v)
						}
					}
					continue
				}
				m, err := New(environment(s), x.at(epsilon))
				if err != nil {
					// Only an instance that cannot exist may return an error,
					// in one sentence.
					if name := x.settings.Mechanism; !slices.Contains([]string{"gumbel", "kth"},
						name) {
						t.Errorf("%s, %s, ε = %v: %v", name, x.name, epsilon, err)
					}
					continue
				}
				for w := range WordID(s.Len()) {
					for y, c := range sample(m, w, 5, stream.FromUint64(32)) {
						if c > 0 && (y < 0 || y >= m.Vocabulary().Len()) {
							t.Errorf("%s, %s: word %d", name, x.name, y)
						}
					}
					if d, ok := m.(Distributor); ok && w < 2 {
						got, err := d.Distribution(w)
						if err != nil {
							t.Fatal(err)
						}
						var sum float64
						for _, p := range got.Probabilities {
							sum += p
						}
						if math.Abs(sum-1) > 1e-9+got.AbsoluteError*float64(s.Len()) {
							t.Errorf("%s, %s, ε = %v, word %d: probabilities sum to %v ± %v", name, x.name, epsilon, w,
								sum, got.AbsoluteError)
						}
					}
				}
			}
		}
	}
}

func TestEmptyTextAndWordsOutside(t *testing.T) {
	s := spacetest.Gaussian(t, 8, 6, 1, 20)
	eachWordInstance(t, func(t *testing.T, x instance) {
		m := mustNew(t, environment(s), x.at(x.usable))
		m.Privatize(nil, nil, nil, stream.FromUint64(33).Rand())
		docs := [][]string{{}, {"w1", "no-such-word", "w2"}, nil}
		out, err := Text(context.Background(), m, Keep, docs, stream.FromUint64(34), 2)
		if err != nil {
			t.Fatal(err)
		}
		if m.Vocabulary().ID("") != embeddings.Unknown { // it deletes words
			if !slices.Equal(out[1], []string{"no-such-word"}) {
				t.Errorf("%q", out)
			}
			return
		}
		if len(out[0]) != 0 || len(out[1]) != 3 || out[1][1] != "no-such-word" || len(out[2]) != 0 {
			t.Errorf("%q", out)
		}
	})
}

func TestBadSettingsAreRefused(t *testing.T) {
	s := spacetest.Gaussian(t, 8, 6, 1, 20)
	for _, x := range instances() {
		for _, epsilon := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
			_, err := New(environment(s), x.at(epsilon))
			if x.vector {
				_, err = NewVector(environment(s), x.at(epsilon))
			}
			if err == nil {
				t.Errorf("%s: ε = %v is accepted", x.name, epsilon)
			}
		}
		if x.vector {
			continue
		}
		m := mustNew(t, environment(s), x.at(x.usable))
		for _, epsilon := range []float64{0, -1, math.NaN(), math.Inf(1)} {
			if CheckEpsilon(m, epsilon) == nil {
				t.Errorf("%s: a word's ε = %v is accepted", x.name, epsilon)
			}
		}
		if err := CheckEpsilon(m, x.usable); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		if d, ok := m.(Distributor); ok {
			for _, w := range []WordID{embeddings.Unknown, WordID(m.Vocabulary().Len())} {
				if _, err := d.Distribution(w); err == nil {
					t.Errorf("%s: the distribution of word %d is given", x.name, w)
				}
			}
		}
	}
	for name, p := range map[string]Parameters{
		"vickrey":     {"t": 1.5},
		"vickrey-k":   {"t": []float64{-1}},
		"kth":         {"k": 2.5},
		"mahalanobis": {"lambda": -0.1},
		"tem":         {"gamma": -1.0},
		"santext":     {"gamma": 1.0},
		"privemb":     {"beta": 1.0},
	} {
		_, err := New(environment(s), Settings{Mechanism: name, Epsilon: 1, Parameters: p})
		if name == "privemb" {
			_, err = NewVector(environment(s), Settings{Mechanism: name, Epsilon: 1, Parameters: p})
		}
		if err == nil {
			t.Errorf("%s: %s is accepted", name, p)
		}
	}
	if _, err := New(Environment{}, Settings{Mechanism: "cmp", Epsilon: 1}); err == nil {
		t.Error("no embedding is accepted")
	}
	if _, err := New(Environment{Space: s}, Settings{Mechanism: "syntf", Epsilon: 1}); err == nil {
		t.Error("SynTF without a thesaurus is accepted")
	}
	v, _ := embeddings.NewVocabulary([]string{"a", "b"})
	if _, err := embeddings.NewSpace("bad", v, 3, make([]float32, 5)); err == nil {
		t.Error("vectors of the wrong dimension are accepted")
	}
}
