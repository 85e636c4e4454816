// Package evaluate measures privatised versions of a table without a study
// file. It compares text that a program or a language model privatised
// elsewhere with the original.
//
// Metrics that make no sense for a version are not measured: comparisons token
// by token need versions whose tokens align, and nothing is stated about an
// unknown guarantee.
package evaluate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/embeddings/sentence"
	"mldpbench/experiments/measure"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/fromfile"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/models/ngram"
	"mldpbench/results"
	"mldpbench/stream"
)

// model is the classifier used for all accuracies here: it needs no word
// vectors and trains in seconds.
const model = "svm"

// Options are the options of Run.
type Options struct {
	Name      string   // of the data set; "" is the name of the file
	Original  string   // CSV, TSV or JSON lines
	Text      []string // columns, joined by a space; in all files
	Label     string   // column to predict
	Private   string   // column of the private label, "" for none
	ID        string   // column with the id of the document, in all files; "" uses the order of rows
	Versions  []Version
	Cleaning  datasets.Cleaning // "" means CleanWords
	Seed      uint64
	Root      string // data folder
	Documents int    // compared for CS; 0 means 50, -1 none
}

// Version is one privatised text.
type Version struct {
	Name       string
	Epsilon    float64 // as stated by its maker; NaN where none is stated
	Path       string  // a file, or a folder with a file per repetition
	Repetition string  // column of the repetition, "" for none
}

// ParseVersion reads "FILE", "NAME=FILE" or "NAME@EPSILON=FILE". The default
// name is that of the file.
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
		v.Name = stem(s)
	}
	if v.Path == "" || v.Name == "" || v.Name == results.BaselineMechanism {
		return v, fmt.Errorf("privatised = %q: must be FILE, NAME=FILE or NAME@EPSILON=FILE, the name not %q", s,
			results.BaselineMechanism)
	}
	return v, nil
}

// stem returns a file's name without folder and suffixes.
func stem(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// Row is a line of evaluate.csv: one version and repetition, or the original.
type Row struct {
	Name       string        `csv:"name"` // "none" for the original
	Epsilon    results.Float `csv:"epsilon"`
	Repetition int           `csv:"repetition"`
	Aligned    bool          `csv:"aligned"` // same number of tokens in every document
	Tokens     int           `csv:"tokens"`
	Accuracy   results.Float `csv:"accuracy"`
	// PrivateAccuracy is the accuracy of an attacker that trains the same
	// classifier on the version itself to predict the private column;
	// PrivateChance is the share of the test documents with the most frequent
	// private label.
	PrivateAccuracy results.Float `csv:"private_accuracy"`
	PrivateChance   results.Float `csv:"private_chance"`
	PP              results.Float `csv:"pp"`
	CS              results.Float `csv:"cs"`
	Low             results.Float `csv:"low"`
	English         results.Float `csv:"english"`
	// Perplexity is the perplexity of the median test document under a model of
	// pairs of words that was trained on the original training documents. Overlap
	// is the share of words in both texts among those in either. Linked is the
	// share of documents, of at most 1,000, whose original is found by an
	// attacker that has all originals and compares by tf-idf; LinkedGuess is the
	// share for random guesses.
	Perplexity  results.Float `csv:"perplexity"`
	Overlap     results.Float `csv:"overlap"`
	Linked      results.Float `csv:"linked"`
	LinkedGuess results.Float `csv:"linked_guess"`
}

// Result is the result of Run.
type Result struct {
	Records  []results.Record
	Rows     []Row
	Examples []results.Example
	Notes    []string // what was not measured, and why
}

// Run reads and measures everything.
func Run(ctx context.Context, o Options) (*Result, error) {
	e, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	plain, err := e.measure(ctx, nil, Version{Name: results.BaselineMechanism, Epsilon: math.NaN()}, 1, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Original, err)
	}
	e.add(plain)
	for _, v := range o.Versions {
		if err := e.version(ctx, v); err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	e.result.Records, err = results.Derive(e.result.Records)
	return &e.result, errors.Join(err, e.close())
}

// evaluation is one run.
type evaluation struct {
	options  Options
	data     *datasets.Dataset
	cleaner  *datasets.Cleaner
	seed     stream.Seed
	ids      []string // of the source's rows, nil without an id column
	private  []int    // label of every row of the source, nil without
	privates int      // different ones
	original [][]string
	rare     []string
	english  *datasets.WordList
	encoder  sentence.Encoder
	sample   []int // documents compared for CS
	plain    [][]float32
	numbers  numbers
	plainIDs [][]int32    // the original as numbers
	language *ngram.Model // nil where no word occurs twice
	result   Result
}

func open(ctx context.Context, o Options) (*evaluation, error) {
	if len(o.Versions) == 0 {
		return nil, errors.New("nothing privatised to evaluate")
	}
	if err := check.AtLeast("documents", o.Documents, -1); err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = stem(o.Original)
	}
	if o.Cleaning == "" {
		o.Cleaning = datasets.CleanWords
	}
	if o.Documents == 0 {
		o.Documents = 50 // an encoder takes a tenth of a second for each
	}
	e := &evaluation{options: o, seed: stream.FromUint64(o.Seed)}
	var err error
	if e.cleaner, err = datasets.NewCleaner(o.Cleaning, o.Root); err != nil {
		return nil, err
	}
	e.data, err = datasets.Load(ctx, datasets.Request{
		Name: o.Name, Root: o.Root, File: o.Original, TextColumns: o.Text, LabelColumn: o.Label,
		Seed: e.seed, Cleaning: o.Cleaning, MaxTokens: -1,
	})
	if err != nil {
		return nil, err
	}
	for _, s := range e.data.Splits() {
		if len(s.Documents) == 0 {
			return nil, fmt.Errorf("%s: too few documents to train, choose and test", o.Original)
		}
		e.original = append(e.original, datasets.Tokens(s.Documents)...)
	}
	if err := e.columns(ctx); err != nil {
		return nil, err
	}
	e.rare = metrics.LeastFrequent(e.original, metrics.LowWords, e.seed.Derive("low", o.Name))
	if err := e.learn(); err != nil {
		return nil, err
	}
	return e, e.resources(ctx)
}

// columns reads ids and private labels of the original.
func (e *evaluation) columns(ctx context.Context) error {
	o := e.options
	read := func(column string) ([]string, error) {
		rows, err := datasets.ReadColumns(ctx, o.Original, "", []string{column})
		if err != nil {
			return nil, err
		}
		values := make([]string, len(rows))
		for i, r := range rows {
			if values[i] = strings.TrimSpace(r[0]); values[i] == "" {
				return nil, fmt.Errorf("%s: row %d: nothing in column %q", o.Original, i+1, column)
			}
		}
		return values, nil
	}
	if o.ID != "" {
		ids, err := read(o.ID)
		if err != nil {
			return err
		}
		if sorted := slices.Sorted(slices.Values(ids)); len(slices.Compact(sorted)) < len(ids) {
			return fmt.Errorf("%s: ids in column %q repeat", o.Original, o.ID)
		}
		e.ids = ids
	}
	if o.Private != "" {
		values, err := read(o.Private)
		if err != nil {
			return err
		}
		names := slices.Compact(slices.Sorted(slices.Values(values)))
		if len(names) < 2 {
			return fmt.Errorf("%s: column %q: %d distinct values: an attacker needs at least 2", o.Original, o.Private,
				len(names))
		}
		e.privates = len(names)
		for _, v := range values {
			i, _ := slices.BinarySearch(names, v)
			e.private = append(e.private, i)
		}
	}
	return nil
}

// resources opens optional resources and reports those that are absent.
func (e *evaluation) resources(ctx context.Context) error {
	o := e.options
	var missing *fetch.MissingError
	var err error
	if e.english, err = datasets.OpenWordList("", o.Root); errors.As(err, &missing) {
		e.result.Notes = append(e.result.Notes, "English %: not measured: "+err.Error())
	} else if err != nil {
		return err
	}
	if o.Documents < 0 {
		return nil
	}
	dir, err := fetch.Locate(o.Root, "sentence-encoder", "model")
	if errors.As(err, &missing) {
		e.result.Notes = append(e.result.Notes, "CS: not measured: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if e.encoder, err = sentence.Open(ctx, dir); err != nil {
		return err
	}
	all := make([]int, len(e.original))
	for i := range all {
		all[i] = i
	}
	e.sample = metrics.SampleWords(all, o.Documents, e.seed.Derive("cs", o.Name).Rand())
	e.plain, err = e.encode(ctx, e.original)
	return err
}

func (e *evaluation) close() error {
	if c, ok := e.encoder.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func (e *evaluation) encode(ctx context.Context, documents [][]string) ([][]float32, error) {
	texts := make([]string, len(e.sample))
	for i, d := range e.sample {
		texts[i] = strings.Join(documents[d], " ")
	}
	return e.encoder.Encode(ctx, texts)
}

// version measures every repetition of a version.
func (e *evaluation) version(ctx context.Context, v Version) error {
	text, err := fromfile.Read(ctx, fromfile.Source{Path: v.Path, Columns: e.options.Text, ID: e.options.ID,
		Repetition: v.Repetition})
	if err != nil {
		return err
	}
	for r := range text.Repetitions() {
		var tokens [][]string
		for _, s := range e.data.Splits() {
			rows := make([]int, len(s.Documents))
			for i, d := range s.Documents {
				rows[i] = d.ID
			}
			texts, err := text.Documents(r, rows, e.data.SourceRows, e.ids)
			if err != nil {
				return err
			}
			for _, t := range texts {
				tokens = append(tokens, e.cleaner.Tokens(t))
			}
		}
		m, err := e.measure(ctx, tokens, v, r+1, text.Fingerprint())
		if err != nil {
			return err
		}
		e.add(m)
	}
	return nil
}

// measured is one version and repetition.
type measured struct {
	record          results.Record
	aligned         bool
	tokens          int
	privateAccuracy float64
	privateChance   float64
	traces          traces
	examples        []results.Example
}

// measure fills in all metrics that make sense. tokens are those of all
// documents, train, validation, test; nil is the original.
func (e *evaluation) measure(ctx context.Context, tokens [][]string, v Version, repetition int,
	fingerprint string) (*measured, error) {
	baseline := tokens == nil
	if baseline {
		tokens = e.original
	}
	m := &measured{aligned: fromfile.Aligned(e.original, tokens), privateAccuracy: math.NaN(),
		privateChance: math.NaN()}
	for _, d := range tokens {
		m.tokens += len(d)
	}
	r := results.NewRecord()
	r.Key, r.Index = e.key(v, repetition, fingerprint), len(e.result.Records)
	r.Study, r.Dataset, r.DatasetFingerprint = "evaluate", e.data.Name, e.data.Fingerprint
	r.Mechanism, r.Epsilon, r.Model, r.Setting = v.Name, results.Float(v.Epsilon), model, "local"
	r.Repetition, r.Seed, r.Status = repetition, e.options.Seed, results.StatusOK
	r.GuaranteeReason = "no privatisation"
	if !baseline {
		r.Variant, r.GuaranteeReason = string(mechanisms.External), (&fromfile.Text{}).Guarantee().Reason
	}
	if e.english != nil {
		r.EnglishFound, r.EnglishTokens = metrics.CountEnglish(tokens, e.english.Contains)
	}
	if !baseline {
		r.LowPresent, r.LowTotal = metrics.CountPresent(e.rare, tokens), len(e.rare)
		if m.aligned {
			counts, err := metrics.CountChanged(e.original, tokens, nil)
			if err != nil {
				return nil, err
			}
			r.TokensChanged, r.TokensTotal = counts.Changed, counts.Total
		}
		if e.encoder != nil {
			if err := e.similarity(ctx, &r, tokens); err != nil {
				return nil, err
			}
		}
		m.examples = e.examples(v, tokens)
	}
	var parameters map[string]any
	labels := func(d datasets.Document) int { return d.Label }
	c, err := e.classify(ctx, tokens, labels, len(e.data.Classes),
		e.seed.Derive("model", v.Name, strconv.Itoa(repetition)), &parameters)
	if err != nil {
		return nil, err
	}
	r.ModelParameters = models.FormatParameters(parameters)
	r.TestCorrect, r.TestTotal, r.ValidationAccuracy, r.AUC = c.correct, c.total, results.Float(100*c.validation),
		results.Float(c.auc)
	if e.private != nil {
		secret := func(d datasets.Document) int { return e.private[d.ID] }
		a, err := e.classify(ctx, tokens, secret, e.privates,
			e.seed.Derive("attacker", v.Name, strconv.Itoa(repetition)), &parameters)
		if err != nil {
			return nil, fmt.Errorf("private column: %w", err)
		}
		m.privateAccuracy, m.privateChance = metrics.Percent(a.correct, a.total), metrics.Percent(a.largest, a.total)
	}
	if m.traces, err = e.trace(ctx, tokens); err != nil {
		return nil, err
	}
	err = r.Recompute()
	m.record = r
	return m, err
}

// key returns the name of a record: a hash of everything its numbers depend on.
func (e *evaluation) key(v Version, repetition int, fingerprint string) string {
	h := sha256.New()
	epsilon := ""
	if !math.IsNaN(v.Epsilon) {
		epsilon = strconv.FormatFloat(v.Epsilon, 'g', -1, 64)
	}
	for _, s := range []string{
		"evaluate", e.data.Fingerprint, fingerprint, v.Name, epsilon, strconv.Itoa(repetition),
		strconv.FormatUint(e.options.Seed, 10), strconv.Itoa(e.options.Documents), strconv.Itoa(results.SchemaVersion),
	} {
		fmt.Fprintf(h, "%d:%s\n", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (e *evaluation) similarity(ctx context.Context, r *results.Record, tokens [][]string) error {
	noisy, err := e.encode(ctx, tokens)
	if err != nil {
		return err
	}
	s, err := measure.CompareSentences(e.plain, noisy)
	if err != nil {
		return err
	}
	r.CS, r.CSStdDev = results.Float(s.Mean), results.Float(s.StdDev)
	r.CSLow, r.CSHigh = results.Float(s.Low), results.Float(s.High)
	r.CSDocuments, r.CSEncoder = len(noisy), e.encoder.Name()
	return nil
}

// classified is the result of a classifier on the test documents.
type classified struct {
	correct, total, largest int // largest: of the most frequent label
	validation, auc         float64
}

// classify trains on the train documents of a version and tests on its test
// documents.
func (e *evaluation) classify(ctx context.Context, tokens [][]string, label func(datasets.Document) int, classes int,
	seed stream.Seed, parameters *map[string]any) (classified, error) {
	c := classified{validation: math.NaN(), auc: math.NaN()}
	definition, err := models.Find(model)
	if err != nil {
		return c, err
	}
	if *parameters, err = definition.Resolve(map[string]any{"features": "tfidf"}); err != nil {
		return c, err
	}
	classifier, err := models.New(model, models.Options{Classes: classes, Seed: seed, Parameters: *parameters})
	if err != nil {
		return c, err
	}
	words := map[string]int32{}
	var parts []models.Examples
	for _, s := range e.data.Splits() {
		var x models.Examples
		for i, d := range s.Documents {
			ids := make([]int32, len(tokens[i]))
			for j, t := range tokens[i] {
				id, ok := words[t]
				if !ok {
					id = int32(len(words))
					words[t] = id
				}
				ids[j] = id
			}
			x.Sequences = append(x.Sequences, ids)
			x.Labels = append(x.Labels, label(d))
		}
		tokens = tokens[len(s.Documents):]
		parts = append(parts, x)
	}
	history, err := classifier.Fit(ctx, parts[0], parts[1])
	if err != nil {
		return c, err
	}
	if v, ok := history.Chosen["validation_accuracy"]; ok {
		c.validation = v
	}
	test := parts[2]
	predicted, err := classifier.Predict(ctx, test)
	if err != nil {
		return c, err
	}
	if c.correct, err = metrics.Correct(predicted, test.Labels); err != nil {
		return c, err
	}
	c.total = len(predicted)
	counts := make([]int, classes)
	for _, l := range test.Labels {
		counts[l]++
	}
	c.largest = slices.Max(counts)
	if classes != 2 {
		return c, nil
	}
	scores, err := classifier.Score(ctx, test)
	if err != nil {
		return c, err
	}
	margin, positive := make([]float64, len(scores)), make([]bool, len(scores))
	for i, s := range scores {
		margin[i], positive[i] = s[1]-s[0], test.Labels[i] == 1
	}
	c.auc, err = metrics.AUC(margin, positive)
	return c, err
}

// examples returns a few short test documents of a version whose epsilon is
// known.
func (e *evaluation) examples(v Version, tokens [][]string) []results.Example {
	const count, longest = 3, 20
	if math.IsNaN(v.Epsilon) {
		return nil
	}
	var out []results.Example
	first := len(tokens) - len(e.data.Test)
	for i, d := range e.data.Test {
		if len(d.Tokens) == 0 || len(d.Tokens) > longest || len(out) == count {
			continue
		}
		out = append(out, results.Example{
			Dataset: e.data.Name, Mechanism: v.Name, Variant: string(mechanisms.External), Epsilon: v.Epsilon,
			Document: d.ID, Original: strings.Join(d.Tokens, " "), Privatised: strings.Join(tokens[first+i], " "),
		})
	}
	return out
}

func (e *evaluation) add(m *measured) {
	r := m.record
	e.result.Records = append(e.result.Records, r)
	if r.Repetition == 1 {
		e.result.Examples = append(e.result.Examples, m.examples...)
	}
	e.result.Rows = append(e.result.Rows, Row{
		Name: r.Mechanism, Epsilon: r.Epsilon, Repetition: r.Repetition, Aligned: m.aligned, Tokens: m.tokens,
		Accuracy: r.Accuracy, PrivateAccuracy: results.Float(m.privateAccuracy),
		PrivateChance: results.Float(m.privateChance),
		PP:            r.PP, CS: r.CS, Low: r.Low, English: r.English, Perplexity: m.traces.perplexity,
		Overlap: m.traces.overlap, Linked: m.traces.linked, LinkedGuess: m.traces.linkedGuess,
	})
	if !m.aligned {
		e.result.Notes = append(e.result.Notes, fmt.Sprintf(
			"%s, repetition %d: tokens do not align with the original: PP is not measured", r.Mechanism, r.Repetition))
	}
}
