package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
	"mldpbench/models/ngram"
)

// contextWeights are those of the language model, of which one is chosen; contextOrder
// is the model's.
var contextWeights = []float64{0, 0.5, 1}

const contextOrder = 2

// context decodes whole texts with an n-gram model of the language: see posterior.
func init() {
	Register(Definition{
		Name: "context", Version: 2,
		Needs:   []Need{NeedsChannel, NeedsShadow},
		Columns: []Column{{Name: "context-accuracy", Title: "words found in context", Panel: OneWord}},
		Start:   startContext,
	})
}

// shortlist keeps the k candidates with the highest score for one output, the
// best first.
type shortlist struct {
	words  []int32
	scores []float64 // π(x)·P(y|x)
	logs   []float64 // ln P(y|x)
}

// offer adds a word that is among the k best so far. Words come in ascending
// order; among equal scores the first is kept.
func (l *shortlist) offer(k int, w int32, score, p float64) {
	n := len(l.words)
	if n == k && score <= l.scores[n-1] {
		return
	}
	at := n
	for at > 0 && l.scores[at-1] < score {
		at--
	}
	if n == k {
		n--
		l.words, l.scores, l.logs = l.words[:n], l.scores[:n], l.logs[:n]
	}
	l.words, l.scores, l.logs = slices.Insert(l.words, at, w), slices.Insert(l.scores, at, score),
		slices.Insert(l.logs, at, math.Log(p))
}

// shortlistPass finds, for each of some outputs, the k inputs of highest
// posterior under the prior, in one pass over the channel.
type shortlistPass struct {
	prior   []float64
	outputs []int32
	k       int
	blocks  [][]shortlist
}

func (s *shortlistPass) take(b, x int, row []float64) {
	if s.blocks[b] == nil {
		s.blocks[b] = make([]shortlist, len(s.outputs))
	}
	for i, y := range s.outputs {
		if p := row[y]; p > 0 {
			s.blocks[b][i].offer(s.k, int32(x), s.prior[x]*p, p)
		}
	}
}

func (s *shortlistPass) lists() map[int32]*shortlist {
	out := make(map[int32]*shortlist, len(s.outputs))
	for i, y := range s.outputs {
		merged := &shortlist{}
		for _, block := range s.blocks {
			if block == nil {
				continue
			}
			l := block[i]
			for j, w := range l.words {
				merged.offer(s.k, w, l.scores[j], math.Exp(l.logs[j]))
			}
		}
		out[y] = merged
	}
	return out
}

func startContext(ctx context.Context, s *Situation) (Attack, error) {
	model, err := once(s.Plain, "language model", func() (*ngram.Model, error) {
		return ngram.Train(s.Shadow, s.Words, contextOrder)
	})
	if err != nil {
		return Attack{}, err
	}
	held, err := s.target(ctx, Validation, s.Options.Tokens/4)
	if err != nil {
		return Attack{}, err
	}
	test, err := s.target(ctx, Test, s.Options.Tokens)
	if err != nil {
		return Attack{}, err
	}
	channel, draws, err := s.channel(ctx)
	c := contextDecoder{s, model, list.Map(s.prior(), math.Log), nil}
	pass := &shortlistPass{s.prior(), s.outputs(held.noisy, test.noisy), s.Options.Candidates,
		make([][]shortlist, channel.Blocks())}
	return Attack{pass.take, func(ctx context.Context) ([]Outcome, error) {
		c.lists = pass.lists()
		o, err := c.outcome(ctx, held, test)
		o.Draws = draws
		return []Outcome{o}, err
	}}, err
}

type contextDecoder struct {
	*Situation
	model *ngram.Model
	prior []float64 // logarithms
	lists map[int32]*shortlist
}

// outcome chooses the weight on the held-out documents and decodes the test
// documents. A channel learned from draws may be worse than to take every output for
// the word itself.
func (c contextDecoder) outcome(ctx context.Context, held, test target) (Outcome, error) {
	tuned, err := c.decode(ctx, held, contextWeights)
	if err != nil {
		return Outcome{}, err
	}
	var forms []form
	for i, w := range contextWeights {
		forms = append(forms, form{name: fmt.Sprintf("weight %v of the language model", w), held: tuned[i]})
	}
	forms = append(forms, form{"the output itself", held.each(held.noisy), test.each(test.noisy)})
	chosen := best(forms, held.each(held.plain))
	if chosen.test == nil {
		i := slices.IndexFunc(forms, func(f form) bool { return f.name == chosen.name })
		decoded, err := c.decode(ctx, test, contextWeights[i:i+1])
		if err != nil {
			return Outcome{}, err
		}
		chosen.test = decoded[0]
	}
	o, err := c.foundWords("context-accuracy", test, chosen.test)
	o.Note = fmt.Sprintf("%s, chosen on %d validation words; %d candidates a position, order %d, public text of %d items",
		chosen.name, len(held.places), min(c.Options.Candidates, c.Words), contextOrder, len(c.Shadow))
	return o, err
}

// decode guesses the words of a target, for each weight.
func (c contextDecoder) decode(ctx context.Context, t target, weights []float64) ([][]int32, error) {
	decoded := make([][][]int32, len(weights))
	for k := range decoded {
		decoded[k] = make([][]int32, len(t.noisy))
	}
	err := c.parallel(ctx, len(t.noisy), func(i int) error {
		positions := make([][]Candidate, len(t.noisy[i]))
		for j, y := range t.noisy[i] {
			l := c.lists[y]
			if l == nil || len(l.words) == 0 {
				// Not a word of the mechanism: it was left unchanged.
				positions[j] = []Candidate{{Word: y}}
				continue
			}
			for k, w := range l.words {
				positions[j] = append(positions[j], Candidate{w, l.logs[k], c.prior[w]})
			}
		}
		l, err := newLattice(c.model, positions)
		if err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
		for k, weight := range weights {
			posterior, err := l.posterior(weight)
			if err != nil {
				return fmt.Errorf("document %d: %w", i, err)
			}
			for j, p := range posterior {
				decoded[k][i] = append(decoded[k][i], positions[j][floats.MaxIdx(p)].Word)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list.Map(decoded, t.each), nil
}
