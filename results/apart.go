package results

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results/quantity"
)

// markOpen separates a name from what tells its data apart.
const markOpen = " ("

// marked is a name with a further mark: "agnews (200 test documents, of other)".
func marked(name, mark string) string {
	if before, open := strings.CutSuffix(name, ")"); open && strings.Contains(name, markOpen) {
		return before + ", " + mark + ")"
	}
	return name + markOpen + mark + ")"
}

// unmarked is the name as the run has it.
func unmarked(name string) string {
	name, _, _ = strings.Cut(name, markOpen)
	return name
}

// A claim is something that rows of several runs say they have in common by giving
// it one name. Fingerprints show whether it is so; rows without them, as those of
// earlier versions, are believed.
type claim struct {
	what string // in warnings: "the data"
	name func(r *Row) string
	// at is where fingerprints of one thing must agree, "" for a row that has none.
	at          func(r *Row) any
	fingerprint func(r *Row) string
	mark        func(r *Row, mark string)
}

// claims are in the order in which they are looked at: what differs by an earlier one
// has another name for the later ones.
var claims = []claim{
	{"data", func(r *Row) string { return r.Dataset },
		func(r *Row) any { return r.sample() },
		func(r *Row) string { return r.DatasetFingerprint },
		markDataset},
	{"vectors", func(r *Row) string { return r.Embedding },
		func(r *Row) any {
			return Place{
				Dataset:    r.Dataset,
				Cleaning:   r.Cleaning,
				TrainItems: r.TrainItems,
				TestItems:  r.TestItems,
				Seed:       r.Seed,
				Repetition: r.Repetition,
				Embedding:  r.Embedding,
				Dimension:  r.Dimension,
			}
		},
		func(r *Row) string { return r.EmbeddingFingerprint },
		func(r *Row, mark string) { r.Embedding = marked(r.Embedding, mark) }},
	{"program or text", func(r *Row) string { return r.Mechanism },
		func(r *Row) any {
			return Place{
				Dataset:    r.Dataset,
				Embedding:  r.Embedding,
				Dimension:  r.Dimension,
				Mechanism:  r.Mechanism,
				Parameters: r.Parameters,
				Epsilon:    r.Epsilon,
			}
		},
		func(r *Row) string { return r.Program },
		func(r *Row, mark string) { r.Label = marked(cmp.Or(r.Label, MechanismTitle(r.Mechanism)), mark) }},
	{"programs, models and lists", func(r *Row) string { return r.Dataset },
		func(r *Row) any { return rowAt{r.Place, r.Quantity} },
		func(r *Row) string { return r.Resources },
		markDataset},
	{"numbers, measured in another way,", func(r *Row) string { return r.Dataset },
		func(r *Row) any { return rowAt{r.Place, r.Quantity} },
		func(r *Row) string { return r.number() },
		markDataset},
}

// rowAt is a quantity at a place.
type rowAt struct {
	Place
	quantity string
}

// sample is a drawing of documents.
func (p Place) sample() Place {
	d := p.data()
	d.Dataset = p.Dataset
	d.Repetition = p.Repetition
	return d
}

// number is what was measured, "" for what no other run need have measured alike.
func (r *Row) number() string {
	c, err := quantity.Find(r.Quantity)
	if err != nil || c.Timing || r.Unrepeatable {
		return ""
	}
	return fmt.Sprintf("%.9g %d %d", r.Value.Float(), r.Part, r.Whole)
}

func markDataset(r *Row, mark string) {
	if r.Dataset == "" { // words are measured: their space is marked
		r.Embedding = marked(r.Embedding, mark)
		return
	}
	r.Dataset = marked(r.Dataset, mark)
}

// tellApart names the data of rows that share the name of a data set but not its
// documents (another sample size, cleaning or seed), and what runs give one name
// although its fingerprints differ: data, vectors, a program, what a number was
// measured with. The result does not depend on the order of the runs.
func tellApart(runs []Run, rows [][]Row) (apart [][]Row, warnings []string) {
	seen := map[string][]Place{} // drawings by data set
	for _, own := range rows {
		for i := range own {
			if d := own[i].sample(); own[i].Dataset != "" && !slices.Contains(seen[d.Dataset], d) {
				seen[d.Dataset] = append(seen[d.Dataset], d)
			}
		}
	}
	said := map[string]bool{}
	apart = list.Map(rows, slices.Clone[[]Row])
	for _, own := range apart {
		for i := range own {
			r := &own[i]
			name := r.Dataset
			for _, mark := range marksOf(*r, seen[name]) {
				r.Dataset = marked(r.Dataset, mark)
			}
			if r.Dataset != name {
				said[fmt.Sprintf("%s: not the data of the other rows called %s, so never averaged with them", r.Dataset,
					name)] = true
			}
		}
	}
	for _, c := range claims {
		c.tellApart(runs, apart, said)
	}
	for text := range said {
		warnings = append(warnings, text)
	}
	slices.Sort(warnings)
	return apart, warnings
}

// tellApart marks the rows of runs that give one name to different things.
func (c claim) tellApart(runs []Run, rows [][]Row, said map[string]bool) {
	prints := list.Map(rows, c.prints)
	var names []string
	for _, own := range prints {
		for name := range own {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		classes := c.classes(list.Map(prints, func(own map[string]map[any]string) map[any]string {
			return own[name]
		}))
		if classes == nil {
			continue
		}
		marks := titles(runs, rows, classes)
		for i, own := range rows {
			for j := range own {
				r := &own[j]
				if c.name(r) != name {
					continue
				}
				c.mark(r, marks[classes[i]])
				said[fmt.Sprintf("%s: not the %s of the other rows called %s, so never averaged with them",
					marked(name, marks[classes[i]]), c.what, name)] = true
			}
		}
	}
}

// prints are the fingerprints of a run by name and place.
func (c claim) prints(rows []Row) map[string]map[any]string {
	all := map[string]map[any]string{}
	for i := range rows {
		r := &rows[i]
		name := c.name(r)
		if name == "" {
			continue
		}
		if all[name] == nil {
			all[name] = map[any]string{}
		}
		if print := c.fingerprint(r); print != "" {
			all[name][c.at(r)] = print
		}
	}
	return all
}

// classes number runs so that those of one number have the same thing, the lowest for
// the first; nil where all have. A run without the name counts as any other.
func (c claim) classes(prints []map[any]string) []int {
	classes := alone(len(prints))
	several := false
	for i := range prints {
		for j := range i {
			switch compared(prints[i], prints[j]) {
			case differing:
				several = true
			case agreeing:
				joinClasses(classes, classes[i], classes[j])
			}
		}
	}
	if !several {
		return nil
	}
	for i := range prints {
		for j := range i {
			if classes[i] == classes[j] && compared(prints[i], prints[j]) == differing {
				return alone(len(prints)) // a run agrees with two that differ
			}
		}
	}
	return classes
}

// joinClasses gives the runs of one class the number of another.
func joinClasses(classes []int, of, into int) {
	for i := range classes {
		if classes[i] == of {
			classes[i] = into
		}
	}
}

// alone are the classes of runs that have nothing in common.
func alone(runs int) []int {
	classes := make([]int, runs)
	for i := range classes {
		classes[i] = i
	}
	return classes
}

// What the fingerprints of two runs say.
type comparison int

const (
	unrelated comparison = iota // at no place have both one
	agreeing
	differing
)

func compared(a, b map[any]string) comparison {
	found := unrelated
	for at, print := range a {
		other, both := b[at]
		if both && other != print {
			return differing
		}
		if both {
			found = agreeing
		}
	}
	return found
}

// titles name the classes of runs: by their studies where these differ, else by the
// runs.
func titles(runs []Run, rows [][]Row, classes []int) map[int]string {
	studies := map[int][]string{}
	files := map[int][]string{}
	for i, own := range rows {
		files[classes[i]] = append(files[classes[i]], runs[i].title(runs, i))
		for j := range own {
			if s := studies[classes[i]]; !slices.Contains(s, own[j].Study) {
				studies[classes[i]] = append(s, own[j].Study)
			}
		}
	}
	all := studies
	for class, own := range studies {
		for other, theirs := range studies {
			if class != other &&
				slices.ContainsFunc(own, func(s string) bool {
					return slices.Contains(theirs, s)
				}) {
				all = files
			}
		}
	}
	names := map[int]string{}
	for class, own := range all {
		slices.Sort(own)
		names[class] = "of " + strings.Join(own, " and ")
	}
	return names
}

// title is the name of a run's folder or file, or its whole path where another run
// has the same.
func (run Run) title(all []Run, position int) string {
	short := run.short()
	for i, other := range all {
		if i != position && other.short() == short {
			return cmp.Or(run.Name, fmt.Sprintf("run %d", position+1))
		}
	}
	return short
}

// short is the last part of the path of a run that says something.
func (run Run) short() string {
	path := strings.TrimSuffix(strings.TrimSuffix(run.Name, ".gz"), ".csv")
	if folder := filepath.Dir(path); filepath.Base(path) == "results" && folder != "." {
		path = folder
	}
	return filepath.Base(path)
}

// marksOf says what the data of a row are, in what tells them from others of the data set.
func marksOf(r Row, all []Place) (marks []string) {
	differ := func(of func(Place) any) bool {
		return slices.ContainsFunc(all, func(p Place) bool { return of(p) != of(all[0]) })
	}
	if differ(func(p Place) any { return p.TestItems }) {
		marks = append(marks, fmt.Sprintf("%d test documents", r.TestItems))
	} else if differ(func(p Place) any { return p.TrainItems }) {
		marks = append(marks, fmt.Sprintf("%d training documents", r.TrainItems))
	}
	if differ(func(p Place) any { return p.Cleaning }) {
		marks = append(marks, "cleaned: "+cmp.Or(r.Cleaning, "by default"))
	}
	if differ(func(p Place) any { return p.Seed }) {
		marks = append(marks, fmt.Sprintf("seed %d", r.Seed))
	}
	return marks
}
