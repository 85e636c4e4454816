package audit

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
	"mldpbench/internal/progress"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

const (
	// mostTests is the largest number of events tested; each takes a part of
	// alpha.
	mostTests = 3
	// fewestCounts is how often an output must have occurred, for both words
	// together, to enter an event: rarer ones look conspicuous by chance.
	fewestCounts = 20
	// chunk is the number of samples that share a random stream.
	chunk = 4096
	// namedOutputs is the number of outputs of an event that a finding names.
	namedOutputs = 3
)

// hypothesis is a pair with an event and the apparent size of its violation.
type hypothesis struct {
	pair
	event    []embeddings.WordID
	distance float64
	score    float64
}

// sampled audits a mechanism by its samples. A first part of them selects the
// most conspicuous events, a second, independent part tests them. Each test
// uses a Clopper–Pearson lower bound for one word and an upper bound for the
// other, all at levels that together fail with probability alpha at most
// (Bonferroni).
func (a *audit) sampled(ctx context.Context, pairs []pair, found func(Finding)) (tests int, err error) {
	explored := map[embeddings.WordID][]int{}
	explore := a.options.Samples / 4
	var hypotheses []hypothesis
	words := 2 * (len(pairs) + 4*mostTests) // a test has four times the samples; shared words are no work
	bar := progress.Start(ctx, "samples of words", words, float64(words))
	defer bar.Close()
	for _, p := range pairs {
		for _, w := range []embeddings.WordID{p.a, p.b} {
			if explored[w] == nil {
				counts, err := a.count(ctx, w, explore, "explore")
				if err != nil {
					return 0, err
				}
				explored[w] = counts
			}
			bar.Add(1, 1, a.output(w))
		}
		h, err := a.mostTelling(p, explored[p.a], explored[p.b], explore)
		if err != nil {
			return 0, err
		}
		if h.event != nil {
			hypotheses = append(hypotheses, h)
		}
	}
	slices.SortStableFunc(hypotheses, func(x, y hypothesis) int { return cmp.Compare(y.score, x.score) })
	hypotheses = hypotheses[:min(mostTests, len(hypotheses))]
	tested := map[embeddings.WordID][]int{}
	for _, h := range hypotheses {
		for _, w := range []embeddings.WordID{h.a, h.b} {
			if tested[w] == nil {
				counts, err := a.count(ctx, w, a.options.Samples, "test")
				if err != nil {
					return 0, err
				}
				tested[w] = counts
			}
			bar.Add(4, 4, a.output(w))
		}
		inA, inB := total(tested[h.a], h.event), total(tested[h.b], h.event)
		ratio, err := logRatio(inA, inB, a.options.Samples, a.options.Alpha/float64(len(hypotheses)))
		if err != nil {
			return 0, err
		}
		f := Finding{
			A: a.output(h.a), B: a.output(h.b), Outputs: len(h.event),
			Distance: h.distance, LogRatio: ratio, Allowed: a.epsilon * h.distance,
		}
		for _, y := range h.event[:min(namedOutputs, len(h.event))] {
			f.Event = append(f.Event, a.output(y))
		}
		found(f)
	}
	return len(hypotheses), nil
}

// logRatio returns a lower bound of ln Pr[M(a) ∈ S] − ln Pr[M(b) ∈ S] that is
// wrong with probability alpha at most; −Inf where the event never occurred.
func logRatio(inA, inB, samples int, alpha float64) (float64, error) {
	of, err := stats.ClopperPearson(inA, samples, 1-alpha)
	if err != nil {
		return 0, err
	}
	against, err := stats.ClopperPearson(inB, samples, 1-alpha)
	if err != nil {
		return 0, err
	}
	return math.Log(of.Low) - math.Log(against.High), nil
}

// mostTelling returns the event with the largest apparent violation for the
// pair. Candidates are the two words themselves, any frequent output, and
// growing sets of the outputs that favour a most.
func (a *audit) mostTelling(p pair, inA, inB []int, samples int) (hypothesis, error) {
	best := hypothesis{pair: p, distance: a.distance(p.a, p.b), score: math.Inf(-1)}
	try := func(event []embeddings.WordID) error {
		// A milder level than the test's: this only ranks.
		ratio, err := logRatio(total(inA, event), total(inB, event), samples, 1e-3)
		if err != nil {
			return err
		}
		if score := ratio - a.epsilon*best.distance; score > best.score {
			best.event, best.score = slices.Clone(event), score
		}
		return nil
	}
	var frequent []embeddings.WordID
	for y := range embeddings.WordID(max(len(inA), len(inB))) {
		if at(inA, y)+at(inB, y) >= fewestCounts {
			frequent = append(frequent, y)
		}
	}
	favour := func(y embeddings.WordID) float64 {
		of, against := float64(at(inA, y)), float64(at(inB, y))
		return (of - 2*math.Sqrt(of)) / (against + 2*math.Sqrt(against) + 3)
	}
	slices.SortStableFunc(frequent, func(x, y embeddings.WordID) int { return cmp.Compare(favour(y), favour(x)) })
	for _, y := range []embeddings.WordID{p.a, p.b} {
		if err := try([]embeddings.WordID{y}); err != nil {
			return best, err
		}
	}
	for i, y := range frequent[:min(8, len(frequent))] {
		if i > 0 {
			if err := try([]embeddings.WordID{y}); err != nil {
				return best, err
			}
		}
	}
	for size := 1; size <= len(frequent); size *= 2 {
		if err := try(frequent[:size]); err != nil {
			return best, err
		}
	}
	return best, nil
}

func total(counts []int, event []embeddings.WordID) int {
	sum := 0
	for _, y := range event {
		sum += at(counts, y)
	}
	return sum
}

// at returns the count of an output; one beyond the end never occurred.
func at(counts []int, y embeddings.WordID) int {
	if int(y) >= len(counts) {
		return 0
	}
	return counts[y]
}

// draw fills dst with independent outputs for one word.
type draw func(dst []embeddings.WordID, rng *rand.Rand)

// released draws what a mechanism releases for a word.
func released(m mechanisms.Mechanism, w embeddings.WordID) draw {
	src := slices.Repeat([]embeddings.WordID{w}, chunk)
	return func(dst []embeddings.WordID, rng *rand.Rand) { m.Privatize(dst, src[:len(dst)], nil, rng) }
}

// countSamples counts n possible outputs. Each chunk has its own stream, so
// counts do not depend on the number of workers.
func countSamples(ctx context.Context, d draw, n, samples, workers int, seed stream.Seed) ([]int, error) {
	chunks := (samples + chunk - 1) / chunk
	parts := make([][]int, min(workers, chunks))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for i := range parts {
		g.Go(func() error {
			counts := make([]int, n)
			dst := make([]embeddings.WordID, chunk)
			for {
				c := int(next.Add(1)) - 1
				if c >= chunks {
					parts[i] = counts
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				size := min(chunk, samples-c*chunk)
				d(dst[:size], seed.At(uint64(c)).Rand())
				for _, y := range dst[:size] {
					counts[y]++
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	sum := parts[0]
	for _, part := range parts[1:] {
		for y, c := range part {
			sum[y] += c
		}
	}
	return sum, nil
}
