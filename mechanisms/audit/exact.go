package audit

import (
	"context"
	"errors"
	"math"
	"sort"

	"mldpbench/embeddings"
	"mldpbench/internal/memo"
	"mldpbench/mechanisms"
)

// exact compares the probabilities of all outputs for all pairs and records the
// worst output of each.
func (a *audit) exact(ctx context.Context, pairs []pair, r *Report) error {
	worst := worstOutput(a.mechanism)
	of := map[embeddings.WordID][]pair{}
	// where the most of what is allowed is used
	tightest := embeddings.WordID(0)
	most := math.Inf(-1)
	for _, p := range pairs {
		if err := ctx.Err(); err != nil {
			return err
		}
		output, ratio, err := worst(p)
		if err != nil {
			return err
		}
		f := a.finding(p, ratio)
		f.Event = a.output(output)
		r.record(f)
		of[p.looked] = append(of[p.looked], p)
		if used := ratio / f.Allowed; used > most {
			tightest = p.looked
			most = used
		}
	}
	return a.exactPower(of, tightest, r)
}

// worstOutput returns the function that finds the output of a pair with the largest
// log-ratio. Pairs of one word follow each other, so few rows are held.
func worstOutput(m *mechanisms.Mechanism) func(p pair) (output embeddings.WordID, ratio float64, err error) {
	rows := &memo.Memo{Keep: 256}
	row := func(w embeddings.WordID) ([]float64, error) {
		return memo.Once(rows, w, func() ([]float64, error) { return m.LogRow(w) })
	}
	return func(p pair) (output embeddings.WordID, ratio float64, err error) {
		of, err := row(p.a)
		if err != nil {
			return 0, 0, err
		}
		against, err := row(p.b)
		if err != nil {
			return 0, 0, err
		}
		ratio = math.Inf(-1)
		for y, x := range of {
			if !math.IsInf(x, -1) && x-against[y] > ratio { // else impossible: nothing to compare
				output = embeddings.WordID(y)
				ratio = x - against[y]
			}
		}
		return output, ratio, nil
	}
}

// powerWords is the number of words looked at by which power is computed.
const powerWords = 32

// exactPower finds the least factors at which the mechanism would be refuted, by
// bisection: at a factor, every pair of a few of the words looked at is compared
// again, of a mechanism that runs at so much more than it claims.
func (a *audit) exactPower(of map[embeddings.WordID][]pair, tightest embeddings.WordID, r *Report) (err error) {
	if !r.Guarantee.Holds() || r.Violated || a.epsilon == 0 || len(of) == 0 {
		return nil
	}
	few := [][]pair{of[tightest]}
	for i := 1; i < min(powerWords, len(a.looked)); i++ {
		few = append(few, of[a.looked[i*(len(a.looked)-1)/(powerWords-1)]])
	}
	found := func(factor float64) (words int, err error) {
		m, err := a.mechanism.At(a.mechanism.Settings().Epsilon * factor)
		if err != nil {
			return 0, nil // undefined there: nothing to find
		}
		worst := worstOutput(m)
		for _, pairs := range few {
			for _, p := range pairs {
				_, ratio, err := worst(p)
				if err != nil {
					return 0, err
				}
				if a.finding(p, ratio).violates() {
					words++
					break
				}
			}
		}
		return words, nil
	}
	if r.Detects, err = leastFactor(found, 1); err == nil && a.needed() <= len(a.looked) {
		share := float64(a.needed()) / float64(len(a.looked))
		r.DetectsOne, err = leastFactor(found, int(math.Ceil(share*float64(len(few)))))
	}
	return err
}

// leastFactor is the least factor at which so many words are found, to one part in
// a hundred; 0 for none.
func leastFactor(found func(factor float64) (int, error), words int) (factor float64, err error) {
	const steps = 486 // to 128
	at := func(i int) float64 { return math.Exp(float64(i) / 100) }
	i := sort.Search(steps, func(i int) bool {
		n, failed := found(at(i))
		err = errors.Join(err, failed)
		return n >= words
	})
	if i < steps {
		factor = at(i)
	}
	return factor, err
}
