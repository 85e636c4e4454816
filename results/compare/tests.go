package compare

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/stats"
	"mldpbench/results"
)

// changed is the change of one quantity in one pair of cells.
type changed struct {
	pair
	a, b      []float64 // by repetition
	change    float64   // of means
	variance  float64   // from repetitions, NaN without any
	df        float64   // of it: it is pooled
	sampling  float64   // standard error that new documents give all cells alike, 0 where not known
	documents *estimate // of the change, paired by documents; nil without outcomes
}

// quantity makes the tests of one quantity: for each data set over all cells,
// for each mechanism on it, and for each cell.
func (c *Comparison) quantity(q results.Column, pairs []pair, o Options) {
	var list []changed
	lost := 0
	seen := map[results.Group]bool{}
	for _, p := range pairs {
		g := p.before.Group
		if !q.OfModel { // measured of the text, whatever the classifier
			g.Model, g.ModelParameters, g.Setting = "", "", ""
		}
		a, b := p.before.Values(q.Name), p.after.Values(q.Name)
		if seen[g] || len(a) == 0 {
			continue
		}
		if seen[g] = true; len(b) == 0 {
			lost++
			continue
		}
		if p.exact { // of equal repetitions only
			c.exact(q, p)
			var x, y results.Cells
			for _, both := range p.shared() {
				x.Cells, y.Cells = append(x.Cells, both[0]), append(y.Cells, both[1])
			}
			a, b = x.Values(q.Name), y.Values(q.Name)
			if len(a) == 0 || len(b) == 0 {
				continue
			}
		}
		list = append(list, newChange(q, p, a, b))
	}
	if lost > 0 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("%s is missing in %d cells of the second run", q.Title, lost))
	}
	poolRepetitions(q, list)
	for _, dataset := range results.Distinct(list, func(x changed) string { return x.cell().Dataset }) {
		own := results.Where(list, func(x changed) bool { return x.cell().Dataset == dataset })
		title := results.DatasetTitle(dataset)
		c.add(q, o, title, own, wholeSpread(q, own))
		groups := map[results.Instance][]changed{}
		private := results.Where(own, func(x changed) bool { return !x.cell().IsBaseline() })
		order := results.Distinct(private, func(x changed) results.Instance { return x.cell().Instance() })
		for _, x := range private {
			groups[x.cell().Instance()] = append(groups[x.cell().Instance()], x)
		}
		for _, i := range order {
			var others []float64
			for _, j := range order {
				if j != i {
					others = append(others, meanChange(groups[j]))
				}
			}
			c.add(q, o, title+", "+c.names[i], groups[i], mechanismSpread(q, groups[i], others))
		}
		for _, x := range own {
			if x.sameDocuments {
				c.add(q, o, c.place(x.cell()), []changed{x}, cellSpread(x))
			}
		}
	}
}

func newChange(q results.Column, p pair, a, b []float64) changed {
	x := changed{pair: p, a: a, b: b, change: stats.Mean(b) - stats.Mean(a), variance: math.NaN()}
	if !p.sameDocuments && q.OfModel {
		m, _ := p.before.Cells[0].At(q.Name)
		n, _ := p.after.Cells[0].At(q.Name)
		x.sampling = math.Sqrt(sampling(m, q) + sampling(n, q))
	}
	if q.Counted && p.sameDocuments {
		side := func(c results.Cells) sampleOf {
			return weigh([]share{{&point{cells: c.Cells}, 1}}, q.Name, scaleOf(q))
		}
		after := side(p.after)
		if e, ok := estimateOf(side(p.before), &after); ok && e.n > 0 {
			x.documents = &e
		}
	}
	return x
}

// poolRepetitions sets the variance of changes from the spread of repetitions,
// which are few: pooled over the cells of one data set and ε, where that of a
// classifier is similar, or else of one mechanism.
func poolRepetitions(q results.Column, list []changed) {
	type block struct {
		dataset, epsilon string
		results.Instance
	}
	of := func(x changed) block {
		b := block{dataset: x.cell().Dataset, epsilon: x.before.Epsilon}
		if !q.OfModel {
			b.Instance = x.cell().Instance()
		}
		return b
	}
	squares, df := map[block]float64{}, map[block]float64{}
	for _, x := range list {
		for _, v := range [][]float64{x.a, x.b} {
			if len(v) > 1 {
				squares[of(x)] += stat.Variance(v, nil) * float64(len(v)-1)
				df[of(x)] += float64(len(v) - 1)
			}
		}
	}
	for i, x := range list {
		if n := df[of(x)]; n > 0 {
			list[i].variance = squares[of(x)] / n * (1/float64(len(x.a)) + 1/float64(len(x.b)))
			list[i].df = n
		}
	}
}

// spread is how much a mean change varies by chance.
type spread struct {
	variance   float64
	df         float64
	relative   float64 // what is subtracted from the change
	isRelative bool
	how        string
}

func meanChange(list []changed) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x.change
	}
	return sum / float64(len(list))
}

// fewestOthers is how many other mechanisms must be there for their changes to
// show what chance does to one.
const fewestOthers = 5

// exactly reports whether all cells are of equal seed and data.
func exactly(list []changed) bool {
	return !slices.ContainsFunc(list, func(x changed) bool { return !x.exact })
}

// ofRepetitions sums the variances of independent cells; NaN where one has
// none. Its degrees of freedom are at least those of one cell.
func ofRepetitions(list []changed) (variance, df float64) {
	n := float64(len(list))
	df = list[0].df
	for _, x := range list {
		variance += x.variance / (n * n)
		df = min(df, x.df)
	}
	return variance, df
}

// newDocuments is the standard error that other documents give the mean change.
func newDocuments(list []changed) (shared float64) {
	for _, x := range list {
		shared += x.sampling / float64(len(list))
	}
	return shared
}

// wholeSpread is that of all cells of a data set together: that of the means of
// its repetitions, and of new documents.
func wholeSpread(q results.Column, list []changed) spread {
	if exactly(list) {
		return spread{df: math.Inf(1), how: "equal seed and data"}
	}
	s := ofMeans(list)
	if !q.OfModel {
		return s
	}
	if shared := newDocuments(list); shared > 0 {
		if s.how = "new documents"; math.IsNaN(s.variance) || s.variance == 0 {
			s.variance, s.df = 0, math.Inf(1)
		} else {
			whole := s.variance + shared*shared
			s.df *= (whole / s.variance) * (whole / s.variance)
			s.how = "repetitions of all these cells and new documents"
		}
		s.variance += shared * shared
	}
	return s
}

// ofMeans is the spread of the means of repetitions over some cells. Words and
// text differ between documents in ways that repetitions on the same ones cannot
// show: there is none where the documents differ.
func ofMeans(list []changed) spread {
	s := spread{variance: math.NaN(), how: "repetitions of all these cells"}
	if slices.ContainsFunc(list, func(x changed) bool { return !x.sameDocuments }) && list[0].sampling == 0 {
		return s
	}
	if a, b := byRepetition(list, false), byRepetition(list, true); len(a) > 1 && len(b) > 1 {
		s.variance = stat.Variance(a, nil)/float64(len(a)) + stat.Variance(b, nil)/float64(len(b))
		s.df = float64(len(a) + len(b) - 2)
	}
	return s
}

// byRepetition is the mean over cells of each repetition that all cells have.
func byRepetition(list []changed, after bool) []float64 {
	sums, n := []float64(nil), -1
	for _, x := range list {
		v := x.a
		if after {
			v = x.b
		}
		if x.cell().IsBaseline() {
			continue // it may have more repetitions
		}
		if n < 0 {
			n, sums = len(v), make([]float64, len(v))
		}
		if len(v) != n {
			return nil
		}
		for i := range v {
			sums[i] += v[i]
		}
	}
	for i := range sums {
		sums[i] /= float64(len(list))
	}
	return sums
}

// mechanismSpread is that of the mean change of one mechanism: relative to the
// other mechanisms, whose own changes show what another seed, other words and
// other documents do; with few others, from its repetitions or documents.
func mechanismSpread(q results.Column, list []changed, others []float64) spread {
	if exactly(list) {
		return spread{df: math.Inf(1), how: "equal seed and data"}
	}
	if !q.OfModel { // mechanisms depend on the words that were drawn, each in its own way
		return ofMeans(list)
	}
	own, df := ofRepetitions(list)
	if len(others) >= fewestOthers {
		k := float64(len(others))
		s := spread{relative: stats.Mean(others), isRelative: true, variance: stat.Variance(others, nil) * (1 + 1/k),
			df: k - 1, how: "changes of the other mechanisms"}
		if own > s.variance {
			s.variance, s.df, s.how = own, df, "repetitions"
		}
		return s
	}
	s := spread{variance: own, df: df, how: "repetitions"}
	if len(list) == 1 && list[0].documents != nil {
		return cellSpread(list[0])
	}
	if shared := newDocuments(list); shared > 0 {
		if math.IsNaN(s.variance) {
			s.variance, s.df = 0, math.Inf(1)
		}
		s.variance, s.how = s.variance+shared*shared, "repetitions and new documents"
	}
	return s
}

// cellSpread is that of one cell on the same documents.
func cellSpread(x changed) spread {
	switch {
	case x.exact:
		return spread{df: math.Inf(1), how: "equal seed and data"}
	case x.documents != nil:
		ofOne := x.documents.ofRepetitions
		if math.IsNaN(ofOne) { // of one repetition it is not known
			ofOne = 0
		}
		s := spread{df: math.Inf(1), how: "pairs of documents"}
		s.variance, _ = x.documents.total(max(0, ofOne), s.df, 0)
		if x.variance > s.variance {
			s.variance, s.df, s.how = x.variance, x.df, "repetitions"
		}
		return s
	}
	return spread{variance: x.variance, df: x.df, how: "repetitions"}
}

// add appends the test of a mean change, or counts it where its spread is not
// known.
func (c *Comparison) add(q results.Column, o Options, scope string, list []changed, s spread) {
	if math.IsNaN(s.variance) {
		c.Untested++
		return
	}
	t := Test{Quantity: q.Name, Scope: scope, Cells: len(list), How: s.how, Relative: s.isRelative,
		df: s.df}
	for _, x := range list {
		t.Before += stats.Mean(x.a) / float64(len(list))
		t.After += stats.Mean(x.b) / float64(len(list))
	}
	if o.Thresholds {
		t.Threshold = q.Threshold
	}
	t.Change, t.Error = meanChange(list)-s.relative, math.Sqrt(s.variance)
	if exactly(list) && near(t.Before, t.After) {
		t.Change = 0
	}
	test := stats.NewTest(t.Change, t.Error, s.df)
	t.P, t.Low, t.High = test.P, test.Low, test.High
	c.Tests = append(c.Tests, t)
}
