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
	d := Definition{Name: "averaging", Version: 2, Needs: []Need{NeedsChannel}, prepare: prepareAveraging}
	for _, r := range slices.Backward(averagingReleases) {
		c := Column{Name: fmt.Sprintf("average-%d", r), Title: fmt.Sprintf("words found from %d releases", r), Alone: r > 1}
		if r == 1 {
			c.Title, c.Panel = "words found from one release", OneWord
		}
		d.Columns = append(d.Columns, c)
	}
	Register(d)
}

func prepareAveraging(ctx context.Context, s *Situation, channel metrics.Channel, draws int) (channelAttack, error) {
	var none channelAttack
	for _, r := range s.Options.Releases {
		if !slices.Contains(averagingReleases, r) {
			return none, fmt.Errorf("releases = %d: must be among %d", r, averagingReleases)
		}
	}
	prior, err := s.prior()
	if err != nil {
		return none, err
	}
	a := averager{situation: s, prior: prior}
	if a.test, err = a.sample(ctx, wordsOf(s.Test), "averaging", "releases"); err != nil {
		return none, err
	}
	if len(a.test.words) == 0 {
		return none, fmt.Errorf("no word of the mechanism in the test split")
	}
	if a.held, err = a.sample(ctx, wordsOf(s.Validation), "averaging validation", "validation releases"); err != nil {
		return none, err
	}
	a.added = smoothings
	if draws == 0 {
		a.added = smoothings[:1]
	}
	seen := slices.Concat(a.test.seen, a.held.seen)
	pass, err := newManyPass(channel, prior, s.outputs(seen), seen, s.Options.Releases, a.added)
	if err != nil {
		return none, err
	}
	return channelAttack{pass.take, func(ctx context.Context) ([]Outcome, error) {
		return a.outcomes(ctx, pass.guesses(), draws)
	}}, nil
}

// averager attacks words of which there are several releases.
type averager struct {
	situation  *Situation
	prior      []float64
	added      []float64 // to the channel's probabilities
	test, held releasedWords
}

// releasedWords are words with their releases.
type releasedWords struct {
	places []place
	words  []int32
	seen   [][]int32
}

func (a *averager) sample(ctx context.Context, documents [][]int32, label, noise string) (releasedWords, error) {
	s := a.situation
	w := releasedWords{places: s.places(documents, s.Options.Words, label)}
	most := slices.Max(s.Options.Releases)
	copies := make([][]int32, len(w.places))
	for i, p := range w.places {
		w.words = append(w.words, documents[p.document][p.position])
		copies[i] = slices.Repeat(w.words[i:i+1], most)
	}
	var err error
	w.seen, err = s.aligned(ctx, copies, s.own.Derive(noise))
	return w, err
}

// outcomes chooses, for each number of releases, the form that finds most words
// of the validation split, and applies it to the test split. byChannel are the
// guesses by the channel, for each addition: of the test words, then of the
// validation words. Ties
// go to the channel.
func (a *averager) outcomes(ctx context.Context, byChannel [][][]int32, draws int) ([]Outcome, error) {
	s := a.situation
	var forms []form
	for k, add := range a.added {
		f := form{name: "channel", test: byChannel[k][:len(a.test.words)], held: byChannel[k][len(a.test.words):]}
		if add > 0 {
			f.name = fmt.Sprintf("channel + %v", add)
		}
		forms = append(forms, f)
	}
	votes, err := a.votes(ctx)
	if err != nil {
		return nil, err
	}
	forms = append(forms, votes...)
	top := int32(slices.Index(a.prior, slices.Max(a.prior)))
	blind := 0
	for _, w := range a.test.words {
		if w == top {
			blind++
		}
	}
	n := len(a.test.words)
	var out []Outcome
	for r, releases := range slices.Backward(s.Options.Releases) {
		best, bestHits := 0, -1
		for i, f := range forms {
			hits := 0
			for j, w := range a.held.words {
				if f.held[j][r] == w {
					hits++
				}
			}
			if hits > bestHits {
				best, bestHits = i, hits
			}
		}
		chosen := forms[best]
		// Equal words have the same guess distribution, but their noise is
		// independent, so each word is a trial.
		items := wordItems(a.test.places, func(i int) bool { return chosen.test[i][r] == a.test.words[i] })
		hits := list.Sum(items, func(item Item) int { return int(item.Right) })
		v, err := proportion(hits, n, s.Options.Level)
		if err != nil {
			return nil, err
		}
		out = append(out, Outcome{Column: fmt.Sprintf("average-%d", releases), Value: v,
			Floor: float64(blind) / float64(n), Ceiling: 1, Count: n, Draws: draws, Items: items,
			Note: fmt.Sprintf("by %s, chosen on %d validation words", chosen.name, len(a.held.words))})
	}
	return out, nil
}

// form is a way to guess a word from its releases, with its guesses: by word and
// by number of releases.
type form struct {
	name       string
	test, held [][]int32
}

// votes of an output for a word at distance d: the majority, exp(−d/scale) for
// each of these scales, and −d. The wider a vote, the better it finds words that
// are rarely released as themselves.
var voteScales = []float64{0.5, 1, 2, 4}

// votes are the forms that need no channel: argmax_x of the votes of the
// releases, over all words. Ties go to the word of higher prior. Without vectors
// there is the majority only.
func (a *averager) votes(ctx context.Context) ([]form, error) {
	s := a.situation
	forms := []form{{name: "majority"}}
	if s.Embedding.Len() >= s.Words {
		for _, scale := range voteScales {
			forms = append(forms, form{name: fmt.Sprintf("vote weighed by exp(-distance/%v)", scale)})
		}
		forms = append(forms, form{name: "least distance"})
	}
	n := len(a.test.seen)
	all := slices.Concat(a.test.seen, a.held.seen)
	guesses := make([][][]int32, len(all))
	ids := make([]uint32, s.Words)
	for x := range ids {
		ids[x] = uint32(x)
	}
	if err := s.parallel(ctx, len(all), func(i int) error {
		guesses[i] = a.vote(all[i], ids, len(forms))
		return nil
	}); err != nil {
		return nil, err
	}
	for f := range forms {
		for i, of := range guesses {
			if i < n {
				forms[f].test = append(forms[f].test, of[f])
			} else {
				forms[f].held = append(forms[f].held, of[f])
			}
		}
	}
	return forms, nil
}

// vote returns the guesses of each form for each number of releases.
func (a *averager) vote(list []int32, ids []uint32, forms int) [][]int32 {
	s := a.situation
	sums := make([][]float64, forms)
	for f := range sums {
		sums[f] = make([]float64, s.Words)
	}
	out := make([][]int32, forms)
	distances := make([]float64, s.Words)
	seen := 0
	for _, releases := range s.Options.Releases {
		counts := map[int32]float64{}
		for ; seen < releases; seen++ {
			counts[list[seen]]++
		}
		for _, y := range slices.Sorted(maps.Keys(counts)) {
			n := counts[y]
			if s.knows(y) {
				sums[0][y] += n
			}
			if forms == 1 {
				continue
			}
			kernel.DistancesTo(distances, s.vector(y), s.Embedding.Vectors, ids)
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
				if v > scores[best] || v == scores[best] && a.prior[x] > a.prior[best] {
					best = x
				}
			}
			out[f] = append(out[f], int32(best))
		}
	}
	return out
}

// smoothings are added to the probabilities of a learned channel. A product of
// learned probabilities is decided by the outputs that were never drawn; the
// larger the addition, the more it resembles a vote. An exact channel needs none.
var smoothings = []float64{0, 1e-4, 1e-3, 1e-2}

// manyPass names, for each list of outputs of one secret word, the input of
// highest posterior after the first releases[r] of them, in one pass over the
// channel, for each addition to its probabilities. Ties go to the smallest input.
type manyPass struct {
	prior    []float64
	releases []int
	added    []float64
	outputs  []int32   // the distinct ones, sorted
	index    [][]int32 // for each list, the indices of its outputs in outputs
	blocks   [][]bestInput
	logs     [][]float64 // scratch per block
}

type bestInput struct {
	score float64
	input int32
}

func newManyPass(channel metrics.Channel, prior []float64, outputs []int32, seen [][]int32, releases []int,
	added []float64) (*manyPass, error) {
	index := make([][]int32, len(seen))
	for i, list := range seen {
		for _, y := range list {
			at, known := slices.BinarySearch(outputs, y)
			if !known {
				return nil, fmt.Errorf("an output is no word of the mechanism")
			}
			index[i] = append(index[i], int32(at))
		}
	}
	return &manyPass{prior, releases, added, outputs, index, make([][]bestInput, channel.Blocks()),
		make([][]float64, channel.Blocks())}, nil
}

func (m *manyPass) take(b, x int, row []float64) {
	each := len(m.index) * len(m.releases)
	if m.blocks[b] == nil {
		m.blocks[b] = slices.Repeat([]bestInput{{math.Inf(-1), -1}}, each*len(m.added))
		m.logs[b] = make([]float64, len(m.outputs))
	}
	if m.prior[x] == 0 {
		return
	}
	logs, start := m.logs[b], math.Log(m.prior[x])
	for k, add := range m.added {
		for j, y := range m.outputs {
			logs[j] = math.Log(row[y] + add)
		}
		best := m.blocks[b][k*each : (k+1)*each]
		for i, list := range m.index {
			score, at := start, 0
			for r, n := range m.releases {
				for ; at < n; at++ {
					score += logs[list[at]]
				}
				if math.IsInf(score, -1) {
					break
				}
				if to := &best[i*len(m.releases)+r]; score > to.score {
					*to = bestInput{score, int32(x)}
				}
			}
		}
	}
}

// guesses are those by addition, list and number of releases.
func (m *manyPass) guesses() [][][]int32 {
	out := make([][][]int32, len(m.added))
	for k := range out {
		out[k] = make([][]int32, len(m.index))
		for i := range out[k] {
			for r := range m.releases {
				top := bestInput{math.Inf(-1), -1}
				for _, block := range m.blocks {
					if block == nil {
						continue
					}
					if b := block[(k*len(m.index)+i)*len(m.releases)+r]; b.score > top.score {
						top = b
					}
				}
				out[k][i] = append(out[k][i], top.input)
			}
		}
	}
	return out
}
