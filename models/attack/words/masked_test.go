package words

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/attacktest"
	"mldpbench/internal/list"
	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/models/attack"
	"mldpbench/stream"
)

// table is the masked model of a Markov chain over few words:
// p(x | before, after) ∝ T[before][x]·T[x][after].
type table struct {
	index map[string]int
	steps [][]float64   // T; the last row is that of the start
	at    [][][]float64 // before, after, word; n stands for a border
}

func newTable(words []string, rng *rand.Rand) table {
	n := len(words)
	m := table{index: map[string]int{}, steps: make([][]float64, n+1), at: make([][][]float64, n+1)}
	for i, w := range words {
		m.index[w] = i
	}
	normalise := func(row []float64) []float64 {
		floats.Scale(1/floats.Sum(row), row)
		return row
	}
	for a := range m.steps {
		row := make([]float64, n)
		for x := range row {
			row[x] = 0.01 + math.Pow(rng.Float64(), 8)
		}
		m.steps[a] = normalise(row)
	}
	for a := range m.at {
		for b := range n + 1 {
			row := slices.Clone(m.steps[a])
			for x := range row {
				if b < n {
					row[x] *= m.steps[x][b]
				}
			}
			m.at[a] = append(m.at[a], normalise(row))
		}
	}
	return m
}

func (m table) of(words []string, position int) []float64 {
	a, b := len(m.index), len(m.index)
	if position > 0 {
		a = m.index[words[position-1]]
	}
	if position+1 < len(words) {
		b = m.index[words[position+1]]
	}
	return m.at[a][b]
}

func (m table) over(words []string) attack.MaskedWords {
	return func(_ context.Context, text []string, positions []int) ([][]float32, error) {
		return list.Map(positions, func(position int) []float32 {
			p := m.of(text, position)
			return list.Map(words, func(w string) float32 { return float32(math.Log(p[m.index[w]])) })
		}), nil
	}
}

// tiny is a mechanism over a few words with a language that the table knows; no
// situation where the mechanism is undefined.
func tiny(t *testing.T, settings mechanisms.Settings, words, documents int) (*attack.Target, table) {
	t.Helper()
	space := spacetest.Gaussian(t, words, 3, 1, 7)
	env := mechanisms.Environment{Space: space, Thesaurus: spacetest.Tens{}, Seed: stream.FromUint64(1),
		Documents: [][]string{space.Vocabulary.Words(), {"w1", "w2"}}}
	env.Train = env.Documents
	m, err := mechanisms.New(env, settings)
	var undefined *mechanisms.UndefinedError
	if errors.As(err, &undefined) {
		return nil, table{}
	} else if err != nil {
		t.Fatalf("%+v: %v", settings, err)
	}
	l := attack.NewLexicon(m.Vocabulary())
	rng := stream.FromUint64(11).Rand()
	model := newTable(m.Vocabulary().Words(), rng)
	c := &attack.Corpus{Seed: stream.FromUint64(2)}
	for i := range documents {
		d := make([]string, 6)
		last := words
		for j := range d {
			u, row := rng.Float64(), model.steps[last]
			for last = 0; last < words-1 && u >= row[last]; last++ {
				u -= row[last]
			}
			d[j] = l.Word(int32(last))
		}
		document := attack.Document{Words: l.IDs(d)}
		switch i % 4 {
		case 0:
			c.Shadow = append(c.Shadow, document.Words)
		case 1:
			c.Validation = append(c.Validation, document)
		default:
			c.Test = append(c.Test, document)
		}
	}
	s := attack.NewTarget(m, mechanisms.Keep, l, stream.FromUint64(1), 2)
	s.Corpus = c
	s.Masked = model.over(m.Vocabulary().Words())
	s.Options = attacktest.Options(nil)
	return s, model
}

// A posterior is Bayes' rule: Pr[y|x]·p(x | context) for w = 1, with the prior in
// place of the model for w = 0, and the model alone for w = ∞.
func TestMaskedPosteriorIsBayes(t *testing.T) {
	emission, prior, model := []float64{0.7, 0.2, 0.1}, []float64{0.5, 0.3, 0.2}, []float64{0.1, 0.2, 0.7}
	logs := func(p []float64) []float64 { return list.Map(p, math.Log) }
	for w, want := range map[float64][]float64{0: {0.35, 0.06, 0.02}, 1: {0.07, 0.04, 0.07}, math.Inf(1): model} {
		got := make([]float64, 3)
		posterior(got, logs(emission), logs(prior), logs(model), w)
		for x := range want {
			if math.Abs(math.Exp(got[x])-want[x]) > 1e-12 {
				t.Errorf("weight %v: %v, want %v", w, math.Exp(got[x]), want[x])
			}
		}
	}
}

// The model with the channel finds at least as much as either alone, for every
// mechanism with a closed form: on the 2,400 validation words by construction, on
// the 4,800 test words but for the noise of both. Of the words on which two
// attackers answer unlike, a share u, the difference of their means has a standard
// deviation of √(u/4800 + u/2400) at most. Seven of them are exceeded by chance in
// 1e-12 of all comparisons, of which there are 34 · 2, each with the best of 21
// forms: less than 1e-8 in all.
func TestMaskedModelWithChannel(t *testing.T) {
	t.Parallel()
	helped, names := 0, map[string]bool{}
	for _, d := range mechanisms.Definitions() {
		if d.New == nil || d.Documents {
			continue
		}
		for _, variant := range d.Variants {
			for _, epsilon := range []float64{1.5, 4.5} {
				s, _ := tiny(t, mechanisms.Settings{Mechanism: d.Name, Variant: variant, Epsilon: epsilon}, 30, 1600)
				if s == nil || s.Channel == nil {
					continue
				}
				s.Options.Masked = 100_000
				both := attacktest.Run(t, "masked-channel", s)["masked-channel-accuracy"]
				if both.Count == 0 {
					continue // no word keeps its place
				}
				model := attacktest.Run(t, "masked", s)["masked-accuracy"]
				names[d.Name] = true
				if both.Count < 4800 || len(both.Items) != both.Count {
					t.Errorf("%s: %d words, %d items", d.Name, both.Count, len(both.Items))
				}
				// Without the language: what one output says of its word.
				alone := attacktest.Run(t, "map", s)["map-em-frequency"]
				unlike := 0.0
				for i, item := range both.Items {
					unlike += math.Abs(item.Right - model.Items[i].Right)
				}
				n := float64(both.Count)
				slack := 7 * math.Sqrt(unlike/n*(1/n+2/n))
				if both.Value.Estimate < model.Value.Estimate-slack || both.Value.Estimate < 1-alone.Value.Estimate-0.1 {
					t.Errorf("%s, %s, at %v: both %.3f, channel %.3f, model %.3f", d.Name, variant, epsilon, both.Value.Estimate,
						1-alone.Value.Estimate, model.Value.Estimate)
				}
				if both.Value.Estimate > max(1-alone.Value.Estimate, model.Value.Estimate)+0.02 {
					helped++
				}
			}
		}
	}
	if len(names) < 9 || helped < 10 {
		t.Errorf("%d mechanisms, together more in %d: the test shows nothing", len(names), helped)
	}
}

func TestMaskedModelErrors(t *testing.T) {
	s, _ := tiny(t, mechanisms.Settings{Mechanism: "k-rr", Epsilon: 1}, 7, 8)
	s.Masked = nil
	if _, err := attack.RunAll(t.Context(), []string{"masked"}, s); err == nil {
		t.Error("no model must be an error")
	}
	s.Masked = func(context.Context, []string, []int) ([][]float32, error) { return nil, nil }
	if _, err := attack.RunAll(t.Context(), []string{"masked"}, s); err == nil {
		t.Error("a model that does not answer must be an error")
	}
}
