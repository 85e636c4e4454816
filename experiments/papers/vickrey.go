package papers

import (
	"context"
	"fmt"
	"slices"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

func init() { protocols["vickrey"] = func() Study { return &vickreyStudy{} } }

// vickreyStudy is the empirical part of Xu, Aggarwal, Feyisetan & Teissier
// 2021 ("On a Utilitarian Approach to Privacy Preserving Text Generation"):
// the adversary's inference error against ε and against utility loss (Figure
// 2), and for the deterministic k-th neighbour (Figure 3, as further curves).
type vickreyStudy struct {
	Header `yaml:",inline"`
	Curves []Curve        `yaml:"curves"`
	Panels []vickreyPanel `yaml:"panels"`
}

// vickreyPanel is one data set. The adversary knows the prior over the
// candidates and learns the mechanism's distribution from half of the runs.
type vickreyPanel struct {
	Name      string        `yaml:"name"`
	Dataset   DatasetSpec   `yaml:"dataset"`
	Embedding EmbeddingSpec `yaml:"embedding"`
	Epsilons  []float64     `yaml:"epsilons"`
	Runs      int           `yaml:"runs"`  // every candidate is sent so often; even
	Prior     string        `yaml:"prior"` // "uniform" or "empirical" (frequency in the data set)
	// Candidates bounds how many secret words the adversary distinguishes, a
	// seeded sample of the redaction list; 0 means the whole list.
	Candidates int `yaml:"candidates,omitempty"`
	// MinCount and MaxCount define the redaction list of a text data set:
	// words whose number of occurrences lies between them are privatised, the
	// others stay. The paper does not say how its list of 26,078 of 145,901
	// IMDb words was chosen.
	MinCount int `yaml:"min_count,omitempty"`
	MaxCount int `yaml:"max_count,omitempty"` // 0 means no bound
	// Model measures utility on the privatised text of a text data set, in so
	// many Trials; word-level data sets use the polarity of words instead.
	Model  *ModelSpec `yaml:"model,omitempty"`
	Trials int        `yaml:"trials,omitempty"`
}

func (s *vickreyStudy) check() error {
	if _, err := expand(s.Curves); err != nil {
		return fmt.Errorf("curves: %w", err)
	}
	if len(s.Curves) == 0 || len(s.Panels) == 0 {
		return fmt.Errorf("curves and panels: must not be empty")
	}
	for i, p := range s.Panels {
		if err := p.check(); err != nil {
			return fmt.Errorf("panels[%d]: %w", i, err)
		}
	}
	return nil
}

func (p vickreyPanel) check() error {
	d, err := datasets.Find(p.Dataset.Name)
	if err != nil {
		return err
	}
	for _, err := range []error{
		p.Embedding.check(), checkEpsilons(p.Epsilons),
		check.AtLeast("runs", p.Runs, 2), check.AtLeast("candidates", p.Candidates, 0),
		check.AtLeast("min_count", p.MinCount, 0), check.AtLeast("max_count", p.MaxCount, 0),
		check.OneOf("prior", p.Prior, "uniform", "empirical"),
	} {
		if err != nil {
			return err
		}
	}
	if p.Name == "" || p.Runs%2 != 0 {
		return fmt.Errorf("panel %q: needs a name and an even number of runs", p.Name)
	}
	if d.WordLevel != (p.Model == nil) {
		return fmt.Errorf("panel %s: a model is needed for texts and for nothing else", p.Name)
	}
	if p.Model != nil {
		if err := check.AtLeast("trials", p.Trials, 1); err != nil {
			return err
		}
		return p.Model.check()
	}
	return nil
}

// secrets are what the adversary of a panel wants to know.
type secrets struct {
	panel      vickreyPanel
	dataset    *datasets.Dataset
	space      *embeddings.Space
	candidates []embeddings.WordID
	prior      []float64
	redacted   []bool         // per word of the space: privatised in texts
	polarity   map[string]int // word-level only
	seed       stream.Seed
}

func (s *vickreyStudy) plan(ctx context.Context, lab *Lab) ([]Unit, error) {
	curves, err := expand(s.Curves)
	if err != nil {
		return nil, err
	}
	var units []Unit
	for _, p := range s.Panels {
		if !lab.wants("panels", p.Name) {
			continue
		}
		secret, err := p.open(ctx, lab, s.seed().Derive(p.Name))
		if err != nil {
			return nil, fmt.Errorf("panel %s: %w", p.Name, err)
		}
		for _, c := range curves {
			for _, epsilon := range c.over(p.Epsilons) {
				settings := c.at(epsilon)
				units = append(units, Unit{
					Panel: p.Name, Series: c.label, X: results.Float(epsilon),
					identity: []any{p, settings, secret.dataset.Fingerprint, secret.space.Fingerprint()},
					run:      func(ctx context.Context) ([]results.Record, error) { return secret.measure(ctx, c, settings) },
				})
			}
		}
	}
	return units, nil
}

func (p vickreyPanel) open(ctx context.Context, lab *Lab, seed stream.Seed) (*secrets, error) {
	d, err := p.Dataset.open(ctx, lab, seed)
	if err != nil {
		return nil, err
	}
	frequency := counts(d)
	space, err := p.Embedding.open(ctx, lab, inSet(frequency))
	if err != nil {
		return nil, err
	}
	x := &secrets{panel: p, dataset: d, space: space, redacted: make([]bool, space.Len()), seed: seed}
	if d.WordLevel {
		x.polarity = map[string]int{}
		for _, split := range d.Splits() {
			for _, doc := range split.Documents {
				if len(doc.Tokens) == 1 {
					x.polarity[doc.Tokens[0]] = doc.Label
				}
			}
		}
	}
	for id, word := range space.Vocabulary.Words() {
		if n := frequency[word]; n >= p.MinCount && (p.MaxCount == 0 || n <= p.MaxCount) {
			x.redacted[id] = true
			x.candidates = append(x.candidates, embeddings.WordID(id))
		}
	}
	if len(x.candidates) == 0 {
		return nil, fmt.Errorf("no word occurs between %d and %d times", p.MinCount, p.MaxCount)
	}
	if p.Candidates > 0 && p.Candidates < len(x.candidates) {
		x.candidates = metrics.SampleWords(x.candidates, p.Candidates, seed.Derive("candidates").Rand())
		slices.Sort(x.candidates)
	}
	x.prior = metrics.UniformPrior(len(x.candidates))
	if p.Prior == "empirical" {
		n := make([]int, len(x.candidates))
		for i, id := range x.candidates {
			n[i] = frequency[space.Vocabulary.Word(id)]
		}
		if x.prior, err = metrics.EmpiricalPrior(n); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (x *secrets) measure(ctx context.Context, c series, settings mechanisms.Settings) ([]results.Record, error) {
	m, err := mechanisms.New(mechanisms.Environment{Space: x.space, Seed: x.seed}, settings)
	if err != nil {
		return nil, err
	}
	seed := x.seed.Derive("run", fmt.Sprint(settings))
	e, err := x.infer(ctx, m, seed.Derive("adversary"))
	if err != nil {
		return nil, err
	}
	base := point(x.panel.Name, c, m.Settings(), m.Guarantee(), x.space)
	base.Dataset = x.dataset.Name
	var points []results.Record
	for run, r := range e.PerRun {
		points = append(points, with(base, "e_m_map", run, r.MAP), with(base, "e_m_posterior", run, r.Posterior))
		if x.polarity != nil {
			points = append(points, with(base, "loss", run, r.LM))
		}
	}
	if x.panel.Model == nil {
		return points, nil
	}
	for trial := range x.panel.Trials {
		right, err := x.trainPrivate(ctx, m, seed.Derive("text").At(uint64(trial)))
		if err != nil {
			return nil, err
		}
		points = append(points, with(base, "loss", trial, 1-right))
	}
	return points, nil
}

// infer runs the adversaries of the paper's §3.1 against a mechanism. An
// output that learning never saw is taken for the word itself.
func (x *secrets) infer(ctx context.Context, m mechanisms.Mechanism, seed stream.Seed) (metrics.InferenceError, error) {
	number := make(map[int]int, len(x.candidates))
	likeliest := 0
	for i, id := range x.candidates {
		number[int(id)] = i
		if x.prior[i] > x.prior[likeliest] {
			likeliest = i
		}
	}
	adversary := metrics.Adversary{Prior: x.prior}
	if x.polarity != nil {
		words := m.Vocabulary()
		adversary.Loss = func(candidate, output int) float64 {
			if x.polarity[words.Word(x.candidates[candidate])] != x.polarity[words.Word(embeddings.WordID(output))] {
				return 1
			}
			return 0
		}
	}
	outputs := metrics.SampleOutputs(x.candidates, x.panel.Runs, draw(ctx, m, seed.Rand()))
	return adversary.EstimateInference(outputs, func(output int) int {
		if i, ok := number[output]; ok {
			return i
		}
		return likeliest
	})
}

// trainPrivate privatises the words of the redaction list in all texts and
// returns the accuracy of a classifier trained and tested on them.
func (x *secrets) trainPrivate(ctx context.Context, m mechanisms.Mechanism, seed stream.Seed) (float64, error) {
	t := newTable(x.space)
	splits := x.dataset.Splits()
	var parts [3][][]string
	for i, split := range splits {
		var err error
		if parts[i], err = x.redact(ctx, m, datasets.Tokens(split.Documents), seed.Derive(split.Name)); err != nil {
			return 0, err
		}
	}
	examples := func(i int) models.Examples { return t.examples(parts[i], datasets.Labels(splits[i].Documents)) }
	c, err := x.panel.Model.train(ctx, len(x.dataset.Classes), t.embedding, seed.Derive("model"), examples(0), examples(1))
	if err != nil {
		return 0, err
	}
	return accuracy(ctx, c, examples(2))
}

func (x *secrets) redact(ctx context.Context, m mechanisms.Mechanism, documents [][]string, seed stream.Seed) ([][]string, error) {
	secret := make([][]string, len(documents))
	for i, doc := range documents {
		for _, token := range doc {
			if id := x.space.Vocabulary.ID(token); id != embeddings.Unknown && x.redacted[id] {
				secret[i] = append(secret[i], token)
			}
		}
	}
	noisy, err := mechanisms.Text(ctx, m, mechanisms.Keep, secret, seed, 1)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(documents))
	for i, doc := range documents {
		next := 0
		out[i] = make([]string, len(doc))
		for j, token := range doc {
			out[i][j] = token
			if id := x.space.Vocabulary.ID(token); id != embeddings.Unknown && x.redacted[id] {
				out[i][j] = noisy[i][next]
				next++
			}
		}
	}
	return out, nil
}
