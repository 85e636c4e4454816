package words

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/models/attack"
	"mldpbench/models/ngram"
)

// contextWeights are the forms, of which one is chosen: the channel, with pairs of words,
// and with the topic of the text.
var contextWeights = []weights{{0, 0, 1}, {0.5, 0, 1}, {1, 0, 1}, {0.5, 0.5, 1}, {0.7, 0.5, 1}, {0.7, 0.8, 1},
	{0.8, 0.7, 1}, {0.7, 0.8, 1.25}, {0.8, 1, 1.25}}

// topicWeights are those under which the topic is looked for.
var topicWeights = weights{0.8, 0, 1}

const (
	contextOrder = 2 // of the language model
	shortlisted  = 4 // the topic chooses the candidates among so many times as many
	heldOut      = 4 // the form is chosen on so many times as many words as are attacked
)

// context decodes whole texts with the words before and after and the topic: see posteriors.
func init() {
	attack.Register(attack.Definition{
		Name: "context", Version: 5,
		Needs:   []attack.Need{attack.NeedsShadow},
		Columns: []attack.Column{{Name: "context-accuracy", Title: "words found in context", Panel: attack.OneWord}},
		Start:   startContext,
	})
}

// decoder is the attack in context, before the channel was read.
type decoder struct {
	*attack.Target
	language   *ngram.Model
	held, test secrets
	candidates *shortlists
}

// languageKey is that of the model of pairs of words.
type languageKey struct{}

// startContext trains the language model and looks up what was released.
func startContext(ctx context.Context, t *attack.Target) (attack.Attack, error) {
	model, err := memo.Once(&t.Corpus.Cache, languageKey{}, func() (*ngram.Model, error) {
		return ngram.Train(known(t), t.Words.Count, contextOrder)
	})
	if err != nil {
		return attack.Attack{}, err
	}
	held, test, err := heldAndTest(ctx, t, heldOut*t.Options.Tokens, t.Options.Tokens)
	if err != nil {
		return attack.Attack{}, err
	}
	d := decoder{Target: t, language: model, held: held, test: test,
		candidates: newShortlists(t, t.Outputs(held.noisy, test.noisy))}
	return attack.Attack{
		Take:   d.candidates.take,
		Finish: func() ([]attack.Outcome, error) { return d.outcomes(ctx) },
	}, nil
}

// shortlists are, for each of some outputs, the inputs of highest posterior under the
// prior, the best first, the smaller first among equals.
type shortlists struct {
	most    int
	prior   []float64
	outputs []int32

	mu    sync.Mutex // the order of rows does not matter
	lists [][]candidate
	least []float64 // score of a candidate of each list: the lowest of a full one, −1 else
}

func newShortlists(t *attack.Target, outputs []int32) *shortlists {
	return &shortlists{
		most:    shortlisted * t.Options.Candidates,
		prior:   t.Prior(),
		outputs: outputs,
		lists:   make([][]candidate, len(outputs)),
		least:   slices.Repeat([]float64{-1}, len(outputs)),
	}
}

// compareCandidates puts the higher score first, then the smaller word.
func compareCandidates(a, b candidate) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Compare(a.word, b.word)
}

// take processes a row of the channel.
func (s *shortlists) take(_, x int, row []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	prior := s.prior[x]
	for i, y := range s.outputs {
		score := prior * row[y]
		if row[y] == 0 || score < s.least[i] {
			continue
		}
		list := s.lists[i]
		c := candidate{word: int32(x), score: score}
		if len(list) == s.most && compareCandidates(c, list[s.most-1]) > 0 {
			continue
		}
		c.emission = math.Log(row[y])
		c.prior = math.Log(prior)
		at, _ := slices.BinarySearchFunc(list, c, compareCandidates)
		list = slices.Insert(list, at, c)[:min(s.most, len(list)+1)]
		s.lists[i] = list
		if len(list) == s.most {
			s.least[i] = list[s.most-1].score
		}
	}
}

// byOutput are the lists, after all rows.
func (s *shortlists) byOutput() map[int32][]candidate {
	out := make(map[int32][]candidate, len(s.outputs))
	for i, y := range s.outputs {
		out[y] = s.lists[i]
	}
	return out
}

// outcomes chooses the form on the held-out documents and decodes the test documents. A
// channel learned from draws may be worse than to take every output for the word itself.
func (d decoder) outcomes(ctx context.Context) ([]attack.Outcome, error) {
	lists := d.candidates.byOutput()
	held, err := d.chains(ctx, lists, d.held)
	if err != nil {
		return nil, err
	}
	test, err := d.chains(ctx, lists, d.test)
	if err != nil {
		return nil, err
	}
	var forms []form
	for _, w := range contextWeights {
		named, err := decode(ctx, d.Target, held, d.held, w)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("weight %v of word pairs, %v of the topic, %v of the channel", w.pairs, w.topic, w.channel)
		decodeTest := func() ([]int32, error) { return decode(ctx, d.Target, test, d.test, w) }
		forms = append(forms, form{name, named, decodeTest})
	}
	forms = append(forms, form{"the output itself", d.held.each(d.held.noisy), found(d.test.each(d.test.noisy))})
	o, err := bestForm(d.Target, "context-accuracy", forms, d.held, d.test)
	o.Note += fmt.Sprintf("; %d candidates a position, order %d, %d public and training items",
		min(d.Options.Candidates, d.Words.Count), contextOrder, len(known(d.Target)))
	return []attack.Outcome{o}, err
}

// chains are the texts of some secrets, with their topics.
func (d decoder) chains(ctx context.Context, lists map[int32][]candidate, s secrets) ([]chain, error) {
	out := make([]chain, len(s.noisy))
	topics := topicsOf(d.Target)
	err := d.Parallel(ctx, len(out), func(i int) error {
		all := make([][]candidate, len(s.noisy[i]))
		for j, y := range s.noisy[i] {
			all[j] = slices.Clone(lists[y])
			if len(all[j]) == 0 {
				all[j] = []candidate{{word: y}} // no word of the mechanism: it was left unchanged
			}
		}
		best := func(c []candidate) []candidate { return c[:min(len(c), d.Options.Candidates)] }
		first, err := newChain(d.language, list.Map(all, best))
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
		out[i], err = first.of(d.language, list.Map(all, best))
		return err
	})
	return out, err
}

// decode names the words of secrets.
func decode(ctx context.Context, t *attack.Target, chains []chain, s secrets, w weights) ([]int32, error) {
	words := make([][]int32, len(chains))
	err := t.Parallel(ctx, len(chains), func(i int) error {
		all, err := chains[i].posteriors(w)
		for j, p := range all {
			words[i] = append(words[i], chains[i].positions[j][floats.MaxIdx(p)].word)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.each(words), nil
}
