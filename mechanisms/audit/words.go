package audit

import (
	"cmp"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
)

// pair is ordered: the event should be more likely for a. looked is the word that
// is looked at.
type pair struct{ a, b, looked embeddings.WordID }

const (
	exactWords   = 1000 // looked at, by default
	sampledWords = 300
	// allPairs is the largest vocabulary for which an exact audit takes every pair.
	allPairs = 64
	// closest is how many of the closest pairs of the vocabulary are audited,
	// because little is allowed where ε·d is small.
	closest = 8
	// anchors are random words that every word looked at is compared with, one
	// after the other.
	anchors = 8
)

// pairs returns ordered pairs of distinct words within the scope of the guarantee,
// both orders of each, without repetition: those of the words looked at, each with
// its nearest word and a random one, and the closest pairs of the vocabulary. They
// depend only on the space, the seed and the scope.
func (a *audit) pairs() (all []pair) {
	n := embeddings.WordID(a.space.Len())
	words := cmp.Or(a.options.Words, sampledWords)
	if a.mechanism.Closed() {
		words = cmp.Or(a.options.Words, exactWords)
	}
	covers := a.mechanism.Guarantee().Covers
	seen := map[[2]embeddings.WordID]bool{}
	add := func(x, y, looked embeddings.WordID) {
		if x == y || x == embeddings.Unknown || y == embeddings.Unknown || seen[[2]embeddings.WordID{x, y}] {
			return
		}
		for _, p := range []pair{{x, y, looked}, {y, x, looked}} {
			seen[[2]embeddings.WordID{p.a, p.b}] = true
			if covers == nil || covers(p.a, p.b) {
				all = append(all, p)
			}
		}
	}
	near := neighborsOf(a.space)
	rng := a.options.Seed.Derive("audit", "pairs").Rand()
	var others [anchors]embeddings.WordID
	for i := range others {
		others[i] = embeddings.WordID(rng.IntN(int(n)))
	}
	a.looked = look(a.space, min(words, int(n)), near, rng.Float64())
	for i, w := range a.looked {
		for _, other := range a.partners(w, near[w].ID, others[i%anchors]) {
			add(w, other, w)
		}
	}
	close := slices.DeleteFunc(order(a.space, func(w embeddings.WordID) float64 {
		return near[w].Distance
	}),
		func(w embeddings.WordID) bool {
			return near[w].ID == embeddings.Unknown || near[w].Distance == 0
		})
	for _, w := range close[:min(closest, len(close))] {
		add(w, near[w].ID, w)
	}
	return all
}

// partners are the words that a word looked at is compared with, given its nearest word and a random
// one.
func (a *audit) partners(w, near, anchor embeddings.WordID) []embeddings.WordID {
	if a.mechanism.Closed() && a.space.Len() <= allPairs {
		return a.space.Vocabulary.IDs()
	}
	all := []embeddings.WordID{near, anchor}
	if covers := a.mechanism.Guarantee().Covers; covers != nil {
		x, y := a.covered(w, covers)
		all = append(all, x, y)
	}
	return all
}

// look returns so many words of a space, evenly spread in the orders by frequency
// (that of the space), by distance of the nearest word and by length of the vector.
func look(s *embeddings.Space, words int, near []nearest.Neighbor, offset float64) (out []embeddings.WordID) {
	if words == s.Len() {
		return s.Vocabulary.IDs()
	}
	origin := make([]float32, s.Dimension)
	orders := [][]embeddings.WordID{
		s.Vocabulary.IDs(),
		order(s, func(w embeddings.WordID) float64 { return near[w].Distance }),
		order(s, func(w embeddings.WordID) float64 {
			return embeddings.Euclidean(origin, s.Vector(w))
		}),
	}
	taken := make([]bool, s.Len())
	for i := range words {
		order := orders[i%len(orders)]
		at := int((float64(i) + offset) * float64(len(order)) / float64(words))
		for taken[order[at]] {
			at = (at + 1) % len(order)
		}
		taken[order[at]] = true
		out = append(out, order[at])
	}
	return out
}

// order returns all words by a value, ties by id.
func order(s *embeddings.Space, by func(w embeddings.WordID) float64) []embeddings.WordID {
	order := s.Vocabulary.IDs()
	value := make([]float64, s.Len())
	for w := range value {
		value[w] = by(embeddings.WordID(w))
	}
	slices.SortStableFunc(order, func(x, y embeddings.WordID) int {
		return cmp.Compare(value[x], value[y])
	})
	return order
}

// covered returns the nearest and the farthest word within the scope of w.
func (a *audit) covered(w embeddings.WordID, covers func(a, b embeddings.WordID) bool) (near, far embeddings.WordID) {
	near = embeddings.Unknown
	far = embeddings.Unknown
	least := math.Inf(1)
	most := math.Inf(-1)
	for y := range embeddings.WordID(a.space.Len()) {
		if y == w || !covers(w, y) {
			continue
		}
		d := a.space.Distance(w, y)
		if d < least {
			near = y
			least = d
		}
		if d > most {
			far = y
			most = d
		}
	}
	return near, far
}

type nearKey struct{}

// neighborsOf returns, by word, the nearest other word, once per space; Unknown
// in a space of one word.
func neighborsOf(s *embeddings.Space) []nearest.Neighbor {
	return embeddings.Once(s, nearKey{}, func() []nearest.Neighbor {
		return nearest.Of(s).OthersKept(s.Vocabulary.IDs())
	})
}
