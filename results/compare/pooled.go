package compare

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
	of := func(a Aligned) results.Place { a.Place.Dataset = ""; return a.Place }
	for _, at := range results.Distinct(scenes, of) {
		sets := results.Where(scenes, func(a Aligned) bool { return of(a) == at && a.Reached() > 1 })
		if len(sets) < 2 {
			continue
		}
		a := Aligned{Place: at, Question: sets[0].Question, At: sets[0].At, Datasets: len(sets), Baseline: math.NaN(),
			Training: ByRepetitions}
		for _, s := range sets {
			if s.Training != ByRepetitions {
				a.Training = s.Training
			}
		}
		if a.pool(sets); len(a.Pairs) > 0 {
			pooled = append(pooled, a)
		}
	}
	return pooled
}

// pool fills in the lines that all sets have, and their pairs.
func (a *Aligned) pool(sets []Aligned) {
	use := results.MustColumn(a.Use)
	var places [][]int // of each line, its number in each set
	for i, l := range sets[0].Lines {
		at := []int{i}
		for _, s := range sets[1:] {
			at = append(at, slices.IndexFunc(s.Lines, func(o Line) bool { return o.Instance() == l.Instance() }))
		}
		mean := 0.0
		if slices.ContainsFunc(at, func(j int) bool { return j < 0 }) {
			continue
		}
		reached := true
		for k, j := range at {
			reached = reached && sets[k].Lines[j].Reached
			mean += sets[k].Lines[j].Value / float64(len(sets))
		}
		if !reached {
			continue
		}
		place := l.Place
		place.Dataset = ""
		a.Lines = append(a.Lines, Line{Place: place, Name: l.Name, Cells: l.Cells, Reached: true, Value: mean,
			Low: math.NaN(), High: math.NaN(), Epsilon: math.NaN()})
		places = append(places, at)
	}
	var separate, crossed []estimate
	rest := map[[2]int]float64{}
	for i := range a.Lines {
		for j := i + 1; j < len(a.Lines); j++ {
			e, c, other, ok := pooledPair(sets, places[i], places[j])
			if !ok {
				continue
			}
			rest[[2]int{i, j}] = other
			separate, crossed = append(separate, e), append(crossed, c)
			a.Pairs = append(a.Pairs, Pair{A: i, B: j, Difference: e.mean, estimate: e})
		}
	}
	plain := list.Map(sets, func(s Aligned) estimate { return s.plain })
	if a.plain = plain[0]; a.Training == ByBaseline {
		a.plain.ofRepetitions = sumOf(plain, func(e estimate) float64 { return e.ofRepetitions }) /
			float64(len(sets)*len(sets))
	}
	variance, df, from := a.spread(separate, len(a.Lines)-1, 2, use)
	if v, d := pool(crossed, len(a.Lines)-1); v > variance {
		variance, df = v, d
	}
	if a.Training != "" {
		a.Training = from
	}
	a.test(variance, df, use, func(p Pair) float64 { return rest[[2]int{p.A, p.B}] })
}

func sumOf(all []estimate, of func(estimate) float64) (sum float64) {
	for _, e := range all {
		sum += of(e)
	}
	return sum
}

// pooledPair is the mean difference of two lines over sets: with the variance of
// repetitions that independent sets have, and with that of the means over sets.
func pooledPair(sets []Aligned, x, y []int) (separate, crossed estimate, rest float64, ok bool) {
	n := float64(len(sets))
	separate = estimate{repetitions: math.MaxInt}
	means := map[int][]float64{} // by repetition
	for k, s := range sets {
		p, found := s.Pair(x[k], y[k])
		if !found {
			return separate, crossed, 0, false
		}
		e := p.estimate
		separate.mean += p.Difference / n
		separate.items += e.items / n / n
		separate.ofRepetitions += e.ofRepetitions / n / n
		separate.repetitions = min(separate.repetitions, e.repetitions)
		rest += (s.Lines[x[k]].rest() + s.Lines[y[k]].rest()) / n / n
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
	return separate, crossed, rest, true
}
