// Command reports writes the pages of this folder from their templates: every number,
// order and verdict in them is an expression over the committed records, so that a
// changed record changes the sentences about it. make reports runs it at the root.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/template"

	_ "mldpbench/experiments/measure" // names of its quantities
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/views"
)

func main() {
	if err := write("results/reference", "results/reports"); err != nil {
		fmt.Fprintln(os.Stderr, "reports:", err)
		os.Exit(1)
	}
}

// write makes the page of each template of a folder from the records of another.
func write(records string, dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.md.tmpl"))
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("no templates in %s: run it at the root of the repository", dir)
	}
	for _, name := range names {
		page, err := render(records, name)
		if err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(strings.TrimSuffix(name, ".tmpl"), 0o644, page); err != nil {
			return err
		}
	}
	return err
}

// render is the page of a template, from the records of a folder.
func render(records string, name string) ([]byte, error) { return newSource(records).render(name) }

// render is the page of a template.
func (s source) render(name string) ([]byte, error) {
	t, err := template.New(filepath.Base(name)).Funcs(template.FuncMap{
		"ahead": s.ahead, "epsilon": s.epsilon, "loss": s.loss, "equal": s.equal, "against": s.against,
		"classifiers": s.classifiers, "kind": s.kind, "count": s.count, "published": s.published, "strongest": s.strongest,
		"between": s.between, "percent": s.percent, "floor": s.floor, "least": s.least, "cell": s.cell, "paper": s.paper,
	}).ParseFiles(name)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = t.Execute(&page, nil)
	return page.Bytes(), err
}

// source reads records from a folder, each once, and answers each question of them once.
type source struct {
	dir      string
	frames   *sync.Map // by the names of records
	analyses *sync.Map // by question
	read     *sync.Map // names of the files that were read
}

func newSource(dir string) source {
	return source{dir: dir, frames: &sync.Map{}, analyses: &sync.Map{}, read: &sync.Map{}}
}

// path is that of a file of the folder, which is read now.
func (s source) path(name string) string {
	s.read.Store(name, true)
	return filepath.Join(s.dir, name)
}

// frame prepares records together, several by their names with spaces between.
func (s source) frame(names string) (*results.Prepared, error) {
	once, _ := s.frames.LoadOrStore(names, sync.OnceValues(func() (*results.Prepared, error) {
		var runs []results.Run
		for _, name := range strings.Fields(names) {
			rows, err := results.Read(s.path(name + ".csv.gz"))
			if err != nil {
				return nil, err
			}
			runs = append(runs, results.Run{Name: name, Rows: rows})
		}
		return results.Prepare(runs...)
	}))
	return once.(func() (*results.Prepared, error))()
}

// question is what a page asks of records: their names, and levels such as em=0.5.
type question struct{ names, levels string }

// analyse answers a question, each once.
func (s source) analyse(names, levels string) (*analysis.Analysis, error) {
	asked := question{names, levels}
	once, _ := s.analyses.LoadOrStore(asked, sync.OnceValues(func() (*analysis.Analysis, error) {
		prepared, err := s.frame(names)
		if err != nil {
			return nil, err
		}
		parsed, err := results.ParseLevels(levels)
		if err != nil {
			return nil, err
		}
		return analysis.Of(prepared, parsed), nil
	}))
	return once.(func() (*analysis.Analysis, error))()
}

// aligned are the comparisons of records at a level such as em=0.5.
func (s source) aligned(names, level string) ([]analysis.Alignment, error) {
	a, err := s.analyse(names, level)
	if err != nil {
		return nil, err
	}
	return a.Alignments("", a.Levels().At[0]), nil
}

// lineOf is the number of a mechanism's line, -1 for none.
func lineOf(a analysis.Alignment, mechanism string) int {
	return slices.IndexFunc(a.Lines, func(l analysis.Line) bool { return l.Mechanism == mechanism })
}

// at is the line of a mechanism on a data set at a level.
func (s source) at(names, level, dataset, mechanism string) (a analysis.Alignment, l analysis.Line, err error) {
	all, err := s.aligned(names, level)
	for _, a := range all {
		if i := lineOf(a, mechanism); a.Dataset == dataset && i >= 0 && a.Lines[i].Reached {
			return a, a.Lines[i], nil
		}
	}
	return a, l, errors.Join(err, fmt.Errorf("%s: %s on %s does not reach %s", names, mechanism, dataset, level))
}

// epsilon is where a mechanism reaches a level on a data set.
func (s source) epsilon(names, level, dataset, mechanism string) (string, error) {
	_, l, err := s.at(names, level, dataset, mechanism)
	return views.Number(l.Epsilon, 1), err
}

// loss is how much less it keeps there than plain text.
func (s source) loss(names, level, dataset, mechanism string) (string, error) {
	a, l, err := s.at(names, level, dataset, mechanism)
	return views.Number(a.Baseline-l.Value, 1), err
}

// ahead says of which mechanisms one is ahead at a level on each data set, and over
// all together; which are level with it; and which differences would not show.
func (s source) ahead(names, level, mechanism string) (string, error) {
	all, err := s.aligned(names, level)
	if err != nil {
		return "", err
	}
	const every, some, none, behind = "keeps more than %s on every data set where both were measured",
		"keeps more than %s on some data sets", "is told apart from %s on no single one", "keeps less than %s on some"
	groups, together, own := map[string][]string{}, map[string][]string{}, ""
	for _, other := range results.Distinct(slices.Concat(list.Map(all, func(a analysis.Alignment) []analysis.Line {
		return a.Lines
	})...), func(l analysis.Line) results.Place { return l.Instance() }) {
		name, told, less, tested, pooled := "", 0, 0, 0, (*analysis.Pair)(nil)
		for _, a := range all {
			i := slices.IndexFunc(a.Lines, func(l analysis.Line) bool { return l.Instance() == other })
			p, ok := a.Pair(lineOf(a, mechanism), i)
			if !ok || math.IsNaN(p.P) {
				continue
			}
			name, own = short(a.Lines[i].Name), short(a.Lines[p.A].Name)
			if a.Datasets > 0 {
				pooled = &p
				continue
			}
			tested++
			if p.Different && p.Difference > 0 {
				told++
			} else if p.Different {
				less++
			}
		}
		group := none
		switch {
		case tested == 0:
			continue
		case told == tested:
			group = every
		case less > 0:
			group = behind
		case told > 0:
			group = some
		}
		groups[group] = append(groups[group], name)
		if group == every || pooled == nil {
			continue
		}
		switch by := fmt.Sprintf(" (%+.1f ± %.1f)", pooled.Difference, (pooled.High-pooled.Low)/2); {
		case pooled.Different:
			together["told apart from %s"] = append(together["told apart from %s"], name+by)
		case pooled.Equivalent:
			together["level with %s"] = append(together["level with %s"], name+by)
		default:
			by = by[:len(by)-1] + fmt.Sprintf("; less than %.1f would not show)", pooled.Detectable)
			together["not told apart from %s"] = append(together["not told apart from %s"], name+by)
		}
	}
	if own == "" {
		return "", fmt.Errorf("%s: nobody was compared with %s", names, mechanism)
	}
	say := func(groups map[string][]string, order ...string) string {
		there := results.Where(order, func(g string) bool { return len(groups[g]) > 0 })
		return strings.Join(list.Map(there, func(g string) string { return fmt.Sprintf(g, views.And(groups[g])) }), "; it ")
	}
	text := "the " + strings.ToLower(own) + " " + say(groups, every, behind, some, none) + "."
	if also := say(together, "told apart from %s", "level with %s", "not told apart from %s"); also != "" {
		text += " Over the data sets together it is " + strings.ReplaceAll(also, "; it ", "; ") + "."
	}
	return text, nil
}

// short is the name of a mechanism without parameters.
func short(name string) string { name, _, _ = strings.Cut(name, ","); return name }

// equal is the table of use at a level.
func (s source) equal(names, level string) (string, error) {
	a, err := s.analyse(names, level)
	if err != nil {
		return "", err
	}
	tables := views.Named(views.Tables(a, views.Builtin().Tables), "equal")
	if len(tables) == 0 {
		return "", fmt.Errorf("%s: nothing is equal at %s", names, level)
	}
	t := tables[0]
	t.Rows = results.Where(t.Rows, func(row []views.Cell) bool { // those that reach the level
		return slices.ContainsFunc(row[1:], func(c views.Cell) bool { return c.Text != views.NotMeasured })
	})
	t.Notes = nil
	return markdown(t)
}

// markdown is a table without title and legend, which the page has.
func markdown(t views.Table) (string, error) {
	t.Title, t.Legend = "", ""
	var b bytes.Buffer
	err := t.Write(&b, "md")
	return strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(b.String(), "### "), `\*`, "*")), err
}

// table is one of plain texts.
func table(rows [][]string, header ...string) (string, error) {
	t := views.Table{Header: header}
	for _, r := range rows {
		t.AddRow(r...)
	}
	return markdown(t)
}

// against is what a mechanism keeps more than each over all data sets together, of records
// at levels, with a title, as "extended em=0.5 E_M = 0.5", and on how many data sets alone it is told ahead.
func (s source) against(mechanism string, questions ...string) (string, error) {
	header, found, order := []string{"mechanism"}, map[string][]string{}, []string{}
	for i, question := range questions {
		asked := strings.SplitN(question, " ", 3)
		all, err := s.aligned(asked[0], asked[1])
		if err != nil {
			return "", err
		}
		header = append(header, asked[2])
		ahead, tested, texts := map[string]int{}, map[string]int{}, map[string]string{}
		for _, a := range all {
			for j, l := range a.Lines {
				p, ok := a.Pair(lineOf(a, mechanism), j)
				if !ok || math.IsNaN(p.P) {
					continue
				}
				name := short(l.Name)
				if a.Datasets == 0 {
					tested[name]++
					if p.Different && p.Difference > 0 {
						ahead[name]++
					}
					continue
				}
				if found[name] == nil {
					order, found[name] = append(order, name), make([]string, len(questions))
				}
				texts[name] = fmt.Sprintf("%+.1f ± %.1f%s (%.1f)%s",
					math.Round(10*p.Difference)/10+0, (p.High-p.Low)/2, // no −0.0
					map[bool]string{true: "*"}[p.Different], p.Detectable, map[bool]string{true: " level"}[p.Equivalent])
			}
		}
		for name, text := range texts {
			found[name][i] = fmt.Sprintf("%s %d/%d", text, ahead[name], tested[name])
		}
	}
	shown := func(text string) string { return cmp.Or(text, views.NotMeasured) }
	return table(list.Map(order, func(name string) []string {
		return append([]string{name}, list.Map(found[name], shown)...)
	}), header...)
}

// classifiers are the accuracies at E_M = 0.5 by classifier, with * where the rank fix
// is told from the mechanism.
func (s source) classifiers(names, title string) (string, error) {
	all, err := s.aligned(names, "em=0.5")
	if err != nil {
		return "", err
	}
	all = results.Where(all, func(a analysis.Alignment) bool { return a.Datasets == 0 })
	header, plain, rows := []string{title}, []string{"not privatised"}, [][]string{}
	for _, a := range all {
		header, plain = append(header, a.Model), append(plain, views.Number(a.Baseline, 1))
	}
	for i, l := range all[0].Lines {
		row := []string{short(l.Name)}
		for _, a := range all {
			text := fmt.Sprintf("%.1f ± %.1f", a.Lines[i].Value, (a.Lines[i].High-a.Lines[i].Low)/2)
			if x, _ := a.Pair(lineOf(a, "rank-fix"), i); x.Different {
				text += "*"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return table(append(rows, plain), header...)
}

// kind is by how many points at the most E_M from few draws is above that from more.
func (s source) kind(few, more string) (string, error) {
	a, err := s.frame(few)
	if err != nil {
		return "", err
	}
	b, err := s.frame(more)
	if err != nil {
		return "", err
	}
	const quantity = "e_m_full_uniform"
	most := math.Inf(-1)
	for _, c := range a.Cells {
		for _, d := range b.Cells {
			if c.Dataset == d.Dataset && c.Instance() == d.Instance() && c.Epsilon == d.Epsilon && c.Has(quantity) && d.Has(quantity) {
				most = max(most, 100*(c.Get(quantity).Float()-d.Get(quantity).Float()))
			}
		}
	}
	if math.IsInf(most, 0) {
		return "", fmt.Errorf("%s and %s have no release in common", few, more)
	}
	return views.Number(most, 1), nil
}
