package audit

import (
	"cmp"
	"fmt"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// audit is one run.
type audit struct {
	mechanism mechanisms.Mechanism
	space     *embeddings.Space
	options   Options
	epsilon   float64
	distance  func(a, b embeddings.WordID) float64
	seed      stream.Seed
}

// pair is ordered: the event should be more likely for a.
type pair struct{ a, b embeddings.WordID }

// allPairs is the largest vocabulary of which an exact audit takes every pair.
const allPairs = 64

// pairs returns ordered pairs of distinct words, both orders of each, without
// repetition: the closest pairs of the vocabulary, and random words with their
// nearest, farthest and a random word.
func (a *audit) pairs(words, closest int) []pair {
	n := a.space.Len()
	var out []pair
	seen := map[pair]bool{}
	add := func(x, y embeddings.WordID) {
		if x == y || x == embeddings.Unknown || y == embeddings.Unknown || seen[pair{x, y}] {
			return
		}
		for _, p := range []pair{{x, y}, {y, x}} {
			seen[p] = true
			out = append(out, p)
		}
	}
	close := closestPairs(a.space)
	for _, p := range close[:min(closest, len(close))] {
		add(p.a, p.b)
	}
	// The pairs belong to the space and the seed, so that mechanisms are
	// audited on the same ones.
	rng := a.options.Seed.Derive("audit", "pairs").Rand()
	near := make([]nearest.Neighbor, 2)
	for range words {
		w := embeddings.WordID(rng.IntN(n))
		other := embeddings.WordID(rng.IntN(n))
		nearest.Of(a.space).SearchExcluding(near[:1], a.space.Vector(w), 1, []embeddings.WordID{w})
		add(w, near[0].ID)
		add(w, farthest(a.space, w))
		add(w, other)
	}
	return out
}

func everyPair(n int) []pair {
	var out []pair
	for a := range embeddings.WordID(n) {
		for b := range embeddings.WordID(n) {
			if a != b {
				out = append(out, pair{a, b})
			}
		}
	}
	return out
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

// mostClosest bounds how many closest pairs are kept per space.
const mostClosest = 1000

// closestPairs returns the closest pairs of words with different vectors among
// words and their nearest neighbours, closest first, once per space.
func closestPairs(s *embeddings.Space) []pair {
	v, err := s.Derived(closestKey{}, func() (any, error) {
		type found struct {
			pair
			distance float64
		}
		var all []found
		const batch = 2048
		near := make([]nearest.Neighbor, 2*batch)
		for start := 0; start < s.Len(); start += batch {
			count := min(batch, s.Len()-start)
			nearest.Of(s).Search(near[:2*count], s.Vectors[start*s.Dimension:(start+count)*s.Dimension], 2)
			for i := range count {
				w := embeddings.WordID(start + i)
				for _, c := range near[2*i : 2*i+2] {
					// Of a pair of mutual neighbours one order is enough.
					if c.ID != w && c.ID != embeddings.Unknown && c.Distance > 0 {
						all = append(all, found{pair{min(w, c.ID), max(w, c.ID)}, c.Distance})
					}
				}
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
		return out, nil
	})
	if err != nil {
		panic(err) // building cannot fail
	}
	return v.([]pair)
}

// nominalDistance is the metric in which a source states ε.
func nominalDistance(metric string, s *embeddings.Space) func(a, b embeddings.WordID) float64 {
	switch metric {
	case "euclidean":
		return s.Distance
	case "discrete":
		return func(a, b embeddings.WordID) float64 {
			if a == b {
				return 0
			}
			return 1
		}
	}
	panic(fmt.Sprintf("audit: no distance for metric %q", metric)) // a mechanism without guarantee states ε in one of these
}
