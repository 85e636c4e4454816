package results

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/results/stats"
)

// samplingVariance returns the variance that a new sample of documents adds to
// a column of one record, in the column's unit squared; 0 where the record does
// not determine it.
func samplingVariance(c Column, r Record) float64 {
	v := float64(c.Get(r))
	switch {
	case math.IsNaN(v) || r.TestTotal == 0:
		return 0
	case c.Name == "accuracy":
		p := v / 100
		return 1e4 * p * (1 - p) / float64(r.TestTotal)
	case c.Name == "auc":
		// A bound for any continuous scores: AUC(1−AUC) over the smaller
		// class, taken to be a quarter of the test set or more.
		return v * (1 - v) / (float64(max(4, r.TestTotal)) / 4)
	}
	return 0
}

// resampledThresholds is the factor on thresholds where the two runs are on
// different samples of documents: a new sample changes vectors, rare words and
// test sets of all its cells together, which repetitions cannot show.
const resampledThresholds = 4

// DefaultGateLevel bounds the probability of any alarm of the gate where only
// noise differs, over all its tests.
const DefaultGateLevel = 1e-3

// GateTest is one test of the gate: the mean change of a metric over all cells
// of a data set, those of one mechanism on it, or a single cell.
type GateTest struct {
	Metric    string
	Scope     string // "generated-news, all cells" or "generated-news, CMP"
	Cells     int
	Before    float64 // means over the cells
	After     float64
	Change    float64
	StdError  float64
	P         float64 // two-sided, before correction; NaN where no spread is known
	Adjusted  float64 // Holm-corrected over all tests
	Threshold float64
	Failed    bool
}

// digits suffice to show the threshold.
func (t GateTest) digits() int { return 2 + max(0, int(math.Ceil(-math.Log10(t.Threshold)))) }

// GateReport is the outcome of Gate.
type GateReport struct {
	Cells     int  // compared
	New       int  // cells only in the results
	Resampled bool // the two runs used different samples of documents
	Tests     []GateTest
	// Broken lists failures that need no test: a cell that is missing or no
	// longer measured, a guarantee that is no longer given.
	Broken []string
}

// Failed reports whether anything regressed.
func (g GateReport) Failed() bool {
	return len(g.Broken) > 0 || slices.ContainsFunc(g.Tests, func(t GateTest) bool { return t.Failed })
}

// gateCell identifies two cells as the same measurement: all of Group except
// the fingerprints, which show whether the sample was the same.
type gateCell struct{ Group }

func gateKey(g Group) gateCell {
	g.DatasetFingerprint, g.EmbeddingFingerprint = "", ""
	return gateCell{g}
}

// GateError means that the gate cannot compare two files.
type GateError struct{ Reason string }

func (e *GateError) Error() string { return e.Reason }

// Gate compares results with a baseline of the same study. A metric fails
// where its mean changed by more than its threshold and beyond chance, in
// either direction: on a fixed study, better is as suspicious as worse.
//
// Chance is estimated such that reseeding causes no alarm. The variance of a
// cell comes from its repetitions, pooled over all cells of a data set, metric
// and ε; cells have independent noise. Where the samples of documents differ as
// well (another study seed), the sampling variance of the test sets is added as
// if it moved all cells of a data set alike, and thresholds are four times as
// wide. The variance of the changes themselves is used where it is larger.
// p-values are Holm-corrected over all tests and compared with level.
func Gate(baseline, current []Record, level float64) (GateReport, error) {
	var report GateReport
	if len(baseline) == 0 {
		return report, &GateError{"the baseline has no records"}
	}
	if len(current) == 0 {
		return report, nil
	}
	if a, b := baseline[0].Study, current[0].Study; a != b {
		return report, &GateError{fmt.Sprintf("the baseline is of study %q, the results of %q", a, b)}
	}
	before, after := GroupCells(baseline), map[gateCell]Cells{}
	for _, c := range GroupCells(current) {
		after[gateKey(c.Group)] = c
	}
	names := Labels(baseline)
	var pairs []gatePair
	for _, b := range before {
		a, found := after[gateKey(b.Group)]
		delete(after, gateKey(b.Group))
		p := gatePair{b, a}
		if broken := p.broken(found, names); broken != "" {
			report.Broken = append(report.Broken, broken)
			continue
		}
		if b.Records[0].TestTotal != a.Records[0].TestTotal {
			return report, &GateError{fmt.Sprintf("%s: %d test documents, the baseline has %d: not the same study",
				p.name(names), a.Records[0].TestTotal, b.Records[0].TestTotal)}
		}
		report.Resampled = report.Resampled || b.DatasetFingerprint != a.DatasetFingerprint
		pairs = append(pairs, p)
	}
	report.Cells, report.New = len(pairs), len(after)
	if report.Cells == 0 {
		report.Broken = nil // nothing in common means nothing was compared
		return report, nil
	}
	for _, m := range Registry() {
		if m.Threshold == 0 {
			continue
		}
		report.Tests = append(report.Tests, gateTests(m, pairs, names)...)
	}
	p := make([]float64, len(report.Tests))
	for i, t := range report.Tests {
		p[i] = t.P
	}
	for i, adjusted := range stats.Holm(p) {
		t := &report.Tests[i]
		t.Adjusted = adjusted
		t.Failed = math.Abs(t.Change) > t.Threshold && adjusted < level
	}
	return report, nil
}

// gatePair is one cell in both files.
type gatePair struct{ before, after Cells }

func (p gatePair) name(names map[Instance]string) string {
	r := p.before.Records[0]
	if r.Quantity != "" {
		return r.place() + ", " + r.Quantity
	}
	s := fmt.Sprintf("%s, %s d=%d, %s", r.Dataset, r.Embedding, r.Dimension, names[r.Instance()])
	if r.Epsilon.Known() {
		s += fmt.Sprintf(", ε=%g", float64(r.Epsilon))
	}
	return s
}

// place returns the panel, curve and x of a row of one quantity.
func (r Record) place() string {
	s := strings.Trim(r.Panel+", "+r.Series, ", ")
	if r.X.Known() {
		s += fmt.Sprintf(" at %s = %g", r.XName, float64(r.X))
	}
	return s
}

// sampled identifies the cells of one sample: by data set or, for rows of one
// quantity, by panel.
func (r Record) sampled() string {
	if r.Quantity != "" {
		return r.Panel
	}
	return r.Dataset
}

func (p gatePair) broken(found bool, names map[Instance]string) string {
	switch {
	case !found:
		return p.name(names) + ": in the baseline, not in the results"
	case p.before.Records[0].Status != p.after.Records[0].Status:
		return fmt.Sprintf("%s: %s in the baseline, %s now", p.name(names), p.before.Records[0].Status,
			p.after.Records[0].Status)
	case p.before.Records[0].GuaranteeMetric != p.after.Records[0].GuaranteeMetric:
		return fmt.Sprintf("%s: guarantee %q in the baseline, %q now", p.name(names),
			p.before.Records[0].GuaranteeMetric, p.after.Records[0].GuaranteeMetric)
	}
	return ""
}

// measuredPair is a pair's values of one metric.
type measuredPair struct {
	gatePair
	change      float64
	independent float64 // variance of the change from repetitions, NaN without any
	pool        variancePool
	df          float64 // degrees of freedom of the pool
	shared      float64 // standard error that all cells of the data set share
}

// gateTests returns the tests of one metric: each data set as a whole, each
// mechanism on it, and each cell on the same sample of documents (a new sample
// changes a single cell in ways that its repetitions cannot show). Few
// repetitions give a single cell little power; cells together distinguish small
// changes from noise.
func gateTests(m Column, pairs []gatePair, names map[Instance]string) []GateTest {
	var tests []GateTest
	byDataset := map[string][]measuredPair{}
	var order []string
	for _, p := range measuredPairs(m, pairs) {
		d := p.before.Records[0].sampled()
		if byDataset[d] == nil {
			order = append(order, d)
		}
		byDataset[d] = append(byDataset[d], p)
	}
	for _, d := range order {
		all := byDataset[d]
		tests = append(tests, gateTest(m, d+", all cells", all))
		var instances []Instance
		for _, p := range all {
			if i := p.before.Records[0].Instance(); !slices.Contains(instances, i) {
				instances = append(instances, i)
			}
		}
		for _, i := range instances {
			var own []measuredPair
			for _, p := range all {
				if p.before.Records[0].Instance() == i {
					own = append(own, p)
				}
			}
			tests = append(tests, gateTest(m, d+", "+names[i], own))
		}
		for _, p := range all {
			if p.before.DatasetFingerprint == p.after.DatasetFingerprint {
				tests = append(tests, gateTest(m, p.name(names), []measuredPair{p}))
			}
		}
	}
	return tests
}

// variancePool identifies cells whose repetitions have the same variance.
type variancePool struct{ sample, epsilon string }

// measuredPairs estimates variances: repetitions of a cell are few, so their
// variance is pooled over cells of one data set and ε, where it is similar.
func measuredPairs(m Column, pairs []gatePair) []measuredPair {
	squares, df := map[variancePool]float64{}, map[variancePool]float64{}
	var kept []measuredPair
	for _, p := range pairs {
		x, y := p.before.Values(m.Get), p.after.Values(m.Get)
		if len(x) == 0 || len(y) == 0 {
			continue
		}
		k := variancePool{p.before.Records[0].sampled(), p.before.Epsilon}
		for _, v := range [][]float64{x, y} {
			if len(v) > 1 {
				squares[k] += stat.Variance(v, nil) * float64(len(v)-1)
				df[k] += float64(len(v) - 1)
			}
		}
		q := measuredPair{gatePair: p, pool: k, change: stats.Mean(y) - stats.Mean(x),
			independent: 1/float64(len(x)) + 1/float64(len(y))}
		if p.before.DatasetFingerprint != p.after.DatasetFingerprint {
			q.shared = math.Sqrt(samplingVariance(m, p.before.Records[0]) + samplingVariance(m, p.after.Records[0]))
		}
		kept = append(kept, q)
	}
	for i := range kept {
		k := kept[i].pool
		kept[i].df = df[k]
		if df[k] > 0 {
			kept[i].independent *= squares[k] / df[k]
		} else {
			kept[i].independent = math.NaN()
		}
	}
	return kept
}

// gateTest tests the mean change over some cells.
func gateTest(m Column, scope string, cells []measuredPair) GateTest {
	t := GateTest{Metric: m.Name, Scope: scope, Cells: len(cells), Threshold: m.Threshold, P: math.NaN()}
	n := float64(len(cells))
	var changes []float64
	variance, shared := 0.0, 0.0
	pools := map[variancePool]*[2]float64{} // variance and degrees of freedom
	var order []variancePool
	for _, c := range cells {
		t.Before += stats.Mean(c.before.Values(m.Get)) / n
		t.After += stats.Mean(c.after.Values(m.Get)) / n
		changes = append(changes, c.change)
		variance += c.independent / (n * n)
		shared += c.shared / n
		if pools[c.pool] == nil {
			pools[c.pool] = &[2]float64{0, c.df}
			order = append(order, c.pool)
		}
		pools[c.pool][0] += c.independent / (n * n)
		if c.before.DatasetFingerprint != c.after.DatasetFingerprint {
			t.Threshold = resampledThresholds * m.Threshold
		}
	}
	t.Change = t.After - t.Before
	df := satterthwaite(pools, order)
	known := !math.IsNaN(variance)
	if !known {
		variance = 0
	}
	if len(changes) > 3 { // fewer do not show their own variance
		known = true
		if scatter := stat.Variance(changes, nil) / n; scatter > variance {
			variance, df = scatter, n-1
		}
	}
	t.StdError = math.Sqrt(variance + shared*shared)
	switch {
	case !known && shared == 0:
		return t
	case t.StdError == 0 && t.Change == 0:
		t.P = 1
	case t.StdError == 0:
		t.P = 0 // no noise at all, but a change
	default:
		t.P = 2 * distuv.StudentsT{Sigma: 1, Nu: df}.CDF(-math.Abs(t.Change)/t.StdError)
	}
	return t
}

// satterthwaite returns the degrees of freedom of a sum of estimated variances,
// at least 1.
func satterthwaite(pools map[variancePool]*[2]float64, order []variancePool) float64 {
	sum, squares := 0.0, 0.0
	for _, k := range order {
		p := pools[k]
		sum += p[0]
		if p[1] > 0 {
			squares += p[0] * p[0] / p[1]
		}
	}
	if !(squares > 0) {
		return 1
	}
	return max(1, sum*sum/squares)
}

// Table returns the failures or, if there are none, the largest changes.
func (g GateReport) Table() Table {
	t := Table{Name: "gate", Header: []string{"metric", "scope", "cells", "before", "after", "change", "standard error",
		"p (Holm)", "threshold", "verdict"}}
	tests := slices.Clone(g.Tests)
	t.Title = "Nothing regressed; the largest changes by metric"
	if g.Failed() {
		t.Title = "Regressed"
		tests = slices.DeleteFunc(tests, func(t GateTest) bool { return !t.Failed })
	} else {
		largest := map[string]int{}
		for i, x := range tests {
			if j, ok := largest[x.Metric]; !ok || math.Abs(x.Change) > math.Abs(tests[j].Change) {
				largest[x.Metric] = i
			}
		}
		var kept []GateTest
		for i, x := range tests {
			if largest[x.Metric] == i {
				kept = append(kept, x)
			}
		}
		tests = kept
	}
	for _, x := range tests {
		verdict := "same"
		if x.Failed {
			verdict = "regressed"
		}
		digits := x.digits()
		t.AddRow(x.Metric, x.Scope, fmt.Sprint(x.Cells), FormatNumber(x.Before, digits), FormatNumber(x.After, digits),
			fmt.Sprintf("%+.*f", digits, x.Change), FormatNumber(x.StdError, digits), formatAdjusted(x.Adjusted),
			fmt.Sprintf("%g", x.Threshold), verdict)
	}
	for _, b := range g.Broken {
		t.AddRow("–", b, "", "", "", "", "", "", "", "regressed")
	}
	t.Legend = fmt.Sprintf("%d cells compared, %d new.", g.Cells, g.New)
	if g.Resampled {
		t.Legend += fmt.Sprintf(" The runs saw different samples of documents: thresholds are %d times as wide, and "+
			"chance includes the sampling of test sets.", resampledThresholds)
	}
	return t
}

func formatAdjusted(p float64) string {
	if math.IsNaN(p) {
		return NotMeasured
	}
	if p < 1e-4 {
		return fmt.Sprintf("%.0e", p)
	}
	return FormatNumber(p, 4)
}

// JUnit form of a report: one suite a metric, one case a test.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	Failure   *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report for continuous integration.
func (g GateReport) WriteJUnit(w io.Writer) error {
	all := junitSuites{Name: "mldp check"}
	add := func(metric, scope, failure string) {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != metric {
			all.Suites = append(all.Suites, junitSuite{Name: metric})
		}
		s := &all.Suites[len(all.Suites)-1]
		c := junitCase{Name: scope, ClassName: "mldp." + strings.ReplaceAll(metric, " ", "_")}
		if failure != "" {
			c.Failure = &junitFailure{Message: failure, Text: failure}
			s.Failures++
			all.Failures++
		}
		s.Tests++
		all.Tests++
		s.Cases = append(s.Cases, c)
	}
	for _, t := range g.Tests {
		failure := ""
		if d := t.digits(); t.Failed {
			failure = fmt.Sprintf("mean over %d cells went from %.*f to %.*f (%+.*f ± %.*f, Holm-corrected p = "+
				"%s, threshold %g)",
				t.Cells, d, t.Before, d, t.After, d, t.Change, d, t.StdError, formatAdjusted(t.Adjusted), t.Threshold)
		}
		add(t.Metric, t.Scope, failure)
	}
	for _, b := range g.Broken {
		add("cells", b, b)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
