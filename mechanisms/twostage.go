package mechanisms

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "two-stage",
		Title:    "Two-stage",
		Source:   "Tang et al. 2020 (NSS), two multivariate perturbations by class of word",
		Metric:   "euclidean",
		Order:    15,
		Variants: []Variant{Proved},
		Parameters: []Parameter{
			{
				Name:    "w",
				Default: 0.5,
				Legal:   "in (0, 1]",
				Valid:   func(x float64) bool { return x > 0 && x <= 1 },
				Doc:     "share of the vocabulary that is sensitive: its rarest words",
			},
			{
				Name:    "ratio",
				Default: 0.5,
				Legal:   "in (0, 1]",
				Valid:   func(x float64) bool { return x > 0 && x <= 1 },
				Doc:     "epsilon of a sensitive word, in that of another",
			},
		},
		Needs: Needs{Corpus: true},
		Drawn: true,
		New:   newTwoStage,
	})
}

// newTwoStage builds the mixture of two CMPs: the first stage tells the class of a word,
// sensitive or not, the second moves it by CMP at ratio·ε or at ε. Which words are
// sensitive is public.
//
// Between two words of a class this is ε·d-private, between sensitive ones ratio·ε·d.
// Between words of two classes nothing holds for all pairs: far from both words one
// density is e^{(1−ratio)·ε·‖z‖} times the other, which has no bound.
//
// Deviation: the paper is at hand by its abstract only, which does not say how words are
// classified. The sensitive ones are the rarest, as in SanText+.
func newTwoStage(env Environment, s Settings) (*Mechanism, error) {
	ratio := s.Parameters["ratio"].(float64)
	n := env.Space.Len()
	sensitive, err := sensitiveWords(env, s.Parameters["w"].(float64))
	if err != nil {
		return nil, err
	}
	count := 0
	for _, yes := range sensitive {
		if yes {
			count++
		}
	}
	g := euclideanGuarantee(env.Space, s.Epsilon, "in each class the noise is private, at epsilon or less, and the "+
		"nearest word is post-processing; which words are sensitive is taken as public")
	if count > 0 && count < n && ratio < 1 {
		g.EuclideanEpsilon = 0
		g.Scope = fmt.Sprintf("between two of the %d sensitive of %d words (at %.3g of epsilon) or two of the others, "+
			"none between the classes", count, n, ratio)
		g.Covers = func(a, b WordID) bool { return sensitive[a] == sensitive[b] }
	}
	weak := newProjector(Noise{Space: env.Space}, s.Epsilon)
	strong := newProjector(Noise{Space: env.Space}, ratio*s.Epsilon)
	stages := twoStages{sensitive, strong, weak}
	m := &Mechanism{
		settings:   s,
		guarantee:  g,
		vocabulary: env.Space.Vocabulary,
		sampler:    stages,
	}
	// The lengths of noise that an audit sees are in units of ε: those of sensitive words
	// count by the ratio.
	vectors := func(dst []float32, word WordID, rng *rand.Rand) {
		if !sensitive[word] {
			weak.noisyVectors(dst, word, rng)
			return
		}
		strong.noisyVectors(dst, word, rng)
		x := env.Space.Vector(word)
		for i, v := range dst {
			of := float64(x[i%len(x)])
			dst[i] = float32(of + ratio*(float64(v)-of))
		}
	}
	m.noise = &VectorNoise{Vectors: vectors}
	return m, nil
}

// classKey is the share of the vocabulary that is sensitive.
type classKey float64

// sensitiveWords reports of each word whether it is among the rarest share.
func sensitiveWords(env Environment, share float64) ([]bool, error) {
	return once(env, classKey(share), func() ([]bool, error) {
		sensitive := make([]bool, env.Space.Len())
		for _, w := range rarestWords(env, share) {
			sensitive[w] = true
		}
		return sensitive, nil
	})
}

// twoStages draws words of two classes by two samplers.
type twoStages struct {
	sensitive    []bool
	strong, weak sampler
}

func (m twoStages) whole() bool { return false }

// draw takes the sensitive words of each document first, then the others.
func (m twoStages) draw(ctx context.Context, documents []document, workers int) error {
	parts := [2][]document{}
	for _, x := range documents {
		var words [2][]WordID
		for _, w := range x.words {
			c := m.class(w)
			words[c] = append(words[c], w)
		}
		for c := range parts {
			parts[c] = append(parts[c], document{words[c], x.rng})
		}
	}
	if err := m.strong.draw(ctx, parts[0], workers); err != nil {
		return err
	}
	if err := m.weak.draw(ctx, parts[1], workers); err != nil {
		return err
	}
	for i, x := range documents {
		var next [2]int
		for j, w := range x.words {
			c := m.class(w)
			x.words[j] = parts[c][i].words[next[c]]
			next[c]++
		}
	}
	return nil
}

// class is 0 of a sensitive word, 1 of another.
func (m twoStages) class(w WordID) int {
	if m.sensitive[w] {
		return 0
	}
	return 1
}
