package mechanisms

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
)

// extent holds the largest and the smallest positive distance between two
// words.
type extent struct{ largest, smallest float64 }

type extentKey struct{}

// errNoDistance is returned where all vectors of a space are equal.
var errNoDistance = errors.New("no two words of the embedding have different vectors")

// extentOf computes the extent once per space.
func extentOf(s *embeddings.Space) (extent, error) {
	return embeddings.Derive(s, extentKey{}, func() (extent, error) {
		smallest := smallestDistance(s)
		if math.IsInf(smallest, 1) {
			return extent{}, errNoDistance
		}
		return extent{largestDistance(s), smallest}, nil
	})
}

// smallestDistance searches for the nearest neighbour of every word. Words
// whose neighbour has the same vector are scanned, once per distinct vector.
func smallestDistance(s *embeddings.Space) float64 {
	smallest := math.Inf(1)
	scanned := map[string]bool{}
	others := nearest.Of(s).OthersKept(s.Vocabulary.IDs())
	for id := range WordID(s.Len()) {
		other := others[id]
		if other.ID == embeddings.Unknown {
			continue
		}
		if other.Distance > 0 {
			smallest = min(smallest, other.Distance)
			continue
		}
		key := fmt.Sprint(s.Vector(id))
		if scanned[key] {
			continue
		}
		scanned[key] = true
		row := make([]float64, s.Len())
		distancesFrom(row, s, id)
		for _, x := range row {
			if x > 0 {
				smallest = min(smallest, x)
			}
		}
	}
	return smallest
}

// largestDistance visits words by their distance r from the centre, farthest
// first: d(a,b) ≤ r(a) + r(b) leaves few pairs to look at, but where many words
// are equally far from the centre, as vectors of length 1 are.
func largestDistance(s *embeddings.Space) float64 {
	d := s.Dimension
	center := make([]float32, d)
	for i, x := range meanVector(s) {
		center[i] = float32(x)
	}
	radius := make([]float64, s.Len())
	order := s.Vocabulary.IDs()
	for id := range order {
		radius[id] = embeddings.Euclidean(center, s.Vector(WordID(id)))
	}
	slices.SortStableFunc(order, func(a, b WordID) int {
		return cmp.Compare(radius[b], radius[a])
	})
	largest := 0.0
	const slack = 1 + 1e-9 // allows for the rounding of radii
	for i, a := range order {
		if 2*radius[a]*slack < largest {
			break
		}
		for _, b := range order[i+1:] {
			if (radius[a]+radius[b])*slack < largest {
				break
			}
			largest = max(largest, s.Distance(a, b))
		}
	}
	return largest
}
