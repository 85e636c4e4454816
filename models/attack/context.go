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

// contextWeights are the forms, of which one is chosen: the channel, with pairs of words,
// and with the topic of the text.
var contextWeights = []weights{{0, 0, 1}, {0.5, 0, 1}, {1, 0, 1}, {0.5, 0.5, 1}, {0.7, 0.5, 1}, {0.7, 0.8, 1},
	{0.8, 0.7, 1}, {0.7, 0.8, 1.25}, {0.8, 1, 1.25}}

// topicWeights are those under which the topic is looked for.
var topicWeights = weights{0.8, 0, 1}

// contextOrder is of the language model; the topic chooses the candidates among shortlisted
// times as many; the form is chosen on heldOut times as many words as are attacked.
const contextOrder, shortlisted, heldOut = 2, 4, 4

// context decodes whole texts with the words before and after and the topic: see posteriors.
func init() {
	Register(Definition{
		Name: "context", Version: 5,
		Needs:   []Need{NeedsShadow},
		Columns: []Column{{Name: "context-accuracy", Title: "words found in context", Panel: OneWord}},
		Run:     inContext,
	})
}

// shortlists finds, for each of some outputs, the inputs of highest posterior under the
// prior, the best first, the smaller first among equals.
func (s *Situation) shortlists(outputs []int32) (map[int32][]candidate, error) {
	better := func(a, b candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.word, b.word)) }
	most, lists, prior := shortlisted*s.Options.Candidates, make([][]candidate, len(outputs)), s.prior()
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

// inContext chooses the form on the held-out documents and decodes the test documents. A
// channel learned from draws may be worse than to take every output for the word itself.
func inContext(ctx context.Context, s *Situation) ([]Outcome, error) {
	model, err := once(s.Plain, "language model", func() (*ngram.Model, error) {
		return ngram.Train(s.language(), s.Words, contextOrder)
	})
	if err != nil {
		return nil, err
	}
	held, test, err := s.heldAndTest(ctx, heldOut*s.Options.Tokens, s.Options.Tokens)
	if err != nil {
		return nil, err
	}
	lists, err := s.shortlists(s.outputs(held.noisy, test.noisy))
	if err != nil {
		return nil, err
	}
	var chains [2][]chain
	for i, t := range []target{held, test} {
		if chains[i], err = s.chains(ctx, model, lists, t); err != nil {
			return nil, err
		}
	}
	var forms []form
	for _, w := range contextWeights {
		found, err := s.decode(ctx, chains[0], held, w)
		if err != nil {
			return nil, err
		}
		forms = append(forms, form{fmt.Sprintf("weight %v of word pairs, %v of the topic, %v of the channel",
			w.pairs, w.topic, w.channel), found, func() ([]int32, error) { return s.decode(ctx, chains[1], test, w) }})
	}
	forms = append(forms, form{"the output itself", held.each(held.noisy), known(test.each(test.noisy))})
	o, err := s.bestForm("context-accuracy", forms, held, test)
	o.Note += fmt.Sprintf("; %d candidates a position, order %d, %d public and training items",
		min(s.Options.Candidates, s.Words), contextOrder, len(s.language()))
	return []Outcome{o}, err
}

// chains are the texts of a target, with their topics.
func (s *Situation) chains(ctx context.Context, model *ngram.Model, lists map[int32][]candidate, t target) ([]chain, error) {
	out, topics := make([]chain, len(t.noisy)), s.topics()
	return out, s.parallel(ctx, len(out), func(i int) error {
		all := make([][]candidate, len(t.noisy[i]))
		for j, y := range t.noisy[i] {
			if all[j] = slices.Clone(lists[y]); len(all[j]) == 0 {
				all[j] = []candidate{{word: y}} // no word of the mechanism: it was left unchanged
			}
		}
		best := func(c []candidate) []candidate { return c[:min(len(c), s.Options.Candidates)] }
		first, err := newChain(model, list.Map(all, best))
		if err != nil {
			return err
		}
		p, err := first.posteriors(topicWeights)
		if err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
		topics.adapt(first, p, all)
		for _, c := range all {
			slices.SortStableFunc(c, func(a, b candidate) int {
				return cmp.Compare(b.emission+b.prior+b.topic, a.emission+a.prior+a.topic)
			})
		}
		out[i], err = newChain(model, list.Map(all, best))
		return err
	})
}

// decode names the words of a target.
func (s *Situation) decode(ctx context.Context, chains []chain, t target, w weights) ([]int32, error) {
	words := make([][]int32, len(chains))
	err := s.parallel(ctx, len(chains), func(i int) error {
		all, err := chains[i].posteriors(w)
		for j, p := range all {
			words[i] = append(words[i], chains[i].positions[j][floats.MaxIdx(p)].word)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.each(words), nil
}
