package published

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// pucTolerance is the largest difference of a composite recomputed from printed
// numbers from the printed one: half a unit of its last digit plus the effect
// of rounding its inputs.
const pucTolerance = 0.015

// Erratum is a printed number that does not follow from the paper's others.
type Erratum struct {
	Table      string
	Place      string
	Printed    string
	Recomputed string
	Cause      string
}

// ArithmeticCheck is one comparison of printed numbers with those computed from
// other printed numbers.
type ArithmeticCheck struct {
	Name        string
	Cells       int
	Agree       int
	Explanation string
}

// Arithmetic holds the consistency checks of the papers' own numbers.
// Everything is found by recomputation; no result is hard-coded.
type Arithmetic struct {
	Checks []ArithmeticCheck
	Errata []Erratum
	// Relabelled gives the true mechanism of a printed row of Table 9, where
	// rows are permuted.
	Relabelled map[Place]string

	fixes []inputFix
}

// pucTriple is a composite at the three weights of the study.
type pucTriple [3]float64

func (a pucTriple) matches(b pucTriple) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= pucTolerance) {
			return false
		}
	}
	return true
}

// AuditArithmetic recomputes printed numbers from other numbers in the papers:
// Table 9 by eq. 4 from Tables 3, 6 and 7; the regression of Table 4 from
// Tables 6 and 7; claims of the prose from the tables they sum up.
func AuditArithmetic() (Arithmetic, error) {
	p := Printed()
	audit := Arithmetic{Relabelled: map[Place]string{}}
	if err := audit.table9(p); err != nil {
		return audit, err
	}
	if err := audit.table4(p); err != nil {
		return audit, err
	}
	audit.aboveBaseline(p)
	audit.claims()
	return audit, nil
}

// composite collects the printed inputs of eq. 4.
func (p *Numbers) composite(at Place) metrics.Composite {
	return metrics.Composite{
		Accuracy: p.Value(at, "accuracy"),
		BaselineAccuracy: p.Value(Place{Dataset: at.Dataset, Dimension: at.Dimension,
			Mechanism: results.BaselineMechanism}, "accuracy"),
		Nw: p.Value(at, "n_w"), Sw: p.Value(at, "s_w"), PP: p.Value(at, "pp"),
		CS: p.Value(at, "cs"), Low: p.Value(at, "low"),
	}
}

func recomputedTriple(c metrics.Composite) (t pucTriple) {
	for i, alpha := range metrics.PUCAlphas {
		t[i] = c.PUC(alpha)
	}
	return t
}

func (p *Numbers) printedTriple(at Place) (t pucTriple) {
	for i, alpha := range metrics.PUCAlphas {
		t[i] = p.Value(at, PUCMetrics[alpha])
	}
	return t
}

func (a *Arithmetic) table9(p *Numbers) error {
	for _, dataset := range Datasets {
		check := ArithmeticCheck{Name: fmt.Sprintf("Table 9 (%s) by eq. 4 from Tables 3 and %s", dataset,
			strings.TrimPrefix(publishedTable(dataset, "n_w"), "Table "))}
		relabelled := ArithmeticCheck{Name: fmt.Sprintf("Table 9 (%s) after relabelling permuted rows", dataset)}
		sorted := true
		for _, d := range Dimensions {
			for _, epsilon := range Epsilons {
				places := make([]Place, len(Mechanisms))
				printed, recomputed := make([]pucTriple, len(places)), make([]pucTriple, len(places))
				direct := 0
				for i, m := range Mechanisms {
					places[i] = Place{dataset, d, epsilon, m}
					printed[i], recomputed[i] = p.printedTriple(places[i]), recomputedTriple(p.composite(places[i]))
					for j := range printed[i] {
						if math.Abs(printed[i][j]-recomputed[i][j]) <= pucTolerance {
							direct++
						}
					}
				}
				check.Cells += 3 * len(places)
				check.Agree += direct
				relabelled.Cells += 3 * len(places)
				truth, ok := matchRows(printed, recomputed)
				if !ok {
					relabelled.Agree += direct
					for i, at := range places {
						if err := a.explainRow(p, at, printed[i], recomputed[i]); err != nil {
							return err
						}
					}
					continue
				}
				relabelled.Agree += 3 * len(places)
				for i, t := range truth {
					if i > 0 && printed[i][1] > printed[i-1][1] {
						sorted = false
					}
					if t == i {
						continue
					}
					a.Relabelled[places[i]] = Mechanisms[t]
					a.Errata = append(a.Errata, Erratum{
						"Table 9", places[i].String(), formatTriple(printed[i]), formatTriple(recomputed[i]),
						fmt.Sprintf("the printed row is that of %s: rows were sorted by PUC under a fixed "+
							"order of names", Mechanisms[t]),
					})
				}
			}
		}
		a.Checks = append(a.Checks, check)
		if rows := a.relabelledIn(dataset); rows > 0 {
			relabelled.Explanation = fmt.Sprintf("%d rows stand under another mechanism's name", rows)
			if sorted {
				relabelled.Explanation += "; within each (d, ε) the rows descend by PUC(α=0.5)"
			}
			a.Checks = append(a.Checks, relabelled)
		}
	}
	return nil
}

func (a *Arithmetic) relabelledIn(dataset string) int {
	n := 0
	for at := range a.Relabelled {
		if at.Dataset == dataset {
			n++
		}
	}
	return n
}

func identity(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

// matchRows finds the permutation under which every printed row is some
// mechanism's recomputed row; ok is false if there is none. A row that fits
// itself stays at its position.
func matchRows(printed, recomputed []pucTriple) (truth []int, ok bool) {
	truth = make([]int, len(printed))
	used := make([]bool, len(recomputed))
	var place func(i int) bool
	place = func(i int) bool {
		if i == len(printed) {
			return true
		}
		for _, j := range append([]int{i}, identity(len(recomputed))...) {
			if used[j] || !printed[i].matches(recomputed[j]) {
				continue
			}
			used[j], truth[i] = true, j
			if place(i + 1) {
				return true
			}
			used[j] = false
		}
		return false
	}
	return truth, place(0)
}

// explainRow finds the smallest error that explains a row of Table 9 which does
// not follow from its inputs.
func (a *Arithmetic) explainRow(p *Numbers, at Place, printed, recomputed pucTriple) error {
	var wrong []int
	for i := range printed {
		if !(math.Abs(printed[i]-recomputed[i]) <= pucTolerance) {
			wrong = append(wrong, i)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	cause := "misprint: the other weights of the row agree with eq. 4"
	if len(wrong) == len(printed) {
		fix, err := p.singleInputFix(at, printed)
		if err != nil {
			return err
		}
		cause = "no error of a single input explains the row"
		if fix != nil {
			cause = fix.cause
			a.fixes = append(a.fixes, *fix)
		}
	}
	for _, i := range wrong {
		a.Errata = append(a.Errata, Erratum{
			"Table 9", fmt.Sprintf("%v α=%g", at, metrics.PUCAlphas[i]),
			tables.FormatNumber(printed[i], 2), tables.FormatNumber(recomputed[i], 2), cause,
		})
	}
	return nil
}

// inputFix is a corrected input of eq. 4.
type inputFix struct {
	at     Place
	metric Metric
	value  float64
	cause  string
}

// singleInputFix finds the one privacy number of Tables 6 and 7 whose
// correction, in its printed digits, reproduces all three weights. All five
// have the same weight in eq. 4, so each has a correction that fits. The result
// is the one that also brings the regression of Table 4 closest to print, in
// standard errors of its coefficients.
func (p *Numbers) singleInputFix(at Place, printed pucTriple) (*inputFix, error) {
	var best *inputFix
	closest := math.Inf(1)
	for _, m := range []Metric{"n_w", "s_w", "pp", "cs", "low"} {
		value, ok := p.bestInput(at, m, printed)
		if !ok {
			continue
		}
		r, err := p.with(at, m, value).regression()
		if err != nil {
			return nil, err
		}
		absolute, inErrors := distanceToTable4(r)
		if inErrors < closest {
			closest = inErrors
			best = &inputFix{at, m, value, fmt.Sprintf(
				"%s's %s prints %.1f; with %.1f all three weights follow, and Table 4's coefficients come "+
					"within %.3f of print",
				publishedTable(at.Dataset, m), m, p.Value(at, m), value, absolute)}
		}
	}
	return best, nil
}

// bestInput returns the value of one input, within ten points of print, that
// best reproduces the printed composites; ok is false if none does within
// tolerance.
func (p *Numbers) bestInput(at Place, m Metric, printed pucTriple) (best float64, ok bool) {
	least, q := math.Inf(1), p.with(at, m, 0)
	for step := -100; step <= 100; step++ {
		value := math.Round(10*p.Value(at, m)+float64(step)) / 10
		if value < 0 || value > 100 {
			continue
		}
		q.values[at][m] = value
		recomputed := recomputedTriple(q.composite(at))
		worst := 0.0
		for i := range printed {
			worst = max(worst, math.Abs(printed[i]-recomputed[i]))
		}
		if worst < least {
			least, best = worst, value
		}
	}
	return best, least <= pucTolerance
}

// with returns the tables with one number replaced.
func (p *Numbers) with(at Place, m Metric, value float64) *Numbers {
	q := &Numbers{values: make(map[Place]map[Metric]float64, len(p.values))}
	for place, v := range p.values {
		q.values[place] = v
	}
	changed := map[Metric]float64{}
	for k, v := range p.values[at] {
		changed[k] = v
	}
	changed[m] = value
	q.values[at] = changed
	return q
}

// regression returns the study's regression of CS on ε, N_w, S_w and PP over
// the cells of Tables 6 and 7.
func (p *Numbers) regression() (stats.Regression, error) {
	var x [][]float64
	var y []float64
	for _, dataset := range Datasets {
		for _, d := range Dimensions {
			for _, epsilon := range Epsilons {
				for _, m := range Mechanisms {
					at := Place{dataset, d, epsilon, m}
					x = append(x, []float64{epsilon, p.Value(at, "n_w"), p.Value(at, "s_w"), p.Value(at, "pp")})
					y = append(y, p.Value(at, "cs"))
				}
			}
		}
	}
	return stats.OLS(tables.RegressionPredictors, x, y)
}

// printedTable4 returns coefficients and standard errors in the order of
// regression, and R².
func printedTable4() (estimates, errors []float64, r2 float64) {
	var rows []struct {
		Predictor string `csv:"predictor"`
		Coef      string `csv:"coef"`
		StdErr    string `csv:"std_err"`
	}
	mustReadPublished("table4_mlr.csv", &rows)
	for _, row := range rows {
		v, err := strconv.ParseFloat(row.Coef, 64)
		if err != nil {
			panic("results: embedded table4_mlr.csv: " + err.Error())
		}
		if row.Predictor == "R2" {
			r2 = v
			continue
		}
		e, err := strconv.ParseFloat(row.StdErr, 64)
		if err != nil {
			panic("results: embedded table4_mlr.csv: " + err.Error())
		}
		estimates, errors = append(estimates, v), append(errors, e)
	}
	return estimates, errors, r2
}

// distanceToTable4 returns the largest difference of a coefficient from print,
// absolute and in its standard errors.
func distanceToTable4(r stats.Regression) (absolute, inErrors float64) {
	estimates, errors, _ := printedTable4()
	for i, c := range r.Coefficients {
		d := math.Abs(c.Estimate - estimates[i])
		absolute, inErrors = max(absolute, d), max(inErrors, d/errors[i])
	}
	return absolute, inErrors
}

func (a *Arithmetic) table4(p *Numbers) error {
	if err := a.checkTable4(p, "Table 4 (R², coefficients, standard errors) from Tables 6 and 7"); err != nil {
		return err
	}
	if len(a.fixes) == 0 {
		return nil
	}
	var names []string
	for _, f := range a.fixes {
		p = p.with(f.at, f.metric, f.value)
		names = append(names, fmt.Sprintf("%v %s = %.1f", f.at, f.metric, f.value))
	}
	return a.checkTable4(p, "Table 4 with "+strings.Join(names, ", "))
}

func (a *Arithmetic) checkTable4(p *Numbers, name string) error {
	r, err := p.regression()
	if err != nil {
		return err
	}
	estimates, errors, r2 := printedTable4()
	check := ArithmeticCheck{Name: name}
	agree := func(printed, recomputed float64, digits int) {
		check.Cells++
		if tables.FormatNumber(printed, digits) == tables.FormatNumber(recomputed, digits) {
			check.Agree++
		}
	}
	agree(r2, r.R2, 3)
	for i, c := range r.Coefficients {
		agree(estimates[i], c.Estimate, 4)
		agree(errors[i], c.StdError, 3)
	}
	absolute, _ := distanceToTable4(r)
	check.Explanation = fmt.Sprintf("n = %d, R² = %.3f; coefficients within %.3f of print", r.N, r.R2, absolute)
	a.Checks = append(a.Checks, check)
	return nil
}

func formatTriple(t pucTriple) string {
	return fmt.Sprintf("%.2f/%.2f/%.2f", t[0], t[1], t[2])
}

// ChecksTable returns a table of the checks.
func (a Arithmetic) ChecksTable() tables.Table {
	t := tables.Table{
		Name: "published-checks", Title: "The papers' arithmetic: printed numbers against what follows from other " +
			"printed numbers",
		Header: []string{"check", "cells", "agree", "note"},
	}
	for _, c := range a.Checks {
		t.AddRow(c.Name, strconv.Itoa(c.Cells), strconv.Itoa(c.Agree), c.Explanation)
	}
	return t
}

// ErrataTable returns a table of the errata.
func (a Arithmetic) ErrataTable() tables.Table {
	t := tables.Table{
		Name: "published-errata", Title: "Errata: PUC rows as α = 0.75/0.5/0.25",
		Header: []string{"table", "place", "printed", "recomputed", "cause"},
	}
	for _, e := range a.Errata {
		t.AddRow(e.Table, e.Place, e.Printed, e.Recomputed, e.Cause)
	}
	return t
}
