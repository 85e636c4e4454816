package audit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/mechanisms"
)

// audit is one run.
type audit struct {
	space    *embeddings.Space
	options  Options
	epsilon  float64
	distance func(a, b embeddings.WordID) float64
	// output returns the name of an output, given its index in counts and
	// bounds; the indices of the words of the space are their ids.
	output func(id embeddings.WordID) string
	// count samples a word; bounder is nil where probabilities are not known.
	// Counts may differ in length: missing outputs never occurred.
	count   func(ctx context.Context, w embeddings.WordID, samples int, purpose string) ([]int, error)
	bounder mechanisms.LogBounder
}

// pair is ordered: the event should be more likely for a.
type pair struct{ a, b embeddings.WordID }

// allPairs is the largest vocabulary for which an exact audit takes every pair.
const allPairs = 64

// longest is the number of longest vectors that are paired with their farthest
// word where the allowed ratio does not grow with distance: there the noise
// reveals most.
const longest = 3

// pairs returns ordered pairs of distinct words, both orders of each, without
// repetition: the closest pairs of the vocabulary, and random words with their
// nearest, farthest and a random word. inside are the pairs to which ε applies,
// outside those outside the scope of the guarantee. Where there is a scope, the
// random words are paired with words within it as well.
func (a *audit) pairs(words, closest int, every bool, r *Report) (inside, outside []pair) {
	promised := func(pair) bool { return true }
	if r.Guarantee.Covers != nil {
		promised = func(p pair) bool { return r.Guarantee.Promises(p.a, p.b) }
	}
	add := func(p pair) {
		if promised(p) {
			inside = append(inside, p)
		} else {
			outside = append(outside, p)
		}
	}
	if every {
		for x := range embeddings.WordID(a.space.Len()) {
			for y := range embeddings.WordID(a.space.Len()) {
				if x != y {
					add(pair{x, y})
				}
			}
		}
		return inside, outside
	}
	n := a.space.Len()
	seen := map[pair]bool{}
	both := func(x, y embeddings.WordID) {
		if x == y || x == embeddings.Unknown || y == embeddings.Unknown || seen[pair{x, y}] {
			return
		}
		for _, p := range []pair{{x, y}, {y, x}} {
			seen[p] = true
			add(p)
		}
	}
	close := closestPairs(a.space)
	for _, p := range close[:min(closest, len(close))] {
		both(p.a, p.b)
	}
	// The pairs depend only on the space and the seed, so all mechanisms are
	// audited on the same pairs.
	rng := a.options.Seed.Derive("audit", "pairs").Rand()
	near := make([]nearest.Neighbor, 2)
	for range words {
		w := embeddings.WordID(rng.IntN(n))
		other := embeddings.WordID(rng.IntN(n))
		nearest.Of(a.space).SearchExcluding(near[:1], a.space.Vector(w), 1, []embeddings.WordID{w})
		both(w, near[0].ID)
		both(w, farthest(a.space, w))
		both(w, other)
		for tries := 0; r.Guarantee.Covers != nil && tries < 100; tries++ {
			x, y := a.covered(w, r.Guarantee)
			if x != embeddings.Unknown {
				both(w, x)
				both(w, y)
				break
			}
			w = embeddings.WordID(rng.IntN(n)) // the random word was outside the scope with all others
		}
	}
	if r.Metric == "discrete" {
		for _, w := range longestVectors(a.space, longest) {
			both(w, farthest(a.space, w))
		}
	}
	return inside, outside
}

// covered returns the nearest and the farthest word within the scope of w.
func (a *audit) covered(w embeddings.WordID, g mechanisms.Guarantee) (near, far embeddings.WordID) {
	near, far = embeddings.Unknown, embeddings.Unknown
	least, most := math.Inf(1), math.Inf(-1)
	for y := range embeddings.WordID(a.space.Len()) {
		if y == w || !g.Promises(w, y) {
			continue
		}
		d := a.space.Distance(w, y)
		if d < least {
			near, least = y, d
		}
		if d > most {
			far, most = y, d
		}
	}
	return near, far
}

func longestVectors(s *embeddings.Space, count int) []embeddings.WordID {
	order := s.Vocabulary.IDs()
	length := make([]float64, s.Len())
	zero := make([]float32, s.Dimension)
	for w := range order {
		length[w] = embeddings.Euclidean(zero, s.Vector(embeddings.WordID(w)))
	}
	slices.SortStableFunc(order, func(x, y embeddings.WordID) int { return cmp.Compare(length[y], length[x]) })
	return order[:min(count, len(order))]
}

func farthest(s *embeddings.Space, w embeddings.WordID) embeddings.WordID {
	best, bestDistance := w, -1.0
	for y := range embeddings.WordID(s.Len()) {
		if d := s.Distance(w, y); d > bestDistance {
			best, bestDistance = y, d
		}
	}
	return best
}

type closestKey struct{}

// mostClosest is the largest number of closest pairs kept per space.
const mostClosest = 1000

// closestPairs returns the closest pairs of words with different vectors among
// words and their nearest neighbours, closest first, once per space.
func closestPairs(s *embeddings.Space) []pair {
	return embeddings.Once(s, closestKey{}, func() []pair {
		type found struct {
			pair
			distance float64
		}
		var all []found
		words := s.Vocabulary.IDs()
		for i, c := range nearest.Of(s).Words(words, 2) {
			// For mutual neighbours one order of the pair is enough.
			if w := words[i/2]; c.ID != w && c.ID != embeddings.Unknown && c.Distance > 0 {
				all = append(all, found{pair{min(w, c.ID), max(w, c.ID)}, c.Distance})
			}
		}
		slices.SortFunc(all, func(x, y found) int {
			return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
		})
		all = slices.Compact(all)
		out := make([]pair, min(len(all), mostClosest))
		for i := range out {
			out[i] = all[i].pair
		}
		return out
	})
}
