package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
)

// overDatasets compares mechanisms over the data sets of each space and task: the
// mean of the differences on those sets, which are taken as they are (fixed
// effects), so that nothing is said of other sets. A repetition has the same number
// on all sets and may have something in common on them (crossed repetitions): its
// variance is the greater one of that of independent sets and of that which the
// means over the sets have.
func overDatasets(scenes []Aligned) (pooled []Aligned) {
	of := func(a Aligned) results.Place { a.Dataset, a.Generated = "", false; return a.Place }
	for _, own := range list.Group(scenes, of) {
		sets := results.Where(own, func(a Aligned) bool { return a.Reached() > 1 })
		if len(sets) < 2 {
			continue
		}
		a := Aligned{
			Place:    of(sets[0]),
			Use:      sets[0].Use,
			Privacy:  sets[0].Privacy,
			At:       sets[0].At,
			Datasets: len(sets),
			Baseline: math.NaN(),
			use:      sets[0].use,
		}
		if a.pool(sets); len(a.Pairs) > 0 {
			pooled = append(pooled, a)
		}
	}
	return pooled
}

// pool fills in the lines that all sets have, and their pairs.
func (a *Aligned) pool(sets []Aligned) {
	n := float64(len(sets))
	var places [][]int // of each line, its number in each set
	for _, l := range sets[0].Lines {
		at := list.Map(sets, func(s Aligned) int {
			return slices.IndexFunc(s.Lines, func(o Line) bool { return o.Reached && o.Instance() == l.Instance() })
		})
		if slices.Contains(at, -1) {
			continue
		}
		x := Line{Place: l.Place, Name: l.Name, Cells: l.Cells, Reached: true, Low: math.NaN(), High: math.NaN(),
			Epsilon: math.NaN()}
		x.Dataset = ""
		for k, j := range at {
			x.Value += sets[k].Lines[j].Value / n
		}
		a.Lines, places = append(a.Lines, x), append(places, at)
	}
	var separate, crossed []estimate
	for i := range a.Lines {
		for j := i + 1; j < len(a.Lines); j++ {
			e, c, ok := pooledPair(sets, places[i], places[j])
			if ok {
				separate, crossed = append(separate, e), append(crossed, c)
				a.Pairs = append(a.Pairs, Pair{A: i, B: j, Difference: e.mean, estimate: e})
			}
		}
	}
	a.plain = estimate{repetitions: sets[0].plain.repetitions}
	for _, s := range sets {
		a.plain.ofRepetitions += s.plain.ofRepetitions / (n * n)
	}
	variance, df, from := spread(separate, len(a.Lines)-1, 2, a.plain, a.use)
	if v, d := pool(crossed, len(a.Lines)-1); v > variance {
		variance, df = v, d
	}
	if !slices.ContainsFunc(sets, func(s Aligned) bool { return s.Training == "" }) {
		a.Training = from
	}
	a.test(variance, df)
}

// pooledPair is the mean difference of two lines over sets: with the variance of
// repetitions that independent sets have, and with that of the means over sets.
func pooledPair(sets []Aligned, x, y []int) (separate, crossed estimate, ok bool) {
	n := float64(len(sets))
	separate = estimate{repetitions: math.MaxInt}
	means := map[int][]float64{} // by repetition
	for k, s := range sets {
		p, found := s.Pair(x[k], y[k])
		if !found {
			return separate, crossed, false
		}
		e := p.estimate
		separate.mean += p.Difference / n
		separate.items += e.items / n / n
		separate.ofRepetitions += e.ofRepetitions / n / n
		separate.rest += e.rest / n / n
		separate.repetitions = min(separate.repetitions, e.repetitions)
		for r, v := range s.Lines[x[k]].at.means {
			if w, both := s.Lines[y[k]].at.means[r]; both {
				means[r] = append(means[r], v-w)
			}
		}
	}
	var whole []float64
	for _, d := range means {
		if len(d) == len(sets) {
			whole = append(whole, stats.Mean(d))
		}
	}
	crossed = separate
	if crossed.ofRepetitions = math.NaN(); len(whole) > 1 {
		crossed.ofRepetitions = stat.Variance(whole, nil)
		if slices.ContainsFunc(sets, func(s Aligned) bool { return s.Lines[x[0]].at.redrawn }) {
			crossed.ofRepetitions = max(0, crossed.ofRepetitions-separate.items*float64(len(whole)))
		}
	}
	return separate, crossed, true
}
