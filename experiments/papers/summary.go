package papers

import (
	"math"
	"slices"

	"mldpbench/results"
	"mldpbench/results/stats"
)

// Summary is a quantity at one position of one curve over its repetitions (N_w
// and S_w: over words), in the quantity's unit.
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

// Summarize summarises points, ordered by the first occurrence of their
// position. Missing values do not count.
func Summarize(points []results.Record) []Summary {
	type place struct{ panel, series, quantity, x string }
	var rows []Summary
	var values [][]float64
	at := map[place]int{}
	for _, p := range results.PanelsApart(points) {
		x, _ := p.X.MarshalCSV() // cannot fail; text because a missing number would not equal itself
		key := place{p.Panel, p.Series, p.Quantity, x}
		i, known := at[key]
		if !known {
			i = len(rows)
			at[key] = i
			values = append(values, nil)
			rows = append(rows, Summary{
				Panel: p.Panel, Series: p.Series, XName: p.XName, X: p.X, Quantity: p.Quantity,
				Embedding: p.Embedding, Dimension: p.Dimension, Dataset: p.Dataset,
				Mechanism: p.Mechanism, Parameters: p.Parameters, Note: p.Note,
			})
		}
		if rows[i].Note != p.Note {
			rows[i].Note = ""
		}
		if p.Value.Known() {
			values[i] = append(values[i], float64(p.Value))
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
