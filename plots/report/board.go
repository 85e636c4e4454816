package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

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
	Axis      string // of results without a task
	Equal     tables.Table
	Releases  []tables.Table
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
		v.Title, v.Releases = t.Title, tables.Releases(p)
		v.Equal = atEqual(p, t.Question, t.Levels, true)
	} else {
		v.Axis = tables.AxisNote(p, p.Stated().Quantity)
		v.Equal = atEqual(p, compare.Question{}, p.Stated().At, false)
		if len(v.Equal.Rows) == 0 && len(v.Attacks) == 0 {
			return fmt.Errorf("no mechanism with a guarantee has both an accuracy and an error of the adversary (%s) on both "+
				"sides of %g, and no attacker was measured together with a utility",
				results.MustColumn(p.Stated().Quantity).Title, p.Stated().At[0])
		}
	}
	v.Sources = once(nil, source(p.Cells))
	return boards.Execute(w, v)
}

// atEqual ranks mechanisms at levels of privacy, and says of each what it is told
// apart from: with a task whatever reaches the level, else those that promise
// something, where a promise between some words has no place.
func atEqual(p *results.Prepared, q compare.Question, levels []float64, task bool) tables.Table {
	q = q.Whole(p)
	use, privacy := results.MustColumn(q.Use), results.MustColumn(q.Privacy)
	if use.Unit == "%" {
		use.Digits = 1 // as everywhere at a level
	}
	t := tables.Table{Name: "equal", Title: fmt.Sprintf("%s at equal %s", use.Heading(), privacy.Heading()),
		Header: []string{"data set", "measured with", privacy.Heading(), "mechanism", use.Heading(), "place", "95% bounds",
			"ε about", "plain text", "told apart from", "measured by"},
		Legend: "Each on its own line between its measured ε; ± is half the 95% interval. All pairs of a data set and " +
			"classifier are tested, Holm, 5%, so that the bounds of places hold together with probability 95%."}
	for _, level := range levels {
		for _, s := range compare.Standings(p, q, level) {
			entries := slices.Concat(s.Entries, s.Scoped)
			if task {
				entries = s.Ranked()
			}
			with := strings.TrimPrefix(s.Space.String()+", "+s.Task.String(), " d=0, ")
			for i, e := range entries {
				place, bounds := fmt.Sprint(e.Place), fmt.Sprintf("%d–%d", e.Low, e.High)
				if !task && i >= len(s.Entries) {
					place, bounds = tables.NotMeasured, tables.NotMeasured
				}
				apart := strings.Join(slices.Concat(e.Better, e.Worse), ", ")
				t.AddRow(results.DatasetTitle(s.Dataset), with, fmt.Sprint(level), e.Line.Name,
					tables.Within(e.Line, use.Digits), place, bounds, short(e.Line.Epsilon),
					tables.FormatNumber(s.Baseline, 1), cmp.Or(apart, "none"), source(e.Line.Cells))
			}
		}
	}
	return t
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
