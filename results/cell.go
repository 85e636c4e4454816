package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mldpbench/datasets"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
)

// Cell is everything that was measured at one place in one repetition: a row of
// a wide table. It also has what was measured of the same release without a
// model or a setting.
type Cell struct {
	Place
	Promise
	Study                     string
	Index                     int
	Key                       string // of its own first unit
	Status                    string
	Reason                    string
	Command, Version, Machine string

	values map[string]Measured // by quantity
}

// At returns a quantity with all that it rests on.
func (c Cell) At(quantity string) (Measured, bool) { m, ok := c.values[quantity]; return m, ok }

// Get returns a quantity, missing where it was not measured.
func (c Cell) Get(quantity string) Float {
	if m, ok := c.values[quantity]; ok {
		return m.Value
	}
	return Missing
}

// Has reports whether a quantity was measured here.
func (c Cell) Has(quantity string) bool { return c.Get(quantity).Known() }

// Quantities lists the names of what was measured, in the order of the
// registry.
func (c Cell) Quantities() []string {
	return list.Map(ordered(c.values), func(c Column) string { return c.Name })
}

// Set replaces a quantity of this cell; its copies are not changed.
func (c *Cell) Set(quantity string, m Measured) {
	c.values = maps.Clone(c.values)
	if c.values == nil {
		c.values = map[string]Measured{}
	}
	c.values[quantity] = m
}

// Group is what all repetitions of one cell share. Fingerprints are not part of
// it: documents may be drawn anew in each repetition, and Prepare has told
// different data apart by name.
type Group struct {
	Dataset, Embedding             string
	Dimension                      int
	Mechanism, Variant, Parameters string
	Epsilon                        string // as text, so that a missing one equals itself
	Policy, Setting                string
	Model, ModelParameters         string
	Panel, Series, X               string
}

// Group returns the group of a place.
func (p Place) Group() Group {
	return Group{p.Dataset, p.Embedding, p.Dimension, p.Mechanism, p.Variant, p.Parameters, p.Epsilon.String(),
		p.Policy, p.Setting, p.Model, p.ModelParameters, p.Panel, p.Series, p.X.String()}
}

// Cells are the repetitions of one cell.
type Cells struct {
	Group
	Cells []Cell
}

// Values returns the values of a quantity over repetitions without missing ones.
func (c Cells) Values(quantity string) []float64 {
	var x []float64
	for _, r := range c.Cells {
		if v := r.Get(quantity); v.Known() {
			x = append(x, float64(v))
		}
	}
	return x
}

// GroupCells gathers cells by group, in the order of the first of each.
func GroupCells(cells []Cell) []Cells {
	at := map[Group]int{}
	var out []Cells
	for _, c := range cells {
		g := c.Group()
		i, ok := at[g]
		if !ok {
			i = len(out)
			at[g] = i
			out = append(out, Cells{Group: g})
		}
		out[i].Cells = append(out[i].Cells, c)
	}
	return out
}

// Texts keeps one cell for each privatised text, without its model and setting:
// what was measured of the text is the same for all of them.
func Texts(cells []Cell) []Cell {
	type text struct {
		Group
		repetition int
	}
	seen := map[text]int{}
	var kept []Cell
	for _, c := range cells {
		c.Model, c.ModelParameters, c.Setting = "", "", ""
		k := text{c.Group(), c.Repetition}
		i, again := seen[k]
		if !again {
			seen[k] = len(kept)
			kept = append(kept, c)
			continue
		}
		for name, m := range c.values {
			if !kept[i].Has(name) && m.Value.Known() {
				kept[i].Set(name, m)
			}
		}
	}
	return kept
}

// Instance is a mechanism as configured, except for ε.
type Instance struct{ Mechanism, Variant, Parameters string }

// Instance returns the instance of a place.
func (p Place) Instance() Instance { return Instance{p.Mechanism, p.Variant, p.Parameters} }

// Instances returns the instances of cells in the order of their first
// appearance, those of one mechanism together.
func Instances(cells []Cell) []Instance {
	all := Distinct(cells, func(c Cell) Instance { return c.Instance() })
	first := map[string]int{}
	for i, x := range slices.Backward(all) {
		first[x.Mechanism] = i
	}
	slices.SortStableFunc(all, func(a, b Instance) int { return cmp.Compare(first[a.Mechanism], first[b.Mechanism]) })
	return all
}

// LabelInstances returns the shortest names that distinguish instances: with the
// variant where it is not the proved one or several are present, and with
// parameters where they differ between instances of one mechanism and variant.
// Tables, figures and pages all use these names.
func LabelInstances(instances []Instance) map[Instance]string {
	labels := map[Instance]string{}
	for _, i := range instances {
		name := MechanismTitle(i.Mechanism)
		all := Where(instances, func(o Instance) bool { return o.Mechanism == i.Mechanism })
		alike := Where(all, func(o Instance) bool { return o.Variant == i.Variant })
		if i.Variant != "" && (i.Variant != string(mechanisms.Proved) || len(alike) < len(all)) {
			name += ", " + i.Variant
		}
		if own := differing(i, alike); own != "" {
			name += ", " + symbols.Replace(own)
		}
		labels[i] = name
	}
	return labels
}

// symbols are the symbols of parameters in the papers.
var symbols = strings.NewReplacer("gamma=", "γ=", "lambda=", "λ=", "beta=", "β=", "delta=", "δ=")

// differing drops from "beta=0.001 gamma=0.5" what all alternatives share.
func differing(own Instance, all []Instance) string {
	return strings.Join(Where(strings.Fields(own.Parameters), func(part string) bool {
		return slices.ContainsFunc(all, func(o Instance) bool { return !slices.Contains(strings.Fields(o.Parameters), part) })
	}), " ")
}

// MechanismTitle returns the printed name of a mechanism.
func MechanismTitle(name string) string {
	if name == BaselineMechanism {
		return "Baseline"
	}
	if d, err := mechanisms.Find(name); err == nil {
		return d.Title
	}
	return name
}

// DatasetTitle returns the printed name of a data set.
func DatasetTitle(name string) string {
	name, mark, marked := strings.Cut(name, markOpen)
	if d, err := datasets.Find(name); err == nil && d.Title != "" {
		name = d.Title
	}
	if marked {
		name += markOpen + mark
	}
	return name
}

// Distinct returns the values of f in order of appearance.
func Distinct[E any, T comparable](list []E, f func(E) T) []T {
	var values []T
	seen := map[T]bool{}
	for _, r := range list {
		if v := f(r); !seen[v] {
			seen[v] = true
			values = append(values, v)
		}
	}
	return values
}

// Unique is the name of a file, with a number where another has it already.
func Unique(taken map[string]bool, name string) string {
	own := name
	for i := 2; taken[own]; i++ {
		own = fmt.Sprintf("%s-%d", name, i)
	}
	taken[own] = true
	return own
}

// Where selects cells or rows.
func Where[E any](list []E, keep func(E) bool) []E {
	var kept []E
	for _, r := range list {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// Space is an embedding at a dimension.
type Space struct {
	Embedding string
	Dimension int
}

func (s Space) String() string { return fmt.Sprintf("%s d=%d", s.Embedding, s.Dimension) }

// Space returns the space of a place.
func (p Place) Space() Space { return Space{p.Embedding, p.Dimension} }

// Spaces returns the spaces of cells, by dimension.
func Spaces(cells []Cell) []Space {
	spaces := Distinct(cells, func(c Cell) Space { return c.Space() })
	slices.SortStableFunc(spaces, func(a, b Space) int { return cmp.Compare(a.Dimension, b.Dimension) })
	return spaces
}

// Epsilons returns the ε of cells, ascending.
func Epsilons(cells []Cell) []float64 {
	values := Distinct(Where(cells, func(c Cell) bool { return c.Epsilon.Known() }),
		func(c Cell) float64 { return float64(c.Epsilon) })
	slices.Sort(values)
	return values
}

// Task is a classifier in a setting.
type Task struct{ Model, Setting string }

func (t Task) String() string {
	if t.Setting == "" {
		return t.Model
	}
	return t.Model + " (" + t.Setting + ")"
}

// Task returns the task of a place.
func (p Place) Task() Task { return Task{p.Model, p.Setting} }

// Tasks returns the tasks of privatised cells, by name.
func Tasks(cells []Cell) []Task {
	tasks := Distinct(Where(cells, func(c Cell) bool { return !c.IsBaseline() && c.Model != "" }),
		func(c Cell) Task { return c.Task() })
	slices.SortFunc(tasks, func(a, b Task) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Setting, b.Setting))
	})
	return tasks
}

// Scene is where mechanisms are compared: a data set in a space, by a task.
type Scene struct {
	Dataset string
	Space   Space
	Task    Task
}

// Scene returns the scene of a place.
func (p Place) Scene() Scene { return Scene{p.Dataset, p.Space(), p.Task()} }

// Where names data set and space in print.
func (s Scene) Where() string { return DatasetTitle(s.Dataset) + ", " + s.Space.String() }

// With names what the data set is measured with, in print: space and task.
func (s Scene) With() string {
	parts := []string{s.Space.String(), s.Task.String()}
	if s.Space.Embedding == "" {
		parts = parts[1:]
	}
	return strings.TrimSuffix(strings.Join(parts, ", "), ", ")
}

// The marks of a variant that guarantees nothing, and of one whose guarantee
// holds between some words only.
const UnprovedMark, ScopeMark = "†", "‡"

// Unproved returns the first cell of a variant that guarantees nothing. One where
// the mechanism is undefined has no guarantee to report.
func Unproved(cells []Cell) (c Cell, found bool) {
	i := slices.IndexFunc(cells, func(c Cell) bool {
		return !c.IsBaseline() && c.Mechanism != "" && c.Status != StatusUndefined && c.GuaranteeMetric == "" &&
			(c.Panel == "" || c.GuaranteeReason != "")
	})
	if i < 0 {
		return c, false
	}
	return cells[i], true
}

// Scope returns between which words the guarantee of cells of one mechanism
// holds, "" where it holds between any two. Groups differ between data sets; the
// first scope is used for all.
func Scope(cells []Cell) string {
	scopes := Distinct(Where(cells, func(c Cell) bool { return c.GuaranteeScope != "" }),
		func(c Cell) string { return c.GuaranteeScope })
	switch len(scopes) {
	case 0:
		return ""
	case 1:
		return scopes[0]
	}
	return scopes[0] + " (other words elsewhere: see the table of guarantees)"
}

// Mark is that of the guarantee of cells of one mechanism, "" for a full one.
func Mark(cells []Cell) string {
	if _, found := Unproved(cells); found {
		return UnprovedMark
	}
	if Scope(cells) != "" {
		return ScopeMark
	}
	return ""
}

// Repeated returns the fewest and most repetitions of the privatised texts of some
// cells.
func Repeated(cells []Cell) (fewest, most int) {
	for i, c := range GroupCells(Texts(cells)) {
		if n := len(c.Cells); i == 0 {
			fewest, most = n, n
		} else {
			fewest, most = min(fewest, n), max(most, n)
		}
	}
	return fewest, most
}

// MeasuredColumns returns the quantities with a title that some cell has.
func MeasuredColumns(cells []Cell) []Column {
	met := map[string]bool{}
	for _, c := range cells {
		for name, m := range c.values {
			if m.Value.Known() {
				met[name] = true
			}
		}
	}
	return Where(ordered(met), func(c Column) bool { return c.Title != "" })
}

// ByRepetition returns the value of a quantity in each repetition: the mean
// over the cells of one repetition.
func ByRepetition(cells []Cell, quantity string) []float64 {
	sum, n := map[int]float64{}, map[int]int{}
	for _, c := range cells {
		if v := c.Get(quantity); v.Known() {
			sum[c.Repetition] += float64(v)
			n[c.Repetition]++
		}
	}
	return list.Map(slices.Sorted(maps.Keys(n)), func(repetition int) float64 {
		return sum[repetition] / float64(n[repetition])
	})
}

// Interval returns the 95% interval of a quantity: the measured one or, of a share
// of the items without one, that of Clopper and Pearson, in percent. Missing where
// neither is known.
func (c Cell) Interval(quantity string) (low, high Float) {
	m, ok := c.At(quantity)
	if !ok {
		return Missing, Missing
	}
	if !m.Low.Known() && MustColumn(quantity).Counted {
		if i, err := stats.ClopperPearson(m.Part, m.Whole, 0.95); err == nil {
			return Float(100 * i.Low), Float(100 * i.High)
		}
	}
	return m.Low, m.High
}
