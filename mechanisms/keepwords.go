package mechanisms

import (
	"fmt"

	"mldpbench/embeddings"
)

// KeepWords returns the mechanism that leaves the given words unchanged and
// privatises all others with m, as CusText+ (Chen et al. 2023, §4.3) and the
// released 1-Diffractor do with stop words. A kept word is published, so ε is
// infinite on it; the guarantee then holds between the other words only. Words
// outside m's vocabulary may be kept as well; PrivatizeText leaves them
// unchanged too.
func KeepWords(m Mechanism, words []string) Mechanism {
	if len(words) == 0 {
		return m
	}
	all := make(wordSet, len(words))
	k := &partial{built: built{m.Settings(), m.Guarantee(), m.Vocabulary()}, inner: m}
	k.input = k.vocabulary.IDs()
	known := 0
	for _, w := range words {
		all[w] = struct{}{}
		if id := k.vocabulary.ID(w); id != embeddings.Unknown && k.input[id] != embeddings.Unknown {
			k.input[id] = embeddings.Unknown
			known++
		}
	}
	k.excludeKept(known)
	_, distributes := m.(Distributor)
	if _, bounded := m.(LogBounder); distributes && bounded {
		return exactKeptWords{exactPartial{k}, all}
	}
	return keptWords{k, all}
}

// excludeKept takes the words that stay, so many of them, out of the guarantee.
func (m *partial) excludeKept(known int) {
	g := &m.guarantee
	if !g.Holds() {
		return
	}
	covers := g.Covers
	scope := fmt.Sprintf("between words that are not kept; those that are, %d of %d, pass unchanged: "+
		"on them epsilon is infinite", known, len(m.input))
	if g.Scope != "" {
		scope = g.Scope + ", and " + scope
	}
	g.Scope, g.EuclideanEpsilon = scope, 0
	g.Covers = func(a, b WordID) bool {
		return m.input[a] != embeddings.Unknown && m.input[b] != embeddings.Unknown && (covers == nil || covers(a, b))
	}
}

// keeper tells PrivatizeText which words to leave unchanged, and what to use for
// the others.
type keeper interface {
	base() Mechanism
	keeps(word string) bool
}

type (
	keptWords struct {
		*partial
		wordSet
	}
	exactKeptWords struct {
		exactPartial
		wordSet
	}
	wordSet map[string]struct{}
)

func (m *partial) base() Mechanism { return m.inner }

func (s wordSet) keeps(word string) bool {
	_, kept := s[word]
	return kept
}
