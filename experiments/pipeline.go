package experiments

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
)

// privatised is what the cells of a group share.
type privatised struct {
	corpus *corpus
	space  *space

	tokens  [3][][]string    // train, validation, test; nil where no setting asks for it
	vectors *vectorText      // instead of tokens, for mechanisms that release vectors
	measure map[string]sheet // text metrics by setting

	guarantee  mechanisms.Guarantee
	undefined  error // the mechanism does not exist at these settings
	words      sheet // metrics of single words: N_w, S_w, E_M
	examples   []Example
	privatise  time.Duration
	probe      time.Duration // measuring words
	similarity time.Duration // measuring CS, of the cell at hand
	privatised int           // tokens
}

// sheet writes measured values into a record.
type sheet func(*results.Record)

// runGroup runs all cells of a group and hands each outcome to done as soon
// as it is complete. On an error the rest of the group is not run.
func (w *workspace) runGroup(ctx context.Context, cells []Cell, keys []string, prints []Fingerprints, threads int, done func(Outcome) error) error {
	repetitions, err := w.privatise(ctx, cells, threads)
	if err != nil {
		return err
	}
	for i, c := range cells {
		p := repetitions[c.Repetition]
		first := i == 0 || cells[i-1].Repetition != c.Repetition
		start := time.Now()
		o := Outcome{Cell: c, Record: newRecord(c, keys[i], prints[i], p)}
		shared := p.privatise
		if p.undefined == nil {
			p.similarity = 0
			if err := w.measure(ctx, &o.Record, c, p); err != nil {
				return fmt.Errorf("measuring: %w", err)
			}
			measuring := time.Since(start) - p.similarity
			if first { // words are probed once for all models
				measuring, shared = measuring+p.probe, shared+p.probe
			}
			o.Record.MeasureSeconds = results.Float(measuring.Seconds())
			if c.measuresCS() {
				o.Record.CSSeconds = results.Float(p.similarity.Seconds())
			}
			if o.Epochs, err = w.classify(ctx, &o.Record, c, p); err != nil {
				return fmt.Errorf("model %s: %w", c.Model, err)
			}
			o.Record.PrivatizeSeconds = results.Float(p.privatise.Seconds())
			o.Record.WordsPerSecond = results.Float(metrics.WordsPerSecond(p.privatised, p.privatise.Seconds()))
		}
		if first {
			o.Examples = p.examples
		}
		o.Record.TotalSeconds = results.Float((time.Since(start) + shared).Seconds())
		o.Record.PeakMemoryMiB = results.Float(peakMemoryMiB())
		if err := done(o); err != nil {
			return err
		}
		if i+1 == len(cells) || cells[i+1].Repetition != c.Repetition {
			delete(repetitions, c.Repetition) // its text is not needed any more
		}
	}
	return nil
}

func newRecord(c Cell, key string, prints Fingerprints, p *privatised) results.Record {
	r := results.NewRecord()
	r.Key, r.Index = key, c.Index
	r.Dataset, r.Generated, r.DatasetFingerprint = c.Dataset.Name, p.corpus.Generated, prints.Dataset
	r.Embedding, r.Dimension, r.EmbeddingFingerprint = c.Embedding, c.Dimension, prints.Embedding
	r.Vocabulary = p.space.Len()
	r.Mechanism, r.Variant, r.Parameters = c.Mechanism.Mechanism, string(c.Mechanism.Variant), c.Mechanism.Parameters.String()
	r.Model, r.ModelParameters = c.Model, c.ModelParameters
	r.Setting, r.Repetition, r.Seed = c.Setting, c.Repetition, c.Seed
	r.Status = results.StatusOK
	r.Machine = Machine()
	if c.IsBaseline() {
		r.GuaranteeReason = "no privatisation"
		return r
	}
	r.Epsilon, r.Policy = results.Float(c.Mechanism.Epsilon), string(c.Policy)
	if p.undefined != nil {
		r.Status, r.Reason = results.StatusUndefined, p.undefined.Error()
		return r
	}
	g := p.guarantee
	r.GuaranteeMetric, r.GuaranteeReason = g.Metric, g.Reason
	if g.Holds() {
		r.GuaranteeEpsilon, r.GuaranteeDelta = results.Float(g.Epsilon), results.Float(g.Delta)
		if g.EuclideanEpsilon > 0 {
			r.GuaranteeEuclidean = results.Float(g.EuclideanEpsilon)
		}
	}
	return r
}

// privatise makes what the cells of each repetition share: the mechanism and
// the noisy text of those splits that some setting privatises.
func (w *workspace) privatise(ctx context.Context, cells []Cell, threads int) (map[int]*privatised, error) {
	c := cells[0]
	corpus, err := w.corpus(ctx, c.Dataset)
	if err != nil {
		return nil, err
	}
	space, err := w.space(ctx, corpus, c)
	if err != nil {
		return nil, err
	}
	repetitions := map[int]*privatised{}
	firsts := map[int]Cell{}
	for _, c := range cells {
		if _, ok := repetitions[c.Repetition]; !ok {
			repetitions[c.Repetition] = &privatised{corpus: corpus, space: space, measure: map[string]sheet{}}
			firsts[c.Repetition] = c
		}
	}
	if c.IsBaseline() {
		for _, p := range repetitions {
			p.tokens = corpus.splits
		}
		return repetitions, nil
	}
	definition, err := mechanisms.Find(c.Mechanism.Mechanism)
	if err != nil {
		return nil, err
	}
	env := mechanisms.Environment{Space: space.Space, Documents: corpus.documents, Seed: c.repetitionSeed().Derive("mechanism")}
	if c.Mechanism.Mechanism == "syntf" {
		if env.Thesaurus, err = w.thesaurus(corpus); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	if definition.NewVector != nil {
		p := repetitions[c.Repetition] // never PerWord: one repetition
		m, err := mechanisms.NewVector(env, c.Mechanism)
		if err != nil {
			return repetitions, undefinedIn(repetitions, err)
		}
		p.guarantee = m.Guarantee()
		p.vectors, p.privatised, err = releaseVectors(ctx, m, c, corpus)
		p.privatise = time.Since(start)
		return repetitions, err
	}
	m, err := mechanisms.New(env, c.Mechanism)
	if err != nil {
		return repetitions, undefinedIn(repetitions, err)
	}
	if err := privatiseText(ctx, m, cells, corpus, repetitions, threads); err != nil {
		return nil, fmt.Errorf("privatising: %w", err)
	}
	took := time.Since(start) / time.Duration(len(repetitions))
	for r, p := range repetitions {
		p.guarantee, p.privatise = m.Guarantee(), took
		start := time.Now()
		if p.words, err = w.measureWords(ctx, m, firsts[r], corpus, space); err != nil {
			return nil, fmt.Errorf("measuring words: %w", err)
		}
		p.probe = time.Since(start)
		if r == 1 {
			p.examples = examples(c, corpus, p.tokens)
		}
	}
	return repetitions, nil
}

// privatiseText privatises all repetitions of a group in one call, which
// builds what a mechanism tabulates per word once. Documents that no cell
// needs are empty, so that each document keeps its place and with it its
// stream.
func privatiseText(ctx context.Context, m mechanisms.Mechanism, cells []Cell, corpus *corpus, repetitions map[int]*privatised, threads int) error {
	needed := splitsOf(cells)
	n := len(corpus.documents)
	var documents [][]string
	for r := 1; len(documents) < n*slices.Max(slices.Collect(maps.Keys(repetitions))); r++ {
		for i, split := range corpus.splits {
			if repetitions[r] == nil || !needed[i] {
				split = make([][]string, len(split))
			}
			documents = append(documents, split...)
		}
	}
	noisy, err := mechanisms.Text(ctx, m, cells[0].Policy, documents, cells[0].textSeed(), threads)
	if err != nil {
		return err
	}
	for r, p := range repetitions {
		at := (r - 1) * n
		for i, split := range corpus.splits {
			if needed[i] {
				p.tokens[i] = noisy[at : at+len(split)]
				for _, d := range split {
					p.privatised += len(d)
				}
			}
			at += len(split)
		}
	}
	return nil
}

// undefinedIn makes a result of the error of a mechanism that does not exist
// at its settings; any other error is returned.
func undefinedIn(repetitions map[int]*privatised, err error) error {
	var undefined *mechanisms.UndefinedError
	if !errors.As(err, &undefined) {
		return err
	}
	for _, p := range repetitions {
		p.undefined = err
	}
	return nil
}

// privatises says which splits a setting privatises.
func privatises(setting string) [3]bool {
	switch setting {
	case TrainOnly:
		return [3]bool{true, true, false}
	case TestOnly:
		return [3]bool{false, false, true}
	default:
		return [3]bool{true, true, true}
	}
}

func splitsOf(cells []Cell) (needed [3]bool) {
	for _, c := range cells {
		for i, yes := range privatises(c.Setting) {
			needed[i] = needed[i] || yes
		}
	}
	return needed
}

// examples are a few short test documents before and after.
func examples(c Cell, corpus *corpus, tokens [3][][]string) []Example {
	const count, longest = 3, 20
	if tokens[2] == nil {
		return nil
	}
	var out []Example
	for i, d := range corpus.Test {
		if len(d.Tokens) == 0 || len(d.Tokens) > longest {
			continue
		}
		out = append(out, Example{
			Dataset: c.Dataset.Name, Embedding: c.Embedding, Dimension: c.Dimension,
			Mechanism: c.Mechanism.Mechanism, Variant: string(c.Mechanism.Variant),
			Parameters: c.Mechanism.Parameters.String(), Epsilon: c.Mechanism.Epsilon, Document: d.ID,
			Original: strings.Join(d.Tokens, " "), Privatised: strings.Join(tokens[2][i], " "),
		})
		if len(out) == count {
			break
		}
	}
	return out
}

// measure fills in the metrics of words and of text.
func (w *workspace) measure(ctx context.Context, r *results.Record, c Cell, p *privatised) error {
	if p.words != nil {
		p.words(r)
	}
	if p.vectors != nil {
		return nil // there is no text to be compared
	}
	s, ok := p.measure[c.Setting]
	if !ok {
		var err error
		if s, err = w.measureText(ctx, c, p); err != nil {
			return err
		}
		p.measure[c.Setting] = s
	}
	s(r)
	return nil
}

// measureText compares the privatised splits of a setting with the original.
func (w *workspace) measureText(ctx context.Context, c Cell, p *privatised) (sheet, error) {
	var before, after [][]string
	for i, yes := range privatises(c.Setting) {
		if yes {
			before = append(before, p.corpus.splits[i]...)
			after = append(after, p.tokens[i]...)
		}
	}
	var sheets []sheet
	if ref := c.Metrics.English; ref != "" {
		list, err := w.english()
		if err != nil {
			return nil, err
		}
		in, total := metrics.CountEnglish(after, list.Contains)
		sheets = append(sheets, func(r *results.Record) {
			r.English = results.Float(metrics.Percent(in, total))
			r.EnglishFound, r.EnglishTokens = in, total
		})
	}
	if !c.IsBaseline() {
		counts, err := metrics.CountChanged(before, after, func(t string) bool {
			return p.space.Vocabulary.ID(t) == embeddings.Unknown
		})
		if err != nil {
			return nil, err
		}
		present, rare := -1, p.corpus.rare()
		if c.Metrics.Low > 0 {
			present = metrics.CountPresent(rare, after)
		}
		sheets = append(sheets, func(r *results.Record) {
			r.PP = results.Float(counts.PP())
			r.TokensChanged, r.TokensTotal, r.TokensUnknown = counts.Changed, counts.Total, counts.Unknown
			if present >= 0 {
				r.Low, r.LowPresent, r.LowTotal = results.Float(metrics.Percent(present, len(rare))), present, len(rare)
			}
		})
	}
	if c.measuresCS() {
		s, err := w.measureCS(ctx, c, p, before, after)
		if err != nil {
			return nil, fmt.Errorf("cs: %w", err)
		}
		sheets = append(sheets, s)
	}
	return func(r *results.Record) {
		for _, s := range sheets {
			s(r)
		}
	}, ctx.Err()
}

// measureWords probes the mechanism on single words.
func (w *workspace) measureWords(ctx context.Context, m mechanisms.Mechanism, c Cell, corpus *corpus, space *space) (sheet, error) {
	var sheets []sheet
	all := make([]mechanisms.WordID, space.Len())
	for i := range all {
		all[i] = mechanisms.WordID(i)
	}
	probe := func(what string) func(dst, src []mechanisms.WordID) {
		rng := c.repetitionSeed().Derive(what).Rand()
		return func(dst, src []mechanisms.WordID) { m.Privatize(dst, src, nil, rng) }
	}
	if o := c.Metrics.Deniability; o.Words > 0 {
		words := metrics.SampleWords(all, o.Words, c.probeSeed().Derive("deniability").Rand())
		outcomes, err := metrics.MeasureDeniability(words, o.Runs, probe("deniability"))
		if err != nil {
			return nil, err
		}
		named := make([]metrics.Deniability[string], len(outcomes))
		for i, d := range outcomes {
			named[i] = metrics.Deniability[string]{Word: m.Vocabulary().Word(d.Word), Runs: d.Runs, Unchanged: d.Unchanged, Distinct: d.Distinct}
		}
		nw, sw, support := exactDeniability(m, words, o.Runs)
		sheets = append(sheets, func(r *results.Record) {
			r.SetDeniability(named)
			r.NwExact, r.SwExact, r.SwSupport = results.Float(nw), results.Float(sw), results.Float(support)
		})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o := c.Metrics.InferenceError; o.Candidates > 0 {
		candidates := metrics.SampleWords(all, o.Candidates, c.probeSeed().Derive("inference").Rand())
		e, err := inferenceError(m, candidates, o.Samples, corpus, space, probe("inference"))
		if err != nil {
			return nil, err
		}
		sheets = append(sheets, func(r *results.Record) {
			r.EMPosterior, r.EMMap = results.Float(e.Posterior), results.Float(e.MAP)
			r.EMPosteriorEuclidean, r.EMMapEuclidean = results.Float(e.PosteriorEuclidean), results.Float(e.MAPEuclidean)
			r.EMMapLower, r.EMStdError = results.Float(e.MAPLower), results.Float(e.StandardError)
			r.EMCandidates, r.EMRuns = e.Candidates, e.Runs
			r.LM = results.Float(e.LM)
		})
	}
	return func(r *results.Record) {
		for _, s := range sheets {
			s(r)
		}
	}, nil
}

// supportTail is the mass outside the smallest set of outputs that S_w's exact
// form counts.
const supportTail = 0.05

// exactDeniability gives the means over words of N_w in percent, of the
// expected number of distinct outputs, and of the effective support; missing
// where the mechanism has no closed form.
func exactDeniability(m mechanisms.Mechanism, words []mechanisms.WordID, runs int) (nw, sw, support float64) {
	missing := math.NaN()
	d, ok := m.(mechanisms.Distributor)
	if !ok {
		return missing, missing, missing
	}
	for _, word := range words {
		p, err := d.Distribution(word)
		if err != nil || p.Samples > 0 {
			return missing, missing, missing
		}
		nw += metrics.ExactNw(p.Probabilities, int(word))
		sw += metrics.ExpectedDistinct(p.Probabilities, runs)
		support += float64(metrics.EffectiveSupport(p.Probabilities, supportTail))
	}
	n := float64(len(words))
	return nw / n, sw / n, support / n
}

// inferenceError is exact where the distribution is known, sampled elsewhere.
func inferenceError(m mechanisms.Mechanism, candidates []mechanisms.WordID, samples int, corpus *corpus, space *space, privatize func(dst, src []mechanisms.WordID)) (metrics.InferenceError, error) {
	a := metrics.Adversary{
		Prior:    metrics.UniformPrior(len(candidates)),
		Distance: func(i, j int) float64 { return space.Distance(candidates[i], candidates[j]) },
	}
	if corpus.polarity != nil {
		v := m.Vocabulary()
		a.Loss = func(candidate, output int) float64 {
			before, after := v.Word(candidates[candidate]), v.Word(mechanisms.WordID(output))
			label, known := corpus.polarity[after]
			if known && label != corpus.polarity[before] {
				return 1
			}
			return 0
		}
	}
	if d, ok := m.(mechanisms.Distributor); ok {
		if p, err := d.Distribution(candidates[0]); err == nil && p.Samples == 0 {
			return a.ExactInference(func(i int) ([]float64, error) {
				p, err := d.Distribution(candidates[i])
				return p.Probabilities, err
			})
		}
	}
	nearest := func(output int) int {
		best, least := 0, math.Inf(1)
		if output < space.Len() {
			for i, w := range candidates {
				if d := space.Distance(mechanisms.WordID(output), w); d < least {
					best, least = i, d
				}
			}
		}
		return best
	}
	return a.EstimateInference(metrics.SampleOutputs(candidates, samples, privatize), nearest)
}

// classify trains on the one part of the text and tests on the other.
func (w *workspace) classify(ctx context.Context, r *results.Record, c Cell, p *privatised) ([]models.Epoch, error) {
	start := time.Now()
	yes := privatises(c.Setting)
	part := func(i int) (models.Examples, error) {
		if p.vectors != nil {
			return p.vectors.examples(i, p.corpus), nil
		}
		tokens := p.corpus.splits[i]
		if yes[i] {
			tokens = p.tokens[i]
		}
		return p.space.examples(tokens, p.corpus, i)
	}
	var t *trained
	var err error
	if c.Setting == TestOnly || c.IsBaseline() {
		t, err = w.plainClassifier(ctx, c, p)
	} else {
		t, err = train(ctx, c, p, part)
	}
	if err != nil {
		return nil, err
	}
	r.TrainSeconds = results.Float(time.Since(start).Seconds())
	test, err := part(2)
	if err != nil {
		return nil, err
	}
	scores, err := t.model.Score(ctx, test)
	if err != nil {
		return nil, err
	}
	predicted := make([]int, len(scores))
	for i, s := range scores {
		predicted[i] = argmax(s)
	}
	correct, err := metrics.Correct(predicted, test.Labels)
	if err != nil {
		return nil, err
	}
	r.TestCorrect, r.TestTotal = correct, len(predicted)
	r.Accuracy = results.Float(metrics.Percent(correct, len(predicted)))
	r.ValidationAccuracy = results.Float(100 * t.validationAccuracy())
	r.Epochs = len(t.history.Epochs)
	if len(p.corpus.Classes) == 2 {
		margin, positive := make([]float64, len(scores)), make([]bool, len(scores))
		for i, s := range scores {
			margin[i], positive[i] = s[1]-s[0], test.Labels[i] == 1
		}
		auc, err := metrics.AUC(margin, positive)
		if err != nil {
			return nil, err
		}
		r.AUC = results.Float(auc)
	}
	return t.history.Epochs, nil
}

// trained is a classifier after Fit.
type trained struct {
	model   models.Classifier
	history models.History
}

func (t *trained) validationAccuracy() float64 {
	h := t.history
	if h.Best >= 0 && h.Best < len(h.Epochs) {
		return h.Epochs[h.Best].ValidationAccuracy
	}
	if v, ok := h.Chosen["validation_accuracy"]; ok {
		return v
	}
	return math.NaN()
}

// plainClassifier is the classifier trained on plain text, which the baseline
// and all test-only cells of one repetition share.
func (w *workspace) plainClassifier(ctx context.Context, c Cell, p *privatised) (*trained, error) {
	c.Mechanism = mechanisms.Settings{Mechanism: results.BaselineMechanism}
	c.Setting = Local
	key := strings.Join(append(c.identity(), strconv.Itoa(c.Repetition), c.Model, c.ModelParameters), "\x00")
	return w.classifier.get(key, func() (*trained, error) {
		return train(ctx, c, p, func(i int) (models.Examples, error) {
			return p.space.examples(p.corpus.splits[i], p.corpus, i)
		})
	})
}

func train(ctx context.Context, c Cell, p *privatised, part func(int) (models.Examples, error)) (*trained, error) {
	options := models.Options{Classes: len(p.corpus.Classes), Embedding: p.space.table, Seed: c.modelSeed(), Parameters: c.modelParameters}
	m, err := models.New(c.Model, options)
	if err != nil {
		return nil, err
	}
	training, err := part(0)
	if err != nil {
		return nil, err
	}
	validation, err := part(1)
	if err != nil {
		return nil, err
	}
	h, err := m.Fit(ctx, training, validation)
	if err != nil {
		return nil, err
	}
	return &trained{m, h}, nil
}

// examples are the inputs of a model: sequences, or the vectors of single words.
func (s *space) examples(tokens [][]string, c *corpus, split int) (models.Examples, error) {
	x := models.Examples{Labels: datasets.Labels(c.Splits()[split].Documents)}
	if !c.WordLevel {
		x.Sequences = s.ids.Rows(tokens)
		return x, nil
	}
	var err error
	x.Vectors, err = s.vectors(tokens)
	return x, err
}

// vectorText is a text released as vectors: per document their mean.
type vectorText struct{ splits [3][][]float32 }

func (v *vectorText) examples(split int, c *corpus) models.Examples {
	return models.Examples{Vectors: v.splits[split], Labels: datasets.Labels(c.Splits()[split].Documents)}
}

// releaseVectors privatises all splits with a mechanism that releases
// vectors. Of a word outside the vocabulary there is no vector to release:
// policy random replaces it, the others leave it out.
func releaseVectors(ctx context.Context, m mechanisms.VectorMechanism, c Cell, corpus *corpus) (*vectorText, int, error) {
	var out vectorText
	v, width, words := m.Vocabulary(), m.OutputDimension(), 0
	var ids []mechanisms.WordID
	var buffer []float32
	sum := make([]float64, width)
	for i, documents := range corpus.splits {
		seed := c.repetitionSeed().Derive(splitNames[i])
		out.splits[i] = make([][]float32, len(documents))
		for j, d := range documents {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
			rng := seed.At(uint64(j)).Rand()
			ids = releasable(ids[:0], d, v, c.Policy, rng)
			words += len(ids)
			if n := len(ids) * width; cap(buffer) < n {
				buffer = make([]float32, n)
			}
			buffer = buffer[:len(ids)*width]
			m.Release(buffer, ids, rng)
			clear(sum)
			for k, x := range buffer {
				sum[k%width] += float64(x)
			}
			mean := make([]float32, width)
			for k := range mean {
				if len(ids) > 0 {
					mean[k] = float32(sum[k] / float64(len(ids)))
				}
			}
			out.splits[i][j] = mean
		}
	}
	return &out, words, nil
}

func releasable(dst []mechanisms.WordID, tokens []string, v *embeddings.Vocabulary, policy mechanisms.Policy, rng *rand.Rand) []mechanisms.WordID {
	for _, t := range tokens {
		id := v.ID(t)
		if id == embeddings.Unknown {
			if policy != mechanisms.Random {
				continue
			}
			id = mechanisms.WordID(rng.IntN(v.Len()))
		}
		dst = append(dst, id)
	}
	return dst
}

func argmax(s []float64) int {
	best := 0
	for i, v := range s {
		if v > s[best] {
			best = i
		}
	}
	return best
}
