package attack

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"mldpbench/internal/list"
)

// averagingReleases are the available columns; Options.Releases chooses among
// them. Columns start with the most releases, which reveal most.
var averagingReleases = []int{1, 2, 5, 10, 50}

// averaging names a word from several independent releases of its text, by the
// channel or by a vote, whichever finds most on validation words: how the budget
// adds up.
func init() {
	d := Definition{Name: "averaging", Version: 3, Run: averaging}
	for _, r := range slices.Backward(averagingReleases) {
		c := Column{Name: fmt.Sprintf("average-%d", r), Title: fmt.Sprintf("words found from %d releases", r), Alone: r > 1}
		if r == 1 {
			c.Title, c.Panel = "words found from one release", OneWord
		}
		d.Columns = append(d.Columns, c)
	}
	Register(d)
}

// repeated are words of a split, and releases of each.
func (s *Situation) repeated(ctx context.Context, documents []Document, label, noise string) (t target, seen [][]int32,
	err error) {
	t.plain = wordsOf(documents)
	t.places = s.sample(s.places(t.plain), s.Options.Words, label)
	seen, err = s.draws(ctx, t.each(t.plain), slices.Max(s.Options.Releases), s.own.Derive(noise))
	return t, seen, err
}

// averaging chooses, for each number of releases, the form that finds most words of
// the validation split. Ties go to the channel.
func averaging(ctx context.Context, s *Situation) (out []Outcome, err error) {
	test, seen, err := s.repeated(ctx, s.Test, "averaging", "releases")
	if err != nil {
		return nil, err
	}
	held, more, err := s.repeated(ctx, s.Validation, "averaging validation", "validation releases")
	if err != nil {
		return nil, err
	}
	n := len(seen)
	if n == 0 {
		return nil, fmt.Errorf("no word of the mechanism in the test split")
	}
	seen = append(seen, more...)
	by, err := s.guesses(seen, s.Options.Releases)
	if err != nil {
		return nil, err
	}
	names, votes, err := s.byVotes(ctx, seen)
	if err != nil {
		return nil, err
	}
	names, votes = append([]string{"channel"}, names...), append([][][]int32{by}, votes...)
	for r, releases := range slices.Backward(s.Options.Releases) {
		var forms []form
		for f, name := range names {
			all := list.Map(votes[f], func(of []int32) int32 { return of[r] })
			forms = append(forms, form{"by " + name, all[n:], known(all[:n])})
		}
		o, err := s.bestForm(fmt.Sprintf("average-%d", releases), forms, held, test)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// Votes of an output for a word at distance d: the majority, exp(−d/scale) for
// each of these scales, and −d. The wider a vote, the better it finds words that
// are rarely released as themselves.
var voteScales = [...]float64{0.5, 1, 2, 4}

// byVotes names the word with most votes of the releases, of all words, by form, list and
// number of releases; no channel is needed. Ties go to the word of higher prior. Without
// vectors there is the majority only.
func (s *Situation) byVotes(ctx context.Context, seen [][]int32) (names []string, named [][][]int32, err error) {
	names = []string{"majority"}
	if s.Embedding.Len() >= s.Words {
		for _, scale := range voteScales {
			names = append(names, fmt.Sprintf("vote weighed by exp(-distance/%v)", scale))
		}
		names = append(names, "least distance")
	}
	named = list.Map(names, func(string) [][]int32 { return make([][]int32, len(seen)) })
	return names, named, s.parallel(ctx, len(seen), func(i int) error {
		sums, at := list.Map(names, func(string) []float64 { return make([]float64, s.Words) }), 0
		for _, releases := range s.Options.Releases {
			counts := map[int32]float64{}
			for ; at < releases; at++ {
				counts[seen[i][at]]++
			}
			for _, y := range slices.Sorted(maps.Keys(counts)) {
				s.vote(sums, y, counts[y])
			}
			for f, scores := range sums {
				named[f][i] = append(named[f][i], s.likelier(scores))
			}
		}
		return nil
	})
}

// vote adds the votes of an output that was released n times to the sums of each form.
func (s *Situation) vote(sums [][]float64, y int32, n float64) {
	if s.knows(y) {
		sums[0][y] += n
	}
	if len(sums) == 1 {
		return
	}
	for x, d := range s.distances(y) {
		widest := math.Exp(-d / voteScales[len(voteScales)-1])
		for f := len(voteScales); f > 0; f-- { // each scale is half the next one
			sums[f][x] += float64(n * widest)
			widest *= widest
		}
		sums[len(sums)-1][x] -= float64(n * d)
	}
}
