package attack

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/internal/list"
	"mldpbench/metrics"
	"mldpbench/models/ngram"
)

// bands of the number of occurrences of a word in the shadow text, by their
// lower end.
var bands = []struct {
	name, doc string
	from      int
}{
	{"new", "words that the shadow text does not have", 0},
	{"rare", "words that occur 1 to 9 times in it", 1},
	{"medium", "words that occur 10 to 99 times in it", 10},
	{"common", "words that occur 100 times or more in it", 100},
}

func init() {
	d := Definition{
		Name: "context", Title: "in-context decoding",
		Doc:   "decodes whole texts with an n-gram model of the language: a hidden Markov model, forward–backward",
		Needs: []Need{NeedsChannel, NeedsShadow},
		Columns: []Column{
			{Name: "context-accuracy", Title: "words found in context", Unit: "share",
				Doc: "share of words that the attacker names correctly"},
			{Name: "context-alone", Title: "words found one by one", Unit: "share",
				Doc: "the same words by MAP with corpus prior, without context"},
			{Name: "context-gain", Title: "gain by context", Unit: "share", Doc: "difference of the two"},
			{Name: "context-weight", Title: "weight of the language model", Unit: "ratio",
				Doc: "chosen on the validation split"},
		},
		prepare: prepareContext,
	}
	for _, b := range bands {
		d.Columns = append(d.Columns, Column{Name: "context-" + b.name, Title: "words found in context, " + b.name,
			Unit: "share", Doc: b.doc})
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
	k := s.k
	out := make(map[int32]*shortlist, len(s.outputs))
	for i, y := range s.outputs {
		merged := &shortlist{}
		for _, block := range s.blocks {
			if block == nil {
				continue
			}
			l := block[i]
			for j, w := range l.words {
				merged.offer(k, w, l.scores[j], math.Exp(l.logs[j]))
			}
		}
		out[y] = merged
	}
	return out
}

// released is a set of documents with their release.
type released struct{ plain, noisy [][]int32 }

// upTo returns the first documents that together have at most so many words,
// but at least one document.
func upTo(documents [][]int32, tokens int) [][]int32 {
	for i, d := range documents {
		if tokens -= len(d); tokens < 0 && i > 0 {
			return documents[:i]
		}
	}
	return documents
}

func prepareContext(ctx context.Context, s *Situation, channel metrics.Channel, draws int) (channelAttack, error) {
	var none channelAttack
	o := s.Options
	model, err := s.Language()
	if err != nil {
		return none, err
	}
	counts := s.shadowCounts()
	prior, err := metrics.ShadowPrior(counts)
	if err != nil {
		return none, err
	}
	release := func(documents []Document, tokens int, label string) (released, error) {
		plain := upTo(wordsOf(documents), tokens)
		noisy, err := s.prefix(ctx, label, plain)
		return released{plain, noisy}, err
	}
	held, err := release(s.Validation, max(1, o.Tokens/4), Validation)
	if err != nil {
		return none, err
	}
	test, err := release(s.Test, o.Tokens, Test)
	if err != nil {
		return none, err
	}
	var outputs []int32
	for _, r := range []released{held, test} {
		for _, d := range r.noisy {
			for _, y := range d {
				if s.knows(y) {
					outputs = append(outputs, y)
				}
			}
		}
	}
	slices.Sort(outputs)
	outputs = slices.Compact(outputs)
	pass := &shortlistPass{prior, outputs, o.Candidates, make([][]shortlist, channel.Blocks())}
	return channelAttack{pass.take, func(ctx context.Context) ([]Outcome, error) {
		return decodeInContext(ctx, s, model, counts, prior, pass.lists(), held, test, draws)
	}}, nil
}

// decodeInContext chooses the weight on the held-out documents and decodes the
// test documents.
func decodeInContext(ctx context.Context, s *Situation, model *ngram.Model, counts []int, prior []float64,
	lists map[int32]*shortlist,
	held, test released, draws int) ([]Outcome, error) {
	o := s.Options
	tuned, err := decodeAll(ctx, s, model, prior, lists, held.noisy, o.Weights)
	if err != nil {
		return nil, err
	}
	best, bestHits := 0.0, -1
	for i, weight := range o.Weights {
		hits, _ := s.compare(held.plain, tuned[i], nil)
		if n := sum(hits); n > bestHits { // a tie goes to the first weight
			best, bestHits = weight, n
		}
	}
	// A channel learned from draws may be worse than to take every output for the
	// word itself.
	unchanged, _ := s.compare(held.plain, held.noisy, nil)
	decoded, err := decodeAll(ctx, s, model, prior, lists, test.noisy, []float64{best, 0})
	if err != nil {
		return nil, err
	}
	guesses, alone := decoded[0], decoded[1]
	note := fmt.Sprintf("%d candidates a position, order %d, public text of %d items", min(o.Candidates, s.Words),
		o.Order, len(s.Shadow))
	if sum(unchanged) > bestHits {
		guesses, note = test.noisy, note+"; on validation words no better than the output itself, which is taken"
	}
	hits, trials := s.compare(test.plain, guesses, nil)
	hitsAlone, _ := s.compare(test.plain, alone, nil)
	with, err := grouped(hits, trials, o.Level)
	if err != nil {
		return nil, err
	}
	without, err := grouped(hitsAlone, trials, o.Level)
	if err != nil {
		return nil, err
	}
	// Blind: the most frequent word everywhere.
	top := int32(0)
	for w := range counts {
		if counts[w] > counts[top] {
			top = int32(w)
		}
	}
	blind := list.Map(test.plain, func(d []int32) []int32 { return slices.Repeat([]int32{top}, len(d)) })
	floor := func(in func(int32) bool) float64 {
		h, n := s.compare(test.plain, blind, in)
		return float64(sum(h)) / float64(sum(n))
	}
	n := sum(trials)
	items := s.wordItems(test.plain, func(p place) bool {
		return guesses[p.document][p.position] == test.plain[p.document][p.position]
	})
	out := []Outcome{
		{Column: "context-accuracy", Value: with, Floor: floor(nil), Ceiling: 1, Count: n, Draws: draws, Note: note,
			Items: items},
		{Column: "context-alone", Value: without, Floor: floor(nil), Ceiling: 1, Count: n, Draws: draws, Note: note},
		{Column: "context-gain", Value: pairedDifference(hits, hitsAlone, trials, o.Level), Floor: 0, Ceiling: 0,
			Count: n, Draws: draws},
		{Column: "context-weight", Value: metrics.Interval{Estimate: best, Low: best, High: best},
			Floor: math.NaN(), Ceiling: math.NaN(), Count: sum(lengths(held.plain))},
	}
	for i, b := range bands {
		in := func(w int32) bool {
			return counts[w] >= b.from && (i+1 == len(bands) || counts[w] < bands[i+1].from)
		}
		h, t := s.compare(test.plain, guesses, in)
		v, err := grouped(h, t, o.Level)
		if err != nil {
			return nil, err
		}
		out = append(out, Outcome{Column: "context-" + b.name, Value: v, Floor: floor(in), Ceiling: 1,
			Count: sum(t), Draws: draws, Note: note})
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
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.Workers)
	for i, document := range noisy {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			positions := make([][]Candidate, len(document))
			for j, y := range document {
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
				guess := make([]int32, len(document))
				for j, p := range posterior {
					top := 0
					for c := range p {
						if p[c] > p[top] {
							top = c
						}
					}
					guess[j] = positions[j][top].Word
				}
				out[at][i] = guess
			}
			return nil
		})
	}
	return out, g.Wait()
}

// compare counts, by document, the words guessed correctly and the words
// counted: those of the mechanism that in selects (nil: all).
func (s *Situation) compare(plain, guesses [][]int32, in func(int32) bool) (hits, trials []int) {
	hits, trials = make([]int, len(plain)), make([]int, len(plain))
	for i, document := range plain {
		for j, w := range document {
			if !s.knows(w) || in != nil && !in(w) {
				continue
			}
			trials[i]++
			if guesses[i][j] == w {
				hits[i]++
			}
		}
	}
	return hits, trials
}

// pairedDifference returns the difference of two shares over the same trials in
// documents, with a t interval over documents.
func pairedDifference(a, b, trials []int, level float64) metrics.Interval {
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
	return metrics.MeanInterval(ratios, level)
}

func sum(x []int) int {
	total := 0
	for _, v := range x {
		total += v
	}
	return total
}

func lengths(documents [][]int32) []int {
	return list.Map(documents, func(d []int32) int { return len(d) })
}

// place is the position of a word.
type place struct{ document, position int }

// places returns at most so many positions of words of the mechanism in
// documents, drawn from the seed of the data, in text order.
func (s *Situation) places(documents [][]int32, most int, label string) []place {
	var all []place
	for i, d := range documents {
		for j, w := range d {
			if s.knows(w) {
				all = append(all, place{i, j})
			}
		}
	}
	if len(all) > most {
		rng := s.DataSeed.Derive("places", label).Rand()
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:most]
		slices.SortFunc(all, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.document, b.document), cmp.Compare(a.position, b.position))
		})
	}
	return all
}
