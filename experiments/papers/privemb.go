package papers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

func init() { study.Register("privemb", func() study.Body { return &privembStudy{} }) }

// privembStudy is the evaluation of Feyisetan & Kasiviswanathan 2021 ("Private
// Release of Text Embedding Vectors"): M1 adds multivariate Laplace noise to a
// vector, M2 (PrivEmb) projects it to fewer dimensions first.
type privembStudy struct {
	study.Header `yaml:",inline"`
	// Distance is Figures 1 and 2: how far distances and inner products of
	// released vectors are from the true ones.
	Distance []distancePanel `yaml:"distance,omitempty"`
	// Words is Figures 3 and 4: a linear model on single released vectors of
	// opinion words. Several embeddings or dimensions are several panels.
	Words []linearPanel `yaml:"words,omitempty"`
	// Sentences is Table 1: a linear model on means of released vectors.
	Sentences []linearPanel `yaml:"sentences,omitempty"`
}

// release is the grid of mechanisms of a panel: M1 and M2 with every β, each
// at every ε.
type release struct {
	Epsilons    []float64 `yaml:"epsilons"`
	Betas       []float64 `yaml:"betas"`
	Delta       float64   `yaml:"delta,omitempty"`              // 0 means the mechanism's default
	Repetitions int       `yaml:"repetitions" limits:"1,10000"` // each with its own projection and noise
}

type distancePanel struct {
	Name      string              `yaml:"name"`
	Embedding study.EmbeddingSpec `yaml:"embedding"`
	Words     int                 `yaml:"words" limits:"1,100000"` // on each side of the pairs: Words² distances
	Release   release             `yaml:",inline"`
}

type linearPanel struct {
	Name      string              `yaml:"name"`
	Dataset   study.DatasetSpec   `yaml:"dataset"`
	Embedding study.EmbeddingSpec `yaml:"embedding"`
	Model     study.ModelSpec     `yaml:"model"`
	Release   release             `yaml:",inline"`
}

// Check validates every value.
func (s *privembStudy) Check(at study.At) error {
	if err := checkHeader(at, &s.Header); err != nil {
		return err
	}
	for i := range s.Distance {
		p, where := &s.Distance[i], fmt.Sprintf("distance[%d]", i)
		if err := first([]error{checkPlace(at, where, p.Name, &p.Embedding, p.Release.Epsilons),
			number(at, where, "words", p.Words, 1), p.Release.check(at, where)}); err != nil {
			return err
		}
	}
	for section, panels := range map[string][]linearPanel{"words": s.Words, "sentences": s.Sentences} {
		for i := range panels {
			p, where := &panels[i], fmt.Sprintf("%s[%d]", section, i)
			if err := first([]error{checkPlace(at, where, p.Name, &p.Embedding, p.Release.Epsilons),
				checkData(at, where, p.Dataset, &p.Model), p.Release.check(at, where)}); err != nil {
				return err
			}
			if d, err := models.Find(p.Model.Name); err != nil || !d.Vectors {
				return at(errors.Join(err, fmt.Errorf("%s reads no vectors", p.Model.Name)), "%s.model.name", where)
			}
		}
	}
	return nil
}

func (r release) check(at study.At, where string) error {
	for i, b := range r.Betas {
		if err := check.Inside("beta", b, 0, 1); err != nil {
			return at(err, "%s.betas[%d]", where, i)
		}
	}
	return errors.Join(needEpsilons(at, where, r.Epsilons), number(at, where, "repetitions", r.Repetitions, 1))
}

// Override applies flags.
func (s *privembStudy) Override(o study.Overrides) (study.Body, error) {
	c, named := *s, []string(nil)
	c.Distance = choose(o, &named, "distance", s.Distance, func(p distancePanel) string { return p.Name })
	name := func(p linearPanel) string { return p.Name }
	c.Words = choose(o, &named, "words", s.Words, name)
	c.Sentences = choose(o, &named, "sentences", s.Sentences, name)
	return &c, refuse(o, named)
}

// Wants returns the resources that the study uses.
func (s *privembStudy) Wants() (w lab.Wants) {
	for _, p := range s.Distance {
		w.Embeddings = append(w.Embeddings, p.Embedding)
	}
	for _, p := range slices.Concat(s.Words, s.Sentences) {
		w.Datasets, w.Embeddings = append(w.Datasets, p.Dataset), append(w.Embeddings, p.Embedding)
	}
	return w
}

// methods returns the curves of a panel; the first is M1, which has no β.
func (r release) methods() ([]curve, []results.Float, error) {
	list := []study.MechanismSpec{{Name: "privemb", Label: "M1", Parameters: map[string]any{"projection": "none"}}}
	betas := []results.Float{results.Missing}
	for _, b := range r.Betas {
		parameters := map[string]any{"beta": b}
		if r.Delta > 0 {
			parameters["delta"] = r.Delta
		}
		list = append(list, study.MechanismSpec{Name: "privemb", Label: "M2", Parameters: parameters})
		betas = append(betas, results.Float(b))
	}
	all, err := curves(list)
	return all, betas, err
}

// quantities holds the named results of one instance of a mechanism.
type quantities func(ctx context.Context, m mechanisms.VectorMechanism, seed stream.Seed) (map[string]float64, error)

// Plan turns the study into units.
func (s *privembStudy) Plan(l *lab.Lab) ([]engine.Unit, error) {
	var units []engine.Unit
	for _, p := range s.Distance {
		at := newPlace(&s.Header, l, p.Name, "distance")
		row := results.NewRecord()
		row.Embedding, row.Dimension = p.Embedding.Name, p.Embedding.Dimensions[0]
		more, err := p.Release.units(at, row, []any{"distance", p.Words},
			func(ctx context.Context) (lab.Fingerprints, error) {
				return l.OfWords(ctx, p.Embedding, p.Embedding.Dimensions[0], mechanisms.Needs{})
			},
			func(ctx context.Context) (*embeddings.Space, quantities, error) {
				space, err := l.Words(ctx, p.Embedding, p.Embedding.Dimensions[0])
				if err != nil {
					return nil, nil, err
				}
				pairs, err := newWordPairs(space, p.Words, at.seed.Derive("pairs"))
				if err != nil {
					return nil, nil, err
				}
				return space, pairs.errors, nil
			})
		if err != nil {
			return nil, err
		}
		units = append(units, more...)
	}
	for _, p := range slices.Concat(s.Words, s.Sentences) {
		at := newPlace(&s.Header, l, p.Name, "linear")
		sample := lab.Sample{Dataset: p.Dataset, Seed: at.seed.Derive("dataset")}
		row := results.NewRecord()
		row.Dataset, row.Embedding, row.Dimension = p.Dataset.Name, p.Embedding.Name, p.Embedding.Dimensions[0]
		row.Model, row.ModelParameters = p.Model.Name, models.FormatParameters(model(p.Model).Parameters)
		more, err := p.Release.units(at, row, []any{"linear", model(p.Model)},
			func(ctx context.Context) (lab.Fingerprints, error) {
				return l.OfText(ctx, sample, p.Embedding, p.Embedding.Dimensions[0], mechanisms.Needs{})
			},
			func(ctx context.Context) (*embeddings.Space, quantities, error) {
				corpus, err := l.Corpus(ctx, sample)
				if err != nil {
					return nil, nil, err
				}
				space, err := l.Space(ctx, sample, p.Embedding, p.Embedding.Dimensions[0], false)
				if err != nil {
					return nil, nil, err
				}
				return space.Space, linearTask{p, corpus}.measure, nil
			})
		if err != nil {
			return nil, err
		}
		units = append(units, more...)
	}
	return units, nil
}

// units returns one unit per method and ε. As in the paper's figures there is a
// panel per ε, and x is β.
func (r release) units(at place, row results.Record, id []any, data func(ctx context.Context) (lab.Fingerprints, error),
	open func(ctx context.Context) (*embeddings.Space, quantities, error)) ([]engine.Unit, error) {
	methods, betas, err := r.methods()
	if err != nil {
		return nil, err
	}
	var units []engine.Unit
	for _, epsilon := range r.Epsilons {
		panel := at
		panel.panel = fmt.Sprintf("%s, ε = %v", at.panel, epsilon)
		for i, c := range methods {
			settings := c.at(epsilon)
			start := c.row(settings, "beta", betas[i])
			start.Dataset, start.Embedding, start.Dimension, start.Model, start.ModelParameters = row.Dataset,
				row.Embedding, row.Dimension, row.Model, row.ModelParameters
			units = append(units, panel.unit(start, append(slices.Clone(id), r.Repetitions, study.Labels(settings)),
				data, func() lab.Work { return lab.Work{Private: 1e4, Size: 1e4} },
				func(ctx context.Context, row results.Record, _ *engine.Job) ([]results.Record, error) {
					space, measure, err := open(ctx)
					if err != nil {
						return nil, err
					}
					row = on(row, space)
					var rows []results.Record
					for rep := range r.Repetitions {
						seed := at.seed.Derive(study.Labels(settings)...).At(uint64(rep))
						m, err := mechanisms.NewVector(mechanisms.Environment{Space: space, Seed: seed}, settings)
						if err != nil {
							return nil, err
						}
						values, err := measure(ctx, m, seed)
						if err != nil {
							return nil, err
						}
						row = row.Promised(m.Guarantee())
						row.Note = fmt.Sprintf("%d dimensions released", m.OutputDimension())
						for _, quantity := range slices.Sorted(maps.Keys(values)) {
							rows = append(rows, with(row, quantity, rep+1, values[quantity]))
						}
					}
					return rows, nil
				}))
		}
	}
	return units, nil
}

// wordPairs holds Words × Words fixed pairs.
type wordPairs struct {
	space       *embeddings.Space
	left, right []embeddings.WordID
}

func newWordPairs(space *embeddings.Space, words int, seed stream.Seed) (*wordPairs, error) {
	if space.Len() < 2*words {
		return nil, fmt.Errorf("words = %d: the embedding has %d words, fewer than twice as many", words, space.Len())
	}
	drawn := measure.SampleWords(space, 2*words, seed)
	return &wordPairs{space, drawn[:words], drawn[words:]}, nil
}

// errors returns the mean absolute errors of distances and inner products over
// all pairs: |‖M(x)−M(y)‖ − ‖x−y‖| and |⟨M(x),M(y)⟩ − ⟨x,y⟩|.
func (p *wordPairs) errors(_ context.Context, m mechanisms.VectorMechanism, seed stream.Seed) (map[string]float64,
	error) {
	width, rng := m.OutputDimension(), seed.Derive("noise").Rand()
	left, right := make([]float32, len(p.left)*width), make([]float32, len(p.right)*width)
	m.Release(left, p.left, rng)
	m.Release(right, p.right, rng)
	var distance, product float64
	for i, a := range p.left {
		for j, b := range p.right {
			x, y := left[i*width:(i+1)*width], right[j*width:(j+1)*width]
			distance += math.Abs(embeddings.Euclidean(x, y) - p.space.Distance(a, b))
			product += math.Abs(dot(x, y) - dot(p.space.Vector(a), p.space.Vector(b)))
		}
	}
	n := float64(len(p.left) * len(p.right))
	return map[string]float64{"distance_error": distance / n, "inner_product_error": product / n}, nil
}

func dot(x, y []float32) float64 {
	var sum float64
	for i, v := range x {
		sum += float64(float64(v) * float64(y[i]))
	}
	return sum
}

// linearTask classifies documents by the mean of the released vectors of
// their words; every occurrence of a word is released anew.
type linearTask struct {
	panel  linearPanel
	corpus *measure.Corpus
}

func (t linearTask) measure(ctx context.Context, m mechanisms.VectorMechanism, seed stream.Seed) (map[string]float64,
	error) {
	var parts [3]models.Examples
	for i, split := range t.corpus.Splits() {
		vectors, _, err := measure.Release(ctx, m, mechanisms.Keep, t.corpus.Tokens[i],
			seed.Derive("noise", split.Name))
		if err != nil {
			return nil, err
		}
		parts[i] = models.Examples{Vectors: vectors, Labels: t.corpus.Labels(i)}
	}
	classes := len(t.corpus.Classes)
	c, err := measure.Train(ctx, model(t.panel.Model), classes, models.Embedding{}, seed.Derive("model"), parts[0],
		parts[1])
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for i, name := range []string{"train_accuracy", "validation_accuracy", "accuracy"} {
		s, err := measure.Test(ctx, c.Model, classes, parts[i])
		if err != nil {
			return nil, err
		}
		values[name] = 100 * s.Accuracy()
		if i == 2 && classes == 2 {
			values["auc"] = s.AUC
		}
	}
	return values, nil
}
