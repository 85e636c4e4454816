package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/list"
)

// inversionNeighbours are the available columns; Options.Neighbours chooses
// among them.
var inversionNeighbours = []int{1, 5, 10, 100}

// inversion takes the words nearest to the output, the output itself first: the
// cheapest attacker, which needs no probabilities.
func init() {
	d := Definition{Name: "inversion", Needs: []Need{NeedsVectors}, Run: runInversion}
	for _, k := range inversionNeighbours {
		c := Column{Name: fmt.Sprintf("inversion-%d", k), Title: fmt.Sprintf("word among the %d nearest", k)}
		if k == 1 {
			c.Title, c.Panel = "output unchanged", OneWord
		}
		d.Columns = append(d.Columns, c)
	}
	Register(d)
}

func runInversion(ctx context.Context, s *Situation) ([]Outcome, error) {
	if s.Nearest == nil {
		return nil, fmt.Errorf("no search for the nearest words")
	}
	ks := s.Options.Neighbours
	for _, k := range ks {
		if !slices.Contains(inversionNeighbours, k) {
			return nil, fmt.Errorf("neighbours = %d: must be among %d", k, inversionNeighbours)
		}
	}
	t, err := s.sought(ctx, Test, s.Test, s.Options.Tokens)
	if err != nil {
		return nil, err
	}
	outputs := s.outputs(t.noisy)
	most := min(ks[len(ks)-1], s.Words)
	near, err := s.Nearest(ctx, outputs, most)
	if err != nil {
		return nil, err
	}
	if len(near) != len(outputs) {
		return nil, fmt.Errorf("nearest words of %d outputs for %d", len(near), len(outputs))
	}
	_, trials := t.right(t.each(t.noisy), nil)
	ranks := list.Map(t.places, func(p place) int {
		at, known := slices.BinarySearch(outputs, p.in(t.noisy))
		if known {
			if rank := slices.Index(near[at], p.in(t.plain)); rank >= 0 {
				return rank
			}
		}
		return math.MaxInt
	})
	var out []Outcome
	for _, n := range ks {
		hits := make([]int, len(t.plain))
		for i, p := range t.places {
			if ranks[i] < n {
				hits[p.document]++
			}
		}
		v, err := grouped(hits, trials, s.Options.Level)
		if err != nil {
			return nil, err
		}
		o := Outcome{Column: fmt.Sprintf("inversion-%d", n), Value: v,
			Floor: min(1, float64(n)/float64(s.Words)), Ceiling: 1, Count: len(t.places)}
		if n == 1 {
			o.Items = wordItems(t.places, func(i int) bool { return t.places[i].in(t.noisy) == t.places[i].in(t.plain) })
		}
		out = append(out, o)
	}
	return out, nil
}
