package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"mldpbench/internal/stats"
	"mldpbench/plots"
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/tables"
)

//go:embed board.gohtml
var boardPage string

var boards = template.Must(template.Must(tmpl.Clone()).New("board").Parse(boardPage))

// System is a submission on a board.
type System struct {
	Name, Link, Promise, Unit, Training string
	Authors                             []string
	State, Why                          string
	Rests                               string // a page with all that its numbers rest on
	Package                             string // its file, "" for a folder
}

// BoardTask is the question of a board: systems by a use at levels of privacy.
type BoardTask struct {
	Name, Title, About, Unit, Use, Private string
	compare.Question
	Levels  []float64
	Systems []System
}

// board is the content of a board's page.
type board struct {
	Style     template.CSS
	Script    template.JS
	Title     string
	Generated string
	Task      *BoardTask
	Figure    plots.Page
	Scenes    []string
	Datasets  []string
	Headline  []string
	Axis      string
	Equal     []tables.Table
	Releases  tables.Table
	Explorer  explorer
	Attacks   []tables.Table
	Promises  []tables.Table
	Sources   []string
	Index     []BoardLink
}

// BoardLink is a line of a board's first page.
type BoardLink struct {
	Page, Name, Title string
	Systems           int
}

func newBoard(title string) board {
	return board{Style: template.CSS(style), Script: template.JS(script), Title: title}
}

// WriteIndex writes the first page of a board.
func WriteIndex(w io.Writer, list []BoardLink) error {
	v := newBoard("Board")
	v.Index = list
	return boards.Execute(w, v)
}

// WriteBoard renders joined results: the trade-off as a figure, mechanisms with a
// guarantee by the accuracy that they keep at stated errors of the adversary, and
// what attackers learn. With a task, systems are compared by its question,
// whether anything is promised or not.
func WriteBoard(w io.Writer, p *results.Prepared, t *BoardTask) error {
	v := newBoard("Board")
	v.Generated, v.Attacks, v.Promises, v.Task = generated(p.Cells), tables.Attacks(p), tables.Promises(p), t
	v.Figure = plots.Sketches(p)
	for _, s := range v.Figure.Sketches {
		v.Scenes, v.Datasets = once(v.Scenes, s.Scene), once(v.Datasets, s.Dataset)
	}
	if t != nil {
		v.Title = t.Title
		for _, level := range t.Levels {
			v.Equal = append(v.Equal, atEqual(p, t.Question, level)...)
		}
		v.Releases = releases(p, t.Question)
		v.Sources = once(nil, source(p.Cells))
	} else if err := v.standings(p); err != nil {
		return err
	}
	return boards.Execute(w, v)
}

// atEqual ranks everything that reaches a level of privacy, and says of each what
// it is told apart from.
func atEqual(p *results.Prepared, q compare.Question, level float64) (all []tables.Table) {
	use, privacy := results.MustColumn(q.Use), results.MustColumn(q.Privacy)
	for _, a := range compare.Align(p, q, level) {
		entries := a.Ranked()
		if len(entries) == 0 {
			continue
		}
		t := tables.Table{Name: "equal", Title: fmt.Sprintf("%s where %s is %g", use.Heading(), privacy.Heading(), level),
			Header: []string{"mechanism", use.Heading(), "place", "95% bounds", "ε about", "told apart from"},
			Legend: fmt.Sprintf("On each one's own line between its measured ε. Plain text: %s. Differences are paired by test "+
				"document, all pairs tested, Holm, 5%%.", tables.FormatNumber(a.Baseline, 1))}
		for _, e := range entries {
			apart := slices.Concat(e.Better, e.Worse)
			if len(apart) == 0 {
				apart = []string{"none"}
			}
			t.AddRow(e.Line.Name, tables.Within(e.Line, use.Digits), fmt.Sprint(e.Place), fmt.Sprintf("%d–%d", e.Low, e.High),
				short(e.Line.Epsilon), strings.Join(apart, ", "))
		}
		all = append(all, t)
	}
	return all
}

// releases lists what was submitted: use and privacy of every release with the
// intervals of their rows, and the strongest attacker.
func releases(p *results.Prepared, q compare.Question) tables.Table {
	use, privacy := results.MustColumn(q.Use), results.MustColumn(q.Privacy)
	t := tables.Table{Name: "releases", Title: "Every release", Header: []string{"mechanism", "ε", use.Heading(),
		privacy.Heading(), "95% interval", "strongest attacker", "promise"}}
	for _, g := range results.GroupCells(p.Private()) {
		c := g.Cells[0]
		m, ok := c.At(privacy.Name)
		if !ok {
			continue
		}
		bounds := tables.NotMeasured
		if m.High > m.Low {
			bounds = tables.FormatNumber(float64(m.Low), privacy.Digits) + "–" +
				tables.FormatNumber(float64(m.High), privacy.Digits)
		}
		promise := "none known"
		if c.GuaranteeMetric != "" {
			promise = fmt.Sprintf("%s, %s", c.GuaranteeEpsilon, c.GuaranteeMetric)
		}
		t.AddRow(p.Name(c), c.Epsilon.String(), tables.FormatNumber(stats.Mean(g.Values(use.Name)), use.Digits),
			tables.FormatNumber(stats.Mean(g.Values(privacy.Name)), privacy.Digits), bounds, m.Detail, promise)
	}
	return t
}

// standings fills in the ranking of plain results.
func (v *board) standings(p *results.Prepared) error {
	v.Headline, v.Axis = tables.Headline(p), tables.AxisNote(p, p.Stated().Quantity)
	e := &v.Explorer
	for _, title := range []string{results.MustColumn(p.Stated().Quantity).Title, "place", "95% bounds", "accuracy in %",
		"baseline", "N_w in %", "MIA AUC", "measured by"} {
		e.Columns = append(e.Columns, exploreColumn{title, true})
	}
	for _, level := range p.Stated().At {
		others := map[string][]compare.Aligned{}
		for _, q := range []string{"n_w", "mia_auc"} {
			others[q] = compare.Align(p, compare.Question{Use: q}, level)
		}
		atLevel := func(quantity string, s compare.Standing, l compare.Line) string {
			for _, a := range others[quantity] {
				if i := a.Index(l.Instance); i >= 0 && a.Dataset == s.Dataset && a.Space == s.Space && a.Task == s.Task {
					return tables.Within(a.Lines[i], results.MustColumn(quantity).Digits)
				}
			}
			return tables.NotMeasured
		}
		for _, s := range compare.Standings(p, compare.Question{}, level) {
			for i, x := range slices.Concat(s.Entries, s.Scoped) {
				place, bounds := fmt.Sprint(x.Place), fmt.Sprintf("%d–%d", x.Low, x.High)
				if i >= len(s.Entries) {
					place, bounds = tables.NotMeasured, tables.NotMeasured
				}
				by := source(x.Line.Cells)
				v.Sources = once(v.Sources, by)
				row := exploreRow{Dataset: results.DatasetTitle(s.Dataset), Mechanism: x.Line.Name,
					Epsilon: short(x.Line.Epsilon), Variant: variantName(x.Line.Cells[0]), Model: task(s.Task),
					Space: s.Space.String()}
				for _, text := range []string{fmt.Sprint(level), place, bounds, tables.Within(x.Line, 1),
					tables.FormatNumber(s.Baseline, 1), atLevel("n_w", s, x.Line), atLevel("mia_auc", s, x.Line), by} {
					row.Cells = append(row.Cells, exploreCell{text, true})
				}
				e.Rows = append(e.Rows, row)
			}
		}
	}
	if len(v.Attacks) > 0 {
		v.Sources = once(v.Sources, source(results.Where(p.Cells, func(c results.Cell) bool {
			return len(tables.Attackers([]results.Cell{c})) > 0
		})))
	}
	if len(e.Rows) == 0 && len(v.Attacks) == 0 {
		return fmt.Errorf("no mechanism with a guarantee has both an accuracy and an error of the adversary (%s) on both "+
			"sides of %g, and no attacker was measured together with a utility",
			results.MustColumn(p.Stated().Quantity).Title, p.Stated().At[0])
	}
	e.filter()
	return nil
}

// source returns the origin of the measurements: studies, and the versions of
// mldp that ran each.
func source(cells []results.Cell) string {
	type run struct {
		study, machine string
		seed           uint64
	}
	runOf := func(c results.Cell) run { return run{c.Study, c.Machine, c.Seed} }
	return enumerate(results.Distinct(cells, runOf), func(of run) string {
		own := results.Where(cells, func(c results.Cell) bool { return runOf(c) == of })
		return fmt.Sprintf("%s, seed %d, mldp %s, %s", of.study, of.seed,
			enumerate(own, func(c results.Cell) string { return c.Version }), of.machine)
	})
}
