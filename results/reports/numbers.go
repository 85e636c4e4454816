package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/published"
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
	of := map[published.Number]bool{}
	for _, n := range all {
		if strings.Contains(" "+quantities+" ", " "+n.Quantity+" ") {
			cell := published.Number{Place: n.Place, Quantity: n.Quantity}
			of[cell] = of[cell] || n.Verdict == published.Same || n.Verdict == published.Near
		}
	}
	if err == nil && len(of) == 0 {
		err = fmt.Errorf("nothing is printed of %s (%s) of %s", dataset, how, quantities)
	}
	near := list.Count(slices.Collect(maps.Values(of)), func(b bool) bool { return b })
	return fmt.Sprintf("%d of %d", near, len(of)), err
}

// published has ours/printed and the verdict, a row for each row of the paper.
func (s source) published(how, dataset string, columns ...string) (string, error) {
	all, err := s.printed(replicated, how, dataset, 100)
	if err != nil {
		return "", err
	}
	header, rows := []string{"mechanism", "ε"}, [][]string{}
	for _, q := range columns {
		q, _, _ = strings.Cut(q, " ")
		header = append(header, map[string]string{"n_w": "N_w", "s_w": "S_w", "pp": "PP", "low_overlap": "LOW",
			"english_as_printed": "English %", "accuracy": "accuracy", "cs": "CS", "puc_50": "PUC α = ½"}[q])
	}
	for _, at := range results.Distinct(all, func(n published.Number) results.Place { return n.Text() }) {
		row := []string{results.MechanismTitle(at.Mechanism), at.Epsilon.String()}
		for _, column := range columns {
			q, setting, _ := strings.Cut(column, " ")
			text, digits := views.NotMeasured, results.MustColumn(q).Digits
			for _, n := range all {
				if n.Text() == at && n.Quantity == q && (n.Setting == setting || n.Setting == "") {
					text = views.Number(n.Ours, digits) + "/" + views.Number(n.Printed, digits) + " " + signs[n.Verdict]
				}
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return table(rows, header...)
}

// cells are those of a record at a data set and mechanism or its label, and an ε where one is given. A quantity may be
// followed by the setting, a record by its dimension, as in retrieval@100; those of several are never averaged.
func (s source) cells(name, quantity, dataset, mechanism string, epsilon []float64) ([]results.Cell, error) {
	name, dimension, _ := strings.Cut(name, "@")
	p, err := s.frame(name)
	if err != nil {
		return nil, err
	}
	quantity, setting, _ := strings.Cut(quantity, " ")
	found := results.Where(p.Cells, func(c results.Cell) bool {
		return c.Dataset == dataset && (setting == "" || c.Setting == setting) && c.Has(quantity) &&
			(dimension == "" || dimension == fmt.Sprint(c.Dimension)) &&
			(c.Mechanism == mechanism || c.Label == mechanism) && (len(epsilon) == 0 || c.Epsilon == results.Float(epsilon[0]))
	})
	other := func(c results.Cell) bool { return c.Dimension != found[0].Dimension }
	if len(found) == 0 || slices.ContainsFunc(found, other) {
		return nil, fmt.Errorf("%s: no %s of %s on %s at %v, or of several dimensions", name, quantity, mechanism, dataset,
			epsilon)
	}
	return found, nil
}

// mean is that of a quantity over cells, with half its interval.
func mean(cells []results.Cell, quantity string) (value, half float64) {
	value, low, high := views.Mean(cells, quantity)
	return value, (high - low) / 2
}

// cell is a number as its column prints it.
func (s source) cell(name, quantity, dataset, mechanism string, epsilon ...float64) (string, error) {
	found, err := s.cells(name, quantity, dataset, mechanism, epsilon)
	if err != nil {
		return "", err
	}
	quantity, _, _ = strings.Cut(quantity, " ")
	v, _ := mean(found, quantity)
	return views.Number(v, results.MustColumn(quantity).Digits), nil
}

// percent is a share with half its interval.
func (s source) percent(name, quantity, dataset, mechanism string, epsilon ...float64) (string, error) {
	found, err := s.cells(name, quantity, dataset, mechanism, epsilon)
	v, half := mean(found, quantity)
	return fmt.Sprintf("%.1f ± %.1f%%", 100*v, 100*half), err
}

// floor is what guessing reaches.
func (s source) floor(name, quantity, dataset, mechanism string) (string, error) {
	found, err := s.cells(name, quantity, dataset, mechanism, nil)
	if err != nil {
		return "", err
	}
	m, _ := found[0].At(quantity)
	return fmt.Sprintf("%.0f%%", 100*m.Floor.Float()), nil
}

// least is the smallest share of any mechanism, but random words.
func (s source) least(name, quantity, dataset string) (string, error) {
	p, err := s.frame(name)
	least := math.Inf(1)
	if err == nil {
		for _, g := range results.GroupCells(p.Private()) {
			if c := g.Cells[0]; c.Dataset == dataset && c.Mechanism != "uniform" && c.Has(quantity) {
				v, _ := mean(g.Cells, quantity)
				least = min(least, v)
			}
		}
	}
	return fmt.Sprintf("%.1f%%", 100*least), err
}

// release is one of a mechanism, with what it keeps of the topic in %.
type release struct {
	own         []results.Cell
	topic, away float64 // away: from the place that was asked for
}

// released is of each mechanism the release that is nearest to five points of accuracy
// lost in another record, or nearest to half of the words where none is named.
func (s source) released(name, dataset string, use ...string) (p *results.Prepared, all []release, err error) {
	p, err = s.frame(name)
	text := func(c results.Cell) results.Place { return c.Text().Group() }
	here := func(c results.Cell) bool { return c.Dataset == dataset }
	accuracy, plain := map[results.Place]float64{}, math.NaN()
	for _, record := range use {
		topic, wrong := s.frame(record)
		if err = cmp.Or(err, wrong); err != nil {
			return nil, nil, err
		}
		for _, own := range list.Group(results.Where(topic.Cells, here), text) {
			v, _ := mean(own, "accuracy")
			if accuracy[text(own[0])] = v; own[0].IsBaseline() {
				plain = v
			}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	for _, mechanism := range list.Group(results.Where(p.Private(), here), results.Cell.Instance) {
		best := release{away: math.Inf(1)}
		for _, x := range list.Group(mechanism, text) {
			topic, measured := accuracy[text(x[0])]
			away := math.Abs(plain - 5 - topic)
			if words, _ := mean(x, "strongest-words"); len(use) == 0 {
				away = math.Abs(words - 0.5)
			}
			if away < best.away && (measured || len(use) == 0) {
				best = release{x, topic, away}
			}
		}
		if best.own != nil {
			all = append(all, best)
		}
	}
	return p, all, nil
}

// strongest is what the strongest attackers find of each mechanism's release.
func (s source) strongest(name, dataset string, use ...string) (string, error) {
	p, all, err := s.released(name, dataset, use...)
	if err != nil {
		return "", err
	}
	header := []string{"mechanism", "ε", "word", "label", "document", "word, 10 releases"}
	if len(use) > 0 {
		header = slices.Insert(header, 2, "topic, %")
	}
	var rows [][]string
	for _, r := range all {
		row := []string{short(p.Name(r.own[0].Place)), r.own[0].Epsilon.String()}
		if len(use) > 0 {
			row = append(row, views.Number(r.topic, 1))
		}
		for _, q := range []string{"strongest-words", "strongest-label", "strongest-documents", "average-10"} {
			v, half := mean(r.own, q)
			row = append(row, fmt.Sprintf("%s ± %s", views.Number(100*v, 0), views.Number(100*half, 0)))
		}
		rows = append(rows, row)
	}
	return table(rows, header...)
}

// between are the ends of what the best of some attackers finds, over some mechanisms or
// all, where these lose five points of the topic, or half of that more or less.
func (s source) between(attackers, name, dataset, use string, mechanisms ...string) (string, error) {
	_, all, err := s.released(name, dataset, use)
	var found []float64
	for _, r := range all {
		own := list.Map(strings.Fields(attackers), func(q string) float64 { v, _ := mean(r.own, q); return v })
		own = slices.DeleteFunc(own, math.IsNaN)
		asked := len(mechanisms) == 0 || slices.Contains(mechanisms, r.own[0].Mechanism)
		if asked && r.away <= 2.5 && len(own) > 0 {
			found = append(found, slices.Max(own))
		}
	}
	if err != nil || len(found) < max(1, len(mechanisms)) {
		return "", cmp.Or(err, fmt.Errorf("%s: no %s at five points lost on %s", name, attackers, dataset))
	}
	return fmt.Sprintf("%.0f to %.0f%%", 100*slices.Min(found), 100*slices.Max(found)), nil
}

// paper is a mean of the records of commit 05dcc51 of a source paper.
func (s source) paper(name, panel, series string, x any, quantity string) (string, error) {
	type mean struct {
		Panel    string  `csv:"panel"`
		Series   string  `csv:"series"`
		X        string  `csv:"x"`
		Quantity string  `csv:"quantity"`
		Mean     float64 `csv:"mean"`
	}
	rows, err := results.ReadRows[mean](s.path(name + ".csv"))
	for _, r := range rows {
		if r.Panel == panel && r.Series == series && r.X == fmt.Sprint(x) && r.Quantity == quantity {
			return views.Number(r.Mean, 3-int(min(2, max(0, math.Log10(math.Max(1, math.Abs(r.Mean))))))), err
		}
	}
	if err == nil {
		err = fmt.Errorf("%s has no %s of %s, %s at %v", name, quantity, panel, series, x)
	}
	return "", err
}
