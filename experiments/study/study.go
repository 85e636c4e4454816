// Package study reads study files: one schema for the comparative study, studies
// of attacks and those of the source papers.
//
// A study is a value, and a wrong one is rejected with file, line and column
// before anything is opened. Measurements register the type of their options.
// Nothing is run here.
package study

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"mldpbench/internal/check"
	"mldpbench/results"
)

// Schema is the version of the study file format.
const Schema = 1

// Values of keys: what repetitions and streams are.
const (
	Fixed   = "fixed"   // documents are the same in each repetition: intervals hold for this sample
	Redrawn = "redrawn" // they are drawn again in each: intervals cover the sample too
	Grid    = "grid"    // names of random streams: the same study with others draws other noise
	Attacks = "attacks" // those of studies of attacks before 2026-12, so that their numbers stay
)

// Header holds the common fields of all studies.
type Header struct {
	Schema    int    `yaml:"schema"`                                     // 1, the version of this format
	Name      string `yaml:"name"`                                       // of the study, and of its folder
	Title     string `yaml:"title,omitempty"`                            // above its tables
	Seed      uint64 `yaml:"seed"`                                       // of all randomness
	Streams   string `yaml:"streams,omitempty" limits:"grid|attacks"`    // names of its random streams: grid or attacks
	Documents string `yaml:"documents,omitempty" limits:"fixed|redrawn"` // fixed, the default, or redrawn
	// PUC is the privacy-utility composite of its cells; nil is the choice of 2024.
	PUC *results.Composite `yaml:"puc,omitempty"`
	// Task is the name with the hash of the file, of a study called NAME@VERSION: rows of different people
	// carry it, and mechanisms, ε, repetitions and seed alone may be changed.
	Task string `yaml:"task,omitempty"`
}

// At adds the position of an error: a YAML path such as "epsilons[1]". It
// returns nil for no error.
type At func(err error, format string, args ...any) error

// Study is a checked study.
type Study struct {
	Header `yaml:",inline"`
	Design `yaml:",inline"`
	Scenes []Scene `yaml:"scenes,omitempty"` // parts with keys of their own in place of those of the study

	source *source // for error positions; nil for a study made in memory
	root   string  // data folder
}

// Library holds the studies of a program.
type Library struct {
	Files embed.FS // in the folder studies
	Root  string   // data folder, where vector files of a study may lie; "" finds it as every command does
}

// Names returns the names of the files, sorted.
func (l Library) Names() (names []string) {
	entries, _ := l.Files.ReadDir("studies") // embedded at build time
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Source returns the text of a study.
func (l Library) Source(name string) ([]byte, error) {
	data, err := l.Files.ReadFile("studies/" + name + ".yaml")
	if err != nil {
		names := l.Names()
		return nil, check.Wrong("study = %q: must be a .yaml file or one of %s (mldp study list has all)%s", name,
			check.Choice(name, names), check.Meant(name, names))
	}
	return data, nil
}

// Open reads a study of the library by name, or a file by a path that ends in
// .yaml or .yml.
func (l Library) Open(ref string) (*Study, error) {
	if ext := filepath.Ext(ref); ext == ".yaml" || ext == ".yml" {
		data, err := os.ReadFile(ref)
		if err != nil {
			return nil, err
		}
		return Parse(ref, data, l.Root)
	}
	data, err := l.Source(ref)
	if err != nil {
		return nil, err
	}
	return Parse(ref+".yaml", data, l.Root)
}

// Parse reads and checks a study over a data folder. Errors are "file:line:column: what".
func Parse(filename string, data []byte, root string) (*Study, error) {
	s := &Study{root: root}
	var err error
	if s.source, err = decode(filename, data, s); err != nil {
		return nil, err
	}
	if strings.Contains(s.Name, "@") && s.Task == "" {
		s.Task = fmt.Sprintf("%s:%.6x", s.Name, sha256.Sum256(data))
	}
	s.besideFile(filepath.Dir(filename))
	return s, s.Check()
}

// Check validates every value and fills in defaults. It is idempotent.
func (s *Study) Check() error {
	s.Streams = cmp.Or(s.Streams, Grid)
	s.Documents = cmp.Or(s.Documents, Fixed)
	if s.Schema != Schema {
		return s.at(check.Wrong("schema = %d: this version of mldp reads schema %d", s.Schema, Schema), "schema")
	}
	if err := checkName("name", s.Name); err != nil {
		return s.at(err, "name")
	}
	if err := check.Name("title", s.Title); err != nil {
		return s.at(err, "title")
	}
	if s.PUC != nil {
		if err := s.PUC.Check(); err != nil {
			return s.at(err, "puc")
		}
	}
	return s.checkParts()
}

// YAML returns the study after overrides, with its defaults. The manifest
// records it, and a rerun can start from it.
func (s *Study) YAML() ([]byte, error) {
	return yaml.MarshalWithOptions(s, yaml.IndentSequence(true))
}

// at returns an error for the value at a YAML path such as "epsilons[1]", with
// its position where the study was read from a file.
func (s *Study) at(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	if s.source == nil {
		return fmt.Errorf("study %s: %w", s.Name, err)
	}
	for p := fmt.Sprintf(format, args...); p != ""; p = p[:max(0, strings.LastIndexAny(p, ".["))] {
		if node := s.node(p); node != nil { // else the value is absent: use its parent's position
			return s.source.wrong(node.GetToken(), "%w", err)
		}
	}
	return fmt.Errorf("%s: %w", s.source.name, err)
}

// node is the value at a path in the file; nil where there is none.
func (s *Study) node(path string) ast.Node {
	if s.source == nil {
		return nil
	}
	p, err := yaml.PathString("$." + path)
	if err != nil {
		return nil
	}
	node, err := p.FilterFile(s.source.file)
	if err != nil || node == nil || node.GetToken() == nil {
		return nil
	}
	return node
}

var plainName = regexp.MustCompile(`^[-A-Za-z0-9_@][-A-Za-z0-9_.@]*$`)

// checkName accepts names that can be a folder name on every system.
func checkName(what, name string) error {
	if !plainName.MatchString(name) {
		return fmt.Errorf("%s = %q: must consist of letters, digits, -, _, @ and dots, and not start with a dot", what,
			name)
	}
	return nil
}
