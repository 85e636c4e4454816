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
	mechanism *mechanisms.Mechanism
	space     *embeddings.Space
	options   Options
	epsilon   float64
	distance  func(a, b embeddings.WordID) float64
	most      float64 // log-ratio that samples can show
	// output returns the name of an output, given its index in counts and rows;
	// the indices of the words of the space are their ids.
	output func(id embeddings.WordID) string
	// count samples a word. Counts may differ in length: missing outputs never
	// occurred.
	count func(ctx context.Context, w embeddings.WordID, samples int, purpose string) ([]int, error)
}

// pair is ordered: the event should be more likely for a. looked is the word that
// is looked at.
type pair struct{ a, b, looked embeddings.WordID }

const (
	// allPairs is the largest vocabulary for which an exact audit takes every pair.
	allPairs = 64
	// closest is how many of the closest pairs of the vocabulary are audited,
	// because little is allowed where ε·d is small.
	closest = 8
	// anchors are random words that every word looked at is compared with, one
	// after the other.
	anchors = 8
	// farther is how many of the words looked at are paired with their farthest
	// word, and with words outside the scope of the guarantee.
	farther = 20
	// longest is the number of longest vectors that are paired with their
	// farthest word where the allowed ratio does not grow with distance: there
	// the noise reveals most.
	longest = 3
)

// pairs returns ordered pairs of distinct words, both orders of each, without
// repetition: those of so many words looked at, each with its nearest word and a
// random one, and the closest pairs of the vocabulary. inside are the pairs to
// which ε applies, outside those outside the scope of the guarantee. The pairs
// depend only on the space, the seed and the scope.
func (a *audit) pairs(words int, r *Report) (inside, outside []pair) {
	n := embeddings.WordID(a.space.Len())
	seen := map[[2]embeddings.WordID]bool{}
	add := func(x, y, looked embeddings.WordID) {
		if x == y || x == embeddings.Unknown || y == embeddings.Unknown || seen[[2]embeddings.WordID{x, y}] {
			return
		}
		for _, p := range []pair{{x, y, looked}, {y, x, looked}} {
			seen[[2]embeddings.WordID{p.a, p.b}] = true
			switch {
			case r.Guarantee.Covers == nil || r.Guarantee.Promises(p.a, p.b):
				inside = append(inside, p)
			case len(outside) < 8*farther:
				outside = append(outside, p)
			}
		}
	}
	near := neighborsOf(a.space)
	rng := a.options.Seed.Derive("audit", "pairs").Rand()
	var others [anchors]embeddings.WordID
	for i := range others {
		others[i] = embeddings.WordID(rng.IntN(int(n)))
	}
	looked := a.look(words, near, rng.Float64())
	r.Words = len(looked)
	for i, w := range looked {
		if a.mechanism.Closed() && n <= allPairs {
			for y := range n {
				add(w, y, w)
			}
			continue
		}
		add(w, near[w].ID, w)
		add(w, others[i%anchors], w)
		if i < farther {
			add(w, farthest(a.space, w), w)
		}
		if r.Guarantee.Covers != nil {
			x, y := a.covered(w, r.Guarantee)
			add(w, x, w)
			add(w, y, w)
		}
	}
	close := closestWords(near)
	for _, w := range close[:min(closest, len(close))] {
		add(w, near[w].ID, w)
	}
	if r.Metric == "discrete" {
		order := a.order(func(w embeddings.WordID) float64 { return -length(a.space, w) })
		for _, w := range order[:min(longest, len(order))] {
			add(w, farthest(a.space, w), w)
		}
	}
	return inside, outside
}

// look returns so many words, evenly spread in the orders by frequency (that of
// the space), by distance of the nearest word and by length of the vector.
func (a *audit) look(words int, near []nearest.Neighbor, offset float64) (out []embeddings.WordID) {
	if words == a.space.Len() {
		return a.space.Vocabulary.IDs()
	}
	orders := [][]embeddings.WordID{
		a.space.Vocabulary.IDs(),
		a.order(func(w embeddings.WordID) float64 { return near[w].Distance }),
		a.order(func(w embeddings.WordID) float64 { return length(a.space, w) }),
	}
	taken := make([]bool, a.space.Len())
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
func (a *audit) order(by func(w embeddings.WordID) float64) []embeddings.WordID {
	order, value := a.space.Vocabulary.IDs(), make([]float64, a.space.Len())
	for w := range value {
		value[w] = by(embeddings.WordID(w))
	}
	slices.SortStableFunc(order, func(x, y embeddings.WordID) int { return cmp.Compare(value[x], value[y]) })
	return order
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

func length(s *embeddings.Space, w embeddings.WordID) float64 {
	return embeddings.Euclidean(make([]float32, s.Dimension), s.Vector(w))
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

type nearKey struct{}

// neighborsOf returns, by word, the nearest other word, once per space; Unknown
// in a space of one word.
func neighborsOf(s *embeddings.Space) []nearest.Neighbor {
	return embeddings.Once(s, nearKey{}, func() []nearest.Neighbor {
		words := s.Vocabulary.IDs()
		out := make([]nearest.Neighbor, len(words))
		for i, c := range nearest.Of(s).Words(words, 2) {
			if w := words[i/2]; i%2 == 0 || out[w].ID == w {
				out[w] = c
			}
		}
		return out
	})
}

// closestWords are the words whose nearest has another vector, the closest first.
func closestWords(near []nearest.Neighbor) (out []embeddings.WordID) {
	for w, c := range near {
		if c.ID != embeddings.Unknown && c.Distance > 0 {
			out = append(out, embeddings.WordID(w))
		}
	}
	slices.SortStableFunc(out, func(x, y embeddings.WordID) int { return cmp.Compare(near[x].Distance, near[y].Distance) })
	return out
}
