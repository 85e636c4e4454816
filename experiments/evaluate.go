package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/results"
)

// Evaluation asks how privatised versions of a table compare with it.
type Evaluation struct {
	Original study.DatasetSpec // File and Text; without Label there is no accuracy, without Private no attacker of it
	ID       string            // column with the id of the document, in all files; "" uses the order of rows
	Versions []string          // as ParseVersion reads them
	Seed     uint64
	Root     string // data folder
	Encoder  string // of CS: a folder or a name; none without
	// Documents are those compared for CS; -1 none.
	Documents int
	Set       []string // keys of the study, as study.Overrides takes them
	// Against are built-in mechanisms over the words of Embedding, which are brought to
	// what At, a quantity or one of its short names, is for each version.
	Against       []string
	Embedding, At string
}

// shortNames are those of quantities at which a text and a mechanism are compared.
var shortNames = map[string]string{"linkage": "linkage-tfidf-p1", "label-found": "attribute-adaptive-svm-accuracy"}

// Beside adds the mechanisms of Against to the study of an evaluation, and returns the
// levels at which these are compared with the versions: what At was for each of them in
// the rows of its run.
func (e Evaluation) Beside(s *study.Study, rows []results.Row) (results.Levels, error) {
	levels := results.Levels{Quantity: cmp.Or(shortNames[e.At], e.At)}
	p, err := results.Prepare(results.Run{Name: s.Name, Rows: rows})
	if err != nil {
		return levels, err
	}
	for _, g := range results.GroupCells(results.Texts(p.Private())) {
		if x := g.Values(levels.Quantity); len(x) > 0 && !slices.Contains(levels.At, stats.Mean(x)) {
			levels.At = append(levels.At, stats.Mean(x))
		}
	}
	if _, err := results.FindColumn(levels.Quantity); err != nil || len(levels.At) == 0 {
		return levels, check.Wrong("at = %q: was not measured of any version: linkage, label-found (with --private), "+
			"pp (where tokens align), or a quantity of mldp study keys", e.At)
	}
	for _, name := range e.Against {
		m := study.NamedMechanism(name)
		m.Epsilons = []float64{startOfSearch}
		s.Mechanisms = append(s.Mechanisms, m)
	}
	s.Repetitions = max(s.Repetitions, AlignedRepetitions)
	return levels, s.Check()
}

// startOfSearch is the first ε of a mechanism beside a version, AlignedRepetitions are those
// at equal privacy where no others are asked for: of one nothing is tested.
const startOfSearch, AlignedRepetitions = 10, 3

// inColumn begins the name of a column in place of a file.
const inColumn = "column:"

// ParseVersion reads "FILE", "NAME=FILE" or "NAME@EPSILON=FILE"; for a column of
// the original, FILE is "column:COLUMN". The default name is that of the file or
// column.
func ParseVersion(s string) (m study.MechanismSpec, err error) {
	name, path, named := strings.Cut(s, "=")
	if !named {
		name, path = stem(strings.TrimPrefix(s, inColumn)), s
	} else if of, text, stated := strings.Cut(name, "@"); stated {
		epsilon, wrong := strconv.ParseFloat(text, 64)
		if err = check.Positive("epsilon", epsilon); wrong != nil {
			err = fmt.Errorf("epsilon = %q: must be a number", text)
		}
		name, m.Epsilons = of, []float64{epsilon}
	}
	if _, known := mechanisms.Find(name); known == nil {
		name += "-file" // the program's own has guarantees that nobody stated of a file
	}
	m.Name, m.Text = name, path
	if column, ok := strings.CutPrefix(path, inColumn); ok {
		m.Text, m.Columns, path = "", []string{column}, column
	}
	if err == nil && (name == "" || path == "") {
		err = errors.New("must be FILE, NAME=FILE or NAME@EPSILON=FILE")
	}
	if err != nil {
		err = check.Wrong("privatised = %q: %v", s, err)
	}
	return m, err
}

// stem returns a file's name without folder and suffixes.
func stem(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// Study is the evaluation as a study without a file, whose mechanisms are the
// versions; notes say what it does not measure, and why.
func (e Evaluation) Study(ctx context.Context) (s *study.Study, notes []string, err error) {
	d := e.Original
	d.Name, d.MaxTokens, d.Cleaning = stem(d.File), -1, string(datasets.CleanWords)
	s = &study.Study{Header: study.Header{Schema: study.Schema, Name: "evaluate", Seed: e.Seed,
		Title: "Privatised versions of " + filepath.Base(d.File)}, Design: study.Design{
		Datasets:            []study.DatasetSpec{d},
		Embeddings:          []study.EmbeddingSpec{{Name: study.NoVectors, Dimensions: []int{1}}},
		BaselineRepetitions: 3, // whose spread is that of training
		Attackers:           []study.CommandSpec{{Name: "overlap"}, {Name: "linkage-tfidf"}, {Name: "linkage-layout"}},
		Metrics:             study.Metrics{"low": new(metrics.LowWords)},
	}}
	if len(e.Against) > 0 {
		s.Embeddings[0] = study.NamedEmbedding(e.Embedding)
	}
	if _, err := datasets.OpenWordList("words", e.Root); err == nil {
		s.Metrics["english"] = new("words")
	} else {
		notes = append(notes, "English %: not measured: "+err.Error())
	}
	if e.Encoder != "" && e.Documents >= 0 {
		s.Metrics["cs"] = &measure.CSOptions{Encoder: e.Encoder, Documents: e.Documents}
	} else {
		notes = append(notes, "CS: not measured without --encoder")
	}
	if d.Label != "" {
		s.Models = []study.ModelSpec{{Name: "svm", Parameters: map[string]any{"features": "tfidf"}}}
	} else {
		notes = append(notes, "accuracy: not measured: there is no --label")
	}
	if d.Private != "" { // an attacker that trains the same classifier on the version itself
		s.Attackers = append(s.Attackers, study.CommandSpec{Name: "attribute-adaptive-svm"})
	}
	for _, v := range e.Versions {
		m, err := ParseVersion(v)
		if err != nil {
			return nil, nil, err
		}
		m.Text, m.ID = cmp.Or(m.Text, d.File), e.ID
		text, _, err := lab.New(e.Root).Text(ctx, m.Outside, d)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		m.Repetitions = text.Repetitions()
		s.Mechanisms, s.Repetitions = append(s.Mechanisms, m), max(s.Repetitions, m.Repetitions)
	}
	if s, err = s.Override(study.Overrides{Set: e.Set}); err == nil {
		err = s.Check()
	}
	return s, notes, err
}
