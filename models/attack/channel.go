package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/memo"
	"mldpbench/mechanisms/channel"
	"mldpbench/stream"
)

// drawAll returns n independent outputs of every word of the mechanism.
func (t *Target) drawAll(ctx context.Context, n int, seed stream.Seed) (channel.Draws, error) {
	words := make([]int32, t.Words.Count)
	for w := range words {
		words[w] = int32(w)
	}
	out, err := t.Draws(ctx, words, n, seed)
	return channel.Draws{PerInput: n, Outputs: slices.Concat(out...)}, err
}

// learnedKey is that of the draws to learn from.
type learnedKey struct{}

// learn draws the sample from which a channel is learned, once for all
// attackers.
func (t *Target) learn(ctx context.Context) (channel.Draws, error) {
	return memo.Once(&t.Releases.Cache, learnedKey{}, func() (channel.Draws, error) {
		return t.drawAll(ctx, t.Options.LearnDraws, t.Releases.Noise.Derive("learn"))
	})
}

// channel is the exact channel, or one learned from so many draws.
func (t *Target) channel(ctx context.Context) (c channel.Channel, draws int, err error) {
	if t.Channel != nil {
		return *t.Channel, 0, nil
	}
	learned, err := t.learn(ctx)
	if err != nil {
		return c, 0, err
	}
	var distances func(x int) []float64
	if t.Words.HaveVectors() {
		distances = func(x int) []float64 { return t.Words.Distances(int32(x)) }
	}
	c, err = channel.Smoothed(learned, t.Words.Count, distances)
	return c, t.Options.LearnDraws, err
}

// priorKey is that of the prior.
type priorKey struct{}

// Prior returns the word frequencies of the shadow text with one added to every
// count; uniform without a shadow.
func (t *Target) Prior() []float64 {
	prior, _ := memo.Once(&t.Corpus.Cache, priorKey{}, func() ([]float64, error) {
		counts := make([]int, t.Words.Count)
		for _, document := range t.Corpus.Shadow {
			for _, w := range document {
				if t.Words.Known(w) {
					counts[w]++
				}
			}
		}
		return channel.Empirical(counts), nil
	})
	return prior
}

// Outputs are the distinct words of the mechanism in releases, sorted.
func (t *Target) Outputs(releases ...[][]int32) []int32 {
	all := slices.Concat(slices.Concat(releases...)...)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(y int32) bool {
		return !t.Words.Known(y)
	})
}

// Emissions gather ln P(y|x) of all words x, by output y.
type Emissions map[int32][]float64

// NewEmissions are those of the outputs in some releases, which Take fills in.
func (t *Target) NewEmissions(releases ...[][]int32) Emissions {
	e := Emissions{}
	for _, y := range t.Outputs(releases...) {
		e[y] = make([]float64, t.Words.Count)
	}
	return e
}

// Take processes a row.
func (e Emissions) Take(_, x int, row []float64) {
	for y, logs := range e {
		logs[x] = math.Log(row[y])
	}
}

// Expected sends counts of inputs through the channel.
type Expected struct {
	counts [][]float64
	blocks [][][]float64 // by block, count and output
}

// NewExpected is for lists of counts by input.
func NewExpected(counts [][]float64) *Expected {
	return &Expected{counts: counts, blocks: make([][][]float64, channel.Blocks)}
}

// Take processes a row.
func (e *Expected) Take(block, x int, row []float64) {
	if e.blocks[block] == nil {
		for range e.counts {
			e.blocks[block] = append(e.blocks[block], make([]float64, len(row)))
		}
	}
	for k, counts := range e.counts {
		n := counts[x]
		if n <= 0 {
			continue
		}
		to := e.blocks[block][k]
		for y, p := range row {
			to[y] += float64(n * p)
		}
	}
}

// Outputs are expected numbers of outputs, for each list of counts. Blocks are added up in
// order.
func (e *Expected) Outputs() [][]float64 {
	out := make([][]float64, len(e.counts))
	for k, counts := range e.counts {
		out[k] = make([]float64, len(counts))
		for _, block := range e.blocks {
			if block != nil {
				floats.Add(out[k], block[k])
			}
		}
	}
	return out
}

// Guesses look for the inputs of highest posterior given the first outputs of each list
// seen, in one pass over the channel. Ties go to the smallest input.
type Guesses struct {
	seen    [][]int32
	first   []int
	outputs []int32
	prior   []float64
	blocks  [][]guess   // by block, list and number of outputs
	logs    [][]float64 // by block and output: ln P(y|x) of the row that is taken
}

type guess struct {
	score float64
	input int32
}

var noGuess = guess{math.Inf(-1), -1}

// NewGuesses is for lists of outputs, of each of which the given first numbers count.
func (t *Target) NewGuesses(seen [][]int32, first []int) (*Guesses, error) {
	if slices.ContainsFunc(slices.Concat(seen...), func(y int32) bool {
		return !t.Words.Known(y)
	}) {
		return nil, fmt.Errorf("an output is no word of the mechanism")
	}
	return &Guesses{
		seen:    seen,
		first:   first,
		outputs: t.Outputs(seen),
		prior:   t.Prior(),
		blocks:  make([][]guess, channel.Blocks),
		logs:    make([][]float64, channel.Blocks),
	}, nil
}

// Take processes a row.
func (g *Guesses) Take(block, x int, row []float64) {
	if g.blocks[block] == nil {
		g.blocks[block] = slices.Repeat([]guess{noGuess}, len(g.seen)*len(g.first))
		g.logs[block] = make([]float64, len(g.prior))
	}
	logs := g.logs[block]
	for _, y := range g.outputs {
		logs[y] = math.Log(row[y])
	}
	start := math.Log(g.prior[x])
	for i, outputs := range g.seen {
		best := g.blocks[block][i*len(g.first) : (i+1)*len(g.first)]
		score := start
		read := 0
		for r, n := range g.first {
			for ; read < n; read++ {
				score += logs[outputs[read]]
			}
			if math.IsInf(score, -1) {
				break
			}
			if score > best[r].score {
				best[r] = guess{score, int32(x)}
			}
		}
	}
}

// Inputs are the guesses, by list and number of outputs.
func (g *Guesses) Inputs() [][]int32 {
	out := make([][]int32, len(g.seen))
	for i := range len(g.seen) * len(g.first) {
		top := noGuess
		for _, block := range g.blocks {
			if block != nil && block[i].score > top.score {
				top = block[i]
			}
		}
		list := i / len(g.first)
		out[list] = append(out[list], top.input)
	}
	return out
}
