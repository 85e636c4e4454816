package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

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
	all := tables.All(p)
	v.Generated, v.Task = generated(p.Cells), t
	v.Attacks, v.Promises = tables.Named(all, "attacks-"), tables.Named(all, "promises-")
	v.Figure = plots.Sketches(p)
	for _, s := range v.Figure.Sketches {
		v.Scenes, v.Datasets = once(v.Scenes, s.Scene), once(v.Datasets, s.Dataset)
	}
	if t != nil {
		v.Title, v.Releases = t.Title, tables.Named(all, "strongest-", "use-", "attackers-")
		v.Equal = tables.Ranking(p, t.Question, t.Levels, true)
	} else {
		v.Axis = tables.AxisNote(p, p.Stated().Quantity)
		v.Equal = tables.Ranking(p, compare.Question{}, p.Stated().At, false)
		if len(v.Equal.Rows) == 0 && len(v.Attacks) == 0 {
			return fmt.Errorf("no mechanism with a guarantee has both an accuracy and an error of the adversary (%s) on both "+
				"sides of %g, and no attacker was measured together with a utility",
				results.MustColumn(p.Stated().Quantity).Title, p.Stated().At[0])
		}
	}
	v.Sources = once(nil, tables.Source(p.Cells))
	return boards.Execute(w, v)
}
