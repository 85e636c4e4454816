// Package report writes a study as one HTML page that needs no network, no server
// and no mouse.
//
// It begins with a sentence that answers, then the table of every mechanism at equal
// privacy, with the user's own marked, one picture a data set, what was measured, and
// how to repeat it. All else is closed. The page is static: a script only highlights
// a mechanism, by a class, in every picture and table. In print there is what is open.
//
// Documents of the data are never published. Command lines and studies
// that hold a secret are not written at all, and paths of the machine never.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/plots"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/published"
	"mldpbench/results/quantity"
	"mldpbench/results/views"
)

// Input is the content of a page.
type Input struct {
	*analysis.Analysis
	Views views.Views
}

//go:embed report.gohtml
var page string

//go:embed report.css
var style string

//go:embed report.js
var script string

var tmpl = template.Must(template.New("report").Funcs(template.FuncMap{
	"mark": func(notes []int) string { return views.Marks(notes...) },
	"sub":  subscripts,
	"svg":  drawing,
}).Parse(page))

// drawing is an SVG, which escapes all text itself, on the page. Its attributes, of which there are
// thousands, are written without a leading zero.
func drawing(svg string) template.HTML { return template.HTML(strings.ReplaceAll(svg, `="0.`, `=".`)) }

// view is the content of the page.
type view struct {
	Style     template.CSS
	Script    template.JS
	Title     string
	More      []string // titles of the other studies on the page
	Generated string   // "", "generated data" or "partly generated data"
	Answer    string
	Data      string        // documents and repetitions
	Lead      []views.Table // open
	Figure    plots.Page
	Warnings  []string
	Facts     []fact
	Runs      []run
	Tables    []views.Table // closed
	Against   []views.Table // compared with published numbers
	Figures   []plots.Figure
}

type fact struct{ Name, Value string }

// run is the origin of a run as the page shows it.
type run struct{ Shell, Definition, Withheld string }

// Write writes the page. Nothing to show is an error.
func Write(w io.Writer, in Input) error {
	if in.Analysis == nil || len(in.Cells) == 0 {
		return fmt.Errorf("no results: nothing to report")
	}
	if len(in.Views.Tables) == 0 {
		in.Views = views.Builtin()
	}
	a := in.Analysis
	v := view{
		Style:     template.CSS(style),
		Script:    template.JS(script),
		Generated: generated(in.Cells),
		Answer:    views.Answer(a),
		Data:      documents(a.Prepared),
		Figure:    plots.Sketches(a, in.Views.Figures),
		Warnings:  warnings(a.Prepared),
		Facts:     facts(in),
		Tables:    views.Tables(a, in.Views.Tables),
		Against:   published.Tables(a.Prepared),
	}
	v.open()
	v.Figures, _ = plots.All(a, results.Where(in.Views.Figures, func(f views.View) bool {
		return !slices.Contains(f.Y, "all") // mldp figures draws every quantity
	}))
	var titles []string
	for _, r := range in.Runs {
		titles = once(titles, r.Title)
		v.Runs = append(v.Runs, runOf(r))
	}
	v.Title = enumerate(in.Cells, func(c results.Cell) string { return c.Study })
	if len(titles) > 0 {
		v.Title = titles[0]
		v.More = titles[1:]
	}
	return tmpl.Execute(w, v)
}

// open moves the table that stands open to the front: that of the first level or, where nothing was compared, the first
// one.
func (v *view) open() {
	isEqual := func(t views.Table) bool { return strings.HasPrefix(t.Name, "equal") }
	isMeasured := func(t views.Table) bool { return !strings.HasPrefix(t.Name, "guarantees") }
	first := slices.IndexFunc(v.Tables, isEqual)
	if first < 0 {
		v.Answer = "No two mechanisms were measured at one level of privacy."
		first = slices.IndexFunc(v.Tables, isMeasured)
	}
	if first < 0 {
		return
	}
	v.Lead = v.Tables[first : first+1 : first+1]
	v.Tables = slices.Delete(slices.Clone(v.Tables), first, first+1)
}

// runOf withholds what holds a secret.
func runOf(r results.Run) run {
	out := run{Shell: shell(r.Command), Definition: portable(r.Definition)}
	inCommand := secretIn(strings.Join(r.Command, " "))
	if inCommand != "" {
		out.Shell = ""
		out.Withheld = "The command line is not shown, as it holds " + inCommand + " as it stands."
	}
	inDefinition := secretIn(r.Definition)
	if inDefinition != "" {
		out.Definition = ""
		out.Withheld += " The study is not shown, as it holds " + inDefinition +
			" as it stands: commands have the environment for it."
	}
	return out
}

// subscripts sets N_w with a subscript.
func subscripts(s string) template.HTML {
	return template.HTML(quantity.Subscripted.ReplaceAllString(template.HTMLEscapeString(s), "$1<sub>$2</sub>"))
}

// generated says of which text numbers are, "" for real text.
func generated(cells []results.Cell) string {
	switch n := list.Count(cells, func(c results.Cell) bool { return c.Generated }); n {
	case 0:
		return ""
	case len(cells):
		return "generated data"
	}
	return "partly generated data"
}

// once appends what is not there yet.
func once(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// enumerate joins the values of f, each once.
func enumerate[T any](of []T, f func(T) string) string {
	return strings.Join(results.Where(results.Distinct(of, f), func(s string) bool {
		return s != ""
	}), ", ")
}

// epsilons are the values or, of many, their range.
func epsilons(cells []results.Cell) string {
	all := results.Epsilons(cells)
	if n := len(all); n > 12 {
		return fmt.Sprintf("%d from %s to %s", n, views.Short(all[0]), views.Short(all[n-1]))
	}
	return strings.Join(list.Map(all, views.Short), ", ")
}

// facts are what the runs of a page were made of and on, those that are known.
func facts(in Input) []fact {
	list := func(f func(results.Cell) string) string { return enumerate(in.Cells, f) }
	run := func(f func(results.Run) string) string { return enumerate(in.Runs, f) }
	private := in.Private()
	all := []fact{
		{"Results", fmt.Sprintf("%d rows", len(in.Rows))},
		{"Data sets", list(func(c results.Cell) string {
			return results.DatasetTitle(c.Dataset)
		})},
		{"Embeddings", list(func(c results.Cell) string { return in.SpaceName(c.Place) })},
		{"Mechanisms", enumerate(private, func(c results.Cell) string {
			return in.Name(c.Place)
		})},
		{"ε", epsilons(in.Cells)},
		{"Classifiers", enumerate(private, func(c results.Cell) string {
			return in.TaskName(c.Place)
		})},
		{"Repetitions", fmt.Sprint(len(results.Distinct(private, func(c results.Cell) int {
			return c.Repetition
		})))},
		{"Unknown words", list(func(c results.Cell) string { return c.Policy })},
		{"Seed", list(func(c results.Cell) string { return fmt.Sprint(c.Seed) })},
		{"Run on", run(func(r results.Run) string { return r.Machine })},
		{"mldp", run(func(r results.Run) string { return r.Version })},
		{"Started", run(func(r results.Run) string { return r.Started })},
	}
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}
