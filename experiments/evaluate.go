package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/datasets/table"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/fromfile"
	"mldpbench/metrics"
	"mldpbench/results"
)

// EvaluateOptions are the options of Evaluate.
type EvaluateOptions struct {
	Original  string   // CSV, TSV or JSON lines
	Text      []string // columns, joined by a space; in all files
	Delimiter string   // of CSV and TSV, in all files; "" is that of the format
	Encoding  string   // of the original, and of versions that are not UTF-8; "" is UTF-8
	Label     string   // column to predict; "" measures no accuracy
	Private   string   // column of the private label, "" for none
	ID        string   // column with the id of the document, in all files; "" uses the order of rows
	Versions  []Version
	Seed      uint64
	Root      string   // data folder
	Encoder   string   // of CS: a folder or a name; none without
	Documents int      // compared for CS; 0 means 50, -1 none
	Set       []string // keys of the study that it makes, as study.Overrides takes them
}

// Version is one privatised text.
type Version struct {
	Name    string
	Epsilon float64  // as stated by its maker; NaN where none is stated
	Path    string   // a file, or a folder with a file per repetition; "" is the original
	Columns []string // of the text where they differ from those of the original, which may be the same file
}

// ParseVersion reads "FILE", "NAME=FILE" or "NAME@EPSILON=FILE"; for a column of
// the original, FILE is "column:COLUMN". The default name is that of the file or
// column.
func ParseVersion(s string) (Version, error) {
	v := Version{Epsilon: math.NaN(), Path: s}
	if name, path, ok := strings.Cut(s, "="); ok {
		v.Name, v.Path = name, path
		if name, epsilon, ok := strings.Cut(name, "@"); ok {
			e, err := strconv.ParseFloat(epsilon, 64)
			if err != nil {
				return v, fmt.Errorf("privatised = %q: epsilon = %q: must be a number", s, epsilon)
			}
			if err := check.Positive("epsilon", e); err != nil {
				return v, fmt.Errorf("privatised = %q: %w", s, err)
			}
			v.Name, v.Epsilon = name, e
		}
	} else {
		v.Name = stem(strings.TrimPrefix(s, inColumn))
	}
	if _, err := mechanisms.Find(v.Name); err == nil {
		v.Name += "-file" // the program's own has guarantees that nobody stated of a file
	}
	if column, ok := strings.CutPrefix(v.Path, inColumn); ok {
		if v.Path, v.Columns = "", []string{column}; column != "" && v.Name != "" && v.Name != results.BaselineMechanism {
			return v, nil
		}
	}
	if v.Path == "" || v.Name == "" || v.Name == results.BaselineMechanism {
		return v, fmt.Errorf("privatised = %q: must be FILE, NAME=FILE or NAME@EPSILON=FILE, the name not %q", s,
			results.BaselineMechanism)
	}
	return v, nil
}

// inColumn begins the name of a column in place of a file.
const inColumn = "column:"

// stem returns a file's name without folder and suffixes.
func stem(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// Evaluate measures privatised versions of a table: a study without a file,
// whose mechanisms are texts made elsewhere. Notes say what was not measured, and
// why. Units in engine.Options.Out that are finished already are not run again.
func Evaluate(ctx context.Context, o EvaluateOptions, run engine.Options) (*engine.Summary, []string, error) {
	s, notes, err := evaluation(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	summary, err := Run(ctx, s, o.Root, run)
	if err != nil {
		return summary, notes, err
	}
	for _, r := range summary.Rows {
		if !r.Value.Known() && r.Note != "" {
			notes = append(notes, fmt.Sprintf("%s, repetition %d: %s: %s", r.Mechanism, r.Repetition,
				results.MustColumn(r.Quantity).Title, r.Note))
		}
	}
	return summary, notes, nil
}

// evaluation is the study of an evaluation.
func evaluation(ctx context.Context, o EvaluateOptions) (*study.Study, []string, error) {
	if len(o.Versions) == 0 {
		return nil, nil, errors.New("nothing privatised to evaluate")
	}
	measured, notes, err := o.metrics()
	if err != nil {
		return nil, nil, err
	}
	s := &study.Study{Header: study.Header{Schema: study.Schema, Name: "evaluate", Seed: o.Seed,
		Title: "Privatised versions of " + filepath.Base(o.Original)}, Design: study.Design{
		Datasets: []study.DatasetSpec{{Name: stem(o.Original), File: o.Original, Text: o.Text,
			Delimiter: o.Delimiter, Encoding: o.Encoding, Label: o.Label, Private: o.Private, MaxTokens: -1,
			Cleaning: string(datasets.CleanWords)}},
		Embeddings:          []study.EmbeddingSpec{{Name: study.NoVectors, Dimensions: []int{1}}},
		BaselineRepetitions: 3, // whose spread is that of training
		Attackers:           []study.CommandSpec{{Name: "overlap"}, {Name: "linkage-tfidf"}},
		Metrics:             measured,
	}}
	if o.Label != "" {
		s.Models = []study.ModelSpec{{Name: "svm", Parameters: map[string]any{"features": "tfidf"}}}
	} else {
		notes = append(notes, "accuracy: not measured: there is no --label")
	}
	if o.Private != "" {
		s.Attackers = append(s.Attackers, study.CommandSpec{Name: "attribute-adaptive-svm"})
	}
	ids, empty, err := o.rows(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range o.Versions {
		m, err := o.mechanism(ctx, v, ids, empty)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		s.Mechanisms, s.Repetitions = append(s.Mechanisms, m), max(s.Repetitions, m.Repetitions)
	}
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	s, err = s.Override(study.Overrides{Set: o.Set})
	return s, notes, err
}

// mechanism is a version as text made elsewhere. A document without a text is one of
// the data set in run, and here; one that only the version lacks is an error.
func (o EvaluateOptions) mechanism(ctx context.Context, v Version, ids []string,
	empty map[int]bool) (study.MechanismSpec, error) {
	v.Path = cmp.Or(v.Path, o.Original)
	m := study.MechanismSpec{Name: v.Name, Outside: mechanisms.Outside{Text: v.Path, Columns: v.Columns, ID: o.ID}}
	if !math.IsNaN(v.Epsilon) {
		m.Epsilons = []float64{v.Epsilon}
	}
	columns := v.Columns
	if len(columns) == 0 {
		columns = o.Text
	}
	read, err := fromfile.Read(ctx, fromfile.Source{Path: v.Path, Columns: columns, ID: o.ID, Delimiter: o.Delimiter,
		Encoding: o.Encoding})
	if err != nil {
		return m, err
	}
	m.Repetitions = read.Repetitions()
	absent := slices.DeleteFunc(read.Absent(ids), func(row int) bool { return empty[row] })
	if len(absent) > 0 {
		err = fmt.Errorf("no text for %d of %d documents, the first is row %d of %s", len(absent), len(ids), absent[0]+1,
			o.Original)
	}
	return m, err
}

// rows are the ids of the documents of the original, "" without a column of ids,
// and which of them have no text.
func (o EvaluateOptions) rows(ctx context.Context) (ids []string, empty map[int]bool, err error) {
	columns := slices.Clone(o.Text)
	if o.ID != "" {
		columns = append(columns, o.ID)
	}
	rows, err := table.Read(ctx, o.Original, table.Options{Delimiter: o.Delimiter, Encoding: o.Encoding, Columns: columns},
		false)
	ids, empty = make([]string, len(rows)), map[int]bool{}
	for i, row := range rows {
		if o.ID != "" {
			ids[i] = strings.TrimSpace(row[len(o.Text)])
		}
		empty[i] = strings.TrimSpace(strings.Join(row[:len(o.Text)], "")) == ""
	}
	return ids, empty, err
}

// metrics are those whose resources are there; notes say which are not.
func (o EvaluateOptions) metrics() (all study.Metrics, notes []string, err error) {
	low, words := metrics.LowWords, "words"
	all = study.Metrics{"low": &low, "perplexity": &struct{}{}}
	var absent *fetch.MissingError
	switch _, err := datasets.OpenWordList(words, o.Root); {
	case errors.As(err, &absent):
		notes = append(notes, "English %: not measured: "+err.Error())
	case err != nil:
		return nil, nil, err
	default:
		all["english"] = &words
	}
	if o.Documents == -1 {
		return all, notes, nil
	}
	if o.Encoder == "" {
		return all, append(notes, "CS: not measured: --encoder names no model"), nil
	}
	all["cs"] = &measure.CSOptions{Encoder: o.Encoder, Documents: cmp.Or(o.Documents, 50)}
	return all, notes, nil
}
