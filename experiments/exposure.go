package experiments

import (
	"context"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms/privatize"
	"mldpbench/metrics"
	"mldpbench/models/tfidf"
	"mldpbench/stream"
)

// exposure is how far a released text is re-identified by an adversary who has all originals and
// compares words by tf-idf, and what came back of what is rare in it.
type exposure struct {
	Rank       int     // of its own original among the candidates, 1 the first; of equal ones the middle
	Candidates int     // originals among which it was looked for
	Confidence float64 // probability that the adversary gives to its own original
	Rare       again   // different words that few originals have
	Marked     again   // different words that may be names, numbers or addresses
}

// again counts words of an original, and those of them that stand in what was released of it.
type again struct{ Words, Back int }

// share is that of the words that came back, missing where there are none.
func (a again) share() float64 {
	if a.Words == 0 {
		return math.NaN()
	}
	return float64(a.Back) / float64(a.Words)
}

// isNamed reports whether the adversary names the original, and rather thinks so than not.
func (x exposure) isNamed() bool { return x.Rank == 1 && x.Confidence >= 0.5 }

// A word is rare that stands in one text of a hundred at most. Originals are compared with at most
// mostCandidates others: more cost the square.
const (
	rareShare      = 0.01
	mostCandidates = 10_000
)

// sharpness are those of an adversary, whose belief in an original is e to the power of the cosine
// times it. The one that fits best is chosen on every second text and used for the others.
var sharpness = []float64{1, 3, 10, 30, 100, 300}

// exposuresOf returns that of each text.
func exposuresOf(ctx context.Context, texts []privatize.Pair, threads int) ([]exposure, error) {
	all := make([]exposure, len(texts))
	order := stream.FromUint64(1).Derive("exposure").Rand().Perm(len(texts))
	blocks := max(1, (len(texts)+mostCandidates-1)/mostCandidates)
	for b := range blocks {
		part := order[b*len(order)/blocks : (b+1)*len(order)/blocks]
		pairs := list.Map(part, func(i int) privatize.Pair { return texts[i] })
		exposures, err := exposuresAmong(ctx, pairs, threads)
		if err != nil {
			return nil, err
		}
		for k, i := range part {
			all[i] = exposures[k]
		}
	}
	return all, nil
}

// exposuresAmong compares each text with the originals of all.
func exposuresAmong(ctx context.Context, texts []privatize.Pair, threads int) ([]exposure, error) {
	originals := make([][]string, len(texts))
	having := map[string]int{} // originals, by word
	for i, t := range texts {
		originals[i], _ = privatize.Marks(t.Original)
		for _, w := range distinctWords(originals[i]) {
			having[w]++
		}
	}
	index := tfidf.NewIndex(originals)
	rare := max(1, int(rareShare*float64(len(texts))))
	exposures := make([]exposure, len(texts))
	beliefs := make([][]float64, len(texts)) // in the own original, by sharpness
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, threads))
	for i, t := range texts {
		group.Go(func() error {
			released, _ := privatize.Marks(t.Written)
			cosines := index.Cosines(released)
			exposures[i] = rankAmong(cosines, i)
			beliefs[i] = beliefsIn(cosines, i)
			exposures[i].countBack(t.Original, released, func(w string) bool { return having[w] <= rare })
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	chosen := [2]int{bestSharpness(beliefs, 1), bestSharpness(beliefs, 0)} // each on the other half
	for i := range exposures {
		exposures[i].Confidence = beliefs[i][chosen[i%2]]
	}
	return exposures, nil
}

// rankAmong is the rank of the own original.
func rankAmong(cosines []float64, own int) exposure {
	r := metrics.RankOf(cosines, own)
	return exposure{Rank: r.Above + (r.Equal+1)/2, Candidates: len(cosines)}
}

// beliefsIn are the probabilities of the own original, by sharpness.
func beliefsIn(cosines []float64, own int) []float64 {
	beliefs := make([]float64, len(sharpness))
	scaled := make([]float64, len(cosines))
	for k, s := range sharpness {
		for i, c := range cosines {
			scaled[i] = s * c
		}
		stats.Softmax(scaled, scaled)
		beliefs[k] = scaled[own]
	}
	return beliefs
}

// bestSharpness is the place of the one under which every second text, from one on, is most likely.
func bestSharpness(beliefs [][]float64, from int) int {
	const least = 1e-12
	sums := make([]float64, len(sharpness))
	for i := from; i < len(beliefs); i += 2 {
		for k, belief := range beliefs[i] {
			sums[k] += math.Log(max(belief, least))
		}
	}
	return slices.Index(sums, slices.Max(sums))
}

// countBack counts the words of an original that came back.
func (x *exposure) countBack(original string, released []string, isRare func(word string) bool) {
	back := map[string]bool{}
	for _, w := range released {
		back[w] = true
	}
	words, marked := privatize.Marks(original)
	of := map[string]bool{} // words, and whether one is marked
	for i, w := range words {
		of[w] = of[w] || marked[i]
	}
	for w, isMarked := range of {
		count := again{Words: 1}
		if back[w] {
			count.Back = 1
		}
		if isRare(w) {
			x.Rare = x.Rare.plus(count)
		}
		if isMarked {
			x.Marked = x.Marked.plus(count)
		}
	}
}

// plus counts the words of both.
func (a again) plus(b again) again { return again{Words: a.Words + b.Words, Back: a.Back + b.Back} }

// distinctWords are words, each once.
func distinctWords(words []string) []string {
	sorted := slices.Sorted(slices.Values(words))
	return slices.Compact(sorted)
}
