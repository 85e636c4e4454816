package measure

import (
	"context"
	"fmt"
	"math"
	"testing"

	"mldpbench/embeddings/sentence"
	"mldpbench/internal/spacetest"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// drawnPairs are pairs of documents of n words, drawn from a space.
func drawnPairs(g *game, count, n int, seed uint64) []gamePair {
	v := g.space.Vocabulary
	rng := stream.FromUint64(seed).Rand()
	draw := func() []string {
		words := make([]string, n)
		for i := range words {
			words[i] = v.Word(mechanisms.WordID(rng.IntN(v.Len())))
		}
		return words
	}
	var pairs []gamePair
	for range count {
		pairs = append(pairs, newGamePair(v, newPair(v, draw(), draw(), 0, -1)))
	}
	return pairs
}

// ignoring writes words that have nothing to do with those it reads.
type ignoring struct{ words []string }

func (ignoring) Settings() mechanisms.Settings {
	return mechanisms.Settings{Mechanism: "ignoring", Epsilon: 1}
}

func (ignoring) Guarantee() mechanisms.Guarantee { return mechanisms.Guarantee{Reason: "a test"} }
func (ignoring) Aligned() bool                   { return true }
func (ignoring) Repeatable() bool                { return true }

func (m ignoring) Rewrite(_ context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	out := make([][]string, len(documents))
	for i, d := range documents {
		rng := seeds[i].Rand()
		for range d {
			out[i] = append(out[i], m.words[rng.IntN(len(m.words))])
		}
	}
	return out, nil
}

// Of 6,000 games of 1,000 rounds whose adversaries know nothing, the interval covers one half in
// 94% at least: its level is 95.4% there, and 94% are 5 standard deviations below, which has a
// probability of 3e-7.
func TestContestOfThoseWhoKnowNothing(t *testing.T) {
	t.Parallel()
	const games, rounds = 6000, 1000
	rng := stream.FromUint64(78).Rand()
	covered := 0
	for range games {
		contest := metrics.NewContest("a", "b", "c")
		for i := range 2 * rounds {
			margins := []float64{rng.NormFloat64(), 0, rng.NormFloat64()}
			contest.Round(metrics.HalfOf(i), margins, rng.IntN(2), rng)
		}
		_, right, counted := contest.Result()
		share := stats.ClopperPearson(right, counted, 0.95)
		if counted != rounds {
			t.Fatalf("%d rounds count, want %d", counted, rounds)
		}
		if share.Low <= 0.5 && share.High >= 0.5 {
			covered++
		}
	}
	if covered < games*94/100 {
		t.Errorf("the interval covers 0.5 in %d of %d games, want 94%% at least", covered, games)
	}
}

// The whole game, with all who read texts and a model trained on public rounds, finds nothing in
// the output of a mechanism that ignores its input: of 60 games of 1,000 rounds more than 16 that
// do not cover one half have a probability below 1e-7.
func TestGameOfAMechanismThatIgnoresItsInput(t *testing.T) {
	t.Parallel()
	space := spacetest.Gaussian(t, 60, 4, 1, 3)
	m, err := mechanisms.Rewriting(ignoring{space.Vocabulary.Words()}, space)
	if err != nil {
		t.Fatal(err)
	}
	missed := 0
	best := map[string]bool{}
	const games = 60
	for i := range games {
		g := &game{mechanism: m, space: space, seed: stream.FromUint64(uint64(i)), threads: 2}
		g.encoder = sifOf(t, g)
		outcome, err := g.play(t.Context(), drawnPairs(g, 40, 6, 1000+uint64(i)), drawnPairs(g, 50, 6, uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		share := outcome.interval()
		if outcome.rounds != countedRounds {
			t.Errorf("%d rounds count, want %d", outcome.rounds, countedRounds)
		}
		if share.Low > 0.5 || share.High < 0.5 {
			missed++
		}
		best[outcome.best] = true
	}
	if missed > 16 {
		t.Errorf("the interval does not cover 0.5 in %d of %d games, want 16 at most", missed, games)
	}
	if len(best) < 4 {
		t.Errorf("only %v were chosen, want several: the test shows nothing of the others", best)
	}
}

func sifOf(t *testing.T, g *game) sentence.Encoder {
	t.Helper()
	e, err := sentence.NewSIF(g.space, [][]string{g.space.Vocabulary.Words()})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The share of right answers is (1 + total variation)/2, by brute force over all texts of two
// words, with the ε of a word and with that of a document: at most 5 standard deviations off, 6e-7
// each.
func TestGameAgreesWithExactProbabilities(t *testing.T) {
	t.Parallel()
	space := spacetest.Gaussian(t, 12, 2, 1, 5)
	for _, c := range []struct {
		mechanism string
		epsilon   float64
		budget    bool
	}{{"santext", 1, false}, {"santext", 3, false}, {"k-rr", 2, false}, {"k-rr", 4, true}, {"uniform", 1, false},
		{"identity", 1, false}} {
		name := fmt.Sprintf("%s at %v, of a document: %v", c.mechanism, c.epsilon, c.budget)
		m, err := mechanisms.New(mechanisms.Environment{Space: space}, mechanisms.Settings{Mechanism: c.mechanism,
			Epsilon: c.epsilon})
		if err == nil && c.budget {
			m, err = mechanisms.OfDocument(m, mechanisms.Random)
		}
		if err != nil {
			t.Fatal(err)
		}
		g := &game{mechanism: m, space: space, seed: stream.FromUint64(9), threads: 2}
		pairs := drawnPairs(g, 40, 2, 4)
		outcome, err := g.play(t.Context(), nil, pairs)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for i := 1; i < len(pairs); i += 2 {
			want += rightExactly(t, m, pairs[i].words) / float64(len(pairs)/2)
		}
		got := outcome.interval().Estimate
		if math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/float64(outcome.rounds))+1e-12 {
			t.Errorf("%s: right in %v of %d rounds, want %v", name, got, outcome.rounds, want)
		}
		if outcome.best != metrics.InPlace[0] {
			t.Errorf("%s: chosen is %s, want %s", name, outcome.best, metrics.InPlace[0])
		}
	}
}

// rightExactly is how often the best adversary is right about a pair of texts of two words.
func rightExactly(t *testing.T, m *mechanisms.Mechanism, p documentPair) float64 {
	t.Helper()
	m, err := m.OfLength(2)
	if err != nil {
		t.Fatal(err)
	}
	var rows [4][]float64
	for i, word := range append(append([]mechanisms.WordID{}, p.x...), p.y...) {
		rows[i], err = m.Row(word)
		if err != nil {
			t.Fatal(err)
		}
	}
	right := 0.0
	for u := range rows[0] {
		for v := range rows[0] {
			right += max(rows[0][u]*rows[1][v], rows[2][u]*rows[3][v]) / 2
		}
	}
	return right
}

// The least share that is found with a power of 0.9: it is found so often, and one a little
// smaller is not.
func TestLeastShare(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, 100, 1000} {
		share := stats.LeastShare(n, 0.5, 0.95, 0.9)
		found := 0.0
		for k := range n + 1 {
			if stats.ClopperPearson(k, n, 0.95).Low > 0.5 {
				a, _ := math.Lgamma(float64(n + 1))
				b, _ := math.Lgamma(float64(k + 1))
				c, _ := math.Lgamma(float64(n - k + 1))
				found += math.Exp(a - b - c + float64(k)*math.Log(share) + float64(n-k)*math.Log(1-share))
			}
		}
		if math.Abs(found-0.9) > 1e-6 {
			t.Errorf("of %d rounds, a share of %v is found with power %v, want 0.9", n, share, found)
		}
	}
	if got := stats.LeastShare(3, 0.5, 0.95, 0.9); got != 1 {
		t.Errorf("of 3 rounds the least share is %v, want 1: none is found", got)
	}
}

// Of a mechanism of whole documents the share of right answers is that of its exact probabilities
// too, outputs that are there twice among them: at most 5 standard deviations off, 6e-7.
func TestGameOfWholeDocuments(t *testing.T) {
	t.Parallel()
	g := &game{space: spacetest.Gaussian(t, 12, 2, 1, 5), seed: stream.FromUint64(9), threads: 2}
	pairs := drawnPairs(g, 40, 3, 4)
	law := mechanisms.Documents{Outputs: []string{"a b", "c", "a b", "d"}}
	law.LogRows = func(_ context.Context, texts []string) ([][]float64, error) {
		rows := make([][]float64, len(texts))
		for i, text := range texts {
			rng := stream.FromUint64(1).Derive(text).Rand()
			row := make([]float64, len(law.Outputs))
			sum := 0.0
			for y := range row {
				row[y] = rng.ExpFloat64()
				sum += row[y]
			}
			for y, x := range row {
				row[y] = math.Log(x / sum)
			}
			rows[i] = row
		}
		return rows, nil
	}
	m, err := mechanisms.ByDocuments(mechanisms.Environment{Space: g.space}, mechanisms.Settings{Mechanism: "test",
		Epsilon: 1}, mechanisms.Guarantee{Reason: "a test"}, law)
	if err != nil {
		t.Fatal(err)
	}
	g.mechanism = m
	outcome, err := g.play(t.Context(), nil, pairs)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for i := 1; i < len(pairs); i += 2 {
		rows, err := law.LogRows(t.Context(), []string{joined(pairs[i].originals[0]), joined(pairs[i].originals[1])})
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range [][]int{{0, 2}, {1}, {3}} {
			right := math.Exp(max(logOfSum(rows[0], at), logOfSum(rows[1], at))) / 2
			want += right / float64(len(pairs)/2)
		}
	}
	got := outcome.interval().Estimate
	if math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/float64(outcome.rounds)) || want < 0.6 {
		t.Errorf("right in %v of %d rounds, want %v", got, outcome.rounds, want)
	}
}
