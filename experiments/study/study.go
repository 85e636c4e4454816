// Package study reads study files: one header, one spec each for a data set, an
// embedding, a mechanism and a model, and one body per protocol.
//
// A study is a value, and a wrong one is rejected with file, line and column
// before anything is opened. The planner of a protocol defines its body and
// registers an empty one to be read into. Nothing is run here.
package study

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"mldpbench/internal/check"
)

// Schema is the version of the study file format.
const Schema = 1

// Documents of a data set in the repetitions of a study.
const (
	Fixed   = "fixed"   // the same in each: intervals hold for this sample
	Redrawn = "redrawn" // drawn again in each: intervals cover the sample too
)

// Header holds the common fields of all studies.
type Header struct {
	Schema    int    `yaml:"schema"`
	Name      string `yaml:"name"`
	Title     string `yaml:"title,omitempty"`
	Protocol  string `yaml:"protocol,omitempty"`
	Seed      uint64 `yaml:"seed"`
	Documents string `yaml:"documents,omitempty"` // Fixed, the default, or Redrawn
}

// Head makes a body that embeds a Header a Body.
func (h *Header) Head() *Header { return h }

// Body is a study of one protocol. It embeds Header, inline.
type Body interface {
	Head() *Header
	// Check validates every value and fills in defaults. It is idempotent.
	Check(at At) error
	// Override returns the body changed by flags.
	Override(Overrides) (Body, error)
}

// At adds the position of an error: a YAML path such as "epsilons[1]". It
// returns nil for no error.
type At func(err error, format string, args ...any) error

// Study is a checked study.
type Study struct {
	*Header
	Body   Body
	source *source // for error positions; nil for a study made in memory
}

// Grid is the protocol of a study that names none.
const Grid = "grid"

var protocols = map[string]func() Body{}

// Register adds a protocol; it is called from init functions only.
func Register(protocol string, empty func() Body) {
	if _, dup := protocols[protocol]; dup {
		panic("study: protocol " + protocol + " registered twice")
	}
	protocols[protocol] = empty
}

// Library holds embedded studies: a folder studies of YAML files.
type Library struct{ Files embed.FS }

// Names returns the names of the studies, sorted.
func (l Library) Names() []string {
	entries, err := l.Files.ReadDir("studies")
	if err != nil {
		panic(err) // embedded at build time
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Source returns the text of a study.
func (l Library) Source(name string) ([]byte, error) {
	data, err := l.Files.ReadFile(path.Join("studies", name+".yaml"))
	if err != nil {
		return nil, check.Wrong("study = %q: must be a .yaml file or one of %q", name, l.Names())
	}
	return data, nil
}

// Open reads a study of the library by name, or a file by a path that ends in
// .yaml or .yml.
func (l Library) Open(ref string) (*Study, error) {
	if ext := filepath.Ext(ref); ext == ".yaml" || ext == ".yml" {
		if info, err := os.Stat(ref); err == nil && info.Size() > maxSize {
			return nil, fmt.Errorf("%s: %d bytes: a study has at most %d", ref, info.Size(), maxSize)
		}
		data, err := os.ReadFile(ref)
		if err != nil {
			return nil, err
		}
		return Parse(ref, data)
	}
	data, err := l.Source(ref)
	if err != nil {
		return nil, err
	}
	return Parse(ref+".yaml", data)
}

// Parse reads and checks a study. Errors are "file:line:column: what".
func Parse(filename string, data []byte) (*Study, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark
	if err := limit(filename, data); err != nil {
		return nil, err
	}
	src := &source{name: filename}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, src.position(err)
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("%s: must hold exactly one YAML document", filename)
	}
	src.file = file
	s := &Study{source: src}
	var head struct {
		Protocol string `yaml:"protocol"`
		Schema   int    `yaml:"schema"`
	}
	if err := yaml.NodeToValue(file.Docs[0].Body, &head); err != nil {
		return nil, src.position(err)
	}
	if head.Protocol == "" {
		head.Protocol = Grid
	}
	if err := check.OneOf("protocol", head.Protocol, slices.Sorted(maps.Keys(protocols))...); err != nil {
		return nil, s.at(err, "protocol")
	}
	s.Body = protocols[head.Protocol]()
	s.Header = s.Body.Head()
	if err := src.strict(file.Docs[0].Body, s.Body); err != nil {
		return nil, err
	}
	if head.Schema != Schema {
		return nil, s.at(fmt.Errorf("schema = %d: this version of mldp reads schema %d", head.Schema, Schema), "schema")
	}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(s.Body); err != nil {
		return nil, src.position(err)
	}
	return s, s.Check()
}

// Check validates every value and fills in defaults. It is idempotent.
func (s *Study) Check() error {
	h := s.Header
	if err := checkName("name", h.Name); err != nil {
		return s.at(err, "name")
	}
	if h.Protocol == "" {
		h.Protocol = Grid
	}
	if h.Documents == "" {
		h.Documents = Fixed
	}
	if err := check.OneOf("documents", h.Documents, Fixed, Redrawn); err != nil {
		return s.at(err, "documents")
	}
	return s.Body.Check(s.at)
}

// Override returns the study changed by flags, checked.
func (s *Study) Override(o Overrides) (*Study, error) {
	b, err := s.Body.Override(o)
	if err != nil {
		return nil, err
	}
	if o.Seed != nil {
		b.Head().Seed = *o.Seed
	}
	c := &Study{Header: b.Head(), Body: b} // positions would be those of another text
	return c, c.Check()
}

// YAML returns the study after overrides, with its defaults. The manifest
// records it, and a rerun can start from it.
func (s *Study) YAML() ([]byte, error) {
	return yaml.MarshalWithOptions(s.Body, yaml.IndentSequence(true))
}

// source is the text of a study, kept for the position of a wrong value.
type source struct {
	name string
	file *ast.File
}

// position turns an error of the YAML library into "file:line:column: what".
func (src *source) position(err error) error {
	var y yaml.Error
	if errors.As(err, &y) {
		message := y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			return fmt.Errorf("%s:%d:%d: %s", src.name, t.Position.Line, t.Position.Column, message)
		}
		return fmt.Errorf("%s: %s", src.name, message)
	}
	return fmt.Errorf("%s: %w", src.name, err)
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
	for p := "$." + fmt.Sprintf(format, args...); p != ""; p = parentPath(p) {
		yp, perr := yaml.PathString(p)
		if perr != nil {
			continue
		}
		node, ferr := yp.FilterFile(s.source.file)
		if ferr != nil || node == nil || node.GetToken() == nil {
			continue // the value is absent: use its parent's position
		}
		pos := node.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %w", s.source.name, pos.Line, pos.Column, err)
	}
	return fmt.Errorf("%s: %w", s.source.name, err)
}

// Named returns an error for the first entry "key: value" of the study, any
// value for "", with its position where the study was read from a file.
func (s *Study) Named(err error, key, value string) error {
	if s.source == nil {
		return s.at(err, "%s", key)
	}
	f := entryFinder{key: key, value: value}
	for _, d := range s.source.file.Docs {
		ast.Walk(&f, d.Body)
	}
	if f.found == nil {
		return fmt.Errorf("%s: %w", s.source.name, err)
	}
	pos := f.found.GetToken().Position
	return fmt.Errorf("%s:%d:%d: %w", s.source.name, pos.Line, pos.Column, err)
}

// entryFinder visits a tree for the first "key: value".
type entryFinder struct {
	key, value string
	found      ast.Node
}

// Visit continues into all children.
func (f *entryFinder) Visit(n ast.Node) ast.Visitor {
	e, ok := n.(*ast.MappingValueNode)
	if ok && f.found == nil && e.Key.GetToken().Value == f.key &&
		(f.value == "" || e.Value.GetToken().Value == f.value) {
		f.found = e.Value
		if f.value == "" {
			f.found = e.Key
		}
	}
	return f
}

func parentPath(p string) string {
	if i := strings.LastIndexAny(p, ".["); i > 0 {
		return p[:i]
	}
	return ""
}

// checkName accepts names that can be a folder name on every system.
func checkName(what, name string) error {
	if name == "" {
		return fmt.Errorf("%s: must not be empty", what)
	}
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.' {
			return fmt.Errorf("%s = %q: must consist of letters, digits, -, _ and dots", what, name)
		}
	}
	if strings.HasPrefix(name, ".") {
		return fmt.Errorf("%s = %q: must not start with a dot", what, name)
	}
	return nil
}
