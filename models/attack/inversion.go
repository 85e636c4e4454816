package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/list"
)

// inversionNeighbours are how many words may be named.
var inversionNeighbours = []int{1, 10, 100}

// inversion names the words nearest to the output, the output itself first: the
// cheapest attacker, which needs no probabilities.
func init() {
	d := Definition{Name: "inversion", Needs: []Need{NeedsVectors}, Start: finishing(invert)}
	for _, k := range inversionNeighbours {
		d.Columns = append(d.Columns, Column{Name: fmt.Sprintf("inversion-%d", k),
			Title: fmt.Sprintf("word among the %d nearest", k)})
	}
	d.Columns[0].Title, d.Columns[0].Panel = "output unchanged", OneWord
	Register(d)
}

func invert(ctx context.Context, s *Situation) (out []Outcome, err error) {
	if s.Nearest == nil {
		return nil, fmt.Errorf("no search for the nearest words")
	}
	t, err := s.target(ctx, Test, s.Options.Tokens)
	if err != nil {
		return nil, err
	}
	outputs := s.outputs(t.noisy)
	near, err := s.Nearest(ctx, outputs, min(slices.Max(inversionNeighbours), s.Words))
	if err != nil {
		return nil, err
	}
	if len(near) != len(outputs) {
		return nil, fmt.Errorf("nearest words of %d outputs for %d", len(near), len(outputs))
	}
	ranks := list.Map(t.places, func(p place) int {
		if at, known := slices.BinarySearch(outputs, p.in(t.noisy)); known {
			if rank := slices.Index(near[at], p.in(t.plain)); rank >= 0 {
				return rank
			}
		}
		return math.MaxInt
	})
	for i, n := range inversionNeighbours {
		o, err := s.found(fmt.Sprintf("inversion-%d", n), t, func(i int) bool { return ranks[i] < n })
		if err != nil {
			return nil, err
		}
		if o.Floor = min(1, float64(n)/float64(s.Words)); i > 0 {
			o.Items = nil
		}
		out = append(out, o)
	}
	return out, nil
}
