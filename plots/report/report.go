// Package report writes a study as one HTML page that needs no network, no
// server and no mouse.
//
// Warnings are next to the numbers, every mechanism's guarantee is next to its
// effect on a sentence, and the page has everything needed to run the study
// again. Numbers come from package results, drawings from package plots.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"mldpbench/plots"
	"mldpbench/results"
	"mldpbench/results/published"
)

// Input is the data of a report. Records should come from results.Derive.
type Input struct {
	Titles   []string // of studies without a run
	Records  []results.Record
	Examples []results.Example
	Datasets []results.DatasetDescription
	Audit    []results.AuditRow // empty: no audit section
	Runs     []Run              // origin of the records, as far as manifests tell
	Other    []results.Table    // tables of data outside the records, shown first
}

// Run is the content of a manifest.
type Run struct {
	Title      string // of the study
	Command    []string
	Definition string // the study file
	Version    string
	Machine    string
	Started    string
}

// Shell returns the command line, quoted for pasting into a shell.
func (r Run) Shell() string { return shell(r.Command) }

// AuditTitle is the title of the figure of an audit.
const AuditTitle = "Audit of claimed guarantees"

//go:embed report.gohtml
var page string

//go:embed report.css
var style string

//go:embed report.js
var script string

var tmpl = template.Must(template.New("report").Funcs(template.FuncMap{
	"mark": func(i int) int { return i + 1 }, // footnotes count from 1
	"sub":  subscripts,
	"list": func(texts ...string) []string { return texts },
}).Parse(page))

// view is the content of the page.
type view struct {
	Input
	Style     template.CSS
	Script    template.JS
	Generated string // "", "generated data" or "partly generated data"
	Facts     []fact
	Title     string   // of the first study
	More      []string // of others on the page
	Headline  []string
	Published string // what the published tables measured, "" where nothing is comparable
	Standings results.Table
	Explorer  explorer
	Lead      []figure // the trade-off
	Groups    []figureGroup
	Skipped   []plots.Skip
	Tables    []results.Table
	Sections  []mechanism
	Warnings  []string
	Study     string
	Cell      string // an example of a record's command
}

type fact struct{ Name, Value string }

// figureGroup is the figures of one kind.
type figureGroup struct {
	Title   string
	ID      string
	Figures []figure
}

type figure struct {
	plots.Figure
	SVG template.HTML
}

// Figures draws all figures of the page and reports those that cannot be drawn.
func Figures(in Input) ([]plots.Figure, []plots.Skip, error) {
	figures, skipped := plots.All(results.Refute(in.Records, in.Audit))
	if quantities := results.Where(in.Records, func(r results.Record) bool {
		return r.Quantity != ""
	}); len(quantities) > 0 {
		drawn, left := plots.Papers(quantities)
		figures, skipped = append(figures, drawn...), left
	}
	if len(in.Audit) > 0 {
		f, err := plots.Audit(in.Audit, AuditTitle)
		if err != nil {
			return nil, nil, err
		}
		figures = append(figures, f)
	}
	return figures, skipped, nil
}

// Write writes the report.
func Write(w io.Writer, in Input) error {
	figures, skipped, err := Figures(in)
	if err != nil {
		return err
	}
	return WriteWith(w, in, figures, skipped)
}

// WriteWith writes the report with figures already drawn; see Figures.
func WriteWith(w io.Writer, in Input, figures []plots.Figure, skipped []plots.Skip) error {
	if len(in.Records) == 0 {
		return fmt.Errorf("no records: nothing to report")
	}
	in.Records = results.Refute(in.Records, in.Audit)
	records := results.Separate(results.Where(in.Records, func(r results.Record) bool { return r.Quantity == "" }))
	v := view{
		Input: in, Style: template.CSS(style), Script: template.JS(script),
		Generated: generated(in.Records), Facts: facts(in),
		Headline: results.Headline(records), Standings: results.StandingsTable(records), Explorer: explore(records),
		Skipped: skipped,
		Tables: append(slices.Clip(in.Other),
			published.Tables(results.TableInputs{Records: in.Records, Datasets: in.Datasets, Audit: in.Audit})...),
		Sections: mechanismSections(in), Warnings: warnings(in.Records),
		Study: enumerate(in.Records, func(r results.Record) string { return r.Study }),
	}
	titles := in.Titles
	for _, r := range in.Runs {
		if r.Title != "" && !slices.Contains(titles, r.Title) {
			titles = append(titles, r.Title)
		}
	}
	if v.Title = v.Study; len(titles) > 0 {
		v.Title, v.More = titles[0], titles[1:]
	}
	if comparisons, err := published.Compare(in.Records, published.DefaultMargin); err == nil {
		v.Published = published.Sentence(comparisons)
	}
	for _, r := range in.Records {
		if !r.IsBaseline() && r.Command != "" {
			v.Cell = r.Command
			break
		}
	}
	for _, f := range figures {
		svg, err := f.Render("svg")
		if err != nil {
			return fmt.Errorf("figure %s: %w", f.Name, err)
		}
		drawn := figure{f, inline(svg)}
		if strings.HasPrefix(f.Name, "frontier-") {
			v.Lead = append(v.Lead, drawn)
			continue
		}
		title := groupTitle(f.Name)
		i := slices.IndexFunc(v.Groups, func(g figureGroup) bool { return g.Title == title })
		if i < 0 {
			i = len(v.Groups)
			v.Groups = append(v.Groups, figureGroup{Title: title, ID: fmt.Sprintf("group-%d", i+1)})
		}
		v.Groups[i].Figures = append(v.Groups[i].Figures, drawn)
	}
	return tmpl.Execute(w, v)
}

// groupTitle returns the title of the group of a figure.
func groupTitle(name string) string {
	for _, g := range []struct{ prefix, title string }{
		{"accuracy-", "Accuracy against ε"}, {"aligned-", "Accuracy at equal error of the adversary"},
		{"published-", "Against the published tables"},
		{"deniability-", "Plausible deniability"}, {"puc", "Privacy-utility composite"},
		{"metric-", "Every metric against ε"},
		{"throughput", "Time"}, {"stages", "Time"}, {"audit", "Audit"},
	} {
		if strings.HasPrefix(name, g.prefix) {
			return g.title
		}
	}
	return "Figures of the study"
}

// inline keeps only the svg element, because a page cannot contain a
// declaration and a doctype. The drawing escapes all text itself.
func inline(svg []byte) template.HTML {
	s := string(svg)
	return template.HTML(s[strings.Index(s, "<svg"):])
}

var subscripted = regexp.MustCompile(`\b([A-Z])_([A-Za-z])\b`)

// subscripts sets N_w with a subscript.
func subscripts(s string) template.HTML {
	return template.HTML(subscripted.ReplaceAllString(template.HTMLEscapeString(s), "$1<sub>$2</sub>"))
}

func generated(records []results.Record) string {
	n := 0
	for _, r := range records {
		if r.Generated {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case len(records):
		return "generated data"
	}
	return "partly generated data"
}

// enumerate joins the values of f, each once.
func enumerate[T any](of []T, f func(T) string) string {
	var out []string
	for _, x := range of {
		if v := f(x); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return strings.Join(out, ", ")
}

func facts(in Input) []fact {
	list := func(f func(results.Record) string) string { return enumerate(in.Records, f) }
	run := func(f func(Run) string) string { return enumerate(in.Runs, f) }
	repetitions := map[int]bool{}
	for _, r := range in.Records {
		if !r.IsBaseline() {
			repetitions[r.Repetition] = true
		}
	}
	all := []fact{
		{"Records", fmt.Sprintf("%d in %d cells", len(in.Records), len(results.GroupCells(in.Records)))},
		{"Data sets", list(func(r results.Record) string { return results.DatasetTitle(r.Dataset) })},
		{"Embeddings", list(func(r results.Record) string {
			if r.Embedding == "" {
				return ""
			}
			return fmt.Sprintf("%s (%d dimensions)", r.Embedding, r.Dimension)
		})},
		{"Mechanisms", list(func(r results.Record) string {
			if r.IsBaseline() {
				return ""
			}
			return results.MechanismTitle(r.Mechanism)
		})},
		{"ε", strings.Join(epsilonTexts(in.Records), ", ")},
		{"Classifiers", list(func(r results.Record) string {
			if r.Model == "" {
				return ""
			}
			return r.Model + " (" + r.Setting + ")"
		})},
		{"Repetitions", fmt.Sprint(len(repetitions))},
		{"Unknown words", list(func(r results.Record) string { return r.Policy })},
		{"Seed", list(func(r results.Record) string { return fmt.Sprint(r.Seed) })},
		{"Run on", run(func(r Run) string { return r.Machine })},
		{"mldp", run(func(r Run) string { return r.Version })},
		{"Started", run(func(r Run) string { return r.Started })},
	}
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

// shell quotes a command line for pasting into a shell.
func shell(command []string) string {
	var out []string
	for i, a := range command {
		if i == 0 {
			a = "mldp" // without the path of the binary
		}
		if a == "" || strings.ContainsAny(a, " \t\n'\"$`\\*?[]{}()<>|&;#~!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}
