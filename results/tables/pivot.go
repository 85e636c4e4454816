package tables

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/stats"
	"mldpbench/results"
)

// head is a column of row headings.
type head struct {
	title     string
	text      func(results.Cell) string
	mechanism bool // with footnotes on what it promises
}

// column is a column of numbers: a quantity of those cells of the row that it
// takes.
type column struct {
	group, title string
	quantity     results.Column
	of           func(results.Cell) bool // nil: all
	own          bool                    // ± half a number's own interval, not that over repetitions
	note         func(c results.Cell, quantity string) string
}

// line is a row of a pivot: its cells, and the mean in each column.
type line struct {
	cells []results.Cell
	means []float64
}

// sheet is the part of a prepared view on either real or generated data.
type sheet struct {
	*results.Prepared
	generated bool
}

// named completes name and title; both mention generated data.
func (s sheet) named(name, title string) Table {
	if s.generated {
		return Table{Name: name + "-generated", Title: title + " (generated data)"}
	}
	return Table{Name: name, Title: title}
}

// pivot fills a table: a row for each combination of headings, in the order of
// the cells, under a rule where the heading numbered rule changes.
func (s sheet) pivot(t *Table, cells []results.Cell, heads []head, columns []column, rule int) []line {
	t.Header, t.Groups = nil, nil
	for _, h := range heads {
		t.column("", h.title)
	}
	for _, c := range columns {
		t.column(c.group, c.title)
	}
	if len(t.Groups) == 1 {
		t.Groups = nil
	}
	at := map[string]int{}
	var lines []line
	for _, c := range cells {
		var key strings.Builder
		for _, h := range heads {
			key.WriteString(h.text(c) + "\x00")
		}
		i, ok := at[key.String()]
		if !ok {
			i = len(lines)
			at[key.String()], lines = i, append(lines, line{})
		}
		lines[i].cells = append(lines[i].cells, c)
	}
	previous := ""
	for i := range lines {
		l := &lines[i]
		var row []TableCell
		named := 0
		for k, h := range heads {
			cell := TableCell{Text: h.text(l.cells[0])}
			if h.mechanism {
				cell, named = promiseCell(t, cell.Text, l.cells), k
			}
			row = append(row, cell)
		}
		row[0].Separator = i > 0 && row[rule].Text != previous
		previous = row[rule].Text
		for _, c := range columns {
			own := l.cells
			if c.of != nil {
				own = results.Where(own, c.of)
			}
			cell, mean := measured(t, own, c.quantity, c.own)
			if c.note != nil && len(own) > 0 {
				if note := c.note(own[0], c.quantity.Name); note != "" {
					cell.Notes = append(cell.Notes, t.Note(note))
				}
			}
			row, l.means = append(row, cell), append(l.means, mean)
		}
		t.Rows = append(t.Rows, row)
		t.hoist(len(t.Rows)-1, named, len(heads))
	}
	return lines
}

// measured fills one cell of a table with the mean over repetitions.
func measured(t *Table, cells []results.Cell, q results.Column, own bool) (TableCell, float64) {
	if len(cells) == 0 {
		return TableCell{}, math.NaN()
	}
	sum := stats.Summarize(results.Cells{Cells: cells}.Values(q.Name))
	c := TableCell{Text: WithInterval(sum, q.Digits)}
	switch {
	case own && sum.N > 0:
		c.Text = withHalf(sum.Mean, half(cells, q.Name), q.Digits)
	case sum.N > 1: // the legend explains a single repetition
		for _, w := range sum.Warnings {
			c.Notes = append(c.Notes, t.Note(string(w)))
		}
	}
	for _, r := range cells {
		if r.Status == results.StatusUndefined {
			return TableCell{Text: "undefined", Notes: []int{t.Note(undefinedBecause(r))}}, math.NaN()
		}
	}
	return c, sum.Mean
}

// half is the mean of half the widths of the numbers' own intervals, NaN where
// they have none.
func half(cells []results.Cell, quantity string) float64 {
	var halves []float64
	for _, c := range cells {
		if m, ok := c.At(quantity); ok && m.High > m.Low {
			halves = append(halves, float64(m.High-m.Low)/2)
		}
	}
	return stats.Mean(halves)
}

// withHalf writes a value ± half the width of its interval, if it has one.
func withHalf(value, half float64, digits int) string {
	text := FormatNumber(value, digits)
	if half > 0 && !math.IsInf(half, 0) {
		text += " ± " + FormatNumber(half, digits)
	}
	return text
}

var namedEpsilon = regexp.MustCompile(`\bepsilon = \S+: must`)

// undefinedBecause returns the reason without the ε of the cell, so all ε share
// a footnote.
func undefinedBecause(c results.Cell) string {
	return namedEpsilon.ReplaceAllString(strings.TrimPrefix(c.Reason, c.Mechanism+": undefined: "), "ε must")
}

// promiseCell returns a name with a footnote where nothing is guaranteed, or
// something between some words only.
func promiseCell(t *Table, name string, cells []results.Cell) TableCell {
	out := TableCell{Text: name}
	own := results.Where(cells, func(c results.Cell) bool {
		return c.Status == results.StatusOK && !c.IsBaseline()
	})
	if c, found := results.Unproved(own); found {
		out.Notes = append(out.Notes, t.Note(strings.TrimSuffix("no privacy guarantee: "+c.GuaranteeReason, ": ")))
	}
	if slices.ContainsFunc(own, func(c results.Cell) bool { return c.Unrepeatable }) {
		out.Notes = append(out.Notes, t.Note("cannot be repeated: the same seed gives a different text each time"))
	}
	if scope := results.Scope(own); scope != "" {
		out.Notes = append(out.Notes, t.Note("its guarantee holds only "+scope))
	}
	return out
}

// The usual headings.
func (s sheet) mechanism() head { return head{"mechanism", s.Name, true} }

var (
	byDataset = head{title: "data set", text: func(c results.Cell) string { return results.DatasetTitle(c.Dataset) }}
	bySpace   = head{title: "space", text: func(c results.Cell) string { return c.Space().String() }}
	byEpsilon = head{title: "ε", text: func(c results.Cell) string { return formatFloat(c.Epsilon) }}
)

// inOrder sorts cells by data set and mechanism, both in the order of their
// first appearance.
func inOrder(cells []results.Cell) []results.Cell {
	var out []results.Cell
	for _, d := range results.Distinct(cells, func(c results.Cell) string { return c.Dataset }) {
		own := results.Where(cells, func(c results.Cell) bool { return c.Dataset == d })
		for _, i := range results.Instances(own) {
			out = append(out, results.Where(own, func(c results.Cell) bool { return c.Instance() == i })...)
		}
	}
	return out
}

// epsilons are the columns of a table by ε, ascending. NaN, the last, is for
// text privatised without a stated ε, such as text made elsewhere, and for cells
// without any ε, such as a study of baselines.
func epsilons(cells []results.Cell) []float64 {
	columns := results.Epsilons(cells)
	if len(columns) == 0 || slices.ContainsFunc(cells, func(c results.Cell) bool {
		return !c.IsBaseline() && !c.Epsilon.Known()
	}) {
		columns = append(columns, math.NaN())
	}
	return columns
}

func epsilonTitle(e float64) string {
	if math.IsNaN(e) {
		return "no ε"
	}
	return fmt.Sprintf("ε=%g", e)
}

// grid makes a table of one quantity: a row for each mechanism, under its
// baseline, a column for each ε within each space.
func (s sheet) grid(t *Table, cells []results.Cell, q results.Column) {
	if !slices.ContainsFunc(cells, func(c results.Cell) bool { return c.IsBaseline() && c.Has(q.Name) }) {
		cells = results.Where(cells, func(c results.Cell) bool { return !c.IsBaseline() })
	}
	var columns []column
	for _, sp := range results.Spaces(cells) {
		for k, e := range epsilons(cells) {
			columns = append(columns, column{group: sp.String(), title: epsilonTitle(e), quantity: q,
				of: func(c results.Cell) bool {
					if c.Space() != sp || c.IsBaseline() {
						return c.Space() == sp && k == 0
					}
					return float64(c.Epsilon) == e || math.IsNaN(e) && !c.Epsilon.Known()
				}})
		}
	}
	first := len(t.Rows)
	lines := s.pivot(t, inOrder(cells), []head{byDataset, s.mechanism()}, columns, 0)
	per := len(epsilons(cells))
	for _, dataset := range results.Distinct(lines, func(l line) string { return l.cells[0].Dataset }) {
		base := make([]float64, len(columns))
		for j := range base {
			base[j] = math.NaN()
		}
		var rows []int
		var means [][]float64
		for i, l := range lines {
			switch {
			case l.cells[0].Dataset != dataset:
			case l.cells[0].IsBaseline():
				for j := range base {
					base[j] = l.means[j/per*per]
				}
			default:
				rows, means = append(rows, first+i), append(means, l.means)
			}
		}
		for k, i := range rows {
			for j, v := range means[k] {
				t.Rows[i][2+j].Above = v > base[j]
			}
		}
		if q.Direction != results.Neither {
			markBest(t, rows, means, 2, q.Direction == results.Up)
		}
	}
	if first < len(t.Rows) {
		t.Rows[first][0].Separator = true
	}
}

// markBest sets the best number of each column in bold; equal ones share it.
func markBest(t *Table, rows []int, means [][]float64, heads int, higherIsBetter bool) {
	if len(means) < 2 {
		return
	}
	for j := range means[0] {
		best := math.NaN()
		for _, line := range means {
			if v := line[j]; !math.IsNaN(v) && (math.IsNaN(best) || (v > best) == higherIsBetter && v != best) {
				best = v
			}
		}
		for k, line := range means {
			if line[j] == best {
				t.Rows[rows[k]][heads+j].Best = true
			}
		}
	}
}

// WithInterval formats a mean and the half-width of its interval.
func WithInterval(s stats.Summary, digits int) string {
	if s.N < 2 {
		return FormatNumber(s.Mean, digits)
	}
	return FormatNumber(s.Mean, digits) + " ± " + FormatNumber(s.HalfWidth(), digits)
}

// FormatNumber formats a number with so many digits after the point; NaN is not
// measured.
func FormatNumber(v float64, digits int) string {
	if math.IsNaN(v) {
		return NotMeasured
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// formatFloat returns up to four significant digits, "" when missing.
func formatFloat(f results.Float) string {
	if !f.Known() {
		return ""
	}
	return fmt.Sprintf("%.4g", float64(f))
}

// Slug makes a file name of the parts of a name.
func Slug(parts ...string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(strings.Join(parts, "-"))), "-.")
}

// Capitalised is a text with a capital first letter.
func Capitalised(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
