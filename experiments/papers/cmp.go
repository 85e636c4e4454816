package papers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/gonum/stat"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/results"
	"mldpbench/stream"
)

func init() { protocols["cmp"] = func() Study { return &cmpStudy{} } }

// cmpStudy is the evaluation of Feyisetan, Balle, Drake & Diethe 2020
// ("Privacy- and Utility-Preserving Textual Analysis via Calibrated
// Multivariate Perturbations").
type cmpStudy struct {
	Header `yaml:",inline"`
	Curves []Curve `yaml:"curves"`
	// Neighbours is Figure 1: percentiles, over words, of the distance to the
	// k-th neighbour.
	Neighbours []neighbourPanel `yaml:"neighbours,omitempty"`
	// Deniability is Figures 2 to 4: N_w and S_w of every word per ε.
	Deniability []deniabilityPanel `yaml:"deniability,omitempty"`
	// Examples is Table 1: what words become at an average N_w.
	Examples []examplesPanel `yaml:"examples,omitempty"`
	// Utility is Figure 5.
	Utility []utilityPanel `yaml:"utility,omitempty"`
}

type neighbourPanel struct {
	Name        string        `yaml:"name"`
	Embedding   EmbeddingSpec `yaml:"embedding"`
	Words       int           `yaml:"words"` // drawn from the vocabulary
	K           []int         `yaml:"k"`
	Percentiles []float64     `yaml:"percentiles"`
}

type deniabilityPanel struct {
	Name      string        `yaml:"name"`
	Embedding EmbeddingSpec `yaml:"embedding"`
	Words     int           `yaml:"words"` // drawn from the vocabulary
	Runs      int           `yaml:"runs"`
	Epsilons  []float64     `yaml:"epsilons"`
}

type examplesPanel struct {
	Name      string        `yaml:"name"`
	Embedding EmbeddingSpec `yaml:"embedding"`
	Words     []string      `yaml:"words"`
	Targets   []float64     `yaml:"targets"` // average N_w as a share, in (0, 1)
	Average   int           `yaml:"average"` // words over which N_w is averaged
	Runs      int           `yaml:"runs"`
	Top       int           `yaml:"top"` // outputs listed
}

func (s *cmpStudy) check() error {
	if _, err := expand(s.Curves); err != nil {
		return fmt.Errorf("curves: %w", err)
	}
	for i, p := range s.Neighbours {
		errs := []error{p.Embedding.check(), check.AtLeast("words", p.Words, 1), check.AtLeast("number of k", len(p.K), 1), check.AtLeast("number of percentiles", len(p.Percentiles), 1)}
		for _, k := range p.K {
			errs = append(errs, check.AtLeast("k", k, 1))
		}
		for _, q := range p.Percentiles {
			errs = append(errs, check.Inside("percentile", q, 0, 100))
		}
		if err := first(errs); err != nil {
			return fmt.Errorf("neighbours[%d]: %w", i, err)
		}
	}
	for i, p := range s.Deniability {
		if err := first([]error{p.Embedding.check(), check.AtLeast("words", p.Words, 1), check.AtLeast("runs", p.Runs, 1), checkEpsilons(p.Epsilons)}); err != nil {
			return fmt.Errorf("deniability[%d]: %w", i, err)
		}
	}
	for i, p := range s.Examples {
		errs := []error{p.Embedding.check(), check.AtLeast("average", p.Average, 1), check.AtLeast("runs", p.Runs, 1), check.AtLeast("top", p.Top, 1)}
		for _, t := range p.Targets {
			errs = append(errs, check.Inside("target", t, 0, 1))
		}
		if err := first(errs); err != nil {
			return fmt.Errorf("examples[%d]: %w", i, err)
		}
	}
	for i, p := range s.Utility {
		if err := p.check(); err != nil {
			return fmt.Errorf("utility[%d]: %w", i, err)
		}
	}
	return nil
}

func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *cmpStudy) plan(ctx context.Context, lab *Lab) ([]Unit, error) {
	curves, err := expand(s.Curves)
	if err != nil {
		return nil, err
	}
	var units []Unit
	for _, p := range s.Neighbours {
		if !lab.wants("neighbours", p.Name) {
			continue
		}
		space, err := p.Embedding.open(ctx, lab, nil)
		if err != nil {
			return nil, fmt.Errorf("panel %s: %w", p.Name, err)
		}
		units = append(units, Unit{
			Panel: p.Name, Series: "distance to the k-th neighbour", X: results.Missing,
			identity: []any{p, space.Fingerprint()},
			run: func(ctx context.Context) ([]results.Record, error) {
				return p.measure(ctx, space, s.seed().Derive("neighbours", p.Name))
			},
		})
	}
	for _, p := range s.Deniability {
		if !lab.wants("deniability", p.Name) {
			continue
		}
		space, err := p.Embedding.open(ctx, lab, nil)
		if err != nil {
			return nil, fmt.Errorf("panel %s: %w", p.Name, err)
		}
		for _, c := range curves {
			for _, epsilon := range c.over(p.Epsilons) {
				settings := c.at(epsilon)
				units = append(units, Unit{
					Panel: p.Name, Series: c.label, X: results.Float(epsilon),
					identity: []any{p.Words, p.Runs, settings, space.Fingerprint()},
					run: func(ctx context.Context) ([]results.Record, error) {
						return p.measure(ctx, space, c, settings, s.seed().Derive("deniability"))
					},
				})
			}
		}
	}
	for _, p := range s.Examples {
		if !lab.wants("examples", p.Name) {
			continue
		}
		space, err := p.Embedding.open(ctx, lab, nil)
		if err != nil {
			return nil, fmt.Errorf("panel %s: %w", p.Name, err)
		}
		for _, c := range curves {
			for _, target := range p.Targets {
				units = append(units, Unit{
					Panel: p.Name, Series: c.label, X: results.Float(target),
					identity: []any{p, c.settings, space.Fingerprint()},
					run: func(ctx context.Context) ([]results.Record, error) {
						return p.measure(ctx, space, c, target, s.seed().Derive("examples"))
					},
				})
			}
		}
	}
	for _, p := range s.Utility {
		if !lab.wants("utility", p.Name) {
			continue
		}
		more, err := p.units(ctx, lab, curves, s.seed())
		if err != nil {
			return nil, err
		}
		units = append(units, more...)
	}
	return units, nil
}

// sampleWords draws words of the space, the same for every mechanism and ε.
func sampleWords(space *embeddings.Space, n int, seed stream.Seed) []embeddings.WordID {
	ids := make([]embeddings.WordID, space.Len())
	for i := range ids {
		ids[i] = embeddings.WordID(i)
	}
	return metrics.SampleWords(ids, n, seed.Derive("words").Rand())
}

// measure gives one series per percentile over k. The word itself is not its
// own neighbour.
func (p neighbourPanel) measure(ctx context.Context, space *embeddings.Space, seed stream.Seed) ([]results.Record, error) {
	words := sampleWords(space, p.Words, seed)
	deepest := slices.Max(p.K)
	if deepest >= space.Len() {
		return nil, fmt.Errorf("k = %d: the embedding has %d words", deepest, space.Len())
	}
	index := nearest.Of(space)
	distances := make(map[int][]float64, len(p.K))
	near := make([]nearest.Neighbor, deepest)
	for _, w := range words {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		index.SearchExcluding(near, space.Vector(w), deepest, []embeddings.WordID{w})
		for _, k := range p.K {
			distances[k] = append(distances[k], near[k-1].Distance)
		}
	}
	var points []results.Record
	for _, k := range p.K {
		sort.Float64s(distances[k])
		for _, q := range p.Percentiles {
			r := row(p.Name, fmt.Sprintf("%v%%", q), "k", results.Float(k), space)
			points = append(points, with(r, "distance", 0, stat.Quantile(q/100, stat.Empirical, distances[k], nil)))
		}
	}
	return points, nil
}

// measure gives N_w (percent) and S_w of every word; Repetition numbers the
// words and Note names them.
func (p deniabilityPanel) measure(ctx context.Context, space *embeddings.Space, c series, settings mechanisms.Settings, seed stream.Seed) ([]results.Record, error) {
	m, err := mechanisms.New(mechanisms.Environment{Space: space, Seed: seed}, settings)
	if err != nil {
		return nil, err
	}
	words := sampleWords(space, p.Words, seed)
	outcomes, err := metrics.MeasureDeniability(words, p.Runs, draw(ctx, m, seed.Derive("runs", fmt.Sprint(settings)).Rand()))
	if err != nil {
		return nil, err
	}
	base := point(p.Name, c, m.Settings(), m.Guarantee(), space)
	var points []results.Record
	for i, o := range outcomes {
		base.Note = space.Vocabulary.Word(o.Word)
		points = append(points, with(base, "n_w", i, o.Nw()), with(base, "s_w", i, float64(o.Distinct)))
	}
	return points, nil
}

// measure calibrates ε to an average N_w, counts how often each word comes back
// and lists what it becomes.
func (p examplesPanel) measure(ctx context.Context, space *embeddings.Space, c series, target float64, seed stream.Seed) ([]results.Record, error) {
	env := mechanisms.Environment{Space: space, Seed: seed}
	found, err := Calibrate(ctx, env, c.settings, CalibrationOptions{
		Target: Target{"nw", target}, Words: sampleWords(space, p.Average, seed), Runs: p.Runs, Seed: seed.Derive("calibrate"),
	})
	if err != nil {
		return nil, err
	}
	settings := c.at(found.Epsilon)
	m, err := mechanisms.New(env, settings)
	if err != nil {
		return nil, err
	}
	base := point(p.Name, c, m.Settings(), m.Guarantee(), space)
	base.XName, base.X = "average_n_w", results.Float(target)
	points := []results.Record{with(base, "average_n_w", 0, found.Achieved), with(base, "epsilon", 0, found.Epsilon)}
	for i, word := range p.Words {
		id := space.Vocabulary.ID(word)
		if id == embeddings.Unknown {
			return nil, fmt.Errorf("examples: %q is not in the embedding %s", word, space.Name)
		}
		src := slices.Repeat([]embeddings.WordID{id}, p.Runs)
		dst := make([]embeddings.WordID, len(src))
		m.Privatize(dst, src, nil, seed.Derive("outputs", fmt.Sprint(settings)).At(uint64(i)).Rand())
		count := with(base, "unchanged", 0, 0)
		count.Series, count.Note = word, mostFrequent(m.Vocabulary(), dst, p.Top)
		for _, y := range dst {
			if y == id {
				count.Value++
			}
		}
		points = append(points, count)
	}
	return points, nil
}

func mostFrequent(words *embeddings.Vocabulary, outputs []embeddings.WordID, top int) string {
	n := map[embeddings.WordID]int{}
	for _, y := range outputs {
		n[y]++
	}
	ids := slices.SortedFunc(maps.Keys(n), func(a, b embeddings.WordID) int {
		if n[a] != n[b] {
			return n[b] - n[a]
		}
		return int(a - b)
	})
	var parts []string
	for _, id := range ids[:min(top, len(ids))] {
		parts = append(parts, words.Word(id))
	}
	return strings.Join(parts, ", ")
}
