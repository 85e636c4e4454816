package results

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// Room in a paper of two columns, in points: article at 10 pt, the narrowest
// among those in use.
const (
	columnWidth = 200.0
	pageWidth   = 410.0
	pageHeight  = 510.0 // for a float, without its caption and some slack
	columnGap   = 6.0   // between columns of a table
)

// latexSize is a font size of LaTeX.
type latexSize struct {
	command  string
	em, line float64 // in points
}

// Smaller fonts of Computer Modern are wider than their size suggests.
var latexSizes = []latexSize{{`\small`, 9.3, 11}, {`\footnotesize`, 8.55, 9.5}, {`\scriptsize`, 8.05, 8.2}}

// width estimates the width of a text from the widths of Computer Modern Roman.
func (s latexSize) width(text string) float64 {
	const narrow, wide = "fijlrst.,;:'|!()[]-", "mwMW%=+±×≥≤"
	ems := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune(narrow, r):
			ems += 0.36
		case strings.ContainsRune(wide, r):
			ems += 0.85
		case unicode.IsUpper(r):
			ems += 0.74
		case r == ' ':
			ems += 0.34
		case unicode.IsDigit(r):
			ems += 0.5
		default:
			ems += 0.54
		}
	}
	return ems * s.em
}

// longest returns the width of the widest word.
func (s latexSize) longest(text string) float64 {
	w := 0.0
	for _, word := range strings.Fields(text) {
		w = max(w, s.width(word))
	}
	return w
}

// lines breaks a text into lines of a width.
func (s latexSize) lines(text string, width float64) []string {
	var out []string
	for _, word := range strings.Fields(text) {
		if i := len(out) - 1; i >= 0 && s.width(out[i]+" "+word) <= width {
			out[i] += " " + word
		} else {
			out = append(out, word)
		}
	}
	return out
}

// stack is a heading in lines of a width.
func (s latexSize) stack(text string, width float64, right bool) string {
	lines := s.lines(text, width)
	for i := range lines {
		lines[i] = latex(lines[i])
	}
	if len(lines) < 2 {
		return strings.Join(lines, "")
	}
	side := "l"
	if right {
		side = "r"
	}
	return `\shortstack[` + side + `]{` + strings.Join(lines, `\\`) + `}`
}

// latexColumn is the layout of a column of a table.
type latexColumn struct {
	index  int
	width  float64 // points
	number bool    // to the right
	wrap   bool    // in lines
}

// latexLayout is the layout of a table.
type latexLayout struct {
	environment string
	size        latexSize
	width       float64         // of the environment
	parts       [][]latexColumn // that are placed below each other
}

// latexLayout chooses the first way that fits: one column before two, large
// before small, one line before several, one part before more.
func (t Table) latexLayout() latexLayout {
	all := make([]int, len(t.Header))
	for j := range all {
		all[j] = j
	}
	small, footnote, script := latexSizes[0], latexSizes[1], latexSizes[2]
	for _, try := range []struct {
		environment string
		size        latexSize
		width, wrap float64 // columns of text have at least this width, as far as they need it
	}{
		{"table", small, columnWidth, math.Inf(1)}, {"table", footnote, columnWidth, math.Inf(1)},
		{"table*", small, pageWidth, math.Inf(1)}, {"table*", small, pageWidth, 100},
		{"table*", footnote, pageWidth, 80}, {"table*", script, pageWidth, 60},
	} {
		if columns, ok := t.fit(all, try.size, try.width, try.wrap); ok {
			return latexLayout{try.environment, try.size, try.width, [][]latexColumn{columns}}
		}
	}
	l := latexLayout{environment: "table*", size: footnote, width: pageWidth}
	keys := 0 // columns that identify a row
	for keys < len(all)-1 && !t.numeric(keys) {
		keys++
	}
	wrap := math.Inf(1)
	if _, ok := t.fit(all[:keys], l.size, pageWidth*2/3, wrap); !ok || keys == 0 {
		wrap = 60
		if _, ok := t.fit(all[:keys], l.size, pageWidth*2/3, 40); !ok || keys == 0 {
			keys = 1
		}
	}
	for from := keys; from < len(all); {
		var part []latexColumn
		to := from
		for to < len(all) {
			chosen := append(slices.Clone(all[:keys]), all[from:to+1]...)
			columns, ok := t.fit(chosen, l.size, pageWidth, wrap)
			if !ok && to == from {
				columns, ok = t.fit(chosen, l.size, pageWidth, 60)
			}
			if !ok && to > from {
				break
			}
			part = columns
			to++
			if !ok {
				break // wider than a page alone
			}
		}
		l.parts = append(l.parts, part)
		from = to
	}
	return l
}

// numeric reports whether column j holds mostly numbers.
func (t Table) numeric(j int) bool {
	numbers, texts := 0, 0
	for _, row := range t.Rows {
		if j >= len(row) || row[j].Text == "" || row[j].Text == NotMeasured {
			continue
		}
		if strings.ContainsRune("0123456789+-−<±", []rune(row[j].Text)[0]) {
			numbers++
		} else {
			texts++
		}
	}
	return j > 0 && numbers > texts
}

// group returns the index of the heading over column j.
func (t Table) group(j int) int {
	at := 0
	for i, g := range t.Groups {
		if at += g.Span; j < at {
			return i
		}
	}
	return len(t.Groups) - 1
}

// fit sets columns in a width. Columns of text may break into lines, but keep
// wrap points as far as they need them.
func (t Table) fit(columns []int, size latexSize, width, wrap float64) ([]latexColumn, bool) {
	out := make([]latexColumn, len(columns))
	least := make([]float64, len(columns))
	for k, j := range columns {
		c := latexColumn{index: j, number: t.numeric(j), width: size.longest(t.Header[j])}
		if !c.number {
			c.width = min(size.width(t.Header[j]), 2*c.width)
		}
		least[k] = size.longest(t.Header[j])
		for _, row := range t.Rows {
			if j >= len(row) {
				continue
			}
			w, word := size.width(row[j].Text), size.longest(row[j].Text)
			if row[j].Best {
				w, word = 1.16*w, 1.16*word
			}
			if n := len(row[j].Notes); n > 0 {
				mark := 0.75 * size.width(marks(row[j].Notes))
				w, word = w+mark, word+mark
			}
			c.width, least[k] = max(c.width, w), max(least[k], word)
		}
		if c.number {
			least[k] = c.width
		}
		least[k] = min(c.width, max(least[k], wrap))
		out[k] = c
	}
	for k := 0; k < len(out) && len(t.Groups) > 0; { // a heading needs room for its longest word
		span, sum := 0, -columnGap
		g := t.group(out[k].index)
		for k+span < len(out) && t.group(out[k+span].index) == g {
			sum += out[k+span].width + columnGap
			span++
		}
		if more := size.longest(t.Groups[g].Title) - sum; more > 0 {
			out[k+span-1].width += more
			least[k+span-1] += more
		}
		k += span
	}
	room := width - columnGap*float64(len(out)-1)
	total := func(most float64) float64 {
		sum := 0.0
		for k, c := range out {
			sum += max(least[k], min(c.width, most))
		}
		return sum
	}
	switch {
	case total(math.Inf(1)) <= room:
		return out, true
	case total(0) > room:
		for k := range out {
			out[k].wrap = !out[k].number && least[k] < out[k].width
			out[k].width = least[k]
		}
		return out, false
	}
	low, high := 0.0, width // the largest width of a column of text
	for range 30 {
		if middle := (low + high) / 2; total(middle) <= room {
			low = middle
		} else {
			high = middle
		}
	}
	for k := range out {
		w := max(least[k], min(out[k].width, low))
		out[k].wrap = w < out[k].width
		out[k].width = w
	}
	return out, true
}

// pages divides the rows of a part into floats that are no higher than a page.
func (l latexLayout) pages(t Table, part []latexColumn) [][]int {
	under := 0.0 // legend and footnotes
	for _, text := range append(slices.Clone(t.Notes), t.Legend) {
		under += 9.5 * math.Ceil(latexSizes[1].width(text)/l.width)
	}
	pages := [][]int{nil}
	head := 12*math.Ceil(latexSize{em: 10}.width("Table 100: "+t.Title+" (continued)")/l.width) + 3*l.size.line
	height := head
	for i, row := range t.Rows {
		lines := 1
		for _, c := range part {
			if c.wrap && c.index < len(row) {
				lines = max(lines, len(l.size.lines(row[c.index].Text, c.width)))
			}
		}
		step := float64(lines) * l.size.line
		if len(row) > 0 && row[0].Separator {
			step += 5
		}
		if height+step > pageHeight && len(pages[len(pages)-1]) > 0 {
			pages, height = append(pages, nil), head
		}
		pages[len(pages)-1] = append(pages[len(pages)-1], i)
		height += step
	}
	if last := pages[len(pages)-1]; height+under > pageHeight && len(last) > 1 {
		// The text under the rows takes some of them to a separate page.
		keep := len(last) - max(1, int((pageHeight-under-head)/l.size.line/2))
		if keep > 0 && under+head < pageHeight {
			pages[len(pages)-1] = last[:keep]
			pages = append(pages, last[keep:])
		}
	}
	return pages
}
