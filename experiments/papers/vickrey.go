package papers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

func init() { study.Register("vickrey", func() study.Body { return &vickreyStudy{} }) }

// vickreyStudy is the empirical part of Xu, Aggarwal, Feyisetan & Teissier
// 2021 ("On a Utilitarian Approach to Privacy Preserving Text Generation"):
// the adversary's inference error against ε and against utility loss (Figure
// 2), and for the deterministic k-th neighbour (Figure 3, as further curves).
type vickreyStudy struct {
	study.Header `yaml:",inline"`
	Mechanisms   []study.MechanismSpec `yaml:"mechanisms"`
	Panels       []vickreyPanel        `yaml:"panels"`
}

// vickreyPanel is one data set. The adversary knows the prior over the
// candidates and learns the mechanism's distribution from half of the runs.
type vickreyPanel struct {
	Name      string              `yaml:"name"`
	Dataset   study.DatasetSpec   `yaml:"dataset"`
	Embedding study.EmbeddingSpec `yaml:"embedding"`
	Epsilons  []float64           `yaml:"epsilons"`
	Runs      int                 `yaml:"runs" limits:"2,1000000"` // number of times every candidate is sent; even
	// "uniform" or "empirical" (frequency in the data set)
	Prior string `yaml:"prior"`
	// Candidates bounds the number of secret words that the adversary
	// distinguishes, a seeded sample of the redaction list; 0 means the whole
	// list.
	Candidates int `yaml:"candidates,omitempty" limits:"0,1000000"`
	// MinCount and MaxCount define the redaction list of a text data set: words
	// whose number of occurrences lies between them are privatised, the others
	// stay unchanged. The paper does not say how its list of 26,078 of 145,901
	// IMDb words was chosen.
	MinCount int `yaml:"min_count,omitempty" limits:"0,1000000000"`
	MaxCount int `yaml:"max_count,omitempty" limits:"0,1000000000"` // 0 means no bound
	// Model measures utility on the privatised text of a text data set, in
	// Repetitions repetitions; word-level data sets use the polarity of words
	// instead.
	Model       *study.ModelSpec `yaml:"model,omitempty"`
	Repetitions int              `yaml:"repetitions,omitempty" limits:"1,10000"`
}

// Check validates every value.
func (s *vickreyStudy) Check(at study.At) error {
	if err := errors.Join(checkHeader(at, &s.Header), checkMechanisms(at, s.Mechanisms)); err != nil {
		return err
	}
	if len(s.Mechanisms) == 0 || len(s.Panels) == 0 {
		return at(errors.New("mechanisms and panels: must not be empty"), "panels")
	}
	for i := range s.Panels {
		if err := s.Panels[i].check(at, fmt.Sprintf("panels[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

func (p *vickreyPanel) check(at study.At, where string) error {
	if err := checkPlace(at, where, p.Name, &p.Embedding, p.Epsilons); err != nil {
		return err
	}
	if err := checkData(at, where, p.Dataset, p.Model); err != nil {
		return err
	}
	t, err := p.Dataset.Traits()
	switch {
	case err != nil:
		return at(err, "%s.dataset", where)
	case p.Runs < 2 || p.Runs%2 != 0:
		return at(fmt.Errorf("runs = %d: must be even and >= 2", p.Runs), "%s.runs", where)
	case t.WordLevel != (p.Model == nil):
		return at(fmt.Errorf("panel %s: a model is needed for texts and for nothing else", p.Name), "%s", where)
	}
	if p.Model != nil {
		if err := number(at, where, "repetitions", p.Repetitions, 1); err != nil {
			return err
		}
	}
	if err := needEpsilons(at, where, p.Epsilons); err != nil {
		return err
	}
	return at(check.OneOf("prior", p.Prior, "uniform", "empirical"), "%s.prior", where)
}

// Override applies flags.
func (s *vickreyStudy) Override(o study.Overrides) (study.Body, error) {
	c, named := *s, []string(nil)
	c.Panels = choose(o, &named, "panels", s.Panels, func(p vickreyPanel) string { return p.Name })
	return &c, refuse(o, named)
}

// Wants returns the resources that the study uses.
func (s *vickreyStudy) Wants() (w lab.Wants) {
	for _, p := range s.Panels {
		w.Datasets, w.Embeddings = append(w.Datasets, p.Dataset), append(w.Embeddings, p.Embedding)
	}
	return wants(w, s.Mechanisms)
}

// Plan turns the study into units.
func (s *vickreyStudy) Plan(l *lab.Lab) ([]engine.Unit, error) {
	all, err := curves(s.Mechanisms)
	if err != nil {
		return nil, err
	}
	var units []engine.Unit
	for _, p := range s.Panels {
		at := newPlace(&s.Header, l, p.Name)
		id := []any{p.Runs, p.Prior, p.Candidates, p.MinCount, p.MaxCount}
		work := func() lab.Work {
			w := at.lab.Reading(p.sample(at.seed), p.Embedding.Dimensions[0])
			words := w.Size / float64(p.Embedding.Dimensions[0])
			if p.Candidates > 0 {
				words = min(words, float64(p.Candidates))
			}
			w.Private = float64(p.Runs) * words
			if p.Model != nil {
				w.Private += w.Tokens * float64(p.Repetitions)
				w.Trainings = float64(p.Repetitions)
			}
			return w
		}
		if p.Model != nil {
			id = append(id, model(*p.Model), p.Repetitions)
		}
		for _, c := range all {
			for _, epsilon := range c.over(p.Epsilons) {
				row := c.row(c.at(epsilon), "epsilon", results.Float(epsilon))
				row.Dataset, row.Embedding, row.Dimension = p.Dataset.Name, p.Embedding.Name, p.Embedding.Dimensions[0]
				if p.Model != nil {
					row.Model, row.ModelParameters = p.Model.Name, models.FormatParameters(model(*p.Model).Parameters)
				}
				units = append(units, at.unit(row, append(slices.Clone(id), study.Labels(c.at(epsilon))),
					func(ctx context.Context) (lab.Fingerprints, error) {
						return l.OfText(ctx, p.sample(at.seed), p.Embedding, p.Embedding.Dimensions[0], c.needs)
					}, work,
					func(ctx context.Context, row results.Record, job *engine.Job) ([]results.Record, error) {
						x, err := p.open(ctx, l, at.seed, c.needs)
						if err != nil {
							return nil, err
						}
						m, err := at.wordsMechanism(x.space.Space, x.corpus, c, epsilon)
						if err != nil {
							return nil, err
						}
						row.DatasetFingerprint = x.corpus.Fingerprint
						return x.measure(ctx, m, on(row, x.space.Space).Promised(m.Guarantee()),
							at.seed.Derive(append([]string{"run"}, study.Labels(c.at(epsilon))...)...), job.Threads)
					}))
			}
		}
	}
	return units, nil
}

func (p vickreyPanel) sample(seed stream.Seed) lab.Sample {
	return lab.Sample{Dataset: p.Dataset, Seed: seed.Derive("dataset")}
}

// secrets are the words that the adversary of a panel tries to infer.
type secrets struct {
	panel     vickreyPanel
	corpus    *measure.Corpus
	space     *measure.Space
	redacted  []bool // per word of the space: privatised in texts
	adversary measure.Adversary
}

func (p vickreyPanel) open(ctx context.Context, l *lab.Lab, seed stream.Seed, needs mechanisms.Needs) (*secrets,
	error) {
	corpus, err := l.Corpus(ctx, p.sample(seed))
	if err != nil {
		return nil, err
	}
	space, err := l.Space(ctx, p.sample(seed), p.Embedding, p.Embedding.Dimensions[0], needs.Thesaurus)
	if err != nil {
		return nil, err
	}
	x := &secrets{panel: p, corpus: corpus, space: space, redacted: make([]bool, space.Len())}
	var candidates []mechanisms.WordID
	for id, word := range space.Vocabulary.Words() {
		if n := corpus.Counts[word]; n >= p.MinCount && (p.MaxCount == 0 || n <= p.MaxCount) {
			x.redacted[id] = true
			candidates = append(candidates, mechanisms.WordID(id))
		}
	}
	if len(candidates) == 0 {
		return nil, fmt.Errorf("no word occurs between %d and %d times", p.MinCount, p.MaxCount)
	}
	if p.Candidates > 0 && p.Candidates < len(candidates) {
		candidates = metrics.SampleWords(candidates, p.Candidates, seed.Derive("candidates").Rand())
		slices.Sort(candidates)
	}
	prior := metrics.UniformPrior(len(candidates))
	if p.Prior == "empirical" {
		n := make([]int, len(candidates))
		for i, id := range candidates {
			n[i] = corpus.Counts[space.Vocabulary.Word(id)]
		}
		if prior, err = metrics.EmpiricalPrior(n); err != nil {
			return nil, err
		}
	}
	// An output that did not occur in learning is guessed to be the word
	// itself.
	x.adversary = measure.Adversary{Candidates: candidates, Prior: prior, Polarity: corpus.Polarity, Runs: p.Runs,
		Sampled: true}
	x.adversary.Fallback = x.adversary.Itself()
	return x, nil
}

func (x *secrets) measure(ctx context.Context, m mechanisms.Mechanism, base results.Record, seed stream.Seed,
	threads int) ([]results.Record, error) {
	e, err := x.adversary.Infer(m, measure.Draw(ctx, m, seed.Derive("adversary").Rand()))
	if err != nil {
		return nil, err
	}
	var rows []results.Record
	for run, r := range e.PerRun {
		rows = append(rows, with(base, "e_m_map", run+1, r.MAP), with(base, "e_m_posterior", run+1, r.Posterior))
		if x.corpus.Polarity != nil {
			rows = append(rows, with(base, "loss", run+1, r.LM))
		}
	}
	if x.panel.Model == nil {
		return rows, ctx.Err()
	}
	for r := range x.panel.Repetitions {
		right, err := x.trainPrivate(ctx, m, seed.Derive("text").At(uint64(r)), threads)
		if err != nil {
			return nil, err
		}
		rows = append(rows, with(base, "loss", r+1, 1-right))
	}
	return rows, ctx.Err()
}

// trainPrivate privatises the words of the redaction list in all texts and
// returns the accuracy of a classifier trained and tested on them.
func (x *secrets) trainPrivate(ctx context.Context, m mechanisms.Mechanism, seed stream.Seed, threads int) (float64,
	error) {
	documents, err := x.redact(ctx, m, seed, threads)
	if err != nil {
		return 0, err
	}
	var parts [3]models.Examples
	for i, split := range x.corpus.Tokens {
		if parts[i], err = x.space.Examples(documents[:len(split)], x.corpus.Labels(i), false); err != nil {
			return 0, err
		}
		documents = documents[len(split):]
	}
	classes := len(x.corpus.Classes)
	t, err := measure.Train(ctx, model(*x.panel.Model), classes, x.space.Table, seed.Derive("model"), parts[0],
		parts[1])
	if err != nil {
		return 0, err
	}
	s, err := measure.Test(ctx, t.Model, classes, parts[2])
	return s.Accuracy(), err
}

func (x *secrets) redact(ctx context.Context, m mechanisms.Mechanism, seed stream.Seed, threads int) ([][]string,
	error) {
	isSecret := func(token string) bool { return x.space.Known(token) && x.redacted[x.space.Vocabulary.ID(token)] }
	documents := x.corpus.Documents
	secret := make([][]string, len(documents))
	for i, doc := range documents {
		for _, token := range doc {
			if isSecret(token) {
				secret[i] = append(secret[i], token)
			}
		}
	}
	private, err := measure.Privatize(ctx, m, mechanisms.Keep, [][][]string{secret}, len(secret), seed, threads)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(documents))
	for i, doc := range documents {
		next := 0
		out[i] = slices.Clone(doc)
		for j, token := range doc {
			if isSecret(token) {
				out[i][j] = private[0][i][next]
				next++
			}
		}
	}
	return out, nil
}

// TuneRequest selects the data on which Tune searches.
type TuneRequest struct {
	Data       string
	Dataset    study.DatasetSpec
	Embedding  study.EmbeddingSpec
	Runs       int    // per word; even
	Prior      string // "uniform" or "empirical"
	Seed       uint64
	MaxLoss    float64
	T          []float64
	MaxEpsilon float64
	Each       func(measure.TuneStep) error // as in measure.TuneOptions
}

// Tune runs measure.Tune on a word-level data set of the data folder.
func Tune(ctx context.Context, q TuneRequest) ([]measure.TuneStep, error) {
	h := &study.Header{Name: "tune", Protocol: "tune", Seed: q.Seed}
	o := measure.TuneOptions{Seed: studySeed(h), MaxLoss: q.MaxLoss, T: q.T, MaxEpsilon: q.MaxEpsilon, Each: q.Each}
	panel := vickreyPanel{Name: "tune", Dataset: q.Dataset, Embedding: q.Embedding, Epsilons: []float64{q.MaxEpsilon},
		Runs: q.Runs, Prior: q.Prior}
	plain := func(err error, _ string, _ ...any) error { return err }
	if err := o.Check(); err != nil {
		return nil, err
	}
	if err := panel.check(plain, ""); err != nil {
		return nil, err
	}
	x, err := panel.open(ctx, lab.New(q.Data), o.Seed, mechanisms.Needs{})
	if err != nil {
		return nil, err
	}
	o.Adversary = x.adversary
	o.Space = x.space.Space
	return measure.Tune(ctx, o)
}
