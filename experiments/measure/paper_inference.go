package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

func init() {
	Register(Measurement{
		Name: "inference-runs", Version: 1, Of: OfAllRepeats, Model: true,
		Columns: columns("e_m_map", "e_m_posterior", "loss"),
		Metric: entry("inference_runs", true, false, func(o *inferenceRuns, d *study.Design, at study.At) error {
			for _, x := range d.Datasets {
				// The loss on words is the share whose polarity flips.
				if t, err := x.Traits(); err != nil || t.WordLevel != (len(d.Models) == 0) {
					return at(errors.Join(err, fmt.Errorf("data set %s: a model is needed for texts and for nothing "+
						"else", x.Name)), "")
				}
			}
			return at(o.Check(), "")
		}),
		Applies: hasText, Measure: measureInferenceRuns,
	})
}

// inferenceRuns is the empirical part of Xu, Aggarwal, Feyisetan & Teissier 2021
// ("On a Utilitarian Approach to Privacy Preserving Text Generation"): the
// adversary's inference error and the utility loss against ε (Figure 2), and for
// the deterministic k-th neighbour (Figure 3, as further curves). The adversary
// knows the prior over the candidates and learns the mechanism's distribution
// from half of the runs.
type inferenceRuns struct {
	Runs int `yaml:"runs" limits:"2,1000000"` // number of times every candidate is sent; even
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
}

// Check validates the options.
func (o *inferenceRuns) Check() error {
	if o.Runs < 2 || o.Runs%2 != 0 {
		return fmt.Errorf("runs = %d: must be even and >= 2", o.Runs)
	}
	return check.OneOf("prior", o.Prior, "uniform", "empirical")
}

// Adversary returns who tries to infer the words of a data set, and which words
// of the space are redacted; seed draws the candidates.
func (o *inferenceRuns) Adversary(corpus *lab.Corpus, space *lab.Space, seed stream.Seed) (a Adversary, redacted []bool,
	err error) {
	redacted = make([]bool, space.Len())
	var candidates []mechanisms.WordID
	for id, word := range space.Vocabulary.Words() {
		if n := corpus.Counts[word]; n >= o.MinCount && (o.MaxCount == 0 || n <= o.MaxCount) {
			redacted[id] = true
			candidates = append(candidates, mechanisms.WordID(id))
		}
	}
	if len(candidates) == 0 {
		return a, nil, fmt.Errorf("no word occurs between %d and %d times", o.MinCount, o.MaxCount)
	}
	if o.Candidates > 0 && o.Candidates < len(candidates) {
		candidates = metrics.SampleWords(candidates, o.Candidates, seed.Derive("candidates").Rand())
		slices.Sort(candidates)
	}
	prior := metrics.UniformPrior(len(candidates))
	if o.Prior == "empirical" {
		n := list.Map(candidates, func(id mechanisms.WordID) int { return corpus.Counts[space.Vocabulary.Word(id)] })
		if prior, err = metrics.EmpiricalPrior(n, 0); err != nil {
			return a, nil, err
		}
	}
	// An output that did not occur in learning is guessed to be the word itself.
	a = Adversary{Candidates: candidates, Prior: prior, Polarity: corpus.Polarity, Runs: o.Runs, Sampled: true}
	a.Fallback = a.Itself()
	return a, redacted, nil
}

func measureInferenceRuns(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	m, err := r.Words(ctx)
	if err != nil {
		return nil, err
	}
	adversary, redacted, err := q.Options.(*inferenceRuns).Adversary(r.Corpus, r.Space, r.Root())
	if err != nil {
		return nil, err
	}
	row, seed := r.Row(q), labelled(r, "run")
	e, err := adversary.Infer(m, Draw(ctx, m, seed.Derive("adversary").Rand()))
	if err != nil {
		return nil, err
	}
	var rows []results.Row
	for i, x := range e.PerRun {
		rows = append(rows, of(row, i+1, "e_m_map", results.Number(x.MAP)),
			of(row, i+1, "e_m_posterior", results.Number(x.Posterior)))
		if r.Corpus.Polarity != nil {
			rows = append(rows, of(row, i+1, "loss", results.Number(x.LM)))
		}
	}
	if q.Model.Name == "" {
		return rows, ctx.Err()
	}
	for i := range r.Repetitions {
		score, err := scoreRedacted(ctx, r, q, m, redacted, seed.Derive("text").At(uint64(i)))
		if err != nil {
			return nil, err
		}
		loss := results.Number(1 - score.Accuracy())
		loss.Part, loss.Whole = score.Total-score.Correct, score.Total
		rows = append(rows, of(row, i+1, "loss", loss))
	}
	return rows, ctx.Err()
}

// scoreRedacted privatises the words of the redaction list in all texts and
// scores a classifier trained and tested on them.
func scoreRedacted(ctx context.Context, r *Release, q *Query, m *mechanisms.Mechanism, redacted []bool,
	seed stream.Seed) (Score, error) {
	documents, err := redact(ctx, r, q, m, redacted, seed)
	if err != nil {
		return Score{}, err
	}
	var x [3]models.Examples
	for i, split := range r.Corpus.Tokens {
		if x[i], err = r.Space.Examples(documents[:len(split)], r.Corpus.Labels(i), false); err != nil {
			return Score{}, err
		}
		documents = documents[len(split):]
	}
	classes := len(r.Corpus.Classes)
	t, err := Train(ctx, q.Model, classes, r.Space.Table, seed.Derive("model"), x[0], x[1])
	if err != nil {
		return Score{}, err
	}
	return Test(ctx, t.Model, classes, x[2])
}

func redact(ctx context.Context, r *Release, q *Query, m *mechanisms.Mechanism, redacted []bool,
	seed stream.Seed) ([][]string, error) {
	documents := r.Corpus.Documents
	secret, at := make([][]string, len(documents)), make([][]int, len(documents))
	for i, doc := range documents {
		for j, token := range doc {
			if r.Space.Known(token) && redacted[r.Space.Vocabulary.ID(token)] {
				secret[i], at[i] = append(secret[i], token), append(at[i], j)
			}
		}
	}
	noisy, err := Privatize(ctx, m, r.Policy, [][][]string{secret}, len(secret), seed, q.Threads)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(documents))
	for i, doc := range documents {
		out[i] = slices.Clone(doc)
		for k, j := range at[i] {
			out[i][j] = noisy[0][i][k]
		}
	}
	return out, nil
}
