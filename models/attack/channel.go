package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/kernel"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// drawAll returns n independent outputs of every word of the mechanism.
func (s *Situation) drawAll(ctx context.Context, n int, seed stream.Seed) (metrics.Draws, error) {
	words := make([]int32, s.Words)
	for w := range words {
		words[w] = int32(w)
	}
	out, err := s.draws(ctx, words, n, seed)
	return metrics.Draws{PerInput: n, Outputs: slices.Concat(out...)}, err
}

// learn draws the sample from which a channel is learned, once for all
// attackers.
func (s *Situation) learn(ctx context.Context) (metrics.Draws, error) {
	return once(&s.Made.Memo, "learn", func() (metrics.Draws, error) {
		return s.drawAll(ctx, s.Options.LearnDraws, s.Noise.Derive("learn"))
	})
}

// channel is the exact channel, or one learned from so many draws.
func (s *Situation) channel(ctx context.Context) (c metrics.Channel, draws int, err error) {
	if s.Channel != nil {
		return *s.Channel, 0, nil
	}
	learned, err := s.learn(ctx)
	if err != nil {
		return c, 0, err
	}
	var distances func(x int) []float64
	if s.Embedding.Len() >= s.Words {
		distances = func(x int) []float64 { return s.distances(int32(x)) }
	}
	c, err = metrics.SmoothedChannel(learned, s.Words, distances)
	return c, s.Options.LearnDraws, err
}

// prior returns the word frequencies of the shadow text with one added to every
// count; uniform without a shadow.
func (s *Situation) prior() []float64 {
	prior, _ := once(s.Plain, "prior", func() ([]float64, error) {
		counts := make([]int, s.Words)
		for _, document := range s.Shadow {
			for _, w := range document {
				if s.knows(w) {
					counts[w]++
				}
			}
		}
		return metrics.EmpiricalPrior(counts), nil
	})
	return prior
}

// emissions are ln P(y|x) of all words x, by output y of some releases.
func (s *Situation) emissions(releases ...[][]int32) (map[int32][]float64, error) {
	outputs, out := s.outputs(releases...), map[int32][]float64{}
	for _, y := range outputs {
		out[y] = make([]float64, s.Words)
	}
	return out, s.rows(func(_, x int, row []float64) {
		for _, y := range outputs {
			out[y][x] = math.Log(row[y])
		}
	})
}

// through sends counts of inputs through the channel: expected numbers of outputs.
// Blocks are added up in order.
func (s *Situation) through(counts [][]float64) ([][]float64, error) {
	blocks := make([][][]float64, metrics.Blocks) // by block, count and output
	err := s.rows(func(block, x int, row []float64) {
		if blocks[block] == nil {
			for range counts {
				blocks[block] = append(blocks[block], make([]float64, len(row)))
			}
		}
		for k, counts := range counts {
			if n := counts[x]; n > 0 {
				to := blocks[block][k]
				for y, p := range row {
					to[y] += float64(n * p)
				}
			}
		}
	})
	out := make([][]float64, len(counts))
	for k := range out {
		out[k] = make([]float64, len(counts[k]))
		for _, block := range blocks {
			if block != nil {
				floats.Add(out[k], block[k])
			}
		}
	}
	return out, err
}

// guesses are the inputs of highest posterior given the first outputs of each list seen, by
// list and number of outputs, in one pass over the channel. Ties go to the smallest input.
func (s *Situation) guesses(seen [][]int32, first []int) (out [][]int32, err error) {
	outputs, prior := s.outputs(seen), s.prior()
	if slices.ContainsFunc(slices.Concat(seen...), func(y int32) bool { return !s.knows(y) }) {
		return nil, fmt.Errorf("an output is no word of the mechanism")
	}
	type guess struct {
		score float64
		input int32
	}
	none, each := guess{math.Inf(-1), -1}, len(seen)*len(first)
	blocks, logs := make([][]guess, metrics.Blocks), make([][]float64, metrics.Blocks)
	if err := s.rows(func(b, x int, row []float64) {
		if blocks[b] == nil {
			blocks[b], logs[b] = slices.Repeat([]guess{none}, each), make([]float64, s.Words)
		}
		logs, start := logs[b], math.Log(prior[x])
		for _, y := range outputs {
			logs[y] = math.Log(row[y])
		}
		for i, list := range seen {
			score, at := start, 0
			for r, n := range first {
				for ; at < n; at++ {
					score += logs[list[at]]
				}
				if math.IsInf(score, -1) {
					break
				}
				if to := &blocks[b][i*len(first)+r]; score > to.score {
					*to = guess{score, int32(x)}
				}
			}
		}
	}); err != nil {
		return nil, err
	}
	out = make([][]int32, len(seen))
	for i := range each {
		top := none
		for _, block := range blocks {
			if block != nil && block[i].score > top.score {
				top = block[i]
			}
		}
		out[i/len(first)] = append(out[i/len(first)], top.input)
	}
	return out, nil
}

// likelier is the word of the highest score, among equals that of the highest prior.
func (s *Situation) likelier(scores []float64) int32 {
	best, prior := 0, s.prior()
	for x, v := range scores {
		if v > scores[best] || v == scores[best] && prior[x] > prior[best] {
			best = x
		}
	}
	return int32(best)
}

// distances are those of all words of the mechanism from a word.
func (s *Situation) distances(y int32) []float64 {
	out, ids := make([]float64, s.Words), make([]uint32, s.Words)
	for x := range ids {
		ids[x] = uint32(x)
	}
	kernel.DistancesTo(out, s.vector(y), s.Embedding.Vectors, ids)
	return out
}
