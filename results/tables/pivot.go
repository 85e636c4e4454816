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

// Head is a column of row headings.
type Head[T any] struct {
	Title string
	Text  func(T) string
	// Cell completes the cell of a text with footnotes on the records of the row;
	// nil leaves it.
	Cell func(t *Table, text string, own []T) TableCell
}

// Column is a column of numbers, made of those records of a row that it takes.
type Column[T any] struct {
	Group, Title string
	Of           func(T) bool // nil: all
	Cell         func(t *Table, own []T) TableCell
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

// Pivot fills a table: a row for each combination of headings, in the order of
// the records, under a rule where the heading numbered rule changes (−1: nowhere).
// It returns the records of each row.
func Pivot[T any](t *Table, records []T, heads []Head[T], columns []Column[T], rule int) (rows [][]T) {
	t.Header, t.Groups = nil, nil
	for _, h := range heads {
		t.column("", h.Title)
	}
	for _, c := range columns {
		t.column(c.Group, c.Title)
	}
	if len(t.Groups) == 1 {
		t.Groups = nil
	}
	at := map[string]int{}
	for _, r := range records {
		var key strings.Builder
		for _, h := range heads {
			key.WriteString(h.Text(r) + "\x00")
		}
		i, ok := at[key.String()]
		if !ok {
			i = len(rows)
			at[key.String()], rows = i, append(rows, nil)
		}
		rows[i] = append(rows[i], r)
	}
	for i, own := range rows {
		var row []TableCell
		named := 0
		for k, h := range heads {
			cell := TableCell{Text: h.Text(own[0])}
			if h.Cell != nil {
				cell, named = h.Cell(t, cell.Text, own), k
			}
			row = append(row, cell)
		}
		row[0].Separator = i > 0 && rule >= 0 && row[rule].Text != t.Rows[i-1][rule].Text
		for _, c := range columns {
			if c.Of == nil {
				row = append(row, c.Cell(t, own))
			} else {
				row = append(row, c.Cell(t, results.Where(own, c.Of)))
			}
		}
		t.Rows = append(t.Rows, row)
		t.hoist(len(t.Rows)-1, named, len(heads))
	}
	return rows
}

// meanOf fills the cells of a column with the mean of a quantity over
// repetitions.
func meanOf(q results.Column) func(*Table, []results.Cell) TableCell {
	return func(t *Table, cells []results.Cell) TableCell {
		sum := stats.Summarize(results.Cells{Cells: cells}.Values(q.Name))
		c := number(WithInterval(sum, q.Digits), sum.Mean)
		if sum.N > 1 { // the legend explains a single repetition
			for _, w := range sum.Warnings {
				c.Notes = append(c.Notes, t.Note(string(w)))
			}
		}
		return orUndefined(t, cells, c)
	}
}

// ownOf is meanOf with a number's own interval, not that over repetitions.
func ownOf(q results.Column) func(*Table, []results.Cell) TableCell {
	return func(t *Table, cells []results.Cell) TableCell {
		mean := stats.Mean(results.Cells{Cells: cells}.Values(q.Name))
		return orUndefined(t, cells, number(withOwn(mean, cells, q), mean))
	}
}

// orUndefined is a cell, but empty where there is nothing to measure and said to
// be undefined where the mechanism is.
func orUndefined(t *Table, cells []results.Cell, c TableCell) TableCell {
	if len(cells) == 0 {
		return TableCell{}
	}
	for _, r := range cells {
		if r.Status == results.StatusUndefined {
			return TableCell{Text: "undefined", Notes: []int{t.Note(undefinedBecause(r))}}
		}
	}
	return c
}

// withOwn writes a mean over cells with the mean of the numbers' own intervals,
// of those that have one.
func withOwn(mean float64, cells []results.Cell, q results.Column) string {
	var lows, highs []float64
	for _, c := range cells {
		m, _ := c.At(q.Name)
		low, high := m.Low, m.High
		if q.OfModel { // older rows of words have counts and no interval: not that of as many answers
			low, high = c.Interval(q.Name)
		}
		if high > low {
			lows, highs = append(lows, float64(low)), append(highs, float64(high))
		}
	}
	return WithEnds(mean, stats.Mean(lows), stats.Mean(highs), q.Digits)
}

// WithEnds writes a value ± half the width of its interval, if it has one: the one
// form of a number in tables, on pages and boards. A value that is an end of its
// interval, such as 100%, has the two ends beside it.
func WithEnds(value, low, high float64, digits int) string {
	text := FormatNumber(value, digits)
	switch half := (high - low) / 2; {
	case !(half > 0) || math.IsInf(half, 0):
	case value <= low || value >= high:
		text += " (" + FormatNumber(low, digits) + "–" + FormatNumber(high, digits) + ")"
	default:
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
func (s sheet) mechanism() Head[results.Cell] {
	return Head[results.Cell]{"mechanism", s.Name, promiseCell}
}

func by(title string, text func(results.Cell) string) Head[results.Cell] {
	return Head[results.Cell]{Title: title, Text: text}
}

var (
	byDataset = by("data set", func(c results.Cell) string { return results.DatasetTitle(c.Dataset) })
	bySpace   = by("space", func(c results.Cell) string { return c.Space().String() })
	byEpsilon = by("ε", func(c results.Cell) string { return formatFloat(c.Epsilon) })
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
	var columns []Column[results.Cell]
	for _, sp := range results.Spaces(cells) {
		for k, e := range epsilons(cells) {
			columns = append(columns, Column[results.Cell]{Group: sp.String(), Title: epsilonTitle(e), Cell: meanOf(q),
				Of: func(c results.Cell) bool {
					if c.Space() != sp || c.IsBaseline() {
						return c.Space() == sp && k == 0
					}
					return float64(c.Epsilon) == e || math.IsNaN(e) && !c.Epsilon.Known()
				}})
		}
	}
	rows := Pivot(t, inOrder(cells), []Head[results.Cell]{byDataset, s.mechanism()}, columns, 0)
	per := len(epsilons(cells))
	baseline := map[string][]TableCell{} // by data set
	for i, row := range t.Rows {
		if rows[i][0].IsBaseline() {
			baseline[row[0].Text] = row
		}
	}
	for i, row := range t.Rows {
		if plain := baseline[row[0].Text]; plain != nil && !rows[i][0].IsBaseline() {
			for j := range columns {
				base, own := plain[2+j/per*per], &row[2+j]
				own.Above = own.valued && base.valued && own.value > base.value
			}
		}
	}
	if q.Direction != results.Neither {
		t.markBest(2, q.Direction == results.Up, func(i int) bool { return !rows[i][0].IsBaseline() })
	}
	if len(t.Rows) > 0 {
		t.Rows[0][0].Separator = true
	}
}

// markBest sets in bold the best number of each column, from column first on,
// among those rows with one text in their first cell that compete; equal ones
// share it, and one row has none.
func (t *Table) markBest(first int, higherIsBetter bool, competes func(row int) bool) {
	groups := map[string][][]TableCell{}
	for i, row := range t.Rows {
		if competes(i) {
			groups[row[0].Text] = append(groups[row[0].Text], row)
		}
	}
	for _, rows := range groups {
		for j := first; j < len(t.Header) && len(rows) > 1; j++ {
			best := math.Inf(1)
			if higherIsBetter {
				best = math.Inf(-1)
			}
			for _, row := range rows {
				if row[j].valued && (row[j].value > best) == higherIsBetter {
					best = row[j].value
				}
			}
			for _, row := range rows {
				row[j].Best = row[j].valued && row[j].value == best
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
