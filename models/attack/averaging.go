package attack

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"mldpbench/internal/kernel"
)

// averagingReleases are the available columns; Options.Releases chooses among
// them. Columns start with the most releases, which reveal most.
var averagingReleases = []int{1, 2, 5, 10, 50}

// averaging names a word from several independent releases of its text, by the
// channel or by a vote, whichever finds most on validation words: how the budget
// adds up.
func init() {
	d := Definition{Name: "averaging", Version: 2, Needs: []Need{NeedsChannel}, Start: startAveraging}
	for _, r := range slices.Backward(averagingReleases) {
		c := Column{Name: fmt.Sprintf("average-%d", r), Title: fmt.Sprintf("words found from %d releases", r), Alone: r > 1}
		if r == 1 {
			c.Title, c.Panel = "words found from one release", OneWord
		}
		d.Columns = append(d.Columns, c)
	}
	Register(d)
}

// averager attacks words of which there are several releases: those of the test
// split, then those of the validation split.
type averager struct {
	*Situation
	places  []place // of the test words
	words   []int32
	seen    [][]int32 // their releases
	weights []float64 // the prior
}

func startAveraging(ctx context.Context, s *Situation) (Attack, error) {
	for _, r := range s.Options.Releases {
		if !slices.Contains(averagingReleases, r) {
			return Attack{}, fmt.Errorf("releases = %d: must be among %d", r, averagingReleases)
		}
	}
	a := averager{Situation: s, weights: s.prior()}
	for _, part := range []struct {
		documents    []Document
		label, noise string
	}{{s.Test, "averaging", "releases"}, {s.Validation, "averaging validation", "validation releases"}} {
		documents := wordsOf(part.documents)
		at := s.sample(s.places(documents), s.Options.Words, part.label)
		words := target{places: at}.each(documents)
		seen, err := s.draws(ctx, words, slices.Max(s.Options.Releases), s.own.Derive(part.noise))
		if err != nil {
			return Attack{}, err
		}
		if a.words, a.seen = append(a.words, words...), append(a.seen, seen...); a.places == nil {
			a.places = at
		}
	}
	if len(a.places) == 0 {
		return Attack{}, fmt.Errorf("no word of the mechanism in the test split")
	}
	channel, draws, err := s.channel(ctx)
	if err != nil {
		return Attack{}, err
	}
	added := smoothings
	if draws == 0 {
		added = smoothings[:1]
	}
	pass, err := newManyPass(channel, a.weights, s.outputs(a.seen), a.seen, s.Options.Releases, added)
	if err != nil {
		return Attack{}, err
	}
	return Attack{pass.take, func(ctx context.Context) ([]Outcome, error) {
		return a.outcomes(ctx, added, pass.guesses(), draws)
	}}, nil
}

// outcomes chooses, for each number of releases, the form that finds most words
// of the validation split, and applies it to the test split. byChannel are the
// guesses by the channel, for each addition, word and number of releases. Ties go to
// the channel.
func (a averager) outcomes(ctx context.Context, added []float64, byChannel [][][]int32, draws int) (out []Outcome,
	err error) {
	names := []string{"channel"}
	for _, add := range added[1:] {
		names = append(names, fmt.Sprintf("channel + %v", add))
	}
	votes, err := a.votes(ctx)
	if err != nil {
		return nil, err
	}
	names = append(names, voteNames[:len(votes)]...)
	n := len(a.places)
	for r, releases := range slices.Backward(a.Options.Releases) {
		var forms []form
		for i, guesses := range append(byChannel, votes...) {
			all := make([]int32, len(guesses))
			for w, of := range guesses {
				all[w] = of[r]
			}
			forms = append(forms, form{names[i], all[n:], all[:n]})
		}
		chosen := best(forms, a.words[n:])
		top, blind := int32(slices.Index(a.weights, slices.Max(a.weights))), 0
		for _, w := range a.words[:n] {
			if w == top {
				blind++
			}
		}
		o := Outcome{Column: fmt.Sprintf("average-%d", releases), Floor: float64(blind) / float64(n), Ceiling: 1, Count: n,
			Draws: draws, Note: fmt.Sprintf("by %s, chosen on %d validation words", chosen.name, len(a.words)-n)}
		// Equal words have the same guess distribution, but their noise is
		// independent, so each word is a trial.
		o.Items = items(a.places, func(i int) bool { return chosen.test[i] == a.words[i] })
		hits := 0
		for _, item := range o.Items {
			hits += int(item.Right)
		}
		if o.Value, err = proportion(hits, n, a.Options.Level); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// votes of an output for a word at distance d: the majority, exp(−d/scale) for
// each of these scales, and −d. The wider a vote, the better it finds words that
// are rarely released as themselves.
var voteScales = [...]float64{0.5, 1, 2, 4}

var voteNames = []string{"majority", "vote weighed by exp(-distance/0.5)", "vote weighed by exp(-distance/1)",
	"vote weighed by exp(-distance/2)", "vote weighed by exp(-distance/4)", "least distance"}

// votes are the guesses of the forms that need no channel, by word and number of
// releases: argmax_x of the votes of the releases, over all words. Ties go to the
// word of higher prior. Without vectors there is the majority only.
func (a averager) votes(ctx context.Context) ([][][]int32, error) {
	forms := len(voteNames)
	if a.Embedding.Len() < a.Words {
		forms = 1
	}
	out := make([][][]int32, forms)
	for f := range out {
		out[f] = make([][]int32, len(a.seen))
	}
	ids := make([]uint32, a.Words)
	for x := range ids {
		ids[x] = uint32(x)
	}
	return out, a.parallel(ctx, len(a.seen), func(i int) error {
		for f, guesses := range a.vote(a.seen[i], ids, forms) {
			out[f][i] = guesses
		}
		return nil
	})
}

// vote returns the guesses of each form for each number of releases.
func (a averager) vote(list []int32, ids []uint32, forms int) [][]int32 {
	sums, out := make([][]float64, forms), make([][]int32, forms)
	for f := range sums {
		sums[f] = make([]float64, a.Words)
	}
	distances := make([]float64, a.Words)
	seen := 0
	for _, releases := range a.Options.Releases {
		counts := map[int32]float64{}
		for ; seen < releases; seen++ {
			counts[list[seen]]++
		}
		for _, y := range slices.Sorted(maps.Keys(counts)) {
			n := counts[y]
			if a.knows(y) {
				sums[0][y] += n
			}
			if forms == 1 {
				continue
			}
			kernel.DistancesTo(distances, a.vector(y), a.Embedding.Vectors, ids)
			for x, d := range distances {
				widest := math.Exp(-d / voteScales[len(voteScales)-1])
				for f := len(voteScales); f > 0; f-- { // each scale is half the next one
					sums[f][x] += float64(n * widest)
					widest *= widest
				}
				sums[forms-1][x] -= float64(n * d)
			}
		}
		for f, scores := range sums {
			best := 0
			for x, v := range scores {
				if v > scores[best] || v == scores[best] && a.weights[x] > a.weights[best] {
					best = x
				}
			}
			out[f] = append(out[f], int32(best))
		}
	}
	return out
}
