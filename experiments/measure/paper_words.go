package measure

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
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/results"
)

func init() {
	Register(Measurement{
		Name: "neighbours", Version: 1, Of: OfSpace, Columns: columns("distance"),
		Metric: entry("neighbours", false, false, func(o *neighbours, _ *study.Design, at study.At) error {
			return inside(at, "percentiles", o.Percentiles, 0, 100)
		}),
		Measure: measureNeighbours,
	})
	Register(Measurement{
		Name: "word-deniability", Version: 1, Of: OfAllRepeats, Columns: columns("n_w", "s_w"),
		Metric:  entry[wordDeniability]("word_deniability", false, false, nil),
		Applies: hasText, Measure: measureWordDeniability,
	})
	Register(Measurement{
		Name: "examples", Version: 1, Of: OfMechanism,
		Columns: []results.Column{{Name: "average_n_w"}, {Name: "epsilon"}, {Name: "unchanged"}},
		Metric: entry("examples", false, false, func(o *examples, _ *study.Design, at study.At) error {
			return inside(at, "targets", o.Targets, 0, 1)
		}),
		Applies: hasText, Measure: measureExamples,
	})
}

// neighbours is Figure 1 of Feyisetan et al. 2020: percentiles, over words, of
// the distance to the k-th neighbour.
type neighbours struct {
	Words       int       `yaml:"words" limits:"1,1000000"` // drawn from the vocabulary
	K           []int     `yaml:"k" limits:"1,1000000"`     // ranks of neighbours
	Percentiles []float64 `yaml:"percentiles"`              // of the distance, 0 to 100
}

// measureNeighbours returns one series per percentile over k. A word is not its
// own neighbour.
func measureNeighbours(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o, space := q.Options.(*neighbours), r.Space.Space
	deepest := slices.Max(o.K)
	if deepest >= space.Len() {
		return nil, fmt.Errorf("k = %d: the embedding has %d words", deepest, space.Len())
	}
	index := nearest.Of(space)
	distances := make(map[int][]float64, len(o.K))
	near := make([]nearest.Neighbor, deepest)
	for _, w := range SampleWords(space, o.Words, r.Root().Derive("words")) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		index.SearchExcluding(near, space.Vector(w), deepest, []embeddings.WordID{w})
		for _, k := range o.K {
			distances[k] = append(distances[k], near[k-1].Distance)
		}
	}
	var rows []results.Row
	row := r.Row(q)
	row.XName = "k"
	for _, k := range o.K {
		sort.Float64s(distances[k])
		for _, percentile := range o.Percentiles {
			row.Series, row.X = fmt.Sprintf("%v%%", percentile), results.Float(float64(k))
			m := results.Number(stat.Quantile(percentile/100, stat.Empirical, distances[k], nil))
			m.Whole = len(distances[k])
			rows = append(rows, of(row, 1, "distance", m))
		}
	}
	return rows, nil
}

// wordDeniability is Figures 2 to 4 of Feyisetan et al. 2020: N_w and S_w of
// every word per ε, on a whole embedding.
type wordDeniability struct {
	Words int `yaml:"words" limits:"1,1000000"` // drawn from the vocabulary
	Runs  int `yaml:"runs" limits:"1,1000000"`  // of each word
}

// measureWordDeniability returns N_w (percent) and S_w of every word; Repetition
// numbers the words and Note names them. The words are the same for all
// mechanisms.
func measureWordDeniability(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := q.Options.(*wordDeniability)
	m, err := r.Words(ctx)
	if err != nil {
		return nil, err
	}
	words := SampleWords(r.Space.Space, o.Words, r.Root().Derive("words"))
	outcomes, err := metrics.MeasureDeniability(words, o.Runs, Draw(ctx, m, labelled(r, "runs").Rand()))
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	var rows []results.Row
	for i, w := range outcomes {
		nw, sw := results.Share(w.Unchanged, w.Runs), results.Number(float64(w.Distinct))
		nw.Note = r.Space.Vocabulary.Word(w.Word)
		sw.Note = nw.Note
		rows = append(rows, of(row, i+1, "n_w", nw), of(row, i+1, "s_w", sw))
	}
	return rows, ctx.Err()
}

// examples is Table 1 of Feyisetan et al. 2020: outputs for words at an average
// N_w.
type examples struct {
	Words   []string  `yaml:"words"`                      // that are shown
	Targets []float64 `yaml:"targets"`                    // average N_w as a share, in (0, 1)
	Average int       `yaml:"average" limits:"1,1000000"` // words over which N_w is averaged
	Runs    int       `yaml:"runs" limits:"2,1000000"`    // of each word
	Top     int       `yaml:"top" limits:"1,1000"`        // outputs listed
}

// measureExamples calibrates ε to every target. One out of reach is a row that
// says so.
func measureExamples(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	env, err := r.Environment(ctx)
	if err != nil {
		return nil, err
	}
	o, row := q.Options.(*examples), r.Row(q)
	row.Repetition, row.XName = 1, "average_n_w"
	var rows []results.Row
	for _, t := range o.Targets {
		row.X = results.Float(t)
		more, err := o.outputs(ctx, r, env, row)
		if far := (*OutOfReach)(nil); errors.As(err, &far) {
			none := row
			none.Status, none.Reason = results.StatusUndefined, far.Reason
			more = []results.Row{none}
		} else if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// outputs calibrates ε to an average N_w, counts how often each word is returned
// and lists its outputs.
func (o *examples) outputs(ctx context.Context, r *Release, env mechanisms.Environment,
	row results.Row) ([]results.Row, error) {
	space, settings := r.Space.Space, r.Mechanism
	found, err := Calibrate(ctx, env, settings, CalibrationOptions{
		Target: Target{Quantity: "nw", Value: row.X.Float()},
		Words:  SampleWords(space, o.Average, r.Root().Derive("words")),
		Runs:   o.Runs, Seed: r.Root().Derive("calibrate"),
	})
	if err != nil {
		return nil, err
	}
	settings.Epsilon = found.Epsilon
	m, err := mechanisms.New(env, settings)
	if err != nil {
		return nil, err
	}
	row.Epsilon, row.Promise = results.Float(found.Epsilon), results.PromiseOf(m.Guarantee())
	rows := []results.Row{row.Of("average_n_w", results.Number(found.Achieved)),
		row.Of("epsilon", results.Number(found.Epsilon))}
	seed := r.Root().Derive(append([]string{"outputs"}, study.Labels(settings)...)...)
	for _, word := range o.Words {
		id := space.Vocabulary.ID(word)
		if id == embeddings.Unknown {
			return nil, fmt.Errorf("examples: %q is not in the embedding %s", word, space.Name)
		}
		src := slices.Repeat([]embeddings.WordID{id}, o.Runs)
		dst := make([]embeddings.WordID, len(src))
		if err := m.Privatize(ctx, dst, src, seed.Derive(word).Rand()); err != nil {
			return nil, err
		}
		n := map[embeddings.WordID]int{}
		for _, y := range dst {
			n[y]++
		}
		unchanged := results.Number(float64(n[id]))
		unchanged.Whole, unchanged.Note = o.Runs, mostFrequent(m.Vocabulary(), n, o.Top)
		row.Series = word
		rows = append(rows, row.Of("unchanged", unchanged))
	}
	return rows, nil
}

func mostFrequent(words *embeddings.Vocabulary, n map[embeddings.WordID]int, top int) string {
	ids := slices.SortedFunc(maps.Keys(n), func(a, b embeddings.WordID) int {
		if n[a] != n[b] {
			return n[b] - n[a]
		}
		return int(a - b)
	})
	parts := list.Map(ids[:min(top, len(ids))], func(id embeddings.WordID) string { return words.Word(id) })
	return strings.Join(parts, ", ")
}
