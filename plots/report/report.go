// Package report writes a study as one HTML page that needs no network, no
// server and no mouse.
//
// The first screen is the answer: what was asked, the figure, at most ten rows
// at equal privacy, on how many documents and repetitions. Warnings come with
// the numbers, every mechanism's guarantee with it, and the page has everything
// needed to run the study again. Figures can be switched, filtered and
// highlighted where scripts run; the view is in the address. Without scripts all
// figures stand and all tables are open. In print there is the answer, figures and
// what a reader opened.
//
// Documents of the data are published only when asked for, and command lines
// never with secrets or with paths of the machine.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"mldpbench/plots"
	"mldpbench/results"
	"mldpbench/results/published"
	"mldpbench/results/tables"
)

// Input is the content of a page.
type Input struct {
	*results.Prepared
	Examples bool // whether to show original documents
}

//go:embed report.gohtml
var page string

//go:embed report.css
var style string

//go:embed report.js
var script string

var tmpl = template.Must(template.New("report").Funcs(template.FuncMap{
	"mark": func(i int) int { return i + 1 }, // footnotes count from 1
	"sub":  subscripts,
	"svg":  func(s string) template.HTML { return template.HTML(s) }, // drawings escape all text themselves
	"list": func(texts ...string) []string { return texts },
}).Parse(page))

// view is the content of the page.
type view struct {
	Style     template.CSS
	Script    template.JS
	Title     string
	More      []string // titles of the other studies on the page
	Generated string   // "", "generated data" or "partly generated data"
	Answer    answer
	Figure    plots.Page
	Lead      *plots.Figure // where the interactive figure has nothing to show
	Scenes    []string
	Datasets  []string
	Explorer  explorer
	Figures   []plots.Figure
	Tables    []tables.Table
	Verdict   string         // on published numbers
	Against   []tables.Table // compared with them
	Examples  bool
	Sections  []mechanism
	Warnings  []string
	Facts     []fact
	Runs      []run
	Cell      string // an example of a row's command
}

type fact struct{ Name, Value string }

// run is the origin of a run as the page shows it.
type run struct{ Shell, Definition string }

// Write writes the page. Nothing to show is an error.
func Write(w io.Writer, in Input) error {
	if in.Prepared == nil || len(in.Cells) == 0 {
		return fmt.Errorf("no results: nothing to report")
	}
	v := view{
		Style: template.CSS(style), Script: template.JS(script), Generated: generated(in.Cells), Facts: facts(in),
		Figure: plots.Sketches(in.Prepared), Explorer: explore(in.Prepared),
		Examples: in.Examples, Sections: sections(in), Warnings: warnings(in.Prepared),
	}
	for _, s := range v.Figure.Sketches {
		v.Scenes, v.Datasets = once(v.Scenes, s.Scene), once(v.Datasets, s.Dataset)
	}
	p := in.Prepared
	v.Tables = tables.All(p)
	v.Answer = answerOf(p, v.Tables)
	v.Verdict, v.Against = published.Sentence(published.Compare(p)), published.Tables(p)
	v.Figures, _ = plots.All(p, "papers")
	if len(v.Figure.Sketches) == 0 && len(v.Figures) > 0 {
		v.Lead, v.Figures = &v.Figures[0], v.Figures[1:]
	}
	var titles []string
	for _, r := range in.Runs {
		if r.Title != "" {
			titles = once(titles, r.Title)
		}
		v.Runs = append(v.Runs, run{shell(r.Command), redact(r.Definition)})
	}
	v.Title = enumerate(in.Cells, func(c results.Cell) string { return c.Study })
	if len(titles) > 0 {
		v.Title, v.More = titles[0], titles[1:]
	}
	for _, c := range in.Private() {
		if c.Command != "" {
			v.Cell = redact(c.Command)
			break
		}
	}
	return tmpl.Execute(w, v)
}

// subscripts sets N_w with a subscript.
func subscripts(s string) template.HTML {
	return template.HTML(results.Subscripted.ReplaceAllString(template.HTMLEscapeString(s), "$1<sub>$2</sub>"))
}

func generated(cells []results.Cell) string {
	return strings.TrimPrefix(plots.GeneratedMark(cells), " — ")
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
	var out []string
	for _, x := range of {
		out = once(out, f(x))
	}
	return strings.Join(out, ", ")
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func epsilons(cells []results.Cell) string {
	return enumerate(results.Epsilons(cells), short)
}

func facts(in Input) []fact {
	list := func(f func(results.Cell) string) string { return enumerate(in.Cells, f) }
	run := func(f func(results.Run) string) string { return enumerate(in.Runs, f) }
	private := in.Private()
	all := []fact{
		{"Results", fmt.Sprintf("%d rows, %d cells", len(in.Rows), len(results.GroupCells(in.Cells)))},
		{"Data sets", list(func(c results.Cell) string { return results.DatasetTitle(c.Dataset) })},
		{"Embeddings", list(func(c results.Cell) string {
			if c.Embedding == "" {
				return ""
			}
			return fmt.Sprintf("%s (%d dimensions)", c.Embedding, c.Dimension)
		})},
		{"Mechanisms", enumerate(private, func(c results.Cell) string { return results.MechanismTitle(c.Mechanism) })},
		{"ε", epsilons(in.Cells)},
		{"Classifiers", list(func(c results.Cell) string { return c.Task().String() })},
		{"Repetitions", fmt.Sprint(len(results.Distinct(private, func(c results.Cell) int { return c.Repetition })))},
		{"Unknown words", list(func(c results.Cell) string { return c.Policy })},
		{"Seed", list(func(c results.Cell) string { return fmt.Sprint(c.Seed) })},
		{"Run on", run(func(r results.Run) string { return r.Machine })},
		{"mldp", run(func(r results.Run) string { return r.Version })},
		{"Started", run(func(r results.Run) string { return r.Started })},
	}
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}
