package papers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/gonum/stat"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/results"
)

func init() { study.Register("cmp", func() study.Body { return &cmpStudy{} }) }

// cmpStudy is the evaluation of Feyisetan, Balle, Drake & Diethe 2020
// ("Privacy- and Utility-Preserving Textual Analysis via Calibrated
// Multivariate Perturbations").
type cmpStudy struct {
	study.Header `yaml:",inline"`
	Mechanisms   []study.MechanismSpec `yaml:"mechanisms"`
	// Neighbours is Figure 1: percentiles, over words, of the distance to the
	// k-th neighbour.
	Neighbours []neighbourPanel `yaml:"neighbours,omitempty"`
	// Deniability is Figures 2 to 4: N_w and S_w of every word per ε.
	Deniability []deniabilityPanel `yaml:"deniability,omitempty"`
	// Examples is Table 1: outputs for words at an average N_w.
	Examples []examplesPanel `yaml:"examples,omitempty"`
	// Utility is Figure 5.
	Utility []utilityPanel `yaml:"utility,omitempty"`
	// Auditor is Tables 3 and 4.
	Auditor []auditorPanel `yaml:"auditor,omitempty"`
}

type neighbourPanel struct {
	Name        string              `yaml:"name"`
	Embedding   study.EmbeddingSpec `yaml:"embedding"`
	Words       int                 `yaml:"words" limits:"1,1000000"` // drawn from the vocabulary
	K           []int               `yaml:"k" limits:"1,1000000"`
	Percentiles []float64           `yaml:"percentiles"`
}

type deniabilityPanel struct {
	Name      string              `yaml:"name"`
	Embedding study.EmbeddingSpec `yaml:"embedding"`
	Words     int                 `yaml:"words" limits:"1,1000000"` // drawn from the vocabulary
	Runs      int                 `yaml:"runs" limits:"1,1000000"`
	Epsilons  []float64           `yaml:"epsilons"`
}

type examplesPanel struct {
	Name      string              `yaml:"name"`
	Embedding study.EmbeddingSpec `yaml:"embedding"`
	Words     []string            `yaml:"words"`
	Targets   []float64           `yaml:"targets"`                    // average N_w as a share, in (0, 1)
	Average   int                 `yaml:"average" limits:"1,1000000"` // words over which N_w is averaged
	Runs      int                 `yaml:"runs" limits:"1,1000000"`
	Top       int                 `yaml:"top" limits:"1,1000"` // outputs listed
}

// Check validates every value.
func (s *cmpStudy) Check(at study.At) error {
	if err := errors.Join(checkHeader(at, &s.Header), checkMechanisms(at, s.Mechanisms)); err != nil {
		return err
	}
	for i := range s.Neighbours {
		p, where := &s.Neighbours[i], fmt.Sprintf("neighbours[%d]", i)
		if err := checkPlace(at, where, p.Name, &p.Embedding, nil); err != nil {
			return err
		}
		errs := []error{number(at, where, "words", p.Words, 1),
			at(check.AtLeast("number of k", len(p.K), 1), "%s.k", where),
			at(check.AtLeast("number of percentiles", len(p.Percentiles), 1), "%s.percentiles", where)}
		for j, q := range p.Percentiles {
			errs = append(errs, at(check.Inside("percentile", q, 0, 100), "%s.percentiles[%d]", where, j))
		}
		if err := first(errs); err != nil {
			return err
		}
	}
	for i := range s.Deniability {
		p, where := &s.Deniability[i], fmt.Sprintf("deniability[%d]", i)
		if err := first([]error{
			checkPlace(at, where, p.Name, &p.Embedding, p.Epsilons), needEpsilons(at, where, p.Epsilons),
			number(at, where, "words", p.Words, 1), number(at, where, "runs", p.Runs, 1),
		}); err != nil {
			return err
		}
	}
	for i := range s.Examples {
		p, where := &s.Examples[i], fmt.Sprintf("examples[%d]", i)
		errs := []error{checkPlace(at, where, p.Name, &p.Embedding, nil), number(at, where, "average", p.Average, 1),
			number(at, where, "runs", p.Runs, 2), number(at, where, "top", p.Top, 1)}
		for j, t := range p.Targets {
			errs = append(errs, at(check.Inside("target", t, 0, 1), "%s.targets[%d]", where, j))
		}
		if err := first(errs); err != nil {
			return err
		}
	}
	for i := range s.Utility {
		if err := s.Utility[i].check(at, fmt.Sprintf("utility[%d]", i)); err != nil {
			return err
		}
	}
	for i := range s.Auditor {
		if err := s.Auditor[i].check(at, fmt.Sprintf("auditor[%d]", i)); err != nil {
			return err
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

// Override applies flags.
func (s *cmpStudy) Override(o study.Overrides) (study.Body, error) {
	c, named := *s, []string(nil)
	c.Neighbours = choose(o, &named, "neighbours", s.Neighbours, func(p neighbourPanel) string { return p.Name })
	c.Deniability = choose(o, &named, "deniability", s.Deniability, func(p deniabilityPanel) string { return p.Name })
	c.Examples = choose(o, &named, "examples", s.Examples, func(p examplesPanel) string { return p.Name })
	c.Utility = choose(o, &named, "utility", s.Utility, utilityPanel.name)
	c.Auditor = choose(o, &named, auditor, s.Auditor, auditorPanel.name)
	return &c, refuse(o, named)
}

// Wants returns the resources that the study uses.
func (s *cmpStudy) Wants() lab.Wants {
	w := wantsOfUtility(s.Utility)
	for _, p := range s.Neighbours {
		w.Embeddings = append(w.Embeddings, p.Embedding)
	}
	for _, p := range s.Deniability {
		w.Embeddings = append(w.Embeddings, p.Embedding)
	}
	for _, p := range s.Examples {
		w.Embeddings = append(w.Embeddings, p.Embedding)
	}
	for _, p := range s.Auditor {
		w.Datasets, w.Embeddings = append(w.Datasets, p.Dataset), append(w.Embeddings, p.Embedding)
	}
	return wants(w, s.Mechanisms)
}

// Plan turns the study into units.
func (s *cmpStudy) Plan(l *lab.Lab) ([]engine.Unit, error) {
	all, err := curves(s.Mechanisms)
	if err != nil {
		return nil, err
	}
	var units []engine.Unit
	// add makes a unit that is measured on a whole embedding.
	add := func(at place, e study.EmbeddingSpec, c curve, row results.Record, id []any, runs int,
		run func(ctx context.Context, row results.Record, space *embeddings.Space) ([]results.Record, error)) {
		row.Embedding, row.Dimension = e.Name, e.Dimensions[0]
		units = append(units, at.unit(row, id,
			func(ctx context.Context) (lab.Fingerprints, error) {
				return l.OfWords(ctx, e, e.Dimensions[0], c.needs)
			},
			func() lab.Work {
				return lab.Work{Private: float64(runs), Size: float64(typicalWords * e.Dimensions[0])}
			},
			func(ctx context.Context, row results.Record, _ *engine.Job) ([]results.Record, error) {
				space, err := l.Words(ctx, e, e.Dimensions[0])
				if err != nil {
					return nil, err
				}
				return run(ctx, on(row, space), space)
			}))
	}
	for _, p := range s.Neighbours {
		at := newPlace(&s.Header, l, p.Name, "neighbours")
		none := curve{}
		add(at, p.Embedding, none, none.row(mechanisms.Settings{}, "k", results.Missing),
			[]any{"neighbours", p.Words, p.K, p.Percentiles}, p.Words,
			func(ctx context.Context, row results.Record, space *embeddings.Space) ([]results.Record, error) {
				return p.measure(ctx, row, space, at)
			})
	}
	for _, p := range s.Deniability {
		at := newPlace(&s.Header, l, p.Name, "deniability")
		for _, c := range all {
			for _, epsilon := range c.over(p.Epsilons) {
				add(at, p.Embedding, c, c.row(c.at(epsilon), "epsilon", results.Float(epsilon)),
					[]any{"deniability", p.Words, p.Runs, study.Labels(c.at(epsilon))}, p.Words*p.Runs,
					func(ctx context.Context, row results.Record, space *embeddings.Space) ([]results.Record, error) {
						return p.measure(ctx, row, space, at, c, epsilon)
					})
			}
		}
	}
	for _, p := range s.Examples {
		at := newPlace(&s.Header, l, p.Name, "examples")
		for _, c := range all {
			for _, target := range p.Targets {
				row := c.row(c.at(0), "average_n_w", results.Float(target))
				row.Series = "" // the rows are of words
				add(at, p.Embedding, c, row, []any{"examples", p.Words, p.Average, p.Runs, p.Top, target,
					study.Labels(c.at(0))}, 20*p.Average*p.Runs,
					func(ctx context.Context, row results.Record, space *embeddings.Space) ([]results.Record, error) {
						row.Series = c.label
						return p.measure(ctx, row, space, at, c, target)
					})
			}
		}
	}
	for _, p := range s.Utility {
		units = append(units, p.units(newPlace(&s.Header, l, p.Name, "utility"), all)...)
	}
	for _, p := range s.Auditor {
		audits, err := p.units(newPlace(&s.Header, l, p.Name, auditor), all)
		if err != nil {
			return nil, err
		}
		units = append(units, audits...)
	}
	return units, nil
}

// measure returns one series per percentile over k. A word is not its own
// neighbour.
func (p neighbourPanel) measure(ctx context.Context, row results.Record, space *embeddings.Space,
	at place) ([]results.Record, error) {
	words := measure.SampleWords(space, p.Words, at.seed.Derive("words"))
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
	var rows []results.Record
	for _, k := range p.K {
		sort.Float64s(distances[k])
		for _, q := range p.Percentiles {
			row.Series, row.X = fmt.Sprintf("%v%%", q), results.Float(k)
			rows = append(rows, with(row, "distance", 1, stat.Quantile(q/100, stat.Empirical, distances[k], nil)))
		}
	}
	return rows, nil
}

// measure returns N_w (percent) and S_w of every word; Repetition numbers the
// words and Note names them. The words are the same for all mechanisms.
func (p deniabilityPanel) measure(ctx context.Context, row results.Record, space *embeddings.Space, at place, c curve,
	epsilon float64) ([]results.Record, error) {
	m, err := at.wordsMechanism(space, nil, c, epsilon)
	if err != nil {
		return nil, err
	}
	words := measure.SampleWords(space, p.Words, at.seed.Derive("words"))
	rng := at.seed.Derive(append([]string{"runs"}, study.Labels(c.at(epsilon))...)...).Rand()
	outcomes, err := metrics.MeasureDeniability(words, p.Runs, measure.Draw(ctx, m, rng))
	if err != nil {
		return nil, err
	}
	row = row.Promised(m.Guarantee())
	var rows []results.Record
	for i, o := range outcomes {
		row.Note = space.Vocabulary.Word(o.Word)
		rows = append(rows, with(row, "n_w", i+1, o.Nw()), with(row, "s_w", i+1, float64(o.Distinct)))
	}
	return rows, nil
}

// measure calibrates ε to an average N_w, counts how often each word is
// returned and lists its outputs.
func (p examplesPanel) measure(ctx context.Context, row results.Record, space *embeddings.Space, at place, c curve,
	target float64) ([]results.Record, error) {
	env, err := at.lab.Environment(space, nil, c.needs, at.seed)
	if err != nil {
		return nil, err
	}
	found, err := measure.Calibrate(ctx, env, c.settings, measure.CalibrationOptions{
		Target: measure.Target{Quantity: "nw", Value: target},
		Words:  measure.SampleWords(space, p.Average, at.seed.Derive("words")),
		Runs:   p.Runs, Seed: at.seed.Derive("calibrate"),
	})
	if err != nil {
		return nil, err
	}
	settings := c.at(found.Epsilon)
	m, err := mechanisms.New(env, settings)
	if err != nil {
		return nil, err
	}
	row = row.Promised(m.Guarantee())
	row.Epsilon = results.Float(found.Epsilon)
	rows := []results.Record{with(row, "average_n_w", 1, found.Achieved), with(row, "epsilon", 1, found.Epsilon)}
	seed := at.seed.Derive(append([]string{"outputs"}, study.Labels(settings)...)...)
	for _, word := range p.Words {
		id := space.Vocabulary.ID(word)
		if id == embeddings.Unknown {
			return nil, fmt.Errorf("examples: %q is not in the embedding %s", word, space.Name)
		}
		src := slices.Repeat([]embeddings.WordID{id}, p.Runs)
		dst := make([]embeddings.WordID, len(src))
		m.Privatize(dst, src, nil, seed.Derive(word).Rand())
		unchanged := 0
		for _, y := range dst {
			if y == id {
				unchanged++
			}
		}
		count := with(row, "unchanged", 1, float64(unchanged))
		count.Series, count.Note = word, mostFrequent(m.Vocabulary(), dst, p.Top)
		rows = append(rows, count)
	}
	return rows, nil
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
