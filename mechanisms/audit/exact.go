package audit

import (
	"context"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
)

// exact compares the probabilities of all outputs for all given pairs and records
// the worst output of each.
func (a *audit) exact(ctx context.Context, pairs []pair, r *Report) (tests int, err error) {
	worst := worstOutput(a.mechanism)
	for _, p := range pairs {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		output, ratio, err := worst(p)
		if err != nil {
			return 0, err
		}
		d := a.distance(p.a, p.b)
		r.record(Finding{
			A: a.output(p.a), B: a.output(p.b), Event: []string{a.output(output)}, Outputs: 1,
			Distance: d, LogRatio: ratio, Allowed: a.epsilon * d,
		})
	}
	return 0, a.exactPower(pairs, r)
}

// worstOutput returns the function that finds the output of a pair with the largest
// log-ratio. Pairs of one word follow each other, so few rows are held.
func worstOutput(m *mechanisms.Mechanism) func(p pair) (output embeddings.WordID, ratio float64, err error) {
	const held = 256
	rows := map[embeddings.WordID][]float64{}
	row := func(w embeddings.WordID) (logs []float64, err error) {
		if logs, ok := rows[w]; ok {
			return logs, nil
		}
		if len(rows) == held {
			clear(rows)
		}
		logs, err = m.LogRow(w)
		rows[w] = logs
		return logs, err
	}
	return func(p pair) (output embeddings.WordID, ratio float64, err error) {
		of, err := row(p.a)
		if err != nil {
			return 0, 0, err
		}
		against, err := row(p.b)
		ratio = math.Inf(-1)
		for y, x := range of {
			if err == nil && !math.IsInf(x, -1) && x-against[y] > ratio { // else impossible: nothing to compare
				output, ratio = embeddings.WordID(y), x-against[y]
			}
		}
		return output, ratio, err
	}
}

const (
	// powerWords is the number of words looked at by which power is computed.
	powerWords = 32
	// mostFactor is the largest factor looked for.
	mostFactor = 128
)

// exactPower finds the least factors at which the mechanism would be refuted, by
// bisection: at a factor, every pair of a few of the words looked at is compared
// again, of a mechanism that runs at so much more than it claims.
func (a *audit) exactPower(pairs []pair, r *Report) error {
	of := map[embeddings.WordID][]pair{}
	var looked []embeddings.WordID
	for _, p := range pairs {
		if of[p.looked] == nil {
			looked = append(looked, p.looked)
		}
		of[p.looked] = append(of[p.looked], p)
		if a.output(p.a) == r.Worst.A && a.output(p.b) == r.Worst.B {
			i := slices.Index(looked, p.looked)
			looked[0], looked[i] = looked[i], looked[0] // the first is among the few
		}
	}
	if !r.Guarantee.Holds() || r.Violated || a.epsilon == 0 || len(looked) == 0 {
		return nil
	}
	few := looked[:1]
	for i := 1; i < powerWords && i < len(looked); i++ {
		few = append(slices.Clip(few), looked[1+(i-1)*(len(looked)-1)/(powerWords-1)])
	}
	found := func(factor float64) (words int, err error) {
		m, err := a.mechanism.At(a.mechanism.Settings().Epsilon * factor)
		if err != nil {
			return 0, nil // undefined there: nothing to find
		}
		worst := worstOutput(m)
		for _, w := range few {
			for _, p := range of[w] {
				_, ratio, err := worst(p)
				if err != nil {
					return 0, err
				}
				if (Finding{LogRatio: ratio, Allowed: a.epsilon * a.distance(p.a, p.b)}).violates() {
					words++
					break
				}
			}
		}
		return words, nil
	}
	needed := needed(r.Words, a.space.Len())
	share := float64(needed) / float64(max(1, r.Words)) * float64(len(few))
	var err error
	if r.Detects, err = leastFactor(found, 1); err == nil && needed <= r.Words {
		r.DetectsOne, err = leastFactor(found, int(math.Ceil(share)))
	}
	return err
}

// leastFactor is the least factor at which so many words are found, to one part in
// a hundred; 0 for none.
func leastFactor(found func(factor float64) (int, error), words int) (float64, error) {
	low, high := 0.0, math.Log(mostFactor)
	if n, err := found(mostFactor); err != nil || n < words {
		return 0, err
	}
	for high-low > 0.01 {
		n, err := found(math.Exp((low + high) / 2))
		if err != nil {
			return 0, err
		}
		if n >= words {
			high = (low + high) / 2
		} else {
			low = (low + high) / 2
		}
	}
	return math.Exp(high), nil
}
