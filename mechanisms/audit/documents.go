package audit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/mechanisms"
)

// documents compares the probabilities of all outputs of a mechanism of documents for all
// pairs of some known texts, and records the worst output.
func (a *audit) documents(ctx context.Context, d *mechanisms.Documents, r *Report) error {
	if d.LogRows == nil {
		r.Method = NoAudit
		r.Reason = "its probabilities are not known: mldp audit --documents samples"
		return nil
	}
	texts := a.knownTexts(d)
	r.Words = len(texts)
	r.Pairs = len(texts) * (len(texts) - 1)
	most := newExtremes(len(d.Outputs))
	const together = 64
	for first := 0; first < len(texts); first += together {
		rows, err := d.LogRows(ctx, texts[first:min(first+together, len(texts))])
		if err != nil {
			return err
		}
		for i, row := range rows {
			if len(row) != len(d.Outputs) {
				return fmt.Errorf("%d probabilities for %d outputs", len(row), len(d.Outputs))
			}
			most.add(first+i, row)
		}
	}
	output, ratio := most.worst()
	r.record(Finding{
		A:        shortened(texts[most.likeliest[output]]),
		B:        shortened(texts[most.unlikeliest[output]]),
		Event:    shortened(d.Outputs[output]),
		Distance: 1,
		LogRatio: ratio,
		Allowed:  a.epsilon,
	})
	if ratio > 0 && !r.Violated {
		r.Detects = max(1, a.epsilon/ratio) // log-ratios grow in proportion to ε, or faster
	}
	return nil
}

// extremes are, of each output, the greatest and the least of its log-probabilities, and
// the numbers of their texts.
type extremes struct {
	high, low              []float64
	likeliest, unlikeliest []int
}

func newExtremes(outputs int) *extremes {
	return &extremes{
		high:        slices.Repeat([]float64{math.Inf(-1)}, outputs),
		low:         slices.Repeat([]float64{math.Inf(1)}, outputs),
		likeliest:   make([]int, outputs),
		unlikeliest: make([]int, outputs),
	}
}

// add compares with the row of a text.
func (e *extremes) add(text int, row []float64) {
	for y, x := range row {
		if x > e.high[y] {
			e.high[y] = x
			e.likeliest[y] = text
		}
		if x < e.low[y] {
			e.low[y] = x
			e.unlikeliest[y] = text
		}
	}
}

// worst is the output with the greatest log-ratio of two texts.
func (e *extremes) worst() (output int, ratio float64) {
	ratio = math.Inf(-1)
	for y, high := range e.high {
		possible := !math.IsInf(high, -1)
		if possible && high-e.low[y] > ratio {
			output = y
			ratio = high - e.low[y]
		}
	}
	return output, ratio
}

// knownTexts are those that an audit reads: odd ones, single words of the space, and texts
// of many, alone and joined.
func (a *audit) knownTexts(d *mechanisms.Documents) []string {
	texts := []string{"", " ", ".", "xqzzt", "XQZZT 12345", strings.Repeat("xqzzt ", 500)}
	rng := a.seed.Derive("texts").Rand()
	n := max(len(texts)+1, cmp.Or(a.options.Words, 1000))
	for len(texts) < n {
		var text []string
		for range rng.IntN(3) {
			text = append(text, d.Outputs[rng.IntN(len(d.Outputs))])
		}
		if a.space != nil {
			for range rng.IntN(4) {
				text = append(text, a.space.Vocabulary.Word(mechanisms.WordID(rng.IntN(a.space.Len()))))
			}
		}
		texts = append(texts, strings.Join(text, " "))
	}
	return texts
}

// shortened is a text for a line of a report.
func shortened(text string) string {
	const longest = 40
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > longest {
		return fmt.Sprintf("%q…", string(runes[:longest]))
	}
	return fmt.Sprintf("%q", string(runes))
}
