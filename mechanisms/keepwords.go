package mechanisms

import (
	"fmt"
	"math"
	"math/rand/v2"

	"mldpbench/embeddings"
)

// KeepWords returns the mechanism that leaves the given words unchanged and
// privatises all others with m, as CusText+ (Chen et al. 2023, §4.3) and the
// released 1-Diffractor do with stop words. A kept word is published, so ε is
// infinite on it; the guarantee then holds between the other words only. Words
// outside m's vocabulary may be kept as well; PrivatizeText leaves them
// unchanged too.
func KeepWords(m Mechanism, words []string) Mechanism {
	k := &keptWords{mechanism: m, words: make(map[string]struct{}, len(words)), ids: make([]bool, m.Vocabulary().Len())}
	known := 0
	for _, w := range words {
		k.words[w] = struct{}{}
		if id := m.Vocabulary().ID(w); id != embeddings.Unknown && !k.ids[id] {
			k.ids[id] = true
			known++
		}
	}
	if len(k.words) == 0 {
		return m
	}
	k.guarantee = k.restrict(m.Guarantee(), known)
	base, distributes := m.(Distributor)
	bounds, bounded := m.(LogBounder)
	if distributes && bounded {
		return &exactKeptWords{k, base, bounds}
	}
	return k
}

// keeper tells PrivatizeText which words to leave unchanged.
type keeper interface {
	inner() Mechanism
	keeps(word string) bool
}

type keptWords struct {
	mechanism Mechanism
	guarantee Guarantee
	words     map[string]struct{}
	ids       []bool // by id in the mechanism's vocabulary
}

// restrict excludes the kept words from a guarantee.
func (k *keptWords) restrict(g Guarantee, known int) Guarantee {
	if !g.Holds() {
		return g
	}
	covers := g.Covers
	scope := fmt.Sprintf("between words that are not kept; those that are, %d of %d, pass unchanged: "+
		"on them epsilon is infinite", known, len(k.ids))
	if g.Scope != "" {
		scope = g.Scope + ", and " + scope
	}
	g.Scope, g.EuclideanEpsilon = scope, 0
	g.Covers = func(a, b WordID) bool {
		return !k.ids[a] && !k.ids[b] && (covers == nil || covers(a, b))
	}
	return g
}

func (k *keptWords) inner() Mechanism { return k.mechanism }

func (k *keptWords) keeps(word string) bool {
	_, kept := k.words[word]
	return kept
}

func (k *keptWords) Settings() Settings                 { return k.mechanism.Settings() }
func (k *keptWords) Guarantee() Guarantee               { return k.guarantee }
func (k *keptWords) Vocabulary() *embeddings.Vocabulary { return k.mechanism.Vocabulary() }

// CheckEpsilon calls the wrapped mechanism's CheckEpsilon.
func (k *keptWords) CheckEpsilon(epsilon float64) error {
	if c, ok := k.mechanism.(EpsilonChecker); ok {
		return c.CheckEpsilon(epsilon)
	}
	return nil
}

// Privatize draws for the words that are not kept as if the kept words were
// absent.
func (k *keptWords) Privatize(dst, src []WordID, epsilons []float64, rng *rand.Rand) {
	var words []WordID
	var eps []float64
	for i, w := range src {
		if !k.ids[w] {
			words = append(words, w)
			if epsilons != nil {
				eps = append(eps, epsilons[i])
			}
		}
	}
	k.mechanism.Privatize(words, words, eps, rng)
	next := 0
	for i, w := range src {
		if k.ids[w] {
			dst[i] = w
		} else {
			dst[i] = words[next]
			next++
		}
	}
}

// exactKeptWords is KeepWords for a mechanism whose probabilities are known.
type exactKeptWords struct {
	*keptWords
	distributor Distributor
	bounder     LogBounder
}

func (k *exactKeptWords) Distribution(word WordID) (Distribution, error) {
	if err := checkWord(k.Vocabulary(), word); err != nil {
		return Distribution{}, err
	}
	if !k.ids[word] {
		return k.distributor.Distribution(word)
	}
	d := Distribution{Probabilities: make([]float64, k.Vocabulary().Len())}
	d.Probabilities[word] = 1
	return d, nil
}

func (k *exactKeptWords) LogBounds(word WordID) (low, high []float64, err error) {
	if err := checkWord(k.Vocabulary(), word); err != nil {
		return nil, nil, err
	}
	if !k.ids[word] {
		return k.bounder.LogBounds(word)
	}
	logs := certain(make([]float64, k.Vocabulary().Len()), word)
	return logs, logs, nil
}

// certain writes the log-probabilities of the distribution that always returns
// one word.
func certain(dst []float64, word WordID) []float64 {
	for y := range dst {
		dst[y] = math.Inf(-1)
	}
	dst[word] = 0
	return dst
}
