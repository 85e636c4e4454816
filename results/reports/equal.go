package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/views"
)

// aligned are the comparisons of records at a level such as em=0.5.
func (s source) aligned(names, level string) ([]analysis.Alignment, error) {
	a, err := s.analyse(names, level)
	if err != nil {
		return nil, err
	}
	return a.Alignments("", a.Levels().At[0]), nil
}

// lineOf is the number of a mechanism's line, -1 for none.
func lineOf(a analysis.Alignment, mechanism string) int {
	return slices.IndexFunc(a.Lines, func(l analysis.Line) bool {
		return l.Mechanism == mechanism
	})
}

// at is the line of a mechanism on a data set at a level.
func (s source) at(names, level, dataset, mechanism string) (a analysis.Alignment, l analysis.Line, err error) {
	all, err := s.aligned(names, level)
	for _, a := range all {
		i := lineOf(a, mechanism)
		if a.Dataset == dataset && i >= 0 && a.Lines[i].Reached {
			return a, a.Lines[i], nil
		}
	}
	return a, l, errors.Join(err, fmt.Errorf("%s: %s on %s does not reach %s", names, mechanism, dataset, level))
}

// epsilon is where a mechanism reaches a level on a data set.
func (s source) epsilon(names, level, dataset, mechanism string) (string, error) {
	_, l, err := s.at(names, level, dataset, mechanism)
	return views.Number(l.Epsilon, 1), err
}

// exponent is ε·d there: between words so far apart odds change by a factor of at most e to its power.
func (s source) exponent(names, level, dataset, mechanism string, distance float64) (string, error) {
	_, l, err := s.at(names, level, dataset, mechanism)
	return views.Number(l.Epsilon*distance, 0), err
}

// loss is how much less use it has there than plain text.
func (s source) loss(names, level, dataset, mechanism string) (string, error) {
	a, l, err := s.at(names, level, dataset, mechanism)
	return views.Number(a.Baseline-l.Value, 1), err
}

// short is the name of a mechanism without parameters.
func short(name string) string {
	own, _, _ := strings.Cut(name, ",")
	return own
}

// equal is the table of use at a level.
func (s source) equal(names, level string) (string, error) {
	a, err := s.analyse(names, level)
	if err != nil {
		return "", err
	}
	tables := views.Named(views.Tables(a, views.Builtin().Tables), "equal")
	if len(tables) == 0 {
		return "", fmt.Errorf("%s: nothing is equal at %s", names, level)
	}
	t := tables[0]
	t.Rows = results.Where(t.Rows, func(row []views.Cell) bool { // those that reach the level
		return slices.ContainsFunc(row[1:], func(c views.Cell) bool {
			return c.Text != views.NotMeasured
		})
	})
	t.Notes = nil
	return markdown(t)
}

// markdown is a table without title and legend, which the page has.
func markdown(t views.Table) (string, error) {
	t.Title = ""
	t.Legend = ""
	var b bytes.Buffer
	err := t.Write(&b, "md")
	return strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(b.String(), "### "), `\*`, "*")), err
}

// table is one of plain texts.
func table(rows [][]string, header ...string) (string, error) {
	t := views.Table{Header: header}
	for _, r := range rows {
		t.AddRow(r...)
	}
	return markdown(t)
}

// classifiers are the accuracies at E_M = 0.5 by classifier, with * where the rank fix is significantly different from
// the mechanism.
func (s source) classifiers(names, title string) (string, error) {
	all, err := s.aligned(names, "em=0.5")
	if err != nil {
		return "", err
	}
	all = results.Where(all, func(a analysis.Alignment) bool { return a.Datasets == 0 })
	header := []string{title}
	plain := []string{"not privatised"}
	for _, a := range all {
		header = append(header, a.Model)
		plain = append(plain, views.Number(a.Baseline, 1))
	}
	var rows [][]string
	for i, l := range all[0].Lines {
		row := []string{short(l.Name)}
		for _, a := range all {
			own := a.Lines[i]
			text := fmt.Sprintf("%.1f ± %.1f", own.Value, (own.High-own.Low)/2)
			pair, _ := a.Pair(lineOf(a, "rank-fix"), i)
			if pair.Different {
				text += "*"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return table(append(rows, plain), header...)
}
