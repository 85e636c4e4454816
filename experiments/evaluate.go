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
	"mldpbench/results/quantity"
	"mldpbench/results/views"
)

// Evaluation asks how privatised versions of a table compare with it.
type Evaluation struct {
	Call
	Original study.DatasetSpec // File and Text; without Label there is no accuracy, without Private no attacker of it
	ID       string            // column with the id of the document, in all files; "" uses the order of rows
	Versions []string          // as ParseVersion reads them
	Seed     uint64
	Encoder  string // of CS: a folder or a name; none without
	// Documents are those compared for CS; -1 none.
	Documents int
	Set       []string // keys of the study, as study.Overrides takes them
	// Against are built-in mechanisms over the words of Embedding, which are brought to
	// what At, a quantity or one of its short names, is for each version.
	Against       []string
	Embedding, At string
	Out           string // folder of rows, table and page
	Rows          string // file that says how far each text is re-identified; "" for none
}

// Evaluate measures versions of a table, and writes rows, table and page.
func Evaluate(ctx context.Context, e Evaluation) (*Outcome, error) {
	o := e.answer()
	rows := filepath.Join(e.Out, "results.csv")
	if err := e.mayWrite(e.reads(), rows, e.Rows); err != nil {
		return nil, err
	}
	versions, unmeasured, err := e.study(ctx)
	if err != nil {
		return nil, err
	}
	options := o.call.engineOptions(e.Out)
	options.Force = true // mayWrite was asked
	summary, err := runStudy(ctx, versions, e.Data, options)
	if err != nil {
		return nil, err
	}
	pages := runPages{tables: views.Builtin().Versions}
	if len(e.Against) > 0 {
		pages.levels, err = e.beside(versions, summary.Rows)
		if err != nil {
			return nil, err
		}
		summary, err = runAligned(ctx, newAligning(versions, e.Data, options, pages.levels))
		if err != nil {
			return nil, err
		}
		// the pairs of texts at equal privacy, in place of those of all texts
		isOfPairs := func(v views.View) bool { return v.From == "pairs" }
		pages.tables = append(pages.tables[:1], results.Where(views.Builtin().Tables, isOfPairs)...)
	}
	for _, why := range unmeasured {
		o.note("%s", why)
	}
	for _, r := range summary.Rows {
		if !r.Value.Known() && r.Note != "" {
			o.note("%s, repetition %d: %s: %s", r.Mechanism, r.Repetition, quantity.Must(r.Quantity).Title, r.Note)
		}
	}
	o.Files = append(o.Files, rows)
	if e.Rows != "" {
		if err := e.writeRows(ctx, versions, o); err != nil {
			return nil, err
		}
	}
	return o, o.writeRun(summary, pages)
}

// reads are the files that are read.
func (e Evaluation) reads() []string {
	files := []string{e.Original.File}
	for _, text := range e.Versions {
		if m, err := parseVersion(text); err == nil {
			files = append(files, m.Text)
		}
	}
	return files
}

// shortNames are those of quantities at which a text and a mechanism are compared.
var shortNames = map[string]string{"linkage": "linkage-tfidf-p1", "label-found": "attribute-adaptive-svm-accuracy"}

// beside adds the mechanisms of Against to the study of an evaluation, and returns the
// levels at which these are compared with the versions: what At was for each of them in
// the rows of its run.
func (e Evaluation) beside(s *study.Study, rows []results.Row) (quantity.Levels, error) {
	levels := quantity.Levels{Quantity: cmp.Or(shortNames[e.At], e.At)}
	p, err := results.Prepare(results.Run{Name: s.Name, Rows: rows})
	if err != nil {
		return levels, err
	}
	for _, g := range results.GroupCells(results.Texts(p.Private())) {
		values := g.Values(levels.Quantity)
		if len(values) > 0 && !slices.Contains(levels.At, stats.Mean(values)) {
			levels.At = append(levels.At, stats.Mean(values))
		}
	}
	if _, err := quantity.Find(levels.Quantity); err != nil || len(levels.At) == 0 {
		return levels, check.Wrong("at = %q: was not measured of any version: linkage, label-found (with --private), "+
			"pp (where tokens align), game, or a quantity of mldp study keys", e.At)
	}
	for _, name := range e.Against {
		m := study.NamedMechanism(name)
		m.Epsilons = []float64{startOfSearch}
		s.Mechanisms = append(s.Mechanisms, m)
	}
	s.Repetitions = max(s.Repetitions, alignedRepetitions)
	return levels, s.Check()
}

// startOfSearch is the first ε of a mechanism beside a version.
const startOfSearch = 10

// alignedRepetitions are those at equal privacy where no others are asked for: of one nothing is tested.
const alignedRepetitions = 3

// inColumn begins the name of a column in place of a file.
const inColumn = "column:"

// ParseVersion reads "FILE", "NAME=FILE" or "NAME@EPSILON=FILE"; for a column of
// the original, FILE is "column:COLUMN". The default name is that of the file or
// column.
func ParseVersion(text string) (study.MechanismSpec, error) {
	m, err := parseVersion(text)
	if err != nil {
		return m, check.Wrong("privatised = %q: %v", text, err)
	}
	return m, nil
}

// parseVersion is ParseVersion, whose errors do not say of what.
func parseVersion(text string) (m study.MechanismSpec, err error) {
	name, path, named := strings.Cut(text, "=")
	if !named {
		path = text
		name = stem(strings.TrimPrefix(text, inColumn))
	}
	of, stated, hasEpsilon := strings.Cut(name, "@")
	if named && hasEpsilon {
		name = of
		epsilon, err := strconv.ParseFloat(stated, 64)
		if err != nil {
			return m, fmt.Errorf("epsilon = %q: must be a number", stated)
		}
		if err := check.Positive("epsilon", epsilon); err != nil {
			return m, err
		}
		m.Epsilons = []float64{epsilon}
	}
	m.Text = path
	if column, ok := strings.CutPrefix(path, inColumn); ok {
		m.Text = ""
		m.Columns = []string{column}
		path = column
	}
	if name == "" || path == "" {
		return m, errors.New("must be FILE, NAME=FILE or NAME@EPSILON=FILE")
	}
	m.Name = name
	if _, err := mechanisms.Find(name); err == nil {
		m.Name += "-file" // the program's own has guarantees that nobody stated of a file
	}
	return m, nil
}

// stem returns a file's name without folder and suffixes.
func stem(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// study is the evaluation as a study without a file, whose mechanisms are the
// versions; unmeasured says what it does not measure, and why.
func (e Evaluation) study(ctx context.Context) (s *study.Study, unmeasured []string, err error) {
	d := e.Original
	d.Name = stem(d.File)
	d.MaxTokens = -1
	d.Cleaning = string(datasets.CleanWords)
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
	if _, err := datasets.OpenWordList("words", e.Data); err == nil {
		s.Metrics["english"] = new("words")
	} else {
		unmeasured = append(unmeasured, "English %: not measured: "+err.Error())
	}
	if e.Encoder != "" && e.Documents >= 0 {
		s.Metrics["cs"] = &measure.CSOptions{Encoder: e.Encoder, Documents: e.Documents}
	} else {
		unmeasured = append(unmeasured, "CS: not measured without --encoder")
	}
	if measure.IsGame(e.At) {
		s.Metrics[measure.Game] = &measure.GameOptions{Encoder: e.Encoder}
	}
	if d.Label != "" {
		s.Models = []study.ModelSpec{{Name: "svm", Parameters: map[string]any{"features": "tfidf"}}}
	} else {
		unmeasured = append(unmeasured, "accuracy: not measured: there is no --label")
	}
	if d.Private != "" { // an attacker that trains the same classifier on the version itself
		s.Attackers = append(s.Attackers, study.CommandSpec{Name: "attribute-adaptive-svm"})
	}
	for _, text := range e.Versions {
		m, err := e.version(ctx, text, d)
		if err != nil {
			return nil, nil, err
		}
		s.Mechanisms = append(s.Mechanisms, m)
		s.Repetitions = max(s.Repetitions, m.Repetitions)
	}
	s, err = s.Override(study.Overrides{Set: e.Set})
	if err != nil {
		return nil, nil, err
	}
	return s, unmeasured, s.Check()
}

// version is one as a mechanism of a study, with the repetitions that its file has.
func (e Evaluation) version(ctx context.Context, text string, original study.DatasetSpec) (study.MechanismSpec, error) {
	m, err := ParseVersion(text)
	if err != nil {
		return m, err
	}
	m.Text = cmp.Or(m.Text, original.File)
	m.ID = e.ID
	written, _, err := lab.New(e.Data).Text(ctx, m.Outside, original)
	if err != nil {
		return m, fmt.Errorf("%s: %w", m.Name, err)
	}
	m.Repetitions = written.Repetitions()
	return m, nil
}
