// Package task holds tasks: studies that fix everything but mechanisms and ε, so
// that rows of different people can stand in one table.
//
// A task is one YAML file: source, cleaning, split, what is useful, what is
// private and for whom, measurements and attackers, in two sizes. It is compiled
// to a study. The split of a text follows from its hash, and a changed file is
// another task: rows carry the hash of its content.
package task

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets"
	_ "mldpbench/experiments/measure" // its quantities and keys are those of tasks
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/models/attack"
)

// Schema is the version of the format of task files.
const Schema = 1

//go:embed tasks/*.yaml
var files embed.FS

// Sizes of a task.
const (
	Lite = "lite" // some minutes for all built-in mechanisms
	Full = "full"
)

// Task is a checked task.
type Task struct {
	Schema   int    `yaml:"task"` // 1, the version of this format
	Name     string `yaml:"name"`
	Version  int    `yaml:"version" limits:"1,1000000"` // raised with every change of the file
	Title    string `yaml:"title"`
	About    string `yaml:"about"`
	Citation string `yaml:"citation,omitempty"`
	Licence  string `yaml:"licence,omitempty"`
	// Get says how to get a file that mldp does not fetch, and its columns.
	Get string `yaml:"get,omitempty"`

	Unit    string `yaml:"unit"`    // of privacy: word, document or author
	Use     string `yaml:"use"`     // what the label is, in words
	Private string `yaml:"private"` // what attackers look for, in words

	Data study.DatasetSpec `yaml:"data"` // of the catalogue, or a file in the data folder
	Lite Sample            `yaml:"lite"`
	Full Sample            `yaml:"full,omitempty"` // none: the whole source

	// Epsilons are those at which built-in mechanisms are run.
	Epsilons []float64 `yaml:"epsilons"`
	// Measure holds keys of a study: embeddings, models, metrics, attackers.
	Measure study.Design `yaml:"measure"`
	// LiteOptions are those of the attackers in the size lite.
	LiteOptions attack.Options `yaml:"lite_options,omitempty"`

	source []byte
}

// Sample is a number of documents in each split.
type Sample struct {
	Train      int `yaml:"train" limits:"1,100000000"`
	Validation int `yaml:"validation" limits:"1,100000000"`
	Test       int `yaml:"test" limits:"1,100000000"`
}

var library = study.Library{Files: files, Folder: "tasks", What: "task"}

// Refs returns the references of the built-in tasks, sorted.
func Refs() (refs []string) {
	for _, name := range library.Names() {
		if t, _, err := Open(name); err == nil { // a test opens each
			refs = append(refs, t.String())
		}
	}
	return refs
}

// begins is the key with which a task begins.
var begins = regexp.MustCompile(`(?m)^task: *[0-9]+ *(#.*)?$`)

// Is reports whether a reference is that of a task: "NAME@VERSION" or a file of
// a task, both with "/lite" or "/full" or without.
func Is(ref string) bool {
	ref, _ = sized(ref)
	if study.IsFile(ref) {
		data, err := os.ReadFile(ref)
		return err == nil && begins.Match(data)
	}
	return strings.Contains(ref, "@")
}

// sized separates the size of a reference; the default is full.
func sized(ref string) (rest, size string) {
	for _, size := range []string{Lite, Full} {
		if rest, ok := strings.CutSuffix(ref, "/"+size); ok {
			return rest, size
		}
	}
	return ref, Full
}

// Open reads a task by its name, with or without its version, or a file.
func Open(ref string) (t *Task, size string, err error) {
	ref, size = sized(ref)
	name, version, versioned := ref, "", false
	if !study.IsFile(ref) {
		name, version, versioned = strings.Cut(ref, "@")
	}
	filename, data, err := library.Read(name)
	if err != nil {
		return nil, "", err
	}
	if t, err = Parse(filename, data); err != nil {
		return nil, "", err
	}
	if versioned && version != strconv.Itoa(t.Version) {
		return nil, "", check.Wrong("task = %q: this mldp has %s, of size lite or full", ref, t)
	}
	return t, size, nil
}

// Parse reads and checks a task. Errors are "file:line:column: what", or name
// the task.
func Parse(filename string, data []byte) (*Task, error) {
	t := &Task{source: bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))}
	if err := study.Decode(filename, t.source, t); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", filename, err)
	}
	return t, nil
}

func (t *Task) check() error {
	if t.Schema != Schema {
		return fmt.Errorf("task = %d: this version of mldp reads tasks of schema %d", t.Schema, Schema)
	}
	for key, text := range map[string]string{"name": t.Name, "title": t.Title, "about": t.About, "use": t.Use,
		"private": t.Private} {
		if text == "" {
			return fmt.Errorf("%s: must not be empty", key)
		}
	}
	m := t.Measure
	if len(m.Datasets) > 0 || len(m.Mechanisms) > 0 || len(m.Epsilons) > 0 {
		return errors.New("measure: data sets, mechanisms and epsilons are not among its keys")
	}
	if t.Data.Split != "" || t.Data.Train != 0 || t.Data.Validation != 0 || t.Data.Test != 0 {
		return errors.New("data: the split is by hash and the sizes are those of lite and full")
	}
	if err := errors.Join(check.AtLeast("version", t.Version, 1),
		check.OneOf("unit", t.Unit, "word", "document", "author")); err != nil {
		return err
	}
	for _, n := range []int{t.Lite.Train, t.Lite.Validation, t.Lite.Test} {
		if n < 1 {
			return errors.New("lite: train, validation and test must be >= 1")
		}
	}
	for _, size := range []string{Lite, Full} {
		if _, err := t.Study(size); err != nil {
			return err
		}
	}
	return nil
}

// Source is the text of the file.
func (t *Task) Source() []byte { return t.source }

// Hash is the SHA-256 of the file, in hex.
func (t *Task) Hash() string {
	return fmt.Sprintf("%x", sha256.Sum256(t.source))
}

// String is name and version.
func (t *Task) String() string { return fmt.Sprintf("%s@%d", t.Name, t.Version) }

// Ref is what rows carry: name, version, size and the first 12 digits of the
// hash of the content.
func (t *Task) Ref(size string) string { return fmt.Sprintf("%s/%s:%s", t, size, t.Hash()[:12]) }

// Study compiles the task in one size: all built-in mechanisms that release words
// and heed ε, at its epsilons; Submission replaces them.
func (t *Task) Study(size string) (*study.Study, error) {
	var all []study.MechanismSpec
	for _, d := range mechanisms.Definitions() {
		if d.New != nil && !d.Constant {
			all = append(all, study.MechanismSpec{Name: d.Name})
		}
	}
	return t.With(size, all, t.Epsilons)
}

// With compiles the task for mechanisms and ε of somebody's choice.
func (t *Task) With(size string, list []study.MechanismSpec, epsilons []float64) (*study.Study, error) {
	s := &study.Study{Header: study.Header{Schema: study.Schema, Name: fmt.Sprintf("%s-%d-%s", t.Name, t.Version, size),
		Title: t.Title, Seed: 1, Task: t.Ref(size)}, Design: t.Measure}
	d := t.Data
	d.Split = study.SplitByHash
	sample := t.Full
	if size == Lite {
		sample, s.Options = t.Lite, t.LiteOptions
	}
	d.Train, d.Validation, d.Test = sample.Train, sample.Validation, sample.Test
	s.Datasets, s.Mechanisms, s.Epsilons = []study.DatasetSpec{d}, list, epsilons
	// Check fills in what lists leave out.
	s.Embeddings = slices.Clone(s.Embeddings)
	return s, s.Check()
}

// Present returns an error that says how to get the file of the task where it is
// not there.
func (t *Task) Present(root string) error {
	if t.Data.File == "" {
		return nil
	}
	if _, err := os.Stat(t.Data.Path(root)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("task %s: %s is neither here nor in %s: %s", t, t.Data.File,
		filepath.Clean(datasets.Root(root)), strings.Join(strings.Fields(t.Get), " "))
}
