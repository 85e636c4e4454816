package mechanisms

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
)

// ErrNoDistribution is returned for a mechanism whose distribution can only be
// estimated from samples; see MonteCarlo.
var ErrNoDistribution = errors.New("its distribution is known by samples only")

// EachRow computes proven bounds of ln Pr[y|x], as LogBounds does, for many
// words x on several goroutines. Attackers and measures that know the mechanism
// use it. f is called in no particular order, possibly by several goroutines at
// once, and owns low and high, which are the same slice where the distribution
// has a closed form. EachRow stops at the first error.
func EachRow(
	ctx context.Context, m Mechanism, words []WordID, workers int, f func(i int, low, high []float64) error,
) error {
	b, ok := m.(LogBounder)
	if !ok {
		return ErrNoDistribution
	}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(max(1, workers))
	for i, w := range words {
		if running.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			low, high, err := b.LogBounds(w)
			if err != nil {
				return err
			}
			return f(i, low, high)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// Rows are the probabilities of n words from one on, which must have no
// samples. A few asked for together cost less than each on its own where rows
// start from distances.
func Rows(d Distributor, first WordID, n int) ([][]float64, error) {
	words := make([]WordID, n)
	for i := range words {
		words[i] = first + WordID(i)
	}
	if b, ok := d.(interface {
		rowsOf(words []WordID) ([][]float64, error)
	}); ok {
		return b.rowsOf(words)
	}
	rows := make([][]float64, n)
	for i, w := range words {
		p, err := d.Distribution(w)
		if err != nil {
			return nil, err
		}
		rows[i] = p.Probabilities
	}
	return rows, nil
}
