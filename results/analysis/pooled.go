package analysis

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
)

// overDatasets compares mechanisms over the data sets of each space and task: the mean of the differences on those
// sets, which are taken as they are (fixed effects), so that nothing is said of other sets. A repetition has the same
// number on all sets and may have something in common on them (crossed repetitions): its variance is the greater one of
// that of independent sets and of that which the means over the sets have.
func overDatasets(scenes []Alignment) (pooled []Alignment) {
	for _, own := range list.Group(scenes, withoutDataset) {
		sets := results.Where(own, func(a Alignment) bool { return a.Reached() > 1 })
		if len(sets) < 2 {
			continue
		}
		a := poolSets(sets)
		if len(a.Pairs) > 0 {
			pooled = append(pooled, a)
		}
	}
	return pooled
}

// withoutDataset is the space and task of a scene.
func withoutDataset(a Alignment) results.Place {
	place := a.Place
	place.Dataset = ""
	place.Generated = false
	return place
}

// poolSets compares the lines that all sets have, by the means of their differences.
func poolSets(sets []Alignment) Alignment {
	a := Alignment{
		Place:    withoutDataset(sets[0]),
		Use:      sets[0].Use,
		Privacy:  sets[0].Privacy,
		At:       sets[0].At,
		Datasets: len(sets),
		Baseline: math.NaN(),
		baseline: meanBaseline(sets),
		use:      sets[0].use,
	}
	var positions [][]int // of each line, its number in each set
	for _, l := range sets[0].Lines {
		at := positionsOf(l, sets)
		if slices.Contains(at, -1) {
			continue
		}
		a.Lines = append(a.Lines, pooledLine(l, sets, at))
		positions = append(positions, at)
	}
	var separate, crossed []estimate
	for i := range a.Lines {
		for j := i + 1; j < len(a.Lines); j++ {
			e, ok := separateEstimate(sets, positions[i], positions[j])
			if !ok {
				continue
			}
			separate = append(separate, e)
			crossed = append(crossed, crossedEstimate(e, sets, positions[i], positions[j]))
			a.Pairs = append(a.Pairs, Pair{
				A:          i,
				B:          j,
				Difference: e.mean,
				estimate:   e,
			})
		}
	}
	s := spreadOf(separate, len(a.Lines)-1, 2, a.baseline, a.use)
	variance, degrees := pool(crossed, len(a.Lines)-1)
	if variance > s.variance {
		s.variance = variance
		s.degrees = degrees
	}
	if !slices.ContainsFunc(sets, func(s Alignment) bool { return s.Training == "" }) {
		a.Training = s.from
	}
	a.test(s)
	return a
}

// positionsOf are the numbers of a mechanism's line in each set, -1 where it does not reach the level.
func positionsOf(l Line, sets []Alignment) []int {
	return list.Map(sets, func(s Alignment) int {
		return slices.IndexFunc(s.Lines, func(o Line) bool {
			return o.Reached && o.Instance() == l.Instance()
		})
	})
}

// pooledLine is the mean of a mechanism's lines, at their positions in each set.
func pooledLine(l Line, sets []Alignment, at []int) Line {
	pooled := Line{
		Place:   l.Place,
		Name:    l.Name,
		Cells:   l.Cells,
		Reached: true,
		Low:     math.NaN(),
		High:    math.NaN(),
		Epsilon: math.NaN(),
	}
	pooled.Dataset = ""
	for k, j := range at {
		pooled.Value += sets[k].Lines[j].Value / float64(len(sets))
	}
	return pooled
}

// meanBaseline is the estimate of the mean over sets of the plain text.
func meanBaseline(sets []Alignment) estimate {
	n := float64(len(sets))
	e := estimate{repetitions: sets[0].baseline.repetitions}
	for _, s := range sets {
		e.ofRepetitions += s.baseline.ofRepetitions / (n * n)
	}
	return e
}

// separateEstimate is the mean difference of two lines over sets, at positions x and y, with the variance of
// repetitions that independent sets have; ok is false where some set has no such pair.
func separateEstimate(sets []Alignment, x, y []int) (e estimate, ok bool) {
	n := float64(len(sets))
	e.repetitions = math.MaxInt
	for k, s := range sets {
		p, found := s.Pair(x[k], y[k])
		if !found {
			return e, false
		}
		e.mean += p.Difference / n
		e.ofItems += p.estimate.ofItems / n / n
		e.ofRepetitions += p.estimate.ofRepetitions / n / n
		e.rest += p.estimate.rest / n / n
		e.repetitions = min(e.repetitions, p.estimate.repetitions)
	}
	return e, true
}

// crossedEstimate is a separate one with the variance of repetitions that the means over sets have.
func crossedEstimate(separate estimate, sets []Alignment, x, y []int) estimate {
	differences := map[int][]float64{} // by repetition
	for k, s := range sets {
		others := s.Lines[y[k]].at.means
		for r, v := range s.Lines[x[k]].at.means {
			w, both := others[r]
			if both {
				differences[r] = append(differences[r], v-w)
			}
		}
	}
	var means []float64 // of the repetitions that all sets have
	for _, r := range slices.Sorted(maps.Keys(differences)) {
		if len(differences[r]) == len(sets) {
			means = append(means, stats.Mean(differences[r]))
		}
	}
	crossed := separate
	crossed.ofRepetitions = math.NaN()
	if len(means) < 2 {
		return crossed
	}
	crossed.ofRepetitions = stat.Variance(means, nil)
	redrawn := false
	for k, s := range sets {
		redrawn = redrawn || s.Lines[x[k]].at.redrawn
	}
	if redrawn {
		crossed.ofRepetitions = max(0, crossed.ofRepetitions-separate.ofItems*float64(len(means)))
	}
	return crossed
}
