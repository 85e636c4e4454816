package audit

import (
	"cmp"
	"context"
	"maps"
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
	// mostPairs is the largest number of pairs that more samples are drawn of.
	mostPairs = 12
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

// sampled audits a mechanism by its samples, in three parts that are independent:
// few of every word show which pairs are worth more, more of these select the most
// conspicuous events, and as many again test them. Each test uses a
// Clopper–Pearson lower bound for one word and an upper bound for the other, all
// at levels that together fail with probability alpha at most (Bonferroni).
func (a *audit) sampled(ctx context.Context, pairs []pair, r *Report) (tests int, err error) {
	words := 2*len(pairs) + 100*mostPairs
	bar := progress.Start(ctx, "samples of words", words)
	defer bar.Close()
	look := a.options.Samples / 200
	powers := map[embeddings.WordID]float64{}
	first, err := a.conspicuous(ctx, pairs, max(look, 500), "look", bar, func(h hypothesis, point float64) {
		least, again := powers[h.looked]
		if x := a.factor(h, point); !again || x < least {
			powers[h.looked] = x
		}
	})
	if err != nil {
		return 0, err
	}
	a.sampledPower(slices.Sorted(maps.Values(powers)), r)
	var again []pair
	for _, h := range first[:min(mostPairs, len(first))] {
		again = append(again, h.pair)
	}
	hypotheses, err := a.conspicuous(ctx, again, a.options.Samples/4, "explore", bar, nil)
	if err != nil {
		return 0, err
	}
	hypotheses = hypotheses[:min(mostTests, len(hypotheses))]
	count := a.counter("test", a.options.Samples)
	for _, h := range hypotheses {
		inA, err := count(ctx, h.a)
		if err != nil {
			return 0, err
		}
		inB, err := count(ctx, h.b)
		if err != nil {
			return 0, err
		}
		ratio, err := logRatio(total(inA, h.event), total(inB, h.event), a.options.Samples,
			a.options.Alpha/float64(len(hypotheses)))
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
		r.record(f)
	}
	return len(hypotheses), nil
}

// factor is the least by which a violation would have been conspicuous: the
// log-ratio of a violation by a factor is that factor times the one seen, of which
// as much is lost to chance as here.
func (a *audit) factor(h hypothesis, point float64) float64 {
	allowed := a.epsilon * h.distance
	seen := h.score + allowed
	if slack := point - seen; seen > 0 && allowed > 0 && allowed+slack < a.most {
		return max(1, (allowed+slack)/seen)
	}
	return math.Inf(1)
}

// sampledPower takes the least factors by word looked at, in order.
func (a *audit) sampledPower(powers []float64, r *Report) {
	if len(powers) == 0 || !r.Guarantee.Holds() {
		return
	}
	if x := powers[0]; !math.IsInf(x, 1) {
		r.Detects = x
	}
	if n := needed(r.Words, a.space.Len()); n <= len(powers) && !math.IsInf(powers[n-1], 1) {
		r.DetectsOne = powers[n-1]
	}
}

// counter samples words, each once.
func (a *audit) counter(purpose string, samples int) func(context.Context, embeddings.WordID) ([]int, error) {
	known := map[embeddings.WordID][]int{}
	return func(ctx context.Context, w embeddings.WordID) (counts []int, err error) {
		if known[w] == nil {
			known[w], err = a.count(ctx, w, samples, purpose)
		}
		return known[w], err
	}
}

// conspicuous returns the event of every pair that looks most like a violation, the
// most conspicuous first; each gets it with the log-ratio as counted.
func (a *audit) conspicuous(ctx context.Context, pairs []pair, samples int, purpose string, bar *progress.Reporter,
	each func(h hypothesis, point float64)) (all []hypothesis, err error) {
	count := a.counter(purpose, samples)
	for _, p := range pairs {
		inA, err := count(ctx, p.a)
		if err != nil {
			return nil, err
		}
		inB, err := count(ctx, p.b)
		if err != nil {
			return nil, err
		}
		bar.Add(2, a.output(p.a))
		h, err := a.mostTelling(p, inA, inB, samples)
		if err != nil {
			return nil, err
		}
		if h.event == nil {
			continue
		}
		all = append(all, h)
		if each != nil {
			each(h, math.Log(float64(total(inA, h.event)))-math.Log(max(1, float64(total(inB, h.event)))))
		}
	}
	slices.SortStableFunc(all, func(x, y hypothesis) int { return cmp.Compare(y.score, x.score) })
	return all, nil
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
type draw func(ctx context.Context, dst []embeddings.WordID, rng *rand.Rand) error

// released draws what a mechanism releases for a word.
func released(m *mechanisms.Mechanism, w embeddings.WordID) draw {
	src := slices.Repeat([]embeddings.WordID{w}, chunk)
	return func(ctx context.Context, dst []embeddings.WordID, rng *rand.Rand) error {
		return m.Privatize(ctx, dst, src[:len(dst)], rng)
	}
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
				if err := d(ctx, dst[:size], seed.At(uint64(c)).Rand()); err != nil {
					return err
				}
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
