package external

import (
	"context"
	"errors"
	"fmt"

	"mldpbench/internal/list"
	"mldpbench/stream"
)

// errNull is the error of an item that is null: NaN and infinity are no JSON.
var errNull = errors.New("null")

// Attack trains an attacker on texts, each with a label in [0, classes), and
// returns the label that it finds for each test text. The command must be an
// attacker.
func (c *Command) Attack(ctx context.Context, train []string, labels []int, test []string, classes int,
	seed stream.Seed) ([]int, error) {
	q := &Request{
		Seed:  seedTexts(seed)[0],
		Train: make([][2]any, len(train)),
		Test:  test,
	}
	for i, text := range train {
		q.Train[i] = [2]any{text, labels[i]}
	}
	found, err := ask(ctx, c, q, len(test), func(a Answer) []*int {
		return a.Labels
	}, func(_ int, l *int) error {
		if l == nil {
			return errNull
		}
		if *l < 0 || *l >= classes {
			return fmt.Errorf("label = %d: must be in [0, %d)", *l, classes)
		}
		return nil
	})
	return list.Map(found, func(l *int) int { return *l }), err
}

// together is the number of pairs in a request.
const together = 256

// Compare returns the number of a measurement for each pair of texts. The
// command must be a measurement.
func (c *Command) Compare(ctx context.Context, original, private []string) (values []float64, err error) {
	for from := 0; from < len(original); from += together {
		to := min(from+together, len(original))
		some, err := ask(ctx, c, &Request{Original: original[from:to], Private: private[from:to]}, to-from,
			func(a Answer) []*float64 { return a.Values }, func(_ int, v *float64) error {
				if v == nil {
					return errNull
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
		values = append(values, list.Map(some, func(v *float64) float64 { return *v })...)
	}
	return values, nil
}

// Numbers returns n rows of numbers, little-endian float32, for a question to a
// model; each has width numbers where that is known, else 0.
func (c *Command) Numbers(ctx context.Context, q *Request, n, width int) ([][]byte, error) {
	return ask(ctx, c, q, n, func(a Answer) [][]byte {
		return a.Numbers
	}, func(_ int, row []byte) error {
		if len(row)%4 != 0 || width > 0 && len(row) != 4*width {
			return fmt.Errorf("a row of %d bytes", len(row))
		}
		return nil
	})
}
