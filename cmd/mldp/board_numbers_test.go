package main

import (
	"fmt"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/tables"
)

var (
	pageTable = regexp.MustCompile(`(?s)<table.*?</table>`)
	pageRow   = regexp.MustCompile(`(?s)<tr.*?</tr>`)
	pageCell  = regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`)
	footnote  = regexp.MustCompile(`(?s)<sup>.*?</sup>`)
	pageTag   = regexp.MustCompile(`(?s)<[^>]*>`)
	pageLink  = regexp.MustCompile(`href="([^"#:]+)"`)
	aNumber   = regexp.MustCompile(`\d+(\.\d+)?`)
)

// pageTables are the cells of the tables of a page as texts, without footnotes.
func pageTables(page string) (all [][][]string) {
	for _, table := range pageTable.FindAllString(page, -1) {
		var rows [][]string
		for _, row := range pageRow.FindAllString(table, -1) {
			var cells []string
			for _, c := range pageCell.FindAllStringSubmatch(row, -1) {
				text := pageTag.ReplaceAllString(footnote.ReplaceAllString(c[1], ""), "")
				cells = append(cells, strings.TrimSpace(html.UnescapeString(text)))
			}
			rows = append(rows, cells)
		}
		all = append(all, rows)
	}
	return all
}

// numbersOf are the texts of a row's value, its interval, half its width, and the two
// ends of its scale.
func numbersOf(r results.Row) map[string]bool {
	c := results.MustColumn(r.Quantity)
	low, high := float64(r.Low), float64(r.High)
	n := min(r.Whole, r.TestItems)
	switch {
	case low == high && (c.Share || c.Mean): // all answers are alike
		i, _ := stats.Alike(float64(r.Value), n, 0.95)
		low, high = i.Low, i.High
	case c.Counted && c.OfModel && r.Whole > 0:
		i, _ := stats.ClopperPearson(r.Part, r.Whole, 0.95)
		low, high = 100*i.Low, 100*i.High
	}
	found := map[string]bool{}
	for _, x := range []float64{float64(r.Value), low, high, (high - low) / 2, float64(r.Floor), float64(r.Ceiling)} {
		if !math.IsNaN(x) {
			found[tables.FormatNumber(x, c.Digits)], found[tables.FormatNumber(x, 1)] = true, true
		}
	}
	return found
}

// TestBoardShowsRows makes the pages of examples/board and reads them. In tables of
// releases every number is of the row that its mechanism, ε and quantity name; other
// numbers are what the comparison makes of these rows, at a level or at a loss. What
// each rests on is one click away: every link leads to a file, one of them to the rows.
func TestBoardShowsRows(t *testing.T) {
	t.Parallel()
	board, err := filepath.Abs(filepath.Join("..", "..", "examples", "board"))
	if err != nil {
		t.Fatal(err)
	}
	site := filepath.Join(t.TempDir(), "site")
	if out, err := exec.Command("mldp", "board", board, "--out", site).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, page := range []string{"index.html", "generated-styles-1-lite.html", "packages/built-in/report.html"} {
		data, err := os.ReadFile(filepath.Join(site, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range pageLink.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join(site, filepath.Dir(page), link[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	rows, err := results.Read(filepath.Join(site, "packages", "built-in", "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(site, "generated-styles-1-lite.html"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	if !strings.Contains(page, `href="packages/built-in/report.html"`) {
		t.Error("no link to what the numbers rest on")
	}
	headed := map[string]string{} // quantity by title
	for _, c := range results.Columns() {
		headed[c.Heading()] = c.Name
	}
	of := func(keep func(results.Row) bool) map[string]bool {
		found := map[string]bool{}
		for _, r := range results.Where(rows, keep) {
			for x := range numbersOf(r) {
				found[x] = true
			}
		}
		return found
	}
	derived := derivedNumbers(t, rows)
	checked := 0
	for _, table := range pageTables(page) {
		header := table[0]
		if i := slices.IndexFunc(table, func(row []string) bool { return row[0] == "mechanism" }); i > 0 {
			header = table[i] // below one of groups
		}
		for _, cells := range table {
			if slices.Equal(cells, header) || len(cells) != len(header) {
				continue
			}
			for j, cell := range cells {
				quantity, measured := headed[header[j]]
				released := header[0] == "mechanism" && header[1] == "ε"
				allowed := derived
				switch {
				case measured && released:
					allowed = of(func(r results.Row) bool {
						ends := cells[0] == "plain text" || cells[0] == "guessing"
						return r.Quantity == quantity && (ends || results.MechanismTitle(r.Mechanism) == cells[0] &&
							r.Epsilon.String() == cells[1])
					})
				case released || header[j] == "mechanism" || header[j] == "system" || header[j] == "data set" ||
					header[j] == "measured with" || header[j] == "told apart from" || header[0] == "system":
					continue // names, and what the row is of
				}
				if measured {
					cell = strings.Split(cell, " attribute-")[0] // who is strongest
					cell = strings.Split(cell, " linkage-")[0]
				}
				for _, x := range aNumber.FindAllString(cell, -1) {
					checked++
					if !allowed[x] {
						t.Errorf("%s, %q: %s of %q is in no row", cells[:2], header[j], x, cell)
					}
				}
			}
		}
	}
	if checked < 300 {
		t.Errorf("%d numbers were found on the page", checked)
	}
}

// derivedNumbers are those that follow from rows: places, values and ε on lines
// between measured ε, plain text, levels, and speeds.
func derivedNumbers(t *testing.T, rows []results.Row) map[string]bool {
	t.Helper()
	p, err := results.Prepare(results.Run{Name: "built-in", Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{"5": true} // points lost
	add := func(digits int, values ...float64) {
		for _, x := range values {
			found[tables.FormatNumber(x, digits)] = true
		}
	}
	line := func(l compare.Line, digits int) {
		add(digits, l.Value, l.Low, l.High, (l.High-l.Low)/2)
		for _, format := range []string{"%.3g", "%.4g"} {
			found[fmt.Sprintf(format, l.Epsilon)] = true
		}
	}
	label := compare.Question{Use: "accuracy", Privacy: "strongest-label"}
	for _, level := range []float64{0.6, 0.7} {
		add(1, level)
		for _, s := range compare.Standings(p, label, level) {
			for _, e := range slices.Concat(s.Entries, s.Scoped) {
				line(e.Line, 1)
				for _, place := range []int{e.Place, e.Low, e.High} {
					found[fmt.Sprint(place)] = true
				}
			}
		}
	}
	for _, r := range rows {
		if r.Epsilon.Known() {
			found[r.Epsilon.String()] = true
		}
		if c := results.MustColumn(r.Quantity); c.Name == "accuracy" || c.Attacker != "" {
			for x := range numbersOf(r) {
				found[x] = true
			}
		}
		switch {
		case r.Quantity == "accuracy" && r.IsBaseline():
			add(1, float64(r.Value)-5)
		case r.Quantity == "em-uniform": // this task's error of the adversary
			add(2, float64(r.Value))
		case r.Quantity == "words_per_second": // each in a call of its own; the median of three is one of them
			add(0, float64(r.Value))
		}
	}
	for _, q := range append(tables.Leading(p.Cells), results.MustColumn(results.EM)) {
		for _, s := range compare.AtLoss(p, compare.Question{Use: q.Name, Privacy: "accuracy"}, 5) {
			for _, l := range s.Lines {
				line(l, q.Digits)
				line(l, 2)
			}
		}
	}
	return found
}
