package channel

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

// Smoothed is a channel over n words that an attacker learns from draws and the
// distances of a word from all, nil where they are not known; its outputs must be in [0,
// n). Of a pair of words that was not drawn the draws of others say something: word x is
// expected to become y as often as y is drawn for other words, times how often words at
// that distance are, times how often x becomes another word. Rates have a gamma law around
// that, so that after k of N draws their mean is (k + a)/(1 + a/expected)/N.
func Smoothed(draws Draws, n int, distances func(x int) []float64) (Channel, error) {
	if err := draws.validate(n, n); err != nil {
		return Channel{}, fmt.Errorf("channel: %w", err)
	}
	if distances == nil {
		distances = func(int) []float64 { return make([]float64, n) }
	}
	s := &smoothing{
		draws:     draws,
		n:         n,
		distances: distances,
	}
	s.often = s.drawnForOthers()
	s.mean = s.meanDistance()
	s.rate = s.rates()
	return Channel{
		Inputs:  n,
		Outputs: n,
		Row:     s.row,
	}, nil
}

// smoothing is what is known of the rates of all pairs.
type smoothing struct {
	draws     Draws
	n         int
	distances func(x int) []float64
	often     []float64             // by word: how often it is drawn for another one, 0.5 more
	mean      float64               // distance of two words
	rate      [distanceBins]float64 // by distance: drawn of what often lets expect
}

// drawnForOthers counts, by word, how often it is drawn for another one, and 0.5 more.
func (s *smoothing) drawnForOthers() []float64 {
	often := make([]float64, s.n)
	floats.AddConst(0.5, often)
	all := s.draws.PerInput
	for i := range s.n * all {
		s.draws.each(i, func(y int32, p float64) {
			if int(y) != i/all {
				often[y] += p
			}
		})
	}
	return often
}

// step is the distance between two words whose draws tell the rates.
func (s *smoothing) step() int { return max(1, s.n/rateWords) }

// meanDistance is that of two words, from those whose draws tell the rates.
func (s *smoothing) meanDistance() float64 {
	each := s.step()
	words := (s.n + each - 1) / each
	mean := 0.0
	for x := 0; x < s.n; x += each {
		mean += floats.Sum(s.distances(x)) / float64(s.n*words)
	}
	return mean
}

// bin is that of a distance.
func (s *smoothing) bin(d float64) int {
	return int(min(distanceBins-1, binsOfMean*d/max(s.mean, math.SmallestNonzeroFloat64)))
}

// count adds the draws of a word to counts by output.
func (s *smoothing) count(to []float64, x int) {
	s.draws.of(x, func(y int32, p float64) { to[y] += p })
}

// rates are, by distance, the draws of a word of what is drawn for all others.
func (s *smoothing) rates() [distanceBins]float64 {
	var drawn, expected, rate [distanceBins]float64
	for x := 0; x < s.n; x += s.step() {
		counts := make([]float64, s.n)
		s.count(counts, x)
		for y, d := range s.distances(x) {
			if y != x {
				b := s.bin(d)
				drawn[b] += counts[y]
				expected[b] += s.often[y]
			}
		}
	}
	for b := range rate {
		rate[b] = (drawn[b] + 1e-3) / (expected[b] + 1)
	}
	return rate
}

// row is the Row of the channel.
func (s *smoothing) row(row []float64, x int) ([]float64, error) {
	if row == nil {
		row = make([]float64, s.n)
	}
	clear(row)
	s.count(row, x)
	all := float64(s.draws.PerInput)
	moved := all - row[x]
	expected := s.distances(x)
	usual := 0.0
	for y, d := range expected {
		expected[y] = s.often[y] * s.rate[s.bin(d)]
		if y != x {
			usual += expected[y]
		}
	}
	for y, m := range expected {
		m *= (moved + 2) / (usual + 2)
		if y == x {
			row[y] = (row[y] + 0.5) * all / (all + 1)
		} else {
			row[y] = (row[y] + rateShape) / (1 + rateShape/m)
		}
	}
	floats.Scale(1/floats.Sum(row), row)
	return row, nil
}
