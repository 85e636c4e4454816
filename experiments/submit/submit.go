// Package submit packs what somebody measured so that anybody can check it, and
// checks such packages.
//
// A package says who made a system and what it promises, holds the task, the
// study, the private texts or the mechanism and the seed, every row and every
// test item, and a list of all files. Verify believes none of it: it reads the
// package in a folder of its own, compiles the task again, runs the study
// without the network, and compares every number and item. Nothing in a package
// is executed.
package submit

import (
	"cmp"
	"embed"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/experiments/task"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/results"
)

// Names of files in a package.
const (
	cardFile  = "card.yaml"
	taskFile  = "task.yaml"
	studyFile = "study.yaml"
	rowsFile  = "results.csv"
	auditFile = "audit.csv"
	texts     = "texts"
)

// Card says what a system is.
type Card struct {
	System  string   `yaml:"system"`  // its name on the board
	Authors []string `yaml:"authors"` // of the system
	Link    string   `yaml:"link"`    // to a paper or code
	Promise string   `yaml:"promise"` // what is promised, or none
	Unit    string   `yaml:"unit"`    // for which unit: word, document, author or none
	// Training is the data that the system saw before it met the task.
	Training string `yaml:"training"`
	About    string `yaml:"about,omitempty"`
}

// ReadCard reads a system card. All keys but about must be there.
func ReadCard(name string, data []byte) (*Card, error) {
	c := &Card{}
	if err := study.Decode(name, data, c); err != nil {
		return nil, err
	}
	authors := strings.Join(c.Authors, ", ")
	for key, text := range map[string]string{"authors": authors, "link": c.Link} {
		if text != "" && strings.Contains(strings.NewReplacer("[", "", "]", "").Replace(EmptyCard), key+": "+text+"\n") {
			return nil, fmt.Errorf("%s: %s = %q: is that of the empty card; write your own", name, key, text)
		}
	}
	for key, text := range map[string]string{"system": c.System, "link": c.Link, "promise": c.Promise,
		"training": c.Training, "authors": authors} {
		if strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("%s: %s: must not be empty; \"none\" is an answer", name, key)
		}
		if err := check.Name(key, text); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := check.OneOf("unit", c.Unit, "word", "document", "author", "none"); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// EmptyCard is a card to fill in.
//
//go:embed card.yaml
var EmptyCard string

// read reads the folder of a run with its study; texts of the study keep their
// paths.
func read(dir string) (*engine.Manifest, *study.Study, []results.Row, error) {
	m, err := engine.ReadManifest(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s is not the folder of a run: %w", dir, err)
	}
	file, err := results.File(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := m.Verify(file); err != nil {
		return nil, nil, nil, err
	}
	rows, err := results.Read(file)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(rows) == 0 {
		return nil, nil, nil, fmt.Errorf("%s: no rows: nothing was measured", file)
	}
	s, err := study.Parse("the study of "+dir, []byte(m.Definition))
	return m, s, rows, err
}

// Submit packs the folder of a run or evaluation of a task with a system card
// into a zip file, or a folder where out does not end in .zip. own is the file
// of a task that is not built in.
func Submit(dir, card, own, out string) (*Package, error) {
	data, err := os.ReadFile(card)
	if err != nil {
		return nil, err
	}
	if _, err := ReadCard(card, data); err != nil {
		return nil, err
	}
	m, s, rows, err := read(dir)
	if err != nil {
		return nil, err
	}
	if s.Task == "" {
		return nil, check.Wrong("%s is no run of a task: mldp run NAME@VERSION, or mldp evaluate --task NAME@VERSION, makes "+
			"one", dir)
	}
	name, _, _ := strings.Cut(s.Task, "/")
	t, _, err := task.Open(cmp.Or(own, name))
	if err != nil {
		return nil, err
	}
	if t.Ref(task.Lite) != s.Task && t.Ref(task.Full) != s.Task {
		return nil, check.Wrong("%s is a run of %s, the task here is %s with another content", dir, s.Task, t)
	}
	return build(m, s, rows, dir, out, Submission, func(to string) error {
		return errors.Join(atomicfile.WriteBytes(filepath.Join(to, taskFile), 0o644, t.Source()),
			atomicfile.WriteBytes(filepath.Join(to, cardFile), 0o644, data))
	})
}

// build writes the files that every package has, and those that more adds.
func build(m *engine.Manifest, s *study.Study, rows []results.Row, dir, out, kind string,
	more func(to string) error) (*Package, error) {
	to := out
	zipped := strings.HasSuffix(out, ".zip")
	if zipped {
		var err error
		if to, err = os.MkdirTemp("", "mldp-pack-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(to)
	} else if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		return nil, check.Wrong("out = %q: is not empty: choose another", out)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, err
	}
	for _, part := range s.Parts() {
		if all := part.Commands(); len(all) > 0 {
			return nil, check.Wrong("%s is a command, which nobody who checks runs: of a mechanism, privatise the texts with "+
				"it and give them to mldp evaluate --task", all[0])
		}
	}
	for i := range s.Mechanisms {
		x := &s.Mechanisms[i]
		if x.Text == "" {
			continue
		}
		if strings.Contains(x.Text, "{") {
			return nil, check.Wrong("%s: text = %q: name one file for each epsilon", x.Name, x.Text)
		}
		inside := fmt.Sprintf("%s/%d-%s", texts, i+1, filepath.Base(x.Text))
		if err := copyAll(x.Text, filepath.Join(to, filepath.FromSlash(inside))); err != nil {
			return nil, err
		}
		x.Text = inside
	}
	definition, err := s.YAML()
	if err != nil {
		return nil, err
	}
	if err := checkPaths(studyFile, definition); err != nil {
		return nil, check.Wrong("who checks a package has only its data folder: name files relative to that, and run the "+
			"study again: %s", strings.TrimPrefix(err.Error(), "refused: "))
	}
	for i := range rows {
		rows[i].Command = "" // it has the paths of this machine
	}
	if err := errors.Join(atomicfile.WriteBytes(filepath.Join(to, studyFile), 0o644, definition),
		results.Write(filepath.Join(to, rowsFile), rows), more(to)); err != nil {
		return nil, err
	}
	if err := copyAll(filepath.Join(dir, auditFile), filepath.Join(to, auditFile)); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p := &Package{Kind: kind, Task: s.Task, Study: s.Name, Version: m.Version, Machine: m.Machine, Data: m.Data}
	if err := seal(to, p); err != nil {
		return nil, err
	}
	if zipped {
		return p, pack(to, out)
	}
	return p, nil
}

// copyAll copies a file, or a folder of files.
func copyAll(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	return atomicfile.Write(to, 0o644, func(w io.Writer) error {
		f, err := os.Open(from)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}

// The texts of an artefact: the commands that repeat it, a citation, and an
// appendix in the form that conferences ask for (ACM, USENIX: abstract,
// check-list, description, installation, workflow, results, customisation).
//
//go:embed artifact
var artifactFiles embed.FS

var artifactTexts = template.Must(template.ParseFS(artifactFiles, "artifact/*"))

// MakeArtifact writes a folder with all of a run: study, rows, test items,
// checksums, the commands that repeat it, an appendix for an artefact evaluation
// and a citation; more adds tables, figures and the page. The folder is a
// package: Verify takes it.
func MakeArtifact(dir, out string, more func(to string) error) (*Package, error) {
	m, s, rows, err := read(dir)
	if err != nil {
		return nil, err
	}
	view := struct {
		*engine.Manifest
		Rows  int
		Hours float64
	}{m, len(rows), 0}
	for _, r := range rows {
		if r.Seconds.Known() {
			view.Hours += float64(r.Seconds) / 3600
		}
	}
	return build(m, s, rows, dir, out, Artifact, func(to string) error {
		manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			return err
		}
		err = atomicfile.WriteBytes(filepath.Join(to, "manifest.json"), 0o644, manifest)
		for _, t := range artifactTexts.Templates() {
			err = errors.Join(err, atomicfile.Write(filepath.Join(to, t.Name()), 0o644, func(w io.Writer) error {
				return t.Execute(w, view)
			}))
		}
		return errors.Join(err, more(to))
	})
}
