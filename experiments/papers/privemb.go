package papers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

func init() { protocols["privemb"] = func() Study { return &privembStudy{} } }

// privembStudy is the evaluation of Feyisetan & Kasiviswanathan 2021 ("Private
// Release of Text Embedding Vectors"): M1 adds multivariate Laplace noise to a
// vector, M2 (PrivEmb) projects it to fewer dimensions first.
type privembStudy struct {
	Header `yaml:",inline"`
	// Distance is Figures 1 and 2: how far distances and inner products of
	// released vectors are from the true ones.
	Distance []distancePanel `yaml:"distance,omitempty"`
	// Words is Figures 3 and 4: a linear model on single released vectors of
	// opinion words. Several embeddings or dimensions are several panels.
	Words []linearPanel `yaml:"words,omitempty"`
	// Sentences is Table 1: a linear model on means of released vectors.
	Sentences []linearPanel `yaml:"sentences,omitempty"`
}

// Release is the grid of mechanisms of a panel: M1 and M2 with every β, each
// at every ε.
type Release struct {
	Epsilons    []float64 `yaml:"epsilons"`
	Betas       []float64 `yaml:"betas"`
	Delta       float64   `yaml:"delta,omitempty"` // 0 means 1e-6
	Repetitions int       `yaml:"repetitions"`     // each with its own projection and noise
}

func (r Release) check() error {
	if err := checkEpsilons(r.Epsilons); err != nil {
		return err
	}
	for _, b := range r.Betas {
		if err := check.Inside("beta", b, 0, 1); err != nil {
			return err
		}
	}
	return check.AtLeast("repetitions", r.Repetitions, 1)
}

// methods are the curves of a panel, M1 first.
func (r Release) methods() ([]series, []results.Float, error) {
	parameters := map[string]any{"projection": "none"}
	m1, err := expand([]Curve{{Label: "M1", Mechanism: "privemb", Parameters: parameters}})
	if err != nil {
		return nil, nil, err
	}
	all, betas := m1, []results.Float{results.Missing}
	for _, b := range r.Betas {
		parameters := map[string]any{"beta": b}
		if r.Delta > 0 {
			parameters["delta"] = r.Delta
		}
		m2, err := expand([]Curve{{Label: "M2", Mechanism: "privemb", Parameters: parameters}})
		if err != nil {
			return nil, nil, err
		}
		all, betas = append(all, m2...), append(betas, results.Float(b))
	}
	return all, betas, nil
}

type distancePanel struct {
	Name      string        `yaml:"name"`
	Embedding EmbeddingSpec `yaml:"embedding"`
	Words     int           `yaml:"words"` // on each side of the pairs: Words² distances
	Release   `yaml:",inline"`
}

type linearPanel struct {
	Name      string        `yaml:"name"`
	Dataset   DatasetSpec   `yaml:"dataset"`
	Embedding EmbeddingSpec `yaml:"embedding"`
	Model     ModelSpec     `yaml:"model"`
	Release   `yaml:",inline"`
}

func (s *privembStudy) check() error {
	for i, p := range s.Distance {
		for _, err := range []error{p.Embedding.check(), check.AtLeast("words", p.Words, 1), p.Release.check()} {
			if err != nil {
				return fmt.Errorf("distance[%d]: %w", i, err)
			}
		}
	}
	for _, list := range []struct {
		name   string
		panels []linearPanel
	}{{"words", s.Words}, {"sentences", s.Sentences}} {
		for i, p := range list.panels {
			for _, err := range []error{p.Dataset.check(), p.Embedding.check(), p.Model.check(), p.Release.check()} {
				if err != nil {
					return fmt.Errorf("%s[%d]: %w", list.name, i, err)
				}
			}
		}
	}
	return nil
}

func (s *privembStudy) plan(ctx context.Context, lab *Lab) ([]Unit, error) {
	var units []Unit
	for _, p := range s.Distance {
		if !lab.wants("distance", p.Name) {
			continue
		}
		space, err := p.Embedding.open(ctx, lab, nil)
		if err != nil {
			return nil, fmt.Errorf("panel %s: %w", p.Name, err)
		}
		pairs, err := newWordPairs(space, p.Words, s.seed().Derive("pairs"))
		if err != nil {
			return nil, fmt.Errorf("panel %s: %w", p.Name, err)
		}
		more, err := p.Release.units(p.Name, space, []any{p.Words}, s.seed().Derive("distance", p.Name), pairs.errors)
		if err != nil {
			return nil, err
		}
		units = append(units, more...)
	}
	for i, p := range append(append([]linearPanel(nil), s.Words...), s.Sentences...) {
		section := "words"
		if i >= len(s.Words) {
			section = "sentences"
		}
		if !lab.wants(section, p.Name) {
			continue
		}
		seed := s.seed().Derive("linear", p.Name)
		d, err := p.Dataset.open(ctx, lab, seed)
		if err != nil {
			return nil, fmt.Errorf("panel %s: %w", p.Name, err)
		}
		space, err := p.Embedding.open(ctx, lab, inSet(counts(d)))
		if err != nil {
			return nil, fmt.Errorf("panel %s: %w", p.Name, err)
		}
		task := &linearTask{p, d, space}
		more, err := p.Release.units(p.Name, space, []any{d.Fingerprint, p.Model}, seed, task.measure)
		if err != nil {
			return nil, err
		}
		for i := range more {
			run := more[i].run
			more[i].run = func(ctx context.Context) ([]results.Record, error) {
				points, err := run(ctx)
				for j := range points {
					points[j].Dataset = d.Name
				}
				return points, err
			}
		}
		units = append(units, more...)
	}
	return units, nil
}

// measure returns named quantities of one mechanism instance.
type measure func(ctx context.Context, m mechanisms.VectorMechanism, rng *rand.Rand, seed stream.Seed) (map[string]float64, error)

// units are one per method and ε. As in the paper's figures there is a panel
// per ε and X is β; M1 has no β.
func (r Release) units(panel string, space *embeddings.Space, identity []any, seed stream.Seed, measure measure) ([]Unit, error) {
	methods, betas, err := r.methods()
	if err != nil {
		return nil, err
	}
	var units []Unit
	for _, epsilon := range r.Epsilons {
		panel := fmt.Sprintf("%s, ε = %v", panel, epsilon)
		for i, method := range methods {
			settings := method.at(epsilon)
			units = append(units, Unit{
				Panel: panel, Series: method.label, X: betas[i],
				identity: append([]any{settings, r.Repetitions, space.Fingerprint()}, identity...),
				run: func(ctx context.Context) ([]results.Record, error) {
					var points []results.Record
					for rep := range r.Repetitions {
						at := seed.Derive(fmt.Sprint(settings)).At(uint64(rep))
						m, err := mechanisms.NewVector(mechanisms.Environment{Space: space, Seed: at}, settings)
						if err != nil {
							return nil, err
						}
						values, err := measure(ctx, m, at.Derive("noise").Rand(), at.Derive("model"))
						if err != nil {
							return nil, err
						}
						base := point(panel, method, m.Settings(), m.Guarantee(), space)
						base.XName, base.X = "beta", betas[i]
						base.Note = fmt.Sprintf("%d dimensions released", m.OutputDimension())
						for _, quantity := range sortedNames(values) {
							points = append(points, with(base, quantity, rep, values[quantity]))
						}
					}
					return points, nil
				},
			})
		}
	}
	return units, nil
}

// wordPairs are Words × Words fixed pairs.
type wordPairs struct {
	space       *embeddings.Space
	left, right []embeddings.WordID
}

func newWordPairs(space *embeddings.Space, words int, seed stream.Seed) (*wordPairs, error) {
	if space.Len() < 2*words {
		return nil, fmt.Errorf("words = %d: the embedding has %d words, fewer than twice as many", words, space.Len())
	}
	ids := make([]embeddings.WordID, space.Len())
	for i := range ids {
		ids[i] = embeddings.WordID(i)
	}
	drawn := metrics.SampleWords(ids, 2*words, seed.Rand())
	return &wordPairs{space, drawn[:words], drawn[words:]}, nil
}

// errors are the mean absolute errors of distances and inner products over
// all pairs: |‖M(x)−M(y)‖ − ‖x−y‖| and |⟨M(x),M(y)⟩ − ⟨x,y⟩|.
func (p *wordPairs) errors(_ context.Context, m mechanisms.VectorMechanism, rng *rand.Rand, _ stream.Seed) (map[string]float64, error) {
	width := m.OutputDimension()
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
	panel   linearPanel
	dataset *datasets.Dataset
	space   *embeddings.Space
}

func (t *linearTask) measure(ctx context.Context, m mechanisms.VectorMechanism, rng *rand.Rand, seed stream.Seed) (map[string]float64, error) {
	var parts [3]models.Examples
	for i, split := range t.dataset.Splits() {
		parts[i] = models.Examples{Vectors: t.release(m, split.Documents, rng), Labels: datasets.Labels(split.Documents)}
	}
	spec := t.panel.Model
	classes := len(t.dataset.Classes)
	c, err := spec.train(ctx, classes, models.Embedding{}, seed, parts[0], parts[1])
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for i, name := range []string{"train_accuracy", "validation_accuracy", "accuracy"} {
		right, err := accuracy(ctx, c, parts[i])
		if err != nil {
			return nil, err
		}
		values[name] = 100 * right
	}
	if classes == 2 {
		scores, err := c.Score(ctx, parts[2])
		if err != nil {
			return nil, err
		}
		ranking, positive := make([]float64, len(scores)), make([]bool, len(scores))
		for i, s := range scores {
			ranking[i], positive[i] = s[1], parts[2].Labels[i] == 1
		}
		if values["auc"], err = metrics.AUC(ranking, positive); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// release returns a mean per document; a document without any word of the
// space is the zero vector.
func (t *linearTask) release(m mechanisms.VectorMechanism, documents []datasets.Document, rng *rand.Rand) [][]float32 {
	width := m.OutputDimension()
	out := make([][]float32, len(documents))
	var ids []embeddings.WordID
	var noisy []float32
	for i, doc := range documents {
		ids = ids[:0]
		for _, token := range doc.Tokens {
			if id := t.space.Vocabulary.ID(token); id != embeddings.Unknown {
				ids = append(ids, id)
			}
		}
		out[i] = make([]float32, width)
		if len(ids) == 0 {
			continue
		}
		if need := len(ids) * width; cap(noisy) < need {
			noisy = make([]float32, need)
		}
		noisy = noisy[:len(ids)*width]
		m.Release(noisy, ids, rng)
		for k, v := range noisy {
			out[i][k%width] += v / float32(len(ids))
		}
	}
	return out
}
