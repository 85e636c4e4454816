// Command reports writes the pages of this folder from their templates: every number,
// order and verdict in them is an expression over the committed records, so that a
// changed record changes the sentences about it. make reports runs it at the root.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"text/template"

	"mldpbench/results/quantity"

	_ "mldpbench/experiments/measure" // names of its quantities
	"mldpbench/internal/atomicfile"
	"mldpbench/results"
	"mldpbench/results/analysis"
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
		"ahead":       s.ahead,
		"epsilon":     s.epsilon,
		"exponent":    s.exponent,
		"loss":        s.loss,
		"equal":       s.equal,
		"against":     s.against,
		"classifiers": s.classifiers,
		"kind":        s.kind,
		"count":       s.count,
		"published":   s.published,
		"strongest":   s.strongest,
		"between":     s.between,
		"percent":     s.percent,
		"floor":       s.floor,
		"least":       s.least,
		"cell":        s.cell,
		"paper":       s.paper,
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
	return source{
		dir:      dir,
		frames:   &sync.Map{},
		analyses: &sync.Map{},
		read:     &sync.Map{},
	}
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
		parsed, err := quantity.ParseAlign(levels)
		if err != nil {
			return nil, err
		}
		return analysis.Of(prepared, parsed), nil
	}))
	return once.(func() (*analysis.Analysis, error))()
}
