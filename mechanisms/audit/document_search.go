package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/internal/check"
	"mldpbench/internal/progress"
	"mldpbench/stream"
)

// Claimed is a mechanism of documents and what is claimed for it.
type Claimed struct {
	// Release privatises texts, each by the randomness of its seed.
	Release func(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, error)
	// Allowed is the log-ratio that is claimed at most for two texts; ok is false where
	// nothing is.
	Allowed func(a, b string) (bound float64, ok bool)
}

// SearchOptions are those of SearchDocuments.
type SearchOptions struct {
	Alpha    float64 // probability of accusing a sound mechanism; 0: 1e-6
	Requests int     // texts to be privatised in all; 0: 200,000
	Seed     stream.Seed
}

// Search is what SearchDocuments found.
type Search struct {
	Pairs    int // looked at
	Tested   int
	Requests int      // texts that were privatised
	Worst    TextPair // of those tested, the one that exceeds its bound most, and its event
	Event    string
	LogRatio float64 // lower bound
	Allowed  float64
	Violated bool
	Alpha    float64
	// Detects is the least factor by which the log-ratio of a tested pair could exceed the
	// claim and would have been found with a power of 0.9, if the releases of the pair tell as
	// randomised response does, and that of the pair where it is least; 0 where none would.
	Detects float64
	Reason  string // why nothing was tested
}

// Verdict returns the outcome in words.
func (s Search) Verdict() string {
	switch {
	case s.Reason != "":
		return "not audited: " + s.Reason
	case s.Violated:
		alpha := strings.Replace(strconv.FormatFloat(s.Alpha, 'g', -1, 64), "e-0", "e-", 1)
		return "violated (confidence 1−" + alpha + ")"
	case s.Detects == 0:
		return "nothing could be found: so few requests show no violation of such an epsilon"
	}
	return fmt.Sprintf("not refuted: would have found %.3g times epsilon with power .9 on a tested pair", s.Detects)
}

const (
	testedPairs = 4   // at most
	lookShare   = 0.4 // of the requests
	power       = 0.9
)

// SearchDocuments looks for two texts and an event that break what is claimed. Some releases of
// every pair show which are conspicuous, and by which event; fresh ones of these few pairs test
// it, with Clopper–Pearson bounds at alpha divided by their number. So a sound mechanism is
// accused with probability alpha at most.
func SearchDocuments(ctx context.Context, c Claimed, o SearchOptions) (Search, error) {
	o.Alpha = cmp.Or(o.Alpha, 1e-6)
	o.Requests = cmp.Or(o.Requests, 200_000)
	s := Search{Alpha: o.Alpha}
	err := errors.Join(check.Inside("alpha", o.Alpha, 0, 1), check.AtLeast("samples", o.Requests, 4000))
	if err != nil {
		return s, err
	}
	run := &search{c, o, progress.Start(ctx, "pairs", pairsOfFamily*len(families)+testedPairs), map[string]features{}}
	defer run.bar.Close()
	hypotheses, err := run.look(ctx, &s)
	if err != nil {
		return s, err
	}
	if len(hypotheses) == 0 {
		s.Reason = "nothing is claimed for any of the pairs"
		return s, nil
	}
	return s, run.test(ctx, hypotheses, &s)
}

// search is one run.
type search struct {
	Claimed
	SearchOptions
	bar  *progress.Reporter
	seen map[string]features // by text
}

// suspicion is a pair with the event that tells its texts best.
type suspicion struct {
	TextPair
	event
	allowed float64
	excess  float64 // of the log-ratio, as it seems, over what is allowed
}

// look draws some releases of all pairs, and returns the most conspicuous.
func (r *search) look(ctx context.Context, s *Search) (all []suspicion, err error) {
	pairs := documentPairs(r.Seed.Derive("pairs").Rand())
	n := max(20, int(lookShare*float64(r.Requests))/(2*len(pairs)))
	for i, p := range pairs {
		r.bar.Add(1, p.Family)
		if p.A == p.B {
			continue
		}
		allowed, ok := r.Allowed(p.A, p.B)
		back, okBack := r.Allowed(p.B, p.A)
		if !ok || !okBack {
			continue
		}
		s.Pairs++
		seed := r.Seed.Derive("look").At(uint64(i))
		a, err := r.releases(ctx, p.A, n, seed.Derive("a"))
		if err != nil {
			return nil, err
		}
		b, err := r.releases(ctx, p.B, n, seed.Derive("b"))
		if err != nil {
			return nil, err
		}
		s.Requests += 2 * n
		e, ratio := mostTellingEvent(a, b)
		all = append(all, suspicion{p, e, allowed, ratio - allowed})
		e, ratio = mostTellingEvent(b, a)
		all = append(all, suspicion{TextPair{p.Family, p.B, p.A}, e, back, ratio - back})
	}
	slices.SortStableFunc(all, func(a, b suspicion) int { return cmp.Compare(b.excess, a.excess) })
	return mostSuspicious(all), nil
}

// mostSuspicious are those to be tested. Two texts that a mechanism must not tell at all show no
// power against more than ε: one that it may is among them, if there is one.
func mostSuspicious(all []suspicion) []suspicion {
	few := all[:min(testedPairs, len(all))]
	isMeasure := func(x suspicion) bool { return x.allowed > 0 }
	if other := slices.IndexFunc(all, isMeasure); other >= len(few) {
		few[len(few)-1] = all[other]
	}
	return few
}

// test tests suspicions with fresh releases.
func (r *search) test(ctx context.Context, all []suspicion, s *Search) error {
	n := (r.Requests - s.Requests) / (2 * len(all))
	if n < 1 {
		s.Reason = fmt.Sprintf("%d requests are too few", r.Requests)
		return nil
	}
	alpha := r.Alpha / float64(len(all))
	s.Tested = len(all)
	worst := math.Inf(-1)
	for i, x := range all {
		r.bar.Add(1, x.Family)
		seed := r.Seed.Derive("test").At(uint64(i))
		a, err := r.releases(ctx, x.A, n, seed.Derive("a"))
		if err != nil {
			return err
		}
		b, err := r.releases(ctx, x.B, n, seed.Derive("b"))
		if err != nil {
			return err
		}
		s.Requests += 2 * n
		ratio := logRatio(countIn(x.event, a), countIn(x.event, b), n, alpha/2)
		if excess := ratio - x.allowed; excess > worst || i == 0 {
			worst = excess
			s.Worst = x.TextPair
			s.Event = x.name
			s.LogRatio = ratio
			s.Allowed = x.allowed
		}
		s.Violated = s.Violated || ratio > x.allowed+tolerance*(1+x.allowed)
		if factor := detects(x.allowed, n, alpha/2); s.Detects == 0 || factor > 0 && factor < s.Detects {
			s.Detects = factor
		}
	}
	return nil
}

// releases are n of a text.
func (r *search) releases(ctx context.Context, text string, n int, seed stream.Seed) ([]features, error) {
	const together = 256 // in a request
	out := make([]features, 0, n)
	for len(out) < n {
		texts := slices.Repeat([]string{text}, min(together, n-len(out)))
		seeds := make([]stream.Seed, len(texts))
		for i := range seeds {
			seeds[i] = seed.At(uint64(len(out) + i))
		}
		released, err := r.Release(ctx, texts, seeds)
		if err != nil {
			return nil, err
		}
		if len(released) != len(texts) {
			return nil, fmt.Errorf("%d texts became %d", len(texts), len(released))
		}
		for _, after := range released {
			out = append(out, r.features(after))
		}
	}
	return out, nil
}

// features are those of a released text; the same text comes often.
func (r *search) features(text string) features {
	const most = 1 << 14 // texts that are kept
	f, ok := r.seen[text]
	if ok {
		return f
	}
	f = featuresOf(text)
	if len(r.seen) < most {
		r.seen[text] = f
	}
	return f
}

// detects is the least factor, to a hundredth, at which randomised response between two texts at
// so many times the allowed log-ratio is found by n releases of each with power; 0 for none.
func detects(allowed float64, n int, alpha float64) float64 {
	if allowed <= 0 {
		return 0
	}
	const steps = 1900 // to 20
	at := func(i int) float64 { return 1 + float64(i)/100 }
	i := sort.Search(steps, func(i int) bool {
		p := 1 / (1 + math.Exp(-at(i)*allowed))
		tail := (1 - power) / 2
		few := quantile(n, p, tail)
		many := n - quantile(n, p, tail) // of the other text, by symmetry
		return logRatio(few, many, n, alpha) > allowed
	})
	if i == steps {
		return 0
	}
	return at(i)
}

// quantile is the greatest count below which Binomial(n, p) is with a probability of at most
// tail.
func quantile(n int, p, tail float64) int {
	law := distuv.Binomial{N: float64(n), P: p}
	return sort.Search(n, func(k int) bool { return law.CDF(float64(k)) > tail })
}
