package metrics

import (
	"maps"
	"slices"
)

// countedLayouts bounds the memory of Layouts.
const countedLayouts = 100_000

// Layouts counts texts, the first ones of many, by what they keep besides their words.
// The zero value is ready to use.
type Layouts struct {
	Texts   int
	shapes  map[uint64]int
	lengths map[int]int
}

// Add counts a text by a hash of its layout, and its number of words.
func (l *Layouts) Add(shape uint64, words int) {
	if l.Texts == countedLayouts {
		return
	}
	if l.shapes == nil {
		l.shapes = map[uint64]int{}
		l.lengths = map[int]int{}
	}
	l.Texts++
	l.shapes[shape]++
	l.lengths[words]++
}

// Alone are the shares of texts that have a layout, and a length, that no other has:
// whoever has the originals finds them again by it.
func (l *Layouts) Alone() (layout, length float64) { return alone(l.shapes), alone(l.lengths) }

// alone is the share of what is counted that is the only one of its kind.
func alone[K comparable](counts map[K]int) float64 {
	one := 0
	all := 0
	for _, n := range counts {
		all += n
		if n == 1 {
			one++
		}
	}
	return float64(one) / float64(max(1, all))
}

// Length is the least number of words, at least 1, that a share of the texts does not
// exceed.
func (l *Layouts) Length(share float64) int {
	counted := 0
	for _, n := range slices.Sorted(maps.Keys(l.lengths)) {
		counted += l.lengths[n]
		if float64(counted) >= share*float64(l.Texts) {
			return max(1, n)
		}
	}
	return 1
}
