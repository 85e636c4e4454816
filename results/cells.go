package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mldpbench/datasets"
	"mldpbench/mechanisms"
)

// Cells holds the records of one cell, for all repetitions.
type Cells struct {
	Group
	Records []Record
}

// Values returns the values of f over repetitions without missing ones. For a
// metric use Values(column.Get).
func (c Cells) Values(value func(Record) Float) []float64 {
	var x []float64
	for _, r := range c.Records {
		if v := value(r); v.Known() {
			x = append(x, float64(v))
		}
	}
	return x
}

// GroupCells gathers records by cell, in the order of the first of each.
func GroupCells(records []Record) []Cells {
	at := map[Group]int{}
	var cells []Cells
	for _, r := range records {
		g := r.Group()
		i, ok := at[g]
		if !ok {
			i = len(cells)
			at[g] = i
			cells = append(cells, Cells{Group: g})
		}
		cells[i].Records = append(cells[i].Records, r)
	}
	return cells
}

// TextRecords keeps one record per privatised text, without its model: models
// and settings share it, and with it all metrics of privacy.
func TextRecords(records []Record) []Record {
	type text struct {
		Group
		repetition int
	}
	seen := map[text]int{}
	var kept []Record
	for _, r := range records {
		g := r.Group()
		g.Model, g.ModelParameters, g.Setting = "", "", ""
		k := text{g, r.Repetition}
		r.Model, r.ModelParameters, r.Setting = "", "", "" // the choice among several is arbitrary
		i, again := seen[k]
		switch {
		case !again:
			seen[k] = len(kept)
			kept = append(kept, r)
		case r.CS.Known() && !kept[i].CS.Known(): // CS is not measured in every run
			kept[i] = r
		}
	}
	return kept
}

// Instance is a mechanism as configured, except for ε.
type Instance struct{ Mechanism, Variant, Parameters string }

// Instance returns the instance of a record.
func (r Record) Instance() Instance { return Instance{r.Mechanism, r.Variant, r.Parameters} }

// Instances returns the instances of records in the order of their first
// appearance, those of one mechanism together.
func Instances(records []Record) []Instance {
	all := Distinct(records, Record.Instance)
	first := map[string]int{}
	for i, x := range slices.Backward(all) {
		first[x.Mechanism] = i
	}
	slices.SortStableFunc(all, func(a, b Instance) int { return cmp.Compare(first[a.Mechanism], first[b.Mechanism]) })
	return all
}

// Labels returns the shortest names that distinguish the instances of records:
// with the variant where it is not the proved one or several are present, and
// with parameters where they differ between instances of one mechanism and
// variant. Tables, figures and the report all use these names.
func Labels(records []Record) map[Instance]string {
	return LabelInstances(Distinct(records, Record.Instance))
}

// LabelInstances is Labels for instances.
func LabelInstances(instances []Instance) map[Instance]string {
	variants := map[string]map[string]bool{}
	parameters := map[[2]string]map[string]bool{}
	for _, i := range instances {
		if variants[i.Mechanism] == nil {
			variants[i.Mechanism] = map[string]bool{}
		}
		variants[i.Mechanism][i.Variant] = true
		k := [2]string{i.Mechanism, i.Variant}
		if parameters[k] == nil {
			parameters[k] = map[string]bool{}
		}
		parameters[k][i.Parameters] = true
	}
	labels := map[Instance]string{}
	for _, i := range instances {
		name := MechanismTitle(i.Mechanism)
		if i.Variant != "" && (i.Variant != string(mechanisms.Proved) || len(variants[i.Mechanism]) > 1) {
			name += ", " + i.Variant
		}
		if all := parameters[[2]string{i.Mechanism, i.Variant}]; len(all) > 1 {
			if own := differing(i.Parameters, all); own != "" {
				name += ", " + symbols.Replace(own)
			}
		}
		labels[i] = name
	}
	return labels
}

// symbols are the symbols of parameters in the papers.
var symbols = strings.NewReplacer("gamma=", "γ=", "lambda=", "λ=", "beta=", "β=", "delta=", "δ=")

// differing drops from "beta=0.001 gamma=0.5" what all alternatives share.
func differing(own string, all map[string]bool) string {
	var parts []string
	for _, p := range strings.Fields(own) {
		for other := range maps.Keys(all) {
			if !slices.Contains(strings.Fields(other), p) {
				parts = append(parts, p)
				break
			}
		}
	}
	return strings.Join(parts, " ")
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
	name, mark := ofSeed(name)
	if d, err := datasets.Find(name); err == nil && d.Title != "" {
		name = d.Title
	}
	return name + mark
}

// Distinct returns the values of f in order of appearance.
func Distinct[T comparable](records []Record, f func(Record) T) []T {
	var values []T
	seen := map[T]bool{}
	for _, r := range records {
		if v := f(r); !seen[v] {
			seen[v] = true
			values = append(values, v)
		}
	}
	return values
}

// Where selects records.
func Where(records []Record, keep func(Record) bool) []Record {
	var kept []Record
	for _, r := range records {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// Space is an embedding at a dimension: a group of columns.
type Space struct {
	Embedding string
	Dimension int
}

func (s Space) String() string { return fmt.Sprintf("%s d=%d", s.Embedding, s.Dimension) }

// Spaces returns the spaces of records, by dimension.
func Spaces(records []Record) []Space {
	spaces := Distinct(records, func(r Record) Space { return Space{r.Embedding, r.Dimension} })
	slices.SortStableFunc(spaces, func(a, b Space) int { return cmp.Compare(a.Dimension, b.Dimension) })
	return spaces
}

// Epsilons returns the ε of records, ascending.
func Epsilons(records []Record) []float64 {
	values := Distinct(Where(records, func(r Record) bool { return r.Epsilon.Known() }),
		func(r Record) float64 { return float64(r.Epsilon) })
	slices.Sort(values)
	return values
}

// Task is a classifier in a setting.
type Task struct{ Model, Setting string }

// Tasks returns the tasks of privatised records, by name.
func Tasks(records []Record) []Task {
	tasks := Distinct(Where(records, func(r Record) bool { return !r.IsBaseline() && r.Model != "" }),
		func(r Record) Task { return Task{r.Model, r.Setting} })
	slices.SortFunc(tasks, func(a, b Task) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Setting, b.Setting))
	})
	return tasks
}

// ByRepetition returns the value of a metric in each repetition: the mean over
// the records of one repetition (a metric of the text is the same for all
// models).
func ByRepetition(records []Record, value func(Record) Float) []float64 {
	sum, n := map[int]float64{}, map[int]int{}
	for _, r := range records {
		if v := value(r); v.Known() && r.Status != StatusUndefined {
			sum[r.Repetition] += float64(v)
			n[r.Repetition]++
		}
	}
	var out []float64
	for _, repetition := range slices.Sorted(maps.Keys(n)) {
		out = append(out, sum[repetition]/float64(n[repetition]))
	}
	return out
}
