package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// meanPoint is the mean of repetitions with its t interval.
func meanPoint(x float64, values []float64) Point {
	if len(values) == 1 {
		return Exactly(x, values[0])
	}
	mean, sd := stat.MeanStdDev(values, nil)
	n := float64(len(values))
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975) * sd / math.Sqrt(n)
	return Point{x, mean, mean - half, mean + half}
}

// reason turns an empty set of figures into an error.
func reason(figures []Figure, why string) error {
	if len(figures) == 0 {
		return fmt.Errorf("%s", why)
	}
	return nil
}
