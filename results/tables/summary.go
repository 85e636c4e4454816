package tables

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/stats"
	"mldpbench/results"
)

// Summary is a quantity at one position of one curve of a paper's figure over
// its repetitions (N_w and S_w: over words), in the quantity's unit.
type Summary struct {
	Panel      string        `csv:"panel"`
	Series     string        `csv:"series"`
	XName      string        `csv:"x_name"`
	X          results.Float `csv:"x"`
	Quantity   string        `csv:"quantity"`
	N          int           `csv:"n"` // repetitions
	Mean       results.Float `csv:"mean"`
	Low        results.Float `csv:"low"` // 95% t interval of the mean; empty for one repetition
	High       results.Float `csv:"high"`
	Least      results.Float `csv:"least"`
	Most       results.Float `csv:"most"`
	Embedding  string        `csv:"embedding"`
	Dimension  int           `csv:"dimension"`
	Dataset    string        `csv:"dataset"`
	Mechanism  string        `csv:"mechanism"`
	Parameters string        `csv:"parameters"`
	Note       string        `csv:"note"` // where it is the same for all repetitions
}

// Summarize summarises the cells that belong to a figure of a paper, ordered by
// the first occurrence of their position. Missing values do not count.
func Summarize(p *results.Prepared) []Summary {
	type place struct{ panel, series, dataset, quantity, x string }
	var rows []Summary
	var values [][]float64
	at := map[place]int{}
	for _, c := range p.Cells {
		if c.Panel == "" {
			continue
		}
		quantities := results.Where(c.Quantities(), func(name string) bool {
			column := results.MustColumn(name)
			return !column.Derived && !column.Timing
		})
		if len(quantities) == 0 {
			quantities = []string{""} // undefined, which is a result too
		}
		for _, quantity := range quantities {
			m, _ := c.At(quantity)
			key := place{c.Panel, c.Series, c.Dataset, quantity, c.X.String()}
			i, known := at[key]
			if !known {
				i = len(rows)
				at[key] = i
				values = append(values, nil)
				rows = append(rows, Summary{
					Panel: c.Panel, Series: c.Series, XName: c.XName, X: c.X, Quantity: quantity,
					Embedding: c.Embedding, Dimension: c.Dimension, Dataset: c.Dataset,
					Mechanism: c.Mechanism, Parameters: c.Parameters, Note: m.Note,
				})
			}
			if rows[i].Note != m.Note {
				rows[i].Note = ""
			}
			if v := c.Get(quantity); v.Known() {
				values[i] = append(values[i], float64(v))
			}
		}
	}
	for i, v := range values {
		r, s := &rows[i], stats.Summarize(v)
		r.N, r.Mean, r.Low, r.High = s.N, results.Float(s.Mean), results.Missing, results.Missing
		r.Least, r.Most = results.Missing, results.Missing
		if s.N > 0 {
			r.Least, r.Most = results.Float(slices.Min(v)), results.Float(slices.Max(v))
		}
		if !math.IsInf(s.Low, 0) {
			r.Low, r.High = results.Float(s.Low), results.Float(s.High)
		}
	}
	return rows
}

// figures returns the table of all points of papers' figures.
func (s sheet) figures() Table {
	t := s.named("figures", "Points of the papers' figures")
	t.Header = []string{"panel", "data set", "series", "x", "", "quantity", "repetitions", "mean", "note"}
	previous := ""
	for _, r := range Summarize(s.Prepared) {
		digits, title := 3, r.Quantity
		if q, err := results.FindColumn(r.Quantity); err == nil {
			digits, title = q.Digits, q.Heading()
		}
		text := NotMeasured
		if r.N > 0 {
			text = WithEnds(float64(r.Mean), float64(r.Low), float64(r.High), digits)
		}
		t.AddRow(r.Panel, results.DatasetTitle(r.Dataset), r.Series, r.XName, formatFloat(r.X), title, fmt.Sprint(r.N),
			text, r.Note)
		t.Rows[len(t.Rows)-1][0].Separator = r.Panel != previous
		previous = r.Panel
	}
	t.Legend = "Mean ± half-width of the 95% t interval over repetitions (of single words: over words; none of one)."
	return t
}
