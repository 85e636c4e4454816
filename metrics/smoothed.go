package metrics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Smoothing of a channel learned from draws: the number of bins of distances, each of a
// share of the mean distance of two words; words whose draws tell the rates; the shape of
// the law of the rate of a pair around what is expected of it.
const (
	distanceBins, binsOfMean = 60, 30
	rateWords                = 1000
	rateShape                = 0.3
)

// SmoothedChannel is a channel over n words that an attacker learns from draws and the
// distances of a word from all, nil where they are not known; its outputs must be in [0,
// n). Of a pair of words that was not drawn the draws of others say something: word x is
// expected to become y as often as y is drawn for other words, times how often words at
// that distance are, times how often x becomes another word. Rates have a gamma law around
// that, so that after k of N draws their mean is (k + a)/(1 + a/expected)/N.
func SmoothedChannel(draws Draws, n int, distances func(x int) []float64) (Channel, error) {
	if err := draws.validate(n, n); err != nil {
		return Channel{}, fmt.Errorf("channel: %w", err)
	}
	all, often := draws.PerInput, make([]float64, n) // as another word
	floats.AddConst(0.5, often)
	for i := range n * all {
		draws.each(i, func(y int32, p float64) {
			if int(y) != i/all {
				often[y] += p
			}
		})
	}
	if distances == nil {
		distances = func(int) []float64 { return make([]float64, n) }
	}
	count := func(to []float64, x int) { draws.of(x, func(y int32, p float64) { to[y] += p }) }
	mean, each := 0.0, max(1, n/rateWords)
	for x := 0; x < n; x += each {
		mean += floats.Sum(distances(x)) / float64(n*((n+each-1)/each))
	}
	bin := func(d float64) int {
		return int(min(distanceBins-1, binsOfMean*d/max(mean, math.SmallestNonzeroFloat64)))
	}
	var drawn, expected, rate [distanceBins]float64
	for x := 0; x < n; x += each {
		counts := make([]float64, n)
		count(counts, x)
		for y, d := range distances(x) {
			if y != x {
				drawn[bin(d)] += counts[y]
				expected[bin(d)] += often[y]
			}
		}
	}
	for b := range rate {
		rate[b] = (drawn[b] + 1e-3) / (expected[b] + 1)
	}
	return Channel{Inputs: n, Outputs: n, Row: func(row []float64, x int) ([]float64, error) {
		if row == nil {
			row = make([]float64, n)
		}
		clear(row)
		count(row, x)
		d, moved, usual := distances(x), float64(all)-row[x], 0.0
		for y := range d {
			if d[y] = often[y] * rate[bin(d[y])]; y != x {
				usual += d[y]
			}
		}
		for y, m := range d {
			m *= (moved + 2) / (usual + 2)
			if y == x {
				row[y] = (row[y] + 0.5) * float64(all) / float64(all+1)
			} else {
				row[y] = (row[y] + rateShape) / (1 + rateShape/m)
			}
		}
		floats.Scale(1/floats.Sum(row), row)
		return row, nil
	}}, nil
}
