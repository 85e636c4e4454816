package report

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/tables"
)

var (
	tableRow  = regexp.MustCompile(`(?s)<tr.*?</tr>`)
	tableCell = regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`)
	tag       = regexp.MustCompile(`<[^>]*>`)
)

// rowsOf are the texts of the rows of all tables of a page.
func rowsOf(page string) (rows [][]string) {
	for _, row := range tableRow.FindAllString(page, -1) {
		var cells []string
		for _, c := range tableCell.FindAllStringSubmatch(row, -1) {
			cells = append(cells, html.UnescapeString(tag.ReplaceAllString(c[1], "")))
		}
		rows = append(rows, cells)
	}
	return rows
}

// One question has one number: what a mechanism keeps at a level of privacy is
// the same on the page, in the page's and the program's tables, in
// the summary of a run and on the result page, for every mechanism, data set and
// stated level of the study extended.
func TestOneNumberOnEveryPage(t *testing.T) {
	t.Parallel()
	rows, err := results.Read(filepath.Join("..", "..", "results", "reference", "extended.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := results.Prepare(results.Run{Name: "extended", Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	onPage := rowsOf(write(t, Input{Prepared: p}))
	answer := onPage[:slices.IndexFunc(onPage, func(r []string) bool { return r[0] == "not privatised" })+1]
	aligned := onPage[slices.IndexFunc(onPage, func(r []string) bool { return slices.Contains(r, "0.1") }):]
	brief := tables.Brief(p, 100)
	result, err := os.ReadFile(filepath.Join("..", "..", "results", "reports", "1-equal-privacy.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(result), "\n## At equal privacy\n") // other tables have the same numbers
	section, _, _ = strings.Cut(section, "\n## ")
	compared := 0
	for _, level := range results.StatedErrors {
		for _, s := range compare.Standings(p, compare.Question{}, level) {
			dataset := results.DatasetTitle(s.Dataset)
			for k, e := range slices.Concat(s.Entries, s.Scoped) {
				what := fmt.Sprintf("%s, %s at %g", dataset, e.Line.Name, level)
				want, fine := tables.Within(e.Line, 1), tables.Within(e.Line, 2)
				one := func(where string, rows [][]string, value string, key ...string) {
					t.Helper()
					compared++
					if !slices.ContainsFunc(rows, func(r []string) bool {
						for _, text := range append(key, value) {
							if !slices.Contains(r, text) {
								return false
							}
						}
						return true
					}) {
						t.Errorf("%s: %s has no %s in the row of %q", what, where, value, key)
					}
				}
				if level == results.StatedErrors[0] {
					name := e.Line.Name
					if k >= len(s.Entries) {
						name += results.ScopeMark
					}
					if slices.ContainsFunc(answer, func(r []string) bool { return r[0] == name }) { // at most ten rows
						one("answer", answer, want, name)
					}
				}
				footnote := regexp.MustCompile(`^` + regexp.QuoteMeta(e.Line.Name) + `(†|‡|[a-z0-9])*$`)
				i := slices.IndexFunc(aligned, func(r []string) bool {
					return len(r) > 2 && r[0] == dataset+", "+s.Space.String() && footnote.MatchString(r[1]) &&
						slices.Contains(r, fine)
				})
				if compared++; i < 0 {
					t.Errorf("%s: the page's table has no %s", what, fine)
				}
				if level == results.StatedErrors[0] {
					compared++
					one("result page", resultRows(section), want, e.Line.Name)
				}
				if k == 0 && len(s.Entries) > 0 {
					one("summary", texts(brief), want, dataset, fmt.Sprint(level), e.Line.Name)
				}
			}
		}
	}
	if compared < 160 {
		t.Errorf("%d numbers compared", compared)
	}
}

func texts(t tables.Table) (rows [][]string) {
	for _, row := range t.Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Text)
		}
		rows = append(rows, cells)
	}
	return rows
}

// resultRows are those of the Markdown tables of a result page.
func resultRows(page string) (rows [][]string) {
	plain := strings.NewReplacer("**", "", results.ScopeMark, "")
	for line := range strings.Lines(tag.ReplaceAllString(page, "")) {
		var cells []string
		for _, c := range strings.Split(line, "|") {
			cells = append(cells, strings.TrimSpace(plain.Replace(c)))
		}
		rows = append(rows, cells)
	}
	return rows
}
