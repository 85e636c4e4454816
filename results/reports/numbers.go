package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/published"
	"mldpbench/results/quantity"
	"mldpbench/results/views"
)

// replicated are the records beside which printed numbers stand.
const replicated = "replication replication-50 replication-fits-50 replication-cs replication-imdb " +
	"replication-cs-imdb comparative"

// signs mark the verdicts.
var signs = map[published.Verdict]string{published.Same: "=", published.Near: "≈", published.Apart: "≠"}

// printed are the printed numbers of a dimension beside ours of some records, run in one of several ways.
func (s source) printed(records, how, dataset string, dimension int) (all []published.Number, err error) {
	p, err := s.frame(records)
	if err != nil {
		return nil, err
	}
	return results.Where(published.Compare(p), func(n published.Number) bool {
		return strings.Contains(how, n.As) && n.Dataset == dataset && n.Dimension == dimension && n.Setting != "local"
	}), nil
}

// count says how many of the printed numbers of some quantities are near as they were
// run, in one of the ways if there are several, as "36 of 42"; d is 100 if not given,
// and may be followed by the seed of another text.
func (s source) count(how, dataset, quantities string, d ...int) (string, error) {
	records := replicated
	if len(d) > 1 {
		records = fmt.Sprintf("replication-%d-%d replication-fits-%[1]d-%[2]d", d[0], d[1])
	}
	all, err := s.printed(records, how, dataset, append(d, 100)[0])
	if err != nil {
		return "", err
	}
	isNear := map[published.Number]bool{} // in one of the ways
	for _, n := range all {
		if strings.Contains(" "+quantities+" ", " "+n.Quantity+" ") {
			cell := published.Number{Place: n.Place, Quantity: n.Quantity}
			isNear[cell] = isNear[cell] || n.Verdict == published.Same || n.Verdict == published.Near
		}
	}
	if len(isNear) == 0 {
		return "", fmt.Errorf("nothing is printed of %s (%s) of %s", dataset, how, quantities)
	}
	near := list.Count(slices.Collect(maps.Values(isNear)), func(near bool) bool {
		return near
	})
	return fmt.Sprintf("%d of %d", near, len(isNear)), nil
}

// published has ours/printed and the verdict, a row for each row of the paper.
func (s source) published(how, dataset string, columns ...string) (string, error) {
	all, err := s.printed(replicated, how, dataset, 100)
	if err != nil {
		return "", err
	}
	header := []string{"mechanism", "ε"}
	for _, column := range columns {
		q, _, _ := strings.Cut(column, " ")
		header = append(header, printedNames[q])
	}
	var rows [][]string
	for _, at := range results.Distinct(all, func(n published.Number) results.Place {
		return n.Text()
	}) {
		row := []string{results.MechanismTitle(at.Mechanism), at.Epsilon.String()}
		for _, column := range columns {
			row = append(row, besidePrinted(all, at, column))
		}
		rows = append(rows, row)
	}
	return table(rows, header...)
}

// printedNames are those of quantities as the paper prints them.
var printedNames = map[string]string{
	"n_w":                "N_w",
	"s_w":                "S_w",
	"pp":                 "PP",
	"low_overlap":        "LOW",
	"english_as_printed": "English %",
	"accuracy":           "accuracy",
	"cs":                 "CS",
	"puc_50":             "PUC α = ½",
}

// besidePrinted is our number of a place beside the printed one, with the sign of the verdict; a column is a quantity,
// which may be followed by the setting.
func besidePrinted(all []published.Number, at results.Place, column string) string {
	q, setting, _ := strings.Cut(column, " ")
	digits := quantity.Must(q).Digits
	text := views.NotMeasured
	for _, n := range all {
		if n.Text() == at && n.Quantity == q && (n.Setting == setting || n.Setting == "") {
			text = views.Number(n.Ours, digits) + "/" + views.Number(n.Printed, digits) + " " + signs[n.Verdict]
		}
	}
	return text
}

// cells are those of a record at a data set and mechanism or its label, and an ε where one is given. A quantity may be
// followed by the setting, a record by its dimension, as in retrieval@100; those of several are never averaged.
func (s source) cells(name, measured, dataset, mechanism string, epsilon []float64) ([]results.Cell, error) {
	name, dimension, _ := strings.Cut(name, "@")
	p, err := s.frame(name)
	if err != nil {
		return nil, err
	}
	measured, setting, _ := strings.Cut(measured, " ")
	found := results.Where(p.Cells, func(c results.Cell) bool {
		hasSetting := setting == "" || c.Setting == setting
		hasDimension := dimension == "" || dimension == fmt.Sprint(c.Dimension)
		isOf := c.Mechanism == mechanism || c.Label == mechanism
		hasEpsilon := len(epsilon) == 0 || c.Epsilon == results.Float(epsilon[0])
		return c.Dataset == dataset && c.Has(measured) && hasSetting && hasDimension && isOf && hasEpsilon
	})
	other := func(c results.Cell) bool { return c.Dimension != found[0].Dimension }
	if len(found) == 0 || slices.ContainsFunc(found, other) {
		return nil, fmt.Errorf("%s: no %s of %s on %s at %v, or of several dimensions", name, measured, mechanism,
			dataset, epsilon)
	}
	return found, nil
}

// mean is that of a quantity over cells, with half its interval.
func mean(cells []results.Cell, measured string) (value, half float64) {
	value, low, high := views.Mean(cells, measured)
	return value, (high - low) / 2
}

// cell is a number as its column prints it.
func (s source) cell(name, measured, dataset, mechanism string, epsilon ...float64) (string, error) {
	found, err := s.cells(name, measured, dataset, mechanism, epsilon)
	if err != nil {
		return "", err
	}
	measured, _, _ = strings.Cut(measured, " ")
	v, _ := mean(found, measured)
	return views.Number(v, quantity.Must(measured).Digits), nil
}

// percent is a share with half its interval.
func (s source) percent(name, measured, dataset, mechanism string, epsilon ...float64) (string, error) {
	found, err := s.cells(name, measured, dataset, mechanism, epsilon)
	v, half := mean(found, measured)
	return fmt.Sprintf("%.1f ± %.1f%%", 100*v, 100*half), err
}

// floor is what guessing reaches.
func (s source) floor(name, measured, dataset, mechanism string) (string, error) {
	found, err := s.cells(name, measured, dataset, mechanism, nil)
	if err != nil {
		return "", err
	}
	m, _ := found[0].At(measured)
	return fmt.Sprintf("%.0f%%", 100*m.Floor.Float()), nil
}

// least is the smallest share of any mechanism, but random words.
func (s source) least(name, measured, dataset string) (string, error) {
	p, err := s.frame(name)
	if err != nil {
		return "", err
	}
	least := math.Inf(1)
	for _, g := range results.GroupCells(p.Private()) {
		c := g.Cells[0]
		if c.Dataset == dataset && c.Mechanism != "uniform" && c.Has(measured) {
			v, _ := mean(g.Cells, measured)
			least = min(least, v)
		}
	}
	return fmt.Sprintf("%.1f%%", 100*least), nil
}

// paper is a mean of the records of commit 05dcc51 of a source paper.
func (s source) paper(name, panel, series string, x any, measured string) (string, error) {
	type mean struct {
		Panel    string  `csv:"panel"`
		Series   string  `csv:"series"`
		X        string  `csv:"x"`
		Quantity string  `csv:"quantity"`
		Mean     float64 `csv:"mean"`
	}
	rows, err := results.ReadRows[mean](s.path(name + ".csv"))
	for _, r := range rows {
		if r.Panel == panel && r.Series == series && r.X == fmt.Sprint(x) && r.Quantity == measured {
			magnitude := math.Log10(math.Max(1, math.Abs(r.Mean)))
			return views.Number(r.Mean, 3-int(min(2, max(0, magnitude)))), err
		}
	}
	if err == nil {
		err = fmt.Errorf("%s has no %s of %s, %s at %v", name, measured, panel, series, x)
	}
	return "", err
}

// kind is by how many points at the most E_M from few draws is above that from more.
func (s source) kind(few, more string) (string, error) {
	a, err := s.frame(few)
	if err != nil {
		return "", err
	}
	b, err := s.frame(more)
	if err != nil {
		return "", err
	}
	errorOfGuess := quantity.UsualPrivacy()
	most := math.Inf(-1)
	for _, c := range a.Cells {
		for _, d := range b.Cells {
			isSame := c.Dataset == d.Dataset && c.Instance() == d.Instance() && c.Epsilon == d.Epsilon
			if isSame && c.Has(errorOfGuess) && d.Has(errorOfGuess) {
				most = max(most, 100*(c.Get(errorOfGuess).Float()-d.Get(errorOfGuess).Float()))
			}
		}
	}
	if math.IsInf(most, 0) {
		return "", fmt.Errorf("%s and %s have no release in common", few, more)
	}
	return views.Number(most, 1), nil
}
