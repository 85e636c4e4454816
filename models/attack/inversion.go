package attack

import (
	"context"
	"fmt"
	"slices"
)

// inversionNeighbours are the available columns; Options.Neighbours chooses
// among them.
var inversionNeighbours = []int{1, 5, 10, 100}

func init() {
	d := Definition{
		Name: "inversion", Title: "nearest-word inversion",
		Doc: "takes the words nearest to the output, the output itself first: the cheapest attacker, which needs " +
			"no probabilities",
		Needs: []Need{NeedsVectors},
		Run:   runInversion,
	}
	for _, k := range inversionNeighbours {
		title := fmt.Sprintf("word among the %d nearest", k)
		if k == 1 {
			title = "output unchanged"
		}
		d.Columns = append(d.Columns, Column{Name: fmt.Sprintf("inversion-%d", k), Title: title, Unit: "share",
			Doc: "share of words that are among the nearest to what came out"})
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
	plain := upTo(wordsOf(s.Test), s.Options.Tokens)
	noisy, err := s.prefix(ctx, Test, plain)
	if err != nil {
		return nil, err
	}
	var outputs []int32
	for _, d := range noisy {
		for _, y := range d {
			if s.knows(y) {
				outputs = append(outputs, y)
			}
		}
	}
	slices.Sort(outputs)
	outputs = slices.Compact(outputs)
	most := min(ks[len(ks)-1], s.Words)
	near, err := s.Nearest(ctx, outputs, most)
	if err != nil {
		return nil, err
	}
	if len(near) != len(outputs) {
		return nil, fmt.Errorf("nearest words of %d outputs for %d", len(near), len(outputs))
	}
	trials := make([]int, len(plain))
	hits := make([][]int, len(ks))
	for k := range hits {
		hits[k] = make([]int, len(plain))
	}
	for i, d := range plain {
		for j, w := range d {
			if !s.knows(w) {
				continue
			}
			trials[i]++
			at, known := slices.BinarySearch(outputs, noisy[i][j])
			if !known {
				continue
			}
			rank := slices.Index(near[at], w)
			for k, n := range ks {
				if rank >= 0 && rank < n {
					hits[k][i]++
				}
			}
		}
	}
	var out []Outcome
	for k, n := range ks {
		v, err := grouped(hits[k], trials, s.Options.Level)
		if err != nil {
			return nil, err
		}
		o := Outcome{Column: fmt.Sprintf("inversion-%d", n), Value: v,
			Floor: min(1, float64(n)/float64(s.Words)), Ceiling: 1, Count: sum(trials)}
		if n == 1 {
			o.Items = s.wordItems(plain, func(p place) bool {
				return noisy[p.document][p.position] == plain[p.document][p.position]
			})
		}
		out = append(out, o)
	}
	return out, nil
}
