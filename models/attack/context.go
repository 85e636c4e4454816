package attack

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
	"mldpbench/models/ngram"
)

// contextWeights are those of the language model, of which one is chosen.
var contextWeights = []float64{0, 0.5, 1}

const contextOrder = 2 // of the language model

// context decodes whole texts with an n-gram model of the language: see posteriors.
func init() {
	Register(Definition{
		Name: "context", Version: 2,
		Needs:   []Need{NeedsShadow},
		Columns: []Column{{Name: "context-accuracy", Title: "words found in context", Panel: OneWord}},
		Run:     inContext,
	})
}

// shortlists finds, for each of some outputs, the inputs of highest posterior under the
// prior, the best first, the smaller first among equals.
func (s *Situation) shortlists(outputs []int32, prior []float64) (map[int32][]candidate, error) {
	better := func(a, b candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.word, b.word)) }
	most, lists := s.Options.Candidates, make([][]candidate, len(outputs))
	var mu sync.Mutex // the order of rows does not matter
	err := s.rows(func(_, x int, row []float64) {
		mu.Lock()
		defer mu.Unlock()
		for i, y := range outputs {
			l, c := lists[i], candidate{word: int32(x), score: prior[x] * row[y]}
			if row[y] == 0 || len(l) == most && better(c, l[most-1]) > 0 {
				continue
			}
			c.emission, c.prior = math.Log(row[y]), math.Log(prior[x])
			at, _ := slices.BinarySearchFunc(l, c, better)
			lists[i] = slices.Insert(l, at, c)[:min(most, len(l)+1)]
		}
	})
	out := make(map[int32][]candidate, len(outputs))
	for i, y := range outputs {
		out[y] = lists[i]
	}
	return out, err
}

// inContext chooses the weight on the held-out documents and decodes the test
// documents. A channel learned from draws may be worse than to take every output for
// the word itself.
func inContext(ctx context.Context, s *Situation) ([]Outcome, error) {
	model, err := once(s.Plain, "language model", func() (*ngram.Model, error) {
		return ngram.Train(s.Shadow, s.Words, contextOrder)
	})
	if err != nil {
		return nil, err
	}
	held, test, err := s.heldAndTest(ctx, s.Options.Tokens/4, s.Options.Tokens)
	if err != nil {
		return nil, err
	}
	lists, err := s.shortlists(s.outputs(held.noisy, test.noisy), s.prior())
	if err != nil {
		return nil, err
	}
	tuned, err := s.decode(ctx, model, lists, held, contextWeights)
	if err != nil {
		return nil, err
	}
	var forms []form
	for i, w := range contextWeights {
		forms = append(forms, form{fmt.Sprintf("weight %v of the language model", w), tuned[i],
			func() ([]int32, error) {
				decoded, err := s.decode(ctx, model, lists, test, contextWeights[i:i+1])
				return slices.Concat(decoded...), err // it is one list
			}})
	}
	forms = append(forms, form{"the output itself", held.each(held.noisy), known(test.each(test.noisy))})
	o, err := s.bestForm("context-accuracy", forms, held, test)
	o.Note += fmt.Sprintf("; %d candidates a position, order %d, public text of %d items",
		min(s.Options.Candidates, s.Words), contextOrder, len(s.Shadow))
	return []Outcome{o}, err
}

// decode guesses the words of a target, for each weight.
func (s *Situation) decode(ctx context.Context, model *ngram.Model, lists map[int32][]candidate, t target,
	weights []float64) ([][]int32, error) {
	decoded := make([][][]int32, len(weights))
	for k := range decoded {
		decoded[k] = make([][]int32, len(t.noisy))
	}
	err := s.parallel(ctx, len(t.noisy), func(i int) error {
		positions := make([][]candidate, len(t.noisy[i]))
		for j, y := range t.noisy[i] {
			if positions[j] = lists[y]; len(positions[j]) == 0 {
				positions[j] = []candidate{{word: y}} // no word of the mechanism: it was left unchanged
			}
		}
		all, err := posteriors(model, positions, weights)
		if err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
		for k, posterior := range all {
			for j, p := range posterior {
				decoded[k][i] = append(decoded[k][i], positions[j][floats.MaxIdx(p)].word)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list.Map(decoded, t.each), nil
}
