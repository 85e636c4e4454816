package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/internal/progress"
	"mldpbench/internal/stats"
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

// counts are how often each output occurred.
type counts map[embeddings.WordID]int

func (c counts) of(event []embeddings.WordID) int {
	return list.Sum(event, func(y embeddings.WordID) int { return c[y] })
}

// hypothesis is a pair with an event and the apparent size of its violation.
type hypothesis struct {
	pair
	event []embeddings.WordID
	score float64 // beyond what is allowed, of the bounds
	point float64 // log-ratio as counted
}

// sampled audits a mechanism by its samples, in three parts that are independent:
// few of every word show which pairs are worth more, more of these select the most
// conspicuous events, and as many again test them. Each test uses a
// Clopper–Pearson lower bound for one word and an upper bound for the other, all
// at levels that together fail with probability alpha at most (Bonferroni).
func (a *audit) sampled(ctx context.Context, pairs []pair, r *Report) error {
	first, err := a.conspicuous(ctx, pairs, max(a.options.Samples/200, 500), "look")
	if err != nil {
		return err
	}
	a.sampledPower(first, r)
	again := list.Map(first[:min(mostPairs, len(first))], func(h hypothesis) pair {
		return h.pair
	})
	hypotheses, err := a.conspicuous(ctx, again, a.options.Samples/4, "explore")
	if err != nil {
		return err
	}
	hypotheses = hypotheses[:min(mostTests, len(hypotheses))]
	tested := list.Map(hypotheses, func(h hypothesis) pair { return h.pair })
	seen, err := a.sample(ctx, tested, a.options.Samples, "test")
	if err != nil {
		return err
	}
	for _, h := range hypotheses {
		ratio := logRatio(seen[h.a].of(h.event), seen[h.b].of(h.event), a.options.Samples,
			a.options.Alpha/float64(len(hypotheses)))
		f := a.finding(h.pair, ratio)
		f.Event = strings.Join(list.Map(h.event[:min(namedOutputs, len(h.event))], a.output), " ")
		if more := len(h.event) - namedOutputs; more > 0 {
			f.Event += fmt.Sprintf(" and %d more", more)
		}
		r.record(f)
	}
	return nil
}

// sampledPower takes for each word looked at the least factor by which a violation
// would have been conspicuous: the log-ratio of a violation by a factor is that
// factor times the one seen, of which as much is lost to chance as here.
func (a *audit) sampledPower(all []hypothesis, r *Report) {
	if !r.Guarantee.Holds() {
		return
	}
	least := map[embeddings.WordID]float64{}
	for _, h := range all {
		factor := math.Inf(1)
		allowed := a.finding(h.pair, 0).Allowed
		seen := h.score + allowed
		if slack := h.point - seen; seen > 0 && allowed > 0 && allowed+slack < a.most {
			factor = max(1, (allowed+slack)/seen)
		}
		if x, again := least[h.looked]; !again || factor < x {
			least[h.looked] = factor
		}
	}
	factors := slices.DeleteFunc(slices.Sorted(maps.Values(least)), func(x float64) bool {
		return math.IsInf(x, 1)
	})
	if len(factors) > 0 {
		r.Detects = factors[0]
	}
	if n := a.needed(); n <= len(factors) {
		r.DetectsOne = factors[n-1]
	}
}

// conspicuous returns the event of every pair that looks most like a violation, the
// most conspicuous first.
func (a *audit) conspicuous(ctx context.Context, pairs []pair, samples int, purpose string) (all []hypothesis,
	err error) {
	seen, err := a.sample(ctx, pairs, samples, purpose)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if h := a.mostTelling(p, seen[p.a], seen[p.b], samples); h.event != nil {
			all = append(all, h)
		}
	}
	slices.SortStableFunc(all, func(x, y hypothesis) int {
		return cmp.Compare(y.score, x.score)
	})
	return all, nil
}

// logRatio returns a lower bound of ln Pr[M(a) ∈ S] − ln Pr[M(b) ∈ S] that is
// wrong with probability alpha at most; −Inf where the event never occurred.
func logRatio(inA, inB, samples int, alpha float64) float64 {
	of := stats.ClopperPearson(inA, samples, 1-alpha)
	against := stats.ClopperPearson(inB, samples, 1-alpha)
	return math.Log(of.Low) - math.Log(against.High)
}

// mostTelling returns the event with the largest apparent violation for the
// pair. Candidates are the two words themselves, any frequent output, and
// growing sets of the outputs that favour a most.
func (a *audit) mostTelling(p pair, inA, inB counts, samples int) hypothesis {
	var frequent []embeddings.WordID
	both := maps.Clone(inA)
	for y, n := range inB {
		both[y] += n
	}
	for y, n := range both {
		if n >= fewestCounts {
			frequent = append(frequent, y)
		}
	}
	slices.Sort(frequent)
	favour := func(y embeddings.WordID) float64 {
		of := float64(inA[y])
		against := float64(inB[y])
		return (of - 2*math.Sqrt(of)) / (against + 2*math.Sqrt(against) + 3)
	}
	slices.SortStableFunc(frequent, func(x, y embeddings.WordID) int {
		return cmp.Compare(favour(y), favour(x))
	})
	events := [][]embeddings.WordID{{p.a}, {p.b}}
	for i := range min(8, len(frequent)) {
		events = append(events, frequent[i:i+1])
	}
	for size := 2; size <= len(frequent); size *= 2 {
		events = append(events, frequent[:size])
	}
	best := hypothesis{pair: p, score: math.Inf(-1)}
	for _, event := range events {
		// A milder level than the test's: this only ranks.
		ratio := logRatio(inA.of(event), inB.of(event), samples, 1e-3)
		if score := a.finding(p, ratio).excess(); score > best.score {
			best.event = event
			best.score = score
			best.point = math.Log(float64(inA.of(event))) - math.Log(max(1, float64(inB.of(event))))
		}
	}
	return best
}

// sample draws so many outputs of each word of pairs and counts them. All cores
// work, each on a chunk with a random stream of its own, so no count depends on how
// many there are.
func (a *audit) sample(ctx context.Context, pairs []pair, samples int, purpose string) (map[embeddings.WordID]counts,
	error) {
	seen := map[embeddings.WordID]counts{}
	for _, p := range pairs {
		seen[p.a] = counts{}
		seen[p.b] = counts{}
	}
	words := slices.Sorted(maps.Keys(seen))
	bar := progress.Start(ctx, "words sampled", len(words))
	defer bar.Close()
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, w := range words {
		seed := a.seed.Derive(purpose, strconv.Itoa(int(w)))
		for from := 0; from < samples; from += chunk {
			g.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				out := slices.Repeat([]embeddings.WordID{w}, min(chunk, samples-from))
				if err := a.mechanism.Privatize(ctx, out, out, seed.At(uint64(from/chunk)).Rand()); err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				for _, y := range out {
					seen[w][y]++
				}
				return nil
			})
		}
		bar.Add(1, a.output(w))
	}
	return seen, g.Wait()
}
