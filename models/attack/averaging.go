package attack

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"mldpbench/internal/kernel"
	"mldpbench/internal/list"
	"mldpbench/metrics"
)

// averagingReleases are the available columns; Options.Releases chooses among
// them. Columns start with the most releases, which reveal most.
var averagingReleases = []int{1, 2, 5, 10, 50}

// averaging names a word from several independent releases of its text, by the
// channel or by a vote, whichever finds most on validation words: how the budget
// adds up.
func init() {
	d := Definition{Name: "averaging", Version: 2, Run: averaging}
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
	ways, err := s.byChannel(seen)
	if err != nil {
		return nil, err
	}
	votes, err := s.byVotes(ctx, seen)
	if err != nil {
		return nil, err
	}
	for r, releases := range slices.Backward(s.Options.Releases) {
		forms := list.Map(append(ways, votes...), func(w averagingForm) form {
			all := list.Map(w.guesses, func(of []int32) int32 { return of[r] })
			return form{"by " + w.name, all[n:], known(all[:n])}
		})
		o, err := s.bestForm(fmt.Sprintf("average-%d", releases), forms, held, test)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// averagingForm is a way to name words, with the guesses for each by number of releases.
type averagingForm struct {
	name    string
	guesses [][]int32
}

// smoothings are added to the probabilities of a learned channel. A product of
// learned probabilities is decided by the outputs that were never drawn; the
// larger the addition, the more it resembles a vote. An exact channel needs none.
var smoothings = []float64{0, 1e-4, 1e-3, 1e-2}

// byChannel names the input of highest posterior, for each addition to the
// probabilities, in one pass over the channel. Ties go to the smallest input.
func (s *Situation) byChannel(seen [][]int32) ([]averagingForm, error) {
	added, outputs, prior := smoothings, s.outputs(seen), s.prior()
	if s.Channel != nil {
		added = smoothings[:1]
	}
	if slices.ContainsFunc(slices.Concat(seen...), func(y int32) bool { return !s.knows(y) }) {
		return nil, fmt.Errorf("an output is no word of the mechanism")
	}
	type guess struct {
		score float64
		input int32
	}
	none, each := guess{math.Inf(-1), -1}, len(seen)*len(s.Options.Releases)
	blocks, logs := make([][]guess, metrics.Blocks), make([][]float64, metrics.Blocks)
	if err := s.rows(func(b, x int, row []float64) {
		if blocks[b] == nil {
			blocks[b], logs[b] = slices.Repeat([]guess{none}, each*len(added)), make([]float64, s.Words)
		}
		logs, start := logs[b], math.Log(prior[x])
		for k, add := range added {
			for _, y := range outputs {
				logs[y] = math.Log(row[y] + add)
			}
			best := blocks[b][k*each : (k+1)*each]
			for i, list := range seen {
				score, at := start, 0
				for r, n := range s.Options.Releases {
					for ; at < n; at++ {
						score += logs[list[at]]
					}
					if math.IsInf(score, -1) {
						break
					}
					if to := &best[i*len(s.Options.Releases)+r]; score > to.score {
						*to = guess{score, int32(x)}
					}
				}
			}
		}
	}); err != nil {
		return nil, err
	}
	var forms []averagingForm
	for k, add := range added {
		f := averagingForm{"channel", make([][]int32, len(seen))}
		if k > 0 {
			f.name = fmt.Sprintf("channel + %v", add)
		}
		for i := range each {
			top := none
			for _, block := range blocks {
				if block != nil && block[k*each+i].score > top.score {
					top = block[k*each+i]
				}
			}
			word := i / len(s.Options.Releases)
			f.guesses[word] = append(f.guesses[word], top.input)
		}
		forms = append(forms, f)
	}
	return forms, nil
}

// Votes of an output for a word at distance d: the majority, exp(−d/scale) for
// each of these scales, and −d. The wider a vote, the better it finds words that
// are rarely released as themselves.
var voteScales = [...]float64{0.5, 1, 2, 4}

// byVotes names the word with most votes of the releases, of all words; no channel is
// needed. Ties go to the word of higher prior. Without vectors there is the majority
// only.
func (s *Situation) byVotes(ctx context.Context, seen [][]int32) ([]averagingForm, error) {
	names, prior := []string{"majority"}, s.prior()
	if s.Embedding.Len() >= s.Words {
		for _, scale := range voteScales {
			names = append(names, fmt.Sprintf("vote weighed by exp(-distance/%v)", scale))
		}
		names = append(names, "least distance")
	}
	forms := make([]averagingForm, len(names))
	for f, name := range names {
		forms[f] = averagingForm{name, make([][]int32, len(seen))}
	}
	ids := make([]uint32, s.Words)
	for x := range ids {
		ids[x] = uint32(x)
	}
	return forms, s.parallel(ctx, len(seen), func(i int) error {
		sums, distances, at := make([][]float64, len(forms)), make([]float64, s.Words), 0
		for f := range sums {
			sums[f] = make([]float64, s.Words)
		}
		for _, releases := range s.Options.Releases {
			counts := map[int32]float64{}
			for ; at < releases; at++ {
				counts[seen[i][at]]++
			}
			for _, y := range slices.Sorted(maps.Keys(counts)) {
				n := counts[y]
				if s.knows(y) {
					sums[0][y] += n
				}
				if len(forms) == 1 {
					continue
				}
				kernel.DistancesTo(distances, s.vector(y), s.Embedding.Vectors, ids)
				for x, d := range distances {
					widest := math.Exp(-d / voteScales[len(voteScales)-1])
					for f := len(voteScales); f > 0; f-- { // each scale is half the next one
						sums[f][x] += float64(n * widest)
						widest *= widest
					}
					sums[len(forms)-1][x] -= float64(n * d)
				}
			}
			for f, scores := range sums {
				best := 0
				for x, v := range scores {
					if v > scores[best] || v == scores[best] && prior[x] > prior[best] {
						best = x
					}
				}
				forms[f].guesses[i] = append(forms[f].guesses[i], int32(best))
			}
		}
		return nil
	})
}
