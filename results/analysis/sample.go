package analysis

import (
	"maps"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// sample is the weighted use of some cells by repetition, and by test item where items are stored.
type sample struct {
	data     map[int]string    // fingerprint, by repetition
	means    map[int]float64   // by repetition
	items    map[int][]float64 // by repetition; nil where some cell has none
	sampling float64           // variance that the sample of items gives the mean of one repetition
	redrawn  bool              // each repetition has its own documents
	scale    float64           // what one right item adds to the use
}

// weigh combines the cells of several points, repetition by repetition: those repetitions that all points have.
func weigh(shares []share, use quantity.Quantity) sample {
	s := sample{
		data:  map[int]string{},
		means: map[int]float64{},
		items: map[int][]float64{},
		scale: scaleOf(use),
	}
	points := map[int]int{}        // of each repetition
	deviation := map[int]float64{} // items are the same at all points: their errors add up
	for _, share := range shares {
		for _, c := range share.cells {
			m, measured := c.At(use.Name)
			if !measured || !m.Value.Known() {
				continue
			}
			points[c.Repetition]++
			s.add(c, m, share.weight)
			deviation[c.Repetition] += share.weight * math.Sqrt(sampling(m, use))
		}
	}
	for r, n := range points {
		if n < len(shares) {
			delete(s.means, r)
			delete(s.data, r)
			delete(s.items, r)
			continue
		}
		s.sampling = max(s.sampling, deviation[r]*deviation[r])
	}
	prints := results.Distinct(slices.Collect(maps.Values(s.data)), func(f string) string {
		return f
	})
	s.redrawn = s.redrawn || len(prints) > 1
	return s
}

// add adds what was measured of a cell.
func (s *sample) add(c results.Cell, m results.Measured, weight float64) {
	r := c.Repetition
	s.data[r] = c.DatasetFingerprint
	s.redrawn = s.redrawn || strings.HasPrefix(c.DatasetFingerprint, "redrawn")
	s.means[r] += weight * m.Value.Float()
	right := m.Right()
	if right == nil || s.items == nil || s.items[r] != nil && len(s.items[r]) != len(right) {
		s.items = nil
		return
	}
	if s.items[r] == nil {
		s.items[r] = make([]float64, len(right))
	}
	for i, yes := range right {
		if yes {
			s.items[r][i] += weight * s.scale
		}
	}
}

// repetitions are those of which there is a mean.
func (s sample) repetitions() []int { return slices.Sorted(maps.Keys(s.means)) }

// mean is that of the repetitions.
func (s sample) mean() float64 {
	return stats.Mean(list.Map(s.repetitions(), func(r int) float64 { return s.means[r] }))
}

// keep leaves out the means of repetitions that another sample does not have.
func (s sample) keep(other sample) {
	maps.DeleteFunc(s.means, func(r int, _ float64) bool {
		_, both := other.means[r]
		return !both
	})
}

// scaleOf is what one right item adds to a counted quantity.
func scaleOf(c quantity.Quantity) float64 {
	if c.Counted {
		return 100
	}
	return 1
}

// sampling is the variance that the sample of items gives a number: binomial for shares, from its own interval for
// others, 0 where neither is known.
func sampling(m results.Measured, c quantity.Quantity) float64 {
	if c.Counted && m.Whole > 0 {
		v := m.Value.Float()
		return v * (100 - v) / float64(m.Whole)
	}
	return standardError(m) * standardError(m)
}
