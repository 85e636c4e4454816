package grid

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"mldpbench/embeddings"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/fromfile"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
)

// noisy holds what the cells of one repetition of a group share.
type noisy struct {
	corpus *measure.Corpus
	space  *measure.Space

	tokens  [3][][]string    // train, validation, test; nil where no setting needs it
	aligned [3][][]string    // tokens with the empty word in place of every removed one
	vectors [3][][]float32   // instead of tokens, for mechanisms that release vectors
	text    map[string]sheet // text metrics by setting
	trained map[string]*measure.Trained

	guarantee    mechanisms.Guarantee
	vocabulary   *embeddings.Vocabulary // of the mechanism
	zeros        int                    // words that policy zero added to the space
	undefined    error                  // the mechanism does not exist at these settings
	unrepeatable bool                   // the same seed can give a different text
	words        sheet                  // metrics of single words: N_w, S_w, E_M; nil where the mechanism takes none
	examples     []results.Example
	took         time.Duration // privatising
	probe        time.Duration // measuring words
	similarity   time.Duration // measuring CS, of the current cell
	texts        int           // repetitions privatised by the same call
	privatised   int           // tokens
	begun        bool          // its words and examples have been reported
	left         int           // remaining cells of the job
}

// sheet writes measured values into a record.
type sheet func(*results.Record)

// run measures a cell. The first of a job privatises for all of them.
func (p *planned) run(ctx context.Context, c Cell, job *engine.Job) (engine.Output, error) {
	var out engine.Output
	repetitions, ok := job.Shared.(map[int]*noisy)
	if !ok {
		var cells []Cell
		for _, id := range job.IDs {
			cells = append(cells, p.cells[id])
		}
		var err error
		if repetitions, err = p.privatize(ctx, cells, job.Threads); err != nil {
			return out, err
		}
		job.Shared = repetitions
	}
	n := repetitions[c.Repetition]
	if n.left--; n.left == 0 {
		delete(repetitions, c.Repetition) // its text is no longer needed
	}
	r := c.row()
	if err := p.describe(ctx, &r, c, n); err != nil {
		return out, err
	}
	if n.undefined != nil {
		r.Status, r.Reason = results.StatusUndefined, n.undefined.Error()
		out.Rows = []results.Record{r}
		return out, nil
	}
	start := time.Now()
	n.similarity = 0
	if err := p.measure(ctx, &r, c, n); err != nil {
		return out, fmt.Errorf("measuring: %w", err)
	}
	measuring, shared := time.Since(start)-n.similarity, n.took
	if !n.begun { // words are probed once for all models
		measuring, shared = measuring+n.probe, shared+n.probe
		out.Examples = n.examples
		n.begun = true
	}
	r.MeasureSeconds = results.Float(measuring.Seconds())
	if c.measuresCS() {
		r.CSSeconds = results.Float(n.similarity.Seconds())
	}
	if c.Model != "" {
		epochs, err := p.classify(ctx, &r, c, n)
		if err != nil {
			return out, fmt.Errorf("model %s: %w", c.Model, err)
		}
		if epochs != nil {
			out.Details = epochs
		}
	}
	r.PrivatizeSeconds, r.PrivatizeTexts = results.Float(n.took.Seconds()), n.texts
	r.WordsPerSecond = results.Float(metrics.WordsPerSecond(n.privatised, n.took.Seconds()))
	r.TotalSeconds = results.Float((time.Since(start) + shared).Seconds())
	r.PeakMemoryMiB = results.Float(engine.PeakMemoryMiB())
	out.Rows = []results.Record{r}
	return out, nil
}

// describe fills in the data of the record and the guarantee.
func (p *planned) describe(ctx context.Context, r *results.Record, c Cell, n *noisy) error {
	r.Generated, r.Vocabulary, r.Status = n.corpus.Generated, n.space.Len()+n.zeros, results.StatusOK
	r.DatasetFingerprint, r.EmbeddingFingerprint = n.corpus.Fingerprint, n.space.Fingerprint()
	if c.Documents == study.Redrawn { // all draws are one data set, called after the first
		c.Repetition = 1
		corpus, space, err := p.open(ctx, c)
		if err != nil {
			return err
		}
		r.DatasetFingerprint, r.EmbeddingFingerprint = "redrawn "+corpus.Fingerprint, "redrawn "+space.Fingerprint()
	}
	r.Unrepeatable = n.unrepeatable
	if g := n.guarantee; !c.IsBaseline() && n.undefined == nil {
		*r = r.Promised(g)
	}
	return nil
}

// privatize computes what the cells of each repetition share: the mechanism and
// the noisy text of those splits that some setting privatises.
func (p *planned) privatize(ctx context.Context, cells []Cell, threads int) (map[int]*noisy, error) {
	c := cells[0]
	corpus, space, err := p.open(ctx, c)
	if err != nil {
		return nil, err
	}
	repetitions := map[int]*noisy{}
	firsts := map[int]Cell{}
	for _, c := range cells {
		n, ok := repetitions[c.Repetition]
		if !ok {
			n = &noisy{corpus: corpus, space: space, text: map[string]sheet{}, trained: map[string]*measure.Trained{}}
			repetitions[c.Repetition], firsts[c.Repetition] = n, c
		}
		n.left++
	}
	if c.IsBaseline() {
		for _, n := range repetitions {
			n.tokens = corpus.Tokens
		}
		return repetitions, nil
	}
	definition, err := c.Mechanism.Definition()
	if err != nil {
		return nil, err
	}
	env, err := p.environment(ctx, c, corpus, space)
	if err != nil {
		return nil, err
	}
	for _, n := range repetitions {
		n.zeros = env.Space.Len() - space.Len()
	}
	start := time.Now()
	if definition.NewVector != nil {
		n := repetitions[c.Repetition] // never PerWord: one repetition
		m, err := mechanisms.NewVector(env, c.Mechanism)
		if err != nil {
			return repetitions, undefinedIn(repetitions, err)
		}
		n.guarantee = m.Guarantee()
		for i, split := range corpus.Splits() {
			words := 0
			if n.vectors[i], words, err = measure.Release(ctx, m, c.Policy, corpus.Tokens[i],
				c.repetitionSeed().Derive(split.Name)); err != nil {
				return nil, err
			}
			n.privatised += words
		}
		n.took, n.texts = time.Since(start), 1
		return repetitions, nil
	}
	m, err := mechanisms.New(env, c.Mechanism)
	if err != nil {
		return repetitions, undefinedIn(repetitions, err)
	}
	m = mechanisms.KeepWords(m, c.kept())
	if err := privatizeText(ctx, m, cells, corpus, repetitions, threads); err != nil {
		return repetitions, undefinedIn(repetitions, fmt.Errorf("privatising: %w", err))
	}
	took := time.Since(start) / time.Duration(len(repetitions))
	for r, n := range repetitions {
		n.texts = len(repetitions)
		n.guarantee, n.vocabulary, n.took = m.Guarantee(), m.Vocabulary(), took
		n.unrepeatable = !mechanisms.Repeatable(m)
		if mechanisms.TakesWords(m) {
			start := time.Now()
			n.words, err = measureWords(ctx, m, firsts[r], n, threads)
			if err := errors.Join(err, mechanisms.Err(m)); err != nil {
				return nil, fmt.Errorf("measuring words: %w", err)
			}
			n.probe = time.Since(start)
		}
		if r == 1 {
			n.examples = examples(c, corpus, n.tokens)
		}
	}
	return repetitions, nil
}

// environment returns the data that the mechanism of a cell is built from.
func (p *planned) environment(ctx context.Context, c Cell, corpus *measure.Corpus,
	space *measure.Space) (mechanisms.Environment, error) {
	built := space.Space
	if c.Policy == mechanisms.Zero {
		var err error
		if built, err = p.zeroSpace(space, corpus); err != nil {
			return mechanisms.Environment{}, err
		}
	}
	env, err := p.lab.Environment(built, corpus, c.needs(), c.repetitionSeed().Derive("mechanism"))
	env.Outside = p.lab.Outside(ctx, c.sample(), built, c.Repetition)
	return env, err
}

// zeroSpace returns the space extended by the words of the data set that have
// no vector, as vectors of zeros. It has all of them, whatever part of the text
// a cell privatises, so it depends only on data set and embedding.
func (p *planned) zeroSpace(space *measure.Space, corpus *measure.Corpus) (*embeddings.Space, error) {
	return lab.Once(p.lab, engine.MakeID("zero", corpus.Fingerprint, space.Fingerprint()),
		func() (*embeddings.Space, error) {
			return space.WithZeroWords(slices.Sorted(maps.Keys(corpus.Counts)))
		})
}

// privatizeText privatises all repetitions of a job. Splits that no cell needs
// are replaced by empty documents, so each document keeps its position and thus
// its stream.
func privatizeText(ctx context.Context, m mechanisms.Mechanism, cells []Cell, corpus *measure.Corpus,
	repetitions map[int]*noisy, threads int) error {
	needed := splitsOf(cells)
	var text [][]string
	for i, split := range corpus.Tokens {
		if !needed[i] {
			split = make([][]string, len(split))
		}
		text = append(text, split...)
	}
	copies := make([][][]string, slices.Max(slices.Collect(maps.Keys(repetitions))))
	for r := range repetitions {
		copies[r-1] = text
	}
	private, err := measure.PrivatizeAligned(ctx, m, cells[0].Policy, copies, len(text), cells[0].textSeed(), threads)
	if err != nil {
		return err
	}
	for r, n := range repetitions {
		at := 0
		for i, split := range corpus.Tokens {
			if needed[i] {
				n.aligned[i] = private[r-1][at : at+len(split)]
				n.tokens[i] = measure.Shown(n.aligned[i])
				for _, d := range split {
					n.privatised += len(d)
				}
			}
			at += len(split)
		}
	}
	return nil
}

// undefinedIn turns the error of a mechanism that does not exist at its
// settings into a result; any other error is returned.
func undefinedIn(repetitions map[int]*noisy, err error) error {
	var undefined *mechanisms.UndefinedError
	if !errors.As(err, &undefined) {
		return err
	}
	for _, n := range repetitions {
		n.undefined = err
	}
	return nil
}

func splitsOf(cells []Cell) [3]bool {
	var settings []string
	for _, c := range cells {
		settings = append(settings, c.Setting)
	}
	return study.Privatizes(settings...)
}

// examples returns a few short test documents before and after privatising.
func examples(c Cell, corpus *measure.Corpus, tokens [3][][]string) []results.Example {
	const count, longest = 3, 20
	if tokens[2] == nil {
		return nil
	}
	var out []results.Example
	for i, d := range corpus.Test {
		if len(d.Tokens) == 0 || len(d.Tokens) > longest {
			continue
		}
		out = append(out, results.Example{
			Dataset: c.Dataset.Name, Embedding: c.Embedding.Name, Dimension: c.Dimension,
			Mechanism: c.Mechanism.Mechanism, Variant: string(c.Mechanism.Variant),
			Parameters: c.parameters(), Epsilon: c.Mechanism.Epsilon, Document: d.ID,
			Original: strings.Join(d.Tokens, " "), Privatised: strings.Join(tokens[2][i], " "),
		})
		if len(out) == count {
			break
		}
	}
	return out
}

// measure fills in the metrics of words and of text.
func (p *planned) measure(ctx context.Context, r *results.Record, c Cell, n *noisy) error {
	if n.words != nil {
		n.words(r)
	}
	if n.vectors[0] != nil {
		return nil // there is no text to compare
	}
	s, ok := n.text[c.Setting]
	if !ok {
		var err error
		if s, err = p.measureText(ctx, c, n); err != nil {
			return err
		}
		n.text[c.Setting] = s
	}
	s(r)
	return nil
}

// measureText compares the privatised splits of a setting with the original.
func (p *planned) measureText(ctx context.Context, c Cell, n *noisy) (sheet, error) {
	var before, after, aligned [][]string
	for i, yes := range study.Privatizes(c.Setting) {
		if yes {
			before = append(before, n.corpus.Tokens[i]...)
			after = append(after, n.tokens[i]...)
			aligned = append(aligned, n.aligned[i]...)
		}
	}
	var sheets []sheet // of the text
	if ref := c.Metrics.English; ref != "" {
		list, err := p.lab.English(ref)
		if err != nil {
			return nil, err
		}
		in, total := metrics.CountEnglish(after, list.Contains)
		printed, _ := metrics.CountEnglish(after, list.ContainsAsPrinted)
		sheets = append(sheets, func(r *results.Record) {
			r.English, r.EnglishAsPrinted = results.Float(metrics.Percent(in, total)),
				results.Float(metrics.Percent(printed, total))
			r.EnglishFound, r.EnglishAsPrintedFound, r.EnglishTokens = in, printed, total
		})
	}
	if !c.IsBaseline() && fromfile.Aligned(before, aligned) { // a mechanism from outside may change their number
		counts, err := metrics.CountChanged(before, aligned,
			func(t string) bool { return n.vocabulary.ID(t) == embeddings.Unknown })
		if err != nil {
			return nil, err
		}
		sheets = append(sheets, func(r *results.Record) {
			r.PP = results.Float(counts.PP())
			r.TokensChanged, r.TokensTotal, r.TokensUnknown = counts.Changed, counts.Total, counts.Unknown
		})
	}
	if !c.IsBaseline() {
		var err error
		present, rare := -1, []string(nil)
		shared, least := 0, 0
		if c.Metrics.Low > 0 {
			rare, err = lab.Once(p.lab, engine.MakeID("low", n.corpus.Fingerprint, c.Dataset.Name, c.Metrics.Low),
				func() ([]string, error) {
					return metrics.LeastFrequent(n.corpus.Documents, c.Metrics.Low,
						c.root().Derive("low", n.corpus.Name)), nil
				})
			if err != nil {
				return nil, err
			}
			present = metrics.CountPresent(rare, after)
			shared, least = metrics.CountOverlap(before, after, c.Metrics.Low)
		}
		sheets = append(sheets, func(r *results.Record) {
			if present >= 0 {
				r.Low, r.LowPresent, r.LowTotal = results.Float(metrics.Percent(present, len(rare))), present, len(rare)
				r.LowOverlap, r.LowOverlapShared, r.LowOverlapTotal = results.Float(metrics.Percent(shared, least)),
					shared, least
			}
		})
	}
	if c.measuresCS() {
		s, err := p.measureCS(ctx, c, n, before, after)
		if err != nil {
			return nil, fmt.Errorf("cs: %w", err)
		}
		sheets = append(sheets, s)
	}
	return all(sheets), ctx.Err()
}

func all(sheets []sheet) sheet {
	return func(r *results.Record) {
		for _, s := range sheets {
			s(r)
		}
	}
}

// measureCS compares a sample of documents with their privatised form. The
// sample depends only on the data set, so originals are encoded once and cells
// are compared on equal documents.
func (p *planned) measureCS(ctx context.Context, c Cell, n *noisy, before, after [][]string) (sheet, error) {
	start := time.Now()
	defer func() { n.similarity = time.Since(start) }()
	e, err := p.lab.Encoder(ctx, c.Metrics.CS.Encoder, n.corpus, n.space)
	if err != nil {
		return nil, err
	}
	indices := make([]int, len(before))
	for i := range indices {
		indices[i] = i
	}
	sample := metrics.SampleWords(indices, c.Metrics.CS.Documents, c.root().Derive("cs", c.Dataset.Name).Rand())
	sentences := func(documents [][]string) []string {
		s := make([]string, len(sample))
		for i, d := range sample {
			s[i] = strings.Join(documents[d], " ")
		}
		return s
	}
	key := engine.MakeID("originals", n.corpus.Fingerprint, n.space.Fingerprint(), c.Dataset.Name, c.Setting)
	originals, err := lab.Once(p.lab, key, func() ([][]float32, error) { return e.Encode(ctx, sentences(before)) })
	if err != nil {
		return nil, err
	}
	encoded, err := e.Encode(ctx, sentences(after))
	if err != nil {
		return nil, err
	}
	s, err := measure.CompareSentences(originals, encoded)
	return func(r *results.Record) {
		r.CS, r.CSStdDev = results.Float(s.Mean), results.Float(s.StdDev)
		r.CSLow, r.CSHigh = results.Float(s.Low), results.Float(s.High)
		r.CSDocuments, r.CSEncoder = len(sample), e.Name()
	}, err
}

// measureWords probes the mechanism on single words.
func measureWords(ctx context.Context, m mechanisms.Mechanism, c Cell, n *noisy, threads int) (sheet, error) {
	var sheets []sheet
	if o := c.Metrics.Deniability; o.Words > 0 {
		words := measure.SampleWords(n.space.Space, o.Words, c.probeSeed().Derive("deniability"))
		outcomes, err := metrics.MeasureDeniability(words, o.Runs,
			measure.Draw(ctx, m, c.repetitionSeed().Derive("deniability").Rand()))
		if err != nil {
			return nil, err
		}
		named := make([]metrics.Deniability[string], len(outcomes))
		for i, d := range outcomes {
			named[i] = metrics.Deniability[string]{Word: m.Vocabulary().Word(d.Word), Runs: d.Runs,
				Unchanged: d.Unchanged, Distinct: d.Distinct}
		}
		nw, sw, support := measure.ExactDeniability(m, words, o.Runs)
		sheets = append(sheets, func(r *results.Record) {
			r.SetDeniability(named)
			r.NwExact, r.SwExact, r.SwSupport = results.Float(nw), results.Float(sw), results.Float(support)
		})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o := c.Metrics.InferenceError; o.Candidates > 0 {
		adversary := measure.Adversary{
			Candidates: measure.SampleWords(n.space.Space, o.Candidates, c.probeSeed().Derive("inference")),
			Space:      n.space.Space, Polarity: n.corpus.Polarity, Runs: o.Samples,
		}
		e, err := adversary.Infer(m, measure.Draw(ctx, m, c.repetitionSeed().Derive("inference").Rand()))
		if err != nil {
			return nil, err
		}
		sheets = append(sheets, func(r *results.Record) {
			r.EMPosterior, r.EMMap = results.Float(e.Posterior), results.Float(e.MAP)
			r.EMPosteriorEuclidean, r.EMMapEuclidean = results.Float(e.PosteriorEuclidean),
				results.Float(e.MAPEuclidean)
			r.EMMapLower, r.EMStdError = results.Float(e.MAPLower), results.Float(e.StandardError)
			r.EMCandidates, r.EMRuns = e.Candidates, e.Runs
			r.LM = results.Float(e.LM)
		})
	}
	if o := c.Metrics.InferenceError; o.Full && c.Repetition == 1 {
		counts := make([]int, m.Vocabulary().Len())
		for word, count := range n.corpus.Counts {
			if id := m.Vocabulary().ID(word); id != embeddings.Unknown {
				counts[id] = count
			}
		}
		full, err := measure.InferFull(ctx, m, counts[:n.space.Len()+n.zeros], o.Samples,
			c.repetitionSeed().Derive("inference", "full"), threads)
		if err != nil {
			return nil, err
		}
		sheets = append(sheets, func(r *results.Record) {
			set := func(v, low, high *results.Float, i metrics.Interval) {
				*v, *low, *high = results.Float(i.Estimate), results.Float(i.Low), results.Float(i.High)
			}
			set(&r.EMFullUniform, &r.EMFullUniformLow, &r.EMFullUniformHigh, full.Uniform)
			set(&r.EMFullCorpus, &r.EMFullCorpusLow, &r.EMFullCorpusHigh, full.Corpus)
			r.EMFullRuns = full.Runs
		})
	}
	return all(sheets), ctx.Err()
}

// classify trains on one part of the text and tests on the other.
func (p *planned) classify(ctx context.Context, r *results.Record, c Cell, n *noisy) ([]models.Epoch, error) {
	yes := study.Privatizes(c.Setting)
	classes := len(n.corpus.Classes)
	part := func(i int) (models.Examples, error) {
		if n.vectors[i] != nil {
			return models.Examples{Vectors: n.vectors[i], Labels: n.corpus.Labels(i)}, nil
		}
		tokens := n.corpus.Tokens[i]
		if yes[i] {
			tokens = n.tokens[i]
		}
		return n.space.Examples(tokens, n.corpus.Labels(i), n.corpus.WordLevel)
	}
	train := func(c Cell) (*measure.Trained, error) {
		training, err := part(0)
		if err != nil {
			return nil, err
		}
		validation, err := part(1)
		if err != nil {
			return nil, err
		}
		m := measure.Model{Name: c.Model, Parameters: c.modelParameters}
		return measure.Train(ctx, m, classes, n.space.Table, c.modelSeed(), training, validation)
	}
	start := time.Now()
	key := engine.MakeID(c.Model, c.ModelParameters)
	t, known := n.trained[key]
	var err error
	switch {
	case c.Setting == study.TestOnly || c.IsBaseline():
		// The baseline and all test-only cells of one repetition share a model.
		plain := c
		plain.Mechanism, plain.Setting = mechanisms.Settings{Mechanism: results.BaselineMechanism}, study.Local
		of := engine.MakeID("plain", plain.identity(), strconv.Itoa(c.Repetition), key, len(n.space.Table.Vectors))
		yes = [3]bool{false, false, yes[2] && !c.IsBaseline()}
		t, err = lab.Once(p.lab, of, func() (*measure.Trained, error) { return train(plain) })
	case !known: // local and train-only share one
		if t, err = train(c); err == nil {
			n.trained[key] = t
		}
	}
	if err != nil {
		return nil, err
	}
	r.TrainSeconds = results.Float(time.Since(start).Seconds())
	test, err := part(2)
	if err != nil {
		return nil, err
	}
	s, err := measure.Test(ctx, t.Model, classes, test)
	if err != nil {
		return nil, err
	}
	r.TestCorrect, r.TestTotal, r.Correct = s.Correct, s.Total, results.NewOutcomes(s.Right)
	r.Accuracy = results.Float(metrics.Percent(s.Correct, s.Total))
	r.ValidationAccuracy = results.Float(100 * t.ValidationAccuracy())
	r.Epochs, r.AUC = len(t.History.Epochs), results.Float(s.AUC)
	return t.History.Epochs, nil
}
