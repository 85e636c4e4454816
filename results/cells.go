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

// Cells are the records of one cell, all repetitions.
type Cells struct {
	Group
	Records []Record
}

// Values of something over repetitions, missing ones left out. Of a metric:
// Values(column.Get).
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
		r.Model, r.ModelParameters, r.Setting = "", "", "" // which of several is chance
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

// Instance is a mechanism as it was configured, ε aside.
type Instance struct{ Mechanism, Variant, Parameters string }

// Instance of a record.
func (r Record) Instance() Instance { return Instance{r.Mechanism, r.Variant, r.Parameters} }

// instancesOf are the instances of records, those of one mechanism together, in
// the order of their first appearance.
func instancesOf(records []Record) []Instance {
	all := distinct(records, Record.Instance)
	first := map[string]int{}
	for i, x := range slices.Backward(all) {
		first[x.Mechanism] = i
	}
	slices.SortStableFunc(all, func(a, b Instance) int { return cmp.Compare(first[a.Mechanism], first[b.Mechanism]) })
	return all
}

// Labels names the instances of records by as little as tells them apart: the
// variant where it is not the proved one or several are present, parameters
// where they differ between instances of one mechanism and variant. Tables,
// figures and the report call an instance by this name and no other.
func Labels(records []Record) map[Instance]string {
	variants := map[string]map[string]bool{}
	parameters := map[[2]string]map[string]bool{}
	l := map[Instance]string{}
	for _, r := range records {
		i := r.Instance()
		l[i] = ""
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
	for i := range l {
		name := MechanismTitle(i.Mechanism)
		if i.Variant != "" && (i.Variant != string(mechanisms.Proved) || len(variants[i.Mechanism]) > 1) {
			name += ", " + i.Variant
		}
		if all := parameters[[2]string{i.Mechanism, i.Variant}]; len(all) > 1 {
			if own := differing(i.Parameters, all); own != "" {
				name += ", " + own
			}
		}
		l[i] = name
	}
	return l
}

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

// MechanismTitle is the printed name of a mechanism.
func MechanismTitle(name string) string {
	if name == BaselineMechanism {
		return "Baseline"
	}
	if d, err := mechanisms.Find(name); err == nil {
		return d.Title
	}
	return name
}

// DatasetTitle is the printed name of a data set.
func DatasetTitle(name string) string {
	name, mark := ofSeed(name)
	if d, err := datasets.Find(name); err == nil && d.Title != "" {
		name = d.Title
	}
	return name + mark
}

// distinct returns the values of f in order of appearance.
func distinct[T comparable](records []Record, f func(Record) T) []T {
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

func where(records []Record, keep func(Record) bool) []Record {
	var kept []Record
	for _, r := range records {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// spaceOf is an embedding at a dimension: a group of columns.
type spaceOf struct {
	Embedding string
	Dimension int
}

func (s spaceOf) String() string { return fmt.Sprintf("%s d=%d", s.Embedding, s.Dimension) }

func spacesOf(records []Record) []spaceOf {
	spaces := distinct(records, func(r Record) spaceOf { return spaceOf{r.Embedding, r.Dimension} })
	slices.SortStableFunc(spaces, func(a, b spaceOf) int { return cmp.Compare(a.Dimension, b.Dimension) })
	return spaces
}

func epsilonsOf(records []Record) []float64 {
	values := distinct(where(records, func(r Record) bool { return r.Epsilon.Known() }), func(r Record) float64 { return float64(r.Epsilon) })
	slices.Sort(values)
	return values
}
