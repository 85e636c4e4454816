package attack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/models/ngram"
)

// bands of the number of occurrences of a word in the shadow text, by their
// lower end.
var bands = []struct {
	name string
	from int
}{{"new", 0}, {"rare", 1}, {"medium", 10}, {"common", 100}}

// context decodes whole texts with an n-gram model of the language: see posterior.
func init() {
	d := Definition{
		Name: "context", Version: 2,
		Needs: []Need{NeedsChannel, NeedsShadow},
		Columns: []Column{
			{Name: "context-accuracy", Title: "words found in context", Panel: OneWord},
			{Name: "context-alone", Title: "words found one by one"}, // by MAP with corpus prior
			{Name: "context-gain", Title: "gain by context"},
			{Name: "context-weight", Title: "weight of the language model"},
		},
		prepare: prepareContext,
	}
	for _, b := range bands {
		d.Columns = append(d.Columns, Column{Name: "context-" + b.name, Title: "words found in context, " + b.name})
	}
	Register(d)
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

func prepareContext(ctx context.Context, s *Situation, channel metrics.Channel, draws int) (channelAttack, error) {
	var none channelAttack
	o := s.Options
	model, err := s.Language()
	if err != nil {
		return none, err
	}
	counts := s.shadowCounts()
	prior, err := metrics.EmpiricalPrior(counts)
	if err != nil {
		return none, err
	}
	held, err := s.sought(ctx, Validation, s.Validation, max(1, o.Tokens/4))
	if err != nil {
		return none, err
	}
	test, err := s.sought(ctx, Test, s.Test, o.Tokens)
	if err != nil {
		return none, err
	}
	outputs := s.outputs(held.noisy, test.noisy)
	pass := &shortlistPass{prior, outputs, o.Candidates, make([][]shortlist, channel.Blocks())}
	return channelAttack{pass.take, func(ctx context.Context) ([]Outcome, error) {
		return decodeInContext(ctx, s, model, counts, prior, pass.lists(), held, test, draws)
	}}, nil
}

// decodeInContext chooses the weight on the held-out documents and decodes the
// test documents.
func decodeInContext(ctx context.Context, s *Situation, model *ngram.Model, counts []int, prior []float64,
	lists map[int32]*shortlist, held, test sought, draws int) ([]Outcome, error) {
	o := s.Options
	tuned, err := decodeAll(ctx, s, model, prior, lists, held.noisy, o.Weights)
	if err != nil {
		return nil, err
	}
	right := func(in sought, guesses [][]int32) int {
		hits, _ := in.right(in.each(guesses), nil)
		return sum(hits)
	}
	best, bestHits := 0.0, -1
	for i, weight := range o.Weights {
		if n := right(held, tuned[i]); n > bestHits { // a tie goes to the first weight
			best, bestHits = weight, n
		}
	}
	decoded, err := decodeAll(ctx, s, model, prior, lists, test.noisy, []float64{best, 0})
	if err != nil {
		return nil, err
	}
	guesses, alone := test.each(decoded[0]), test.each(decoded[1])
	note := fmt.Sprintf("%d candidates a position, order %d, public text of %d items", min(o.Candidates, s.Words),
		o.Order, len(s.Shadow))
	// A channel learned from draws may be worse than to take every output for the
	// word itself.
	if right(held, held.noisy) > bestHits {
		guesses, note = test.each(test.noisy), note+"; on validation words no better than the output itself, which is taken"
	}
	var out []Outcome
	found := func(column string, guesses []int32, in func(int32) bool) error {
		v, err := s.found("context-"+column, test, guesses, in)
		v.Draws, v.Note = draws, note
		if column != "accuracy" {
			v.Items = nil
		}
		out = append(out, v)
		return err
	}
	if err := errors.Join(found("accuracy", guesses, nil), found("alone", alone, nil)); err != nil {
		return nil, err
	}
	hits, trials := test.right(guesses, nil)
	hitsAlone, _ := test.right(alone, nil)
	tunedOn := list.Sum(held.plain, func(d []int32) int { return len(d) })
	out = append(out, Outcome{Column: "context-gain", Value: pairedDifference(hits, hitsAlone, trials, o.Level),
		Count: sum(trials), Draws: draws}, chosen("context-weight", best, tunedOn))
	for i, b := range bands {
		if err := found(b.name, guesses, func(w int32) bool {
			return counts[w] >= b.from && (i+1 == len(bands) || counts[w] < bands[i+1].from)
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decodeAll guesses a word for every output of every document, for each weight.
func decodeAll(ctx context.Context, s *Situation, model *ngram.Model, prior []float64, lists map[int32]*shortlist,
	noisy [][]int32, weights []float64) ([][][]int32, error) {
	out := make([][][]int32, len(weights))
	for i := range out {
		out[i] = make([][]int32, len(noisy))
	}
	return out, s.parallel(ctx, len(noisy), func(i int) error {
		positions := make([][]Candidate, len(noisy[i]))
		for j, y := range noisy[i] {
			l := lists[y]
			if l == nil || len(l.words) == 0 {
				// Not a word of the mechanism: it was left unchanged.
				positions[j] = []Candidate{{Word: y}}
				continue
			}
			for c, w := range l.words {
				positions[j] = append(positions[j], Candidate{w, l.logs[c], math.Log(prior[w])})
			}
		}
		l, err := newLattice(model, positions)
		if err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
		for at, weight := range weights {
			posterior, err := l.posterior(weight)
			if err != nil {
				return fmt.Errorf("document %d: %w", i, err)
			}
			for j, p := range posterior {
				out[at][i] = append(out[at][i], positions[j][floats.MaxIdx(p)].Word)
			}
		}
		return nil
	})
}

// pairedDifference returns the difference of two shares over the same trials in
// documents, with a t interval over documents.
func pairedDifference(a, b, trials []int, level float64) stats.Interval {
	n := float64(sum(trials))
	var ratios []float64
	// A mean of d_i·(documents/n) over documents is the difference; trials are
	// given by the text and not drawn, so their spread does not count.
	used := 0
	for _, t := range trials {
		if t > 0 {
			used++
		}
	}
	for i, t := range trials {
		if t > 0 {
			ratios = append(ratios, float64(a[i]-b[i])*float64(used)/n)
		}
	}
	return stats.MeanInterval(ratios, level)
}
