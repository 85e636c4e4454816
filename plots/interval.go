package plots

import (
	"errors"

	"mldpbench/results/stats"
)

// meanPoint returns the mean of repetitions with its t interval.
func meanPoint(x float64, values []float64) Point {
	s := stats.Summarize(values)
	if s.N < 2 {
		return Exactly(x, s.Mean)
	}
	return Point{x, s.Mean, s.Low, s.High}
}

// reason turns an empty set of figures into an error.
func reason(figures []Figure, why string) error {
	if len(figures) == 0 {
		return errors.New(why)
	}
	return nil
}
