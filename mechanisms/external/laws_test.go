//go:build adapters && linux

package external

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/embeddings"
	"mldpbench/internal/realdata"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// extent is the smallest and the largest distance of two words.
func (b *bench) extent() (near, far float64) {
	near = math.Inf(1)
	for i := range embeddings.WordID(b.space.Len()) {
		for j := range i {
			d := b.space.Distance(i, j)
			near, far = min(near, d), max(far, d)
		}
	}
	return near, far
}

// remote are the words with the farthest neighbours. The noise of the truncated Gumbel
// mechanism grows with the largest distance, so that its law shows most there.
var remote = []string{"al", "oil", "percent"}

// lawWords are three words that an adapter's law is tested on.
func (b *bench) lawWords(a adapted) []string {
	if a.ours.Mechanism == "gumbel" {
		return remote
	}
	return b.words
}

// repeat has documents of 100 times the same word, n times in all.
func repeat(words []string, n int) (all []string) {
	for _, w := range words {
		all = append(all, slices.Repeat([]string{strings.Repeat(w+" ", 100)}, n/100)...)
	}
	return all
}

// ours draws each word ten times as often, and says how many are drawn in a second of
// one core; nothing where no mechanism of ours is like the adapter's.
func (b *bench) ours(t *testing.T, a adapted) (samples [][]string, rate float64) {
	if a.ours.Mechanism == "" {
		return nil, 0
	}
	a.ours.Epsilon = a.epsilon
	m, err := mechanisms.New(mechanisms.Environment{Space: b.space, Seed: stream.FromUint64(1)}, a.ours)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	start, n := realdata.CPU(), 10*cmp.Or(a.draws, 600)
	for i, word := range b.lawWords(a) {
		src, dst := slices.Repeat([]embeddings.WordID{b.space.Vocabulary.ID(word)}, n), make([]embeddings.WordID, n)
		if err := m.Privatize(t.Context(), dst, src, stream.FromUint64(2).At(uint64(i)).Rand()); err != nil {
			t.Fatal(err)
		}
		var sample []string
		for _, w := range dst {
			sample = append(sample, b.space.Vocabulary.Word(w))
		}
		samples = append(samples, sample)
	}
	return samples, float64(3*n) / (realdata.CPU() - start)
}

// smallest is the least p of the words.
func smallest(a, b [][]string) float64 {
	least := 1.0
	for i := range a {
		least = min(least, sameLaw(a[i], b[i]))
	}
	return least
}

// sameLaw is the p of Pearson's test that two samples are of one law; outcomes that are
// expected fewer than five times in the smaller one are one.
func sameLaw(a, b []string) float64 {
	counts := map[string]*[2]float64{}
	for i, sample := range [][]string{a, b} {
		for _, w := range sample {
			if counts[w] == nil {
				counts[w] = &[2]float64{}
			}
			counts[w][i]++
		}
	}
	share := float64(len(b)) / float64(len(a)+len(b))
	var statistic, cells float64
	add := func(c [2]float64) {
		expected := (c[0] + c[1]) * share
		statistic += (c[1] - expected) * (c[1] - expected) / (expected * (1 - share))
		cells++
	}
	var rest [2]float64
	for _, c := range counts {
		if (c[0]+c[1])*share < 5 {
			rest[0], rest[1] = rest[0]+c[0], rest[1]+c[1]
			continue
		}
		add(*c)
	}
	if rest[0]+rest[1] > 0 {
		add(rest)
	}
	if cells < 2 {
		return 1
	}
	return distuv.ChiSquared{K: cells - 1}.Survival(statistic)
}
