// Package experiments turns a study file into finished records: the strict
// YAML schema, the built-in studies, the grid of cells, the pipeline of one
// cell, and the pool that runs cells, resumes them and joins their shards.
//
// It believes that a study is a value: two runs of one study over the same
// data give the same records whatever the number of workers, the split into
// shards or the interruptions between, and a cell that is done is never run
// again. It stops at arithmetic: mechanisms, models and metrics live in their
// own packages.
package experiments

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
	"mldpbench/mechanisms"
	"mldpbench/models"
)

// StudySchema is the version of the study file format.
const StudySchema = 1

// ProtocolGrid is the protocol of the comparative study: every combination of
// data set, embedding, dimension, mechanism, epsilon, model and setting.
const ProtocolGrid = "grid"

// Settings of a cell: which part of the text the users privatise.
const (
	Local     = "local"      // train, validation and test (local differential privacy)
	TrainOnly = "train-only" // train and validation; the test text stays plain
	TestOnly  = "test-only"  // the test text, on a model trained on plain text
)

// All stands for every registered mechanism in the list of mechanisms.
const All = "all"

// Study is a study file. The comments in the built-in files document it.
type Study struct {
	Schema              int               `yaml:"schema"`
	Name                string            `yaml:"name"`
	Title               string            `yaml:"title,omitempty"`
	Protocol            string            `yaml:"protocol,omitempty"`
	Seed                uint64            `yaml:"seed"`
	Datasets            []DatasetSpec     `yaml:"datasets"`
	Embeddings          []EmbeddingSpec   `yaml:"embeddings"`
	Mechanisms          []MechanismSpec   `yaml:"mechanisms"`
	Epsilons            []float64         `yaml:"epsilons"`
	Models              []ModelSpec       `yaml:"models"`
	Settings            []string          `yaml:"settings,omitempty"`
	Policy              mechanisms.Policy `yaml:"policy,omitempty"`
	Repetitions         int               `yaml:"repetitions,omitempty"`
	BaselineRepetitions int               `yaml:"baseline_repetitions,omitempty"`
	Metrics             MetricOptions     `yaml:"metrics,omitempty"`
	source              *source           // for error positions; nil for a study made in memory
}

// DatasetSpec names a data set of the catalogue, or a file of one's own, and
// says how much of it is used. A size of 0 means the data set's default.
type DatasetSpec struct {
	Name       string   `yaml:"name" json:"name"`
	Train      int      `yaml:"train,omitempty" json:"train,omitempty"`           // documents
	Validation int      `yaml:"validation,omitempty" json:"validation,omitempty"` // documents
	Test       int      `yaml:"test,omitempty" json:"test,omitempty"`             // documents
	MaxTokens  int      `yaml:"max_tokens,omitempty" json:"max_tokens,omitempty"` // documents are cut here; 0 means the data set's default
	Cleaning   string   `yaml:"cleaning,omitempty" json:"cleaning,omitempty"`     // preprocessing; empty means the data set's default
	File       string   `yaml:"file,omitempty" json:"-"`                          // CSV, TSV or JSONL of one's own; its fingerprint is in the key
	Text       []string `yaml:"text,omitempty" json:"text,omitempty"`             // columns joined to the text, for File
	Label      string   `yaml:"label,omitempty" json:"label,omitempty"`           // column of the label, for File
	WordLevel  bool     `yaml:"word_level,omitempty" json:"word_level,omitempty"` // every row is one word, for File
}

// EmbeddingSpec names an embedding of the catalogue, "generated", or a file.
type EmbeddingSpec struct {
	Name       string   `yaml:"name"`
	File       string   `yaml:"file,omitempty"`
	Dimensions []int    `yaml:"dimensions,omitempty"` // empty for a file: its own
	Datasets   []string `yaml:"datasets,omitempty"`   // only with these; empty means all
}

// MechanismSpec names a mechanism with its variants and parameters. A
// parameter given as a list is a further axis of the grid.
type MechanismSpec struct {
	Name       string               `yaml:"name"`
	Variant    mechanisms.Variant   `yaml:"variant,omitempty"`
	Variants   []mechanisms.Variant `yaml:"variants,omitempty"`
	Parameters map[string]any       `yaml:"parameters,omitempty"`
	Epsilons   []float64            `yaml:"epsilons,omitempty"` // instead of the study's
}

// ModelSpec names a model, its parameters and, if not all, its data sets.
type ModelSpec struct {
	Name       string         `yaml:"name"`
	Parameters map[string]any `yaml:"parameters,omitempty"`
	Datasets   []string       `yaml:"datasets,omitempty"`
}

// MetricOptions say how much is measured beside accuracy. A metric whose size
// is 0 is not measured and is missing in the records.
type MetricOptions struct {
	Deniability    DeniabilityOptions    `yaml:"deniability,omitempty" json:"deniability"`
	Low            int                   `yaml:"low,omitempty" json:"low,omitempty"` // least frequent words that are followed
	CS             CSOptions             `yaml:"cs,omitempty" json:"cs"`
	InferenceError InferenceErrorOptions `yaml:"inference_error,omitempty" json:"inference_error"`
	English        string                `yaml:"english,omitempty" json:"english,omitempty"` // word list of the catalogue, or a file
}

// DeniabilityOptions are those of N_w and S_w.
type DeniabilityOptions struct {
	Words int `yaml:"words,omitempty" json:"words"`
	Runs  int `yaml:"runs,omitempty" json:"runs"`
}

// CSOptions are those of the cosine similarity of sentences.
type CSOptions struct {
	Encoder   string `yaml:"encoder,omitempty" json:"encoder,omitempty"`
	Documents int    `yaml:"documents,omitempty" json:"documents,omitempty"` // sampled per cell
	// Repetitions limits CS to the first so many repetitions; 0 means all.
	Repetitions int `yaml:"repetitions,omitempty" json:"repetitions,omitempty"`
}

// InferenceErrorOptions are those of the adversary's expected error E_M.
type InferenceErrorOptions struct {
	Candidates int `yaml:"candidates,omitempty" json:"candidates"` // words the adversary chooses among
	Samples    int `yaml:"samples,omitempty" json:"samples"`       // outputs drawn per word where there is no closed form
}

// source is the text of a study, kept for the position of a wrong value.
type source struct {
	name string
	data []byte
	file *ast.File
}

//go:embed studies/*.yaml
var studies embed.FS

// Builtin are the embedded studies of this protocol.
var Builtin = Library{studies}

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
		return nil, fmt.Errorf("study = %q: must be a .yaml file or one of %q", name, l.Names())
	}
	return data, nil
}

// OpenStudy reads a built-in study by name, or a file by a path that ends in
// .yaml or .yml.
func OpenStudy(ref string) (*Study, error) {
	if ext := filepath.Ext(ref); ext == ".yaml" || ext == ".yml" {
		data, err := os.ReadFile(ref)
		if err != nil {
			return nil, err
		}
		return ParseStudy(ref, data)
	}
	data, err := Builtin.Source(ref)
	if err != nil {
		return nil, err
	}
	return ParseStudy(ref+".yaml", data)
}

// ParseStudy reads and checks a study. Errors are "file:line:column: what".
func ParseStudy(filename string, data []byte) (*Study, error) {
	src := &source{name: filename, data: data}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, src.position(err)
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, fmt.Errorf("%s: must hold exactly one YAML document", filename)
	}
	src.file = file
	s := &Study{source: src}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(s); err != nil {
		return nil, src.position(err)
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s, nil
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

// errorAt says what is wrong with the value at a YAML path such as
// "$.epsilons[1]", with its position where the study was read from a file.
func (s *Study) errorAt(where string, err error) error {
	if s.source == nil {
		return fmt.Errorf("study %s: %w", s.Name, err)
	}
	for p := where; p != ""; p = parentPath(p) {
		yp, perr := yaml.PathString(p)
		if perr != nil {
			continue
		}
		node, ferr := yp.FilterFile(s.source.file)
		if ferr != nil || node == nil || node.GetToken() == nil {
			continue // the value was absent: name its parent's position
		}
		pos := node.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %w", s.source.name, pos.Line, pos.Column, err)
	}
	return fmt.Errorf("%s: %w", s.source.name, err)
}

func parentPath(p string) string {
	if i := strings.LastIndexAny(p, ".["); i > 0 {
		return p[:i]
	}
	return ""
}

// Check validates every value and fills in defaults. It is idempotent.
func (s *Study) Check() error {
	at := func(err error, format string, args ...any) error {
		if err == nil {
			return nil
		}
		return s.errorAt(fmt.Sprintf("$."+format, args...), err)
	}
	if s.Schema != StudySchema {
		return at(fmt.Errorf("schema = %d: this version of mldp reads schema %d", s.Schema, StudySchema), "schema")
	}
	if err := checkName("name", s.Name); err != nil {
		return at(err, "name")
	}
	if s.Protocol == "" {
		s.Protocol = ProtocolGrid
	}
	if err := check.OneOf("protocol", s.Protocol, ProtocolGrid); err != nil {
		return at(err, "protocol")
	}
	for _, list := range []struct {
		name string
		n    int
	}{{"datasets", len(s.Datasets)}, {"embeddings", len(s.Embeddings)}, {"mechanisms", len(s.Mechanisms)}, {"models", len(s.Models)}} {
		if list.n == 0 {
			return at(fmt.Errorf("%s: must not be empty", list.name), "%s", list.name)
		}
	}
	names := map[string]bool{}
	for i, d := range s.Datasets {
		if d.Name == "" {
			return at(errors.New("a data set needs a name"), "datasets[%d]", i)
		}
		if names[d.Name] {
			return at(fmt.Errorf("data set %q is given twice", d.Name), "datasets[%d].name", i)
		}
		names[d.Name] = true
		for _, n := range []struct {
			name string
			v    int
		}{{"train", d.Train}, {"validation", d.Validation}, {"test", d.Test}, {"max_tokens", d.MaxTokens}} {
			if err := check.AtLeast(n.name, n.v, 0); err != nil {
				return at(err, "datasets[%d].%s", i, n.name)
			}
		}
		if d.File == "" && (len(d.Text) > 0 || d.Label != "" || d.WordLevel) {
			return at(fmt.Errorf("data set %q: text, label and word_level describe a file of one's own: give file too", d.Name), "datasets[%d]", i)
		}
		if d.File != "" && (len(d.Text) == 0 || d.Label == "") {
			return at(fmt.Errorf("data set %q: a file needs its text and label columns", d.Name), "datasets[%d]", i)
		}
	}
	known := func(of []string, format string, args ...any) error {
		for j, d := range of {
			if !names[d] {
				return at(fmt.Errorf("data set %q is not in the study", d), format+fmt.Sprintf(".datasets[%d]", j), args...)
			}
		}
		return nil
	}
	for i, e := range s.Embeddings {
		if e.Name == "" && e.File == "" {
			return at(errors.New("an embedding needs a name or a file"), "embeddings[%d]", i)
		}
		if e.File == "" && len(e.Dimensions) == 0 {
			return at(fmt.Errorf("embedding %q: needs dimensions", e.Name), "embeddings[%d]", i)
		}
		for j, d := range e.Dimensions {
			if err := check.AtLeast("dimension", d, 1); err != nil {
				return at(err, "embeddings[%d].dimensions[%d]", i, j)
			}
		}
		if e.Name == "" {
			s.Embeddings[i].Name = EmbeddingName(e.File)
		}
		if len(e.Dimensions) == 0 {
			f, err := fileSpec(e.File, "")
			if err != nil {
				return at(err, "embeddings[%d].file", i)
			}
			s.Embeddings[i].Dimensions = f.Dimensions
		}
		if err := known(e.Datasets, "embeddings[%d]", i); err != nil {
			return err
		}
	}
	for i, e := range s.Epsilons {
		if err := check.Positive("epsilon", e); err != nil {
			return at(err, "epsilons[%d]", i)
		}
	}
	for i, m := range s.Mechanisms {
		if err := s.checkMechanism(at, i, m); err != nil {
			return err
		}
	}
	for i, m := range s.Models {
		if _, err := models.Find(m.Name); err != nil {
			return at(err, "models[%d].name", i)
		}
		if err := known(m.Datasets, "models[%d]", i); err != nil {
			return err
		}
	}
	if len(s.Settings) == 0 {
		s.Settings = []string{Local}
	}
	for i, v := range s.Settings {
		if err := check.OneOf("setting", v, Local, TrainOnly, TestOnly); err != nil {
			return at(err, "settings[%d]", i)
		}
	}
	if s.Policy == "" {
		s.Policy = mechanisms.Random
	}
	if err := check.OneOf("policy", string(s.Policy), string(mechanisms.Keep), string(mechanisms.Drop), string(mechanisms.Random)); err != nil {
		return at(err, "policy")
	}
	if s.Repetitions == 0 {
		s.Repetitions = 1
	}
	if err := check.AtLeast("repetitions", s.Repetitions, 1); err != nil {
		return at(err, "repetitions")
	}
	if s.BaselineRepetitions == 0 {
		s.BaselineRepetitions = s.Repetitions
	}
	if err := check.AtLeast("baseline_repetitions", s.BaselineRepetitions, 1); err != nil {
		return at(err, "baseline_repetitions")
	}
	return s.checkMetrics(at)
}

func (s *Study) checkMechanism(at func(error, string, ...any) error, i int, m MechanismSpec) error {
	if m.Name == All {
		if m.Variant != "" || len(m.Variants) > 0 || len(m.Parameters) > 0 {
			return at(errors.New("mechanism all: takes no variant and no parameters; name the mechanism"), "mechanisms[%d].name", i)
		}
	} else if _, err := mechanisms.Find(m.Name); err != nil {
		return at(err, "mechanisms[%d].name", i)
	}
	if m.Variant != "" && len(m.Variants) > 0 {
		return at(fmt.Errorf("%s: give variant or variants, not both", m.Name), "mechanisms[%d].variants", i)
	}
	for j, e := range m.Epsilons {
		if err := check.Positive("epsilon", e); err != nil {
			return at(err, "mechanisms[%d].epsilons[%d]", i, j)
		}
	}
	if len(m.Epsilons) == 0 && len(s.Epsilons) == 0 {
		return at(fmt.Errorf("%s: no epsilons, neither here nor in the study", m.Name), "mechanisms[%d]", i)
	}
	_, err := s.expandMechanism(m)
	return at(err, "mechanisms[%d]", i)
}

func (s *Study) checkMetrics(at func(error, string, ...any) error) error {
	m := s.Metrics
	for _, n := range []struct {
		name string
		v    int
	}{
		{"deniability.words", m.Deniability.Words}, {"deniability.runs", m.Deniability.Runs}, {"low", m.Low},
		{"cs.documents", m.CS.Documents}, {"cs.repetitions", m.CS.Repetitions},
		{"inference_error.candidates", m.InferenceError.Candidates}, {"inference_error.samples", m.InferenceError.Samples},
	} {
		if err := check.AtLeast("metrics."+n.name, n.v, 0); err != nil {
			return at(err, "metrics.%s", n.name)
		}
	}
	if (m.Deniability.Words == 0) != (m.Deniability.Runs == 0) {
		return at(errors.New("metrics.deniability: words and runs must both be given"), "metrics.deniability")
	}
	if m.CS.Documents > 0 && m.CS.Encoder == "" {
		return at(errors.New("metrics.cs: documents without an encoder"), "metrics.cs")
	}
	return nil
}

// checkName allows what can be a folder name on every system.
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

// YAML returns the study as it stands, after overrides, with its defaults: what
// the manifest records and what a rerun can be started from.
func (s *Study) YAML() ([]byte, error) {
	return yaml.MarshalWithOptions(s, yaml.IndentSequence(true))
}

// expandMechanism returns the settings of a mechanism entry: variants ×
// parameter lists, without epsilon.
func (s *Study) expandMechanism(m MechanismSpec) ([]mechanisms.Settings, error) {
	if m.Name == All {
		var all []mechanisms.Settings
		for _, d := range mechanisms.Definitions() {
			one, err := s.expandMechanism(MechanismSpec{Name: d.Name, Epsilons: m.Epsilons})
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	}
	d, err := mechanisms.Find(m.Name)
	if err != nil {
		return nil, err
	}
	variants := m.Variants
	if len(variants) == 0 {
		variants = []mechanisms.Variant{m.Variant}
	}
	sets := []mechanisms.Parameters{{}}
	for _, name := range slices.Sorted(maps.Keys(m.Parameters)) {
		values, err := parameterValues(d, name, m.Parameters[name])
		if err != nil {
			return nil, err
		}
		var next []mechanisms.Parameters
		for _, set := range sets {
			for _, v := range values {
				p := maps.Clone(set)
				p[name] = v
				next = append(next, p)
			}
		}
		sets = next
	}
	var out []mechanisms.Settings
	for _, v := range variants {
		for _, p := range sets {
			// Epsilon 1 stands in: parameters are checked without it.
			c, err := mechanisms.Complete(mechanisms.Settings{Mechanism: m.Name, Variant: v, Epsilon: 1, Parameters: p})
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// parameterValues reads a parameter: a value, or a list of values. Where the
// parameter itself is a list of numbers, a flat list is one value.
func parameterValues(d mechanisms.Definition, name string, v any) ([]any, error) {
	v, err := plainValue(v)
	if err != nil {
		return nil, fmt.Errorf("%s: parameter %s: %w", d.Name, name, err)
	}
	list, ok := v.([]any)
	if !ok {
		return []any{v}, nil
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: parameter %s: the list is empty", d.Name, name)
	}
	for _, p := range d.Parameters {
		if _, takesList := p.Default.([]float64); p.Name != name || !takesList {
			continue
		}
		if _, nested := list[0].([]any); !nested {
			list = []any{list}
		}
		values := make([]any, len(list))
		for i, x := range list {
			numbers, err := floats(x)
			if err != nil {
				return nil, fmt.Errorf("%s: parameter %s: %w", d.Name, name, err)
			}
			values[i] = numbers
		}
		return values, nil
	}
	return list, nil
}

func floats(v any) ([]float64, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%v is not a list of numbers", v)
	}
	out := make([]float64, len(list))
	for i, x := range list {
		f, ok := x.(float64)
		if !ok {
			return nil, fmt.Errorf("%v is not a number", x)
		}
		out[i] = f
	}
	return out, nil
}

// plainValue brings what YAML gives to float64, string, bool and []any.
func plainValue(v any) (any, error) {
	switch v := v.(type) {
	case float64, string, bool:
		return v, nil
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case uint64:
		return float64(v), nil
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			p, err := plainValue(x)
			if err != nil {
				return nil, err
			}
			out[i] = p
		}
		return out, nil
	case []float64:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = x
		}
		return out, nil
	default:
		return nil, fmt.Errorf("%v (%T): must be a number, a word or a list of them", v, v)
	}
}
