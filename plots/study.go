package plots

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// reason turns an empty set of figures into an error.
func reason(figures []Figure, why string) ([]Figure, error) {
	if len(figures) == 0 {
		return nil, errors.New(why)
	}
	return figures, nil
}

// fileName joins the parts of a file name that distinguish figures of one kind.
func (v *view) fileName(kind string, sp results.Space, t results.Task) string {
	name := fmt.Sprintf("%s-d%d", kind, sp.Dimension)
	if slices.ContainsFunc(v.spaces, func(o results.Space) bool {
		return o.Dimension == sp.Dimension && o.Embedding != sp.Embedding
	}) {
		name += "-" + sp.Embedding
	}
	if len(v.tasks) > 1 {
		name += "-" + t.Model + "-" + t.Setting
	}
	return tables.Slug(name)
}

// title returns the heading of a figure of some cells.
func title(what string, sp results.Space, t results.Task, shown []results.Cell) string {
	if !strings.ContainsAny(what[1:2], "_") {
		what = strings.ToUpper(what[:1]) + what[1:]
	}
	if sp.Embedding != "" {
		what += fmt.Sprintf(", %s, %d dimensions", sp.Embedding, sp.Dimension)
	}
	if t.Model != "" {
		what += ", " + t.Model
		if t.Setting != "" && t.Setting != "local" {
			what += " (" + t.Setting + ")"
		}
	}
	return what + GeneratedMark(shown)
}

// GeneratedMark returns the mark of numbers that are not about real text.
func GeneratedMark(shown []results.Cell) string {
	switch n := len(results.Where(shown, func(c results.Cell) bool { return c.Generated })); n {
	case 0:
		return ""
	case len(shown):
		return " — generated data"
	}
	return " — partly generated data"
}

// over draws y over x: one figure per space and task, one panel per data set.
func (v *view) over(kind, what, x, y string, ofModel bool, notes ...string) []Figure {
	tasks := []results.Task{{}}
	if ofModel {
		tasks = v.tasks
	}
	var out []Figure
	for _, sp := range v.spaces {
		for _, t := range tasks {
			shown := v.of(sp, t)
			panels := list.Map(datasets(shown), func(d string) Panel {
				return v.panel(results.Scene{Dataset: d, Space: sp, Task: t}, x, y)
			})
			v.limit(panels)
			if x != epsilon {
				for i := range panels {
					panels[i].Curves = append(step(panels[i].Curves), panels[i].Curves...)
				}
			}
			f, err := Curves(kind, v.fileName(kind, sp, t), title(what, sp, t, shown), panels,
				append(slices.Clone(notes), v.notes(shown)...)...)
			if err == nil {
				out = append(out, f)
			}
		}
	}
	return out
}

// accuracyFigures draws test accuracy against ε (Figure 1 of Meisenbacher et
// al. 2024).
func accuracyFigures(v *view) ([]Figure, error) {
	return reason(v.over("accuracy", "Accuracy against ε", epsilon, "accuracy", true), "no cell has an accuracy")
}

// frontierFigures draws accuracy against the adversary's error: mechanisms are
// compared at equal measured privacy instead of equal ε, whose meaning differs
// between mechanisms. The step line joins the best accuracies among the
// settings with a guarantee between any two words.
func frontierFigures(v *view) ([]Figure, error) {
	about := "E_M is the share of words that the MAP adversary gets wrong, among few candidates"
	if v.FullError {
		about = "E_M is the share of words that the MAP adversary gets wrong, all words being candidates"
	}
	about += ". Up and right is better. Each line runs over ε; the step line joins the best with a guarantee between " +
		"any two words."
	return reason(v.over("frontier", "Accuracy against the adversary’s error", results.EM, "accuracy", true, about),
		"no cell has both an accuracy and an error of the adversary")
}

// metricFigures draws every other quantity against ε: PUC is Figure 3 of
// Meisenbacher et al. 2024.
func metricFigures(v *view) ([]Figure, error) {
	var out []Figure
	for _, c := range results.MeasuredColumns(v.private) {
		if c.Name != "accuracy" && c.Table != "axis" {
			out = append(out, v.over("metric-"+tables.Slug(c.Name), c.Heading()+" against ε", epsilon, c.Name, c.OfModel)...)
		}
	}
	return reason(out, "no quantity other than accuracy was measured")
}

// attackFigures draws utility against each attacker's success: a figure per data
// set and task, a panel per attacker.
func attackFigures(v *view) ([]Figure, error) {
	attackers := tables.Leading(v.private)
	var out []Figure
	for _, s := range v.scenes("accuracy") {
		var panels []Panel
		shown := results.Where(v.of(s.Space, s.Task), func(c results.Cell) bool { return c.Dataset == s.Dataset })
		for _, a := range attackers {
			p := v.panel(s, a.Name, "accuracy")
			p.Title, p.X.Label = a.Title, strings.TrimPrefix(p.X.Label, a.Heading()+" ")
			p.X.Label = strings.Trim(p.X.Label, "()")
			panels = append(panels, p)
		}
		v.limit(panels)
		f, err := Curves("attacks", v.fileName("attacks-"+tables.Slug(s.Dataset), s.Space, s.Task),
			title("What attackers learn against utility, "+datasetTitle(s.Dataset, nil), s.Space, s.Task, shown), panels,
			append([]string{"Each line runs over ε. Identity is the plain text; Uniform replaces every word at random."},
				v.notes(shown)...)...)
		if err == nil {
			out = append(out, f)
		}
	}
	return reason(out, "no attacker was measured together with a utility")
}

// front returns the points of curves with a full guarantee, references aside,
// that no other such point beats in both coordinates, by descending x. At is the curve's label.
func front(curves []Curve) []Point {
	var all, out []Point
	for _, c := range curves {
		if !c.Style.Hollow && !c.Style.Scoped && !c.Style.Reference {
			for _, p := range c.Points {
				q := Exactly(p.X, p.Y)
				q.At = c.Label
				all = append(all, q)
			}
		}
	}
	slices.SortFunc(all, func(a, b Point) int { return cmp.Or(cmp.Compare(b.X, a.X), cmp.Compare(b.Y, a.Y)) })
	for _, p := range all {
		if len(out) == 0 || p.Y > out[len(out)-1].Y {
			out = append(out, p)
		}
	}
	return out
}

// step returns the line that joins the front, if there is one.
func step(curves []Curve) []Curve {
	points := front(curves)
	if len(points) == 0 {
		return nil
	}
	return []Curve{{Label: "best with a guarantee", Style: Style{Look: Look{Color: Faint, Marker: -1}, Step: true},
		Points: points}}
}
