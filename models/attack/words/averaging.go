package words

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/models/attack"
)

// averaging names a word from several independent releases of its text, by the
// channel or by a vote, whichever finds most on validation words: how the budget
// adds up. Columns start with the most releases, which reveal most.
func init() {
	d := attack.Definition{
		Name:    "averaging",
		Version: 3,
		Start:   startAveraging,
	}
	for _, r := range slices.Backward(attack.MostReleases) {
		c := attack.Column{
			Name:  averageColumn(r),
			Title: fmt.Sprintf("words found from %d releases", r),
			Alone: r > 1,
		}
		if r == 1 {
			c.Title = "words found from one release"
			c.Panel = attack.OneWord
		}
		d.Columns = append(d.Columns, c)
	}
	attack.Register(d)
}

func averageColumn(releases int) string { return fmt.Sprintf("average-%d", releases) }

// averaging is the attack after its releases were drawn.
type averaging struct {
	*attack.Target
	held, test secrets
	seen       [][]int32 // releases of each word: of those of test, then of those of held
	guesses    *attack.Guesses
}

// startAveraging draws the releases of the words that are attacked.
func startAveraging(ctx context.Context, t *attack.Target) (attack.Attack, error) {
	test, seen, err := repeated(ctx, t, attack.Test, "averaging", "releases")
	if err != nil {
		return attack.Attack{}, err
	}
	held, more, err := repeated(ctx, t, attack.Validation, "averaging validation", "validation releases")
	if err != nil {
		return attack.Attack{}, err
	}
	if len(seen) == 0 {
		return attack.Attack{}, fmt.Errorf("no word of the mechanism in the test split")
	}
	a := averaging{
		Target: t,
		held:   held,
		test:   test,
		seen:   append(seen, more...),
	}
	a.guesses, err = t.NewGuesses(a.seen, t.Options.Releases)
	if err != nil {
		return attack.Attack{}, err
	}
	return attack.Attack{
		Take:   a.guesses.Take,
		Finish: func() ([]attack.Outcome, error) { return a.outcomes(ctx) },
	}, nil
}

// repeated are words of a split, and releases of each, from the seed of their noise.
func repeated(ctx context.Context, t *attack.Target, split attack.Split, label, noise string) (secrets, [][]int32,
	error) {
	plain := attack.WordsOf(t.Corpus.Documents(split))
	s := secrets{plain: plain, places: sample(t, places(t, plain), t.Options.Words, label)}
	seen, err := t.Draws(ctx, s.each(plain), slices.Max(t.Options.Releases), t.Seed.Derive(noise))
	return s, seen, err
}

// outcomes chooses, for each number of releases, the form that finds most words of
// the validation split. Ties go to the channel.
func (a averaging) outcomes(ctx context.Context) ([]attack.Outcome, error) {
	names, named, err := a.byVotes(ctx)
	if err != nil {
		return nil, err
	}
	names = append([]string{"channel"}, names...)
	named = append([][][]int32{a.guesses.Inputs()}, named...)
	n := len(a.test.places)
	var out []attack.Outcome
	for r, releases := range slices.Backward(a.Options.Releases) {
		var forms []form
		for f, name := range names {
			all := list.Map(named[f], func(byReleases []int32) int32 { return byReleases[r] })
			forms = append(forms, form{"by " + name, all[n:], found(all[:n])})
		}
		o, err := bestForm(a.Target, averageColumn(releases), forms, a.held, a.test)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// voteScales are those of votes of an output for a word at distance d: there is the majority,
// exp(−d/scale) for each of these scales, and −d. The wider a vote, the better it finds words
// that are rarely released as themselves.
var voteScales = [...]float64{0.5, 1, 2, 4}

// byVotes names the word with most votes of the releases, of all words, by form, list and
// number of releases; no channel is needed. Ties go to the word of higher prior. Without
// vectors there is the majority only.
func (a averaging) byVotes(ctx context.Context) (names []string, named [][][]int32, err error) {
	names = []string{"majority"}
	if a.Words.HaveVectors() {
		for _, scale := range voteScales {
			names = append(names, fmt.Sprintf("vote weighed by exp(-distance/%v)", scale))
		}
		names = append(names, "least distance")
	}
	named = list.Map(names, func(string) [][]int32 { return make([][]int32, len(a.seen)) })
	err = a.Parallel(ctx, len(a.seen), func(i int) error {
		sums := list.Map(names, func(string) []float64 {
			return make([]float64, a.Words.Count)
		})
		read := 0
		for _, releases := range a.Options.Releases {
			counts := map[int32]float64{}
			for ; read < releases; read++ {
				counts[a.seen[i][read]]++
			}
			for _, y := range slices.Sorted(maps.Keys(counts)) {
				a.vote(sums, y, counts[y])
			}
			for f, scores := range sums {
				named[f][i] = append(named[f][i], a.likeliest(scores))
			}
		}
		return nil
	})
	return names, named, err
}

// vote adds the votes of an output that was released n times to the sums of each form.
func (a averaging) vote(sums [][]float64, y int32, n float64) {
	if a.Words.Known(y) {
		sums[0][y] += n
	}
	if len(sums) == 1 {
		return
	}
	for x, d := range a.Words.Distances(y) {
		widest := math.Exp(-d / voteScales[len(voteScales)-1])
		for f := len(voteScales); f > 0; f-- { // each scale is half the next one
			sums[f][x] += float64(n * widest)
			widest *= widest
		}
		sums[len(sums)-1][x] -= float64(n * d)
	}
}

// likeliest is the word of the highest score, among equals that of the highest prior.
func (a averaging) likeliest(scores []float64) int32 {
	best := 0
	prior := a.Prior()
	for x, v := range scores {
		if v > scores[best] || v == scores[best] && prior[x] > prior[best] {
			best = x
		}
	}
	return int32(best)
}
