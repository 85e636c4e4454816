// Package audit checks the guarantee of a mechanism against its behaviour.
//
// It looks for two words a, b and an event S with
//
//	ln Pr[M(a) ∈ S] − ln Pr[M(b) ∈ S] > ε·d(a,b),
//
// which no ε·d-private mechanism has. Where probabilities have proven bounds
// (closed forms, numerical integration) it compares them over all outputs.
// Elsewhere it uses samples only, and accuses a sound mechanism with at most a
// stated probability. It refutes and never proves: "not refuted" means that
// these pairs and this number of samples show no violation.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/internal/progress"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Options of an audit. The zero value of each field means its default.
type Options struct {
	// Alpha is the probability of accusing a sound mechanism, for each sampled
	// report; default 1e-6. The finding outside the scope of a guarantee is
	// false with the same probability again.
	Alpha float64
	// Samples is the number of samples per word and test of a black-box audit;
	// default 200,000. A quarter as many per word are drawn first, to choose
	// the tests.
	Samples int
	// Words is the number of words that are looked at, spread over frequency,
	// density of the neighbourhood and length of the vector; default 1,000 for
	// exact audits, 300 for sampled ones, all where there are fewer.
	Words int
	// Workers is the number of goroutines that sample; default all cores. No
	// result depends on it.
	Workers int
	Seed    stream.Seed
}

// Check reports values that are not allowed.
func (o Options) Check() error { return o.complete() }

func (o *Options) complete() error {
	o.Samples = cmp.Or(o.Samples, 200_000)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	o.Alpha = cmp.Or(o.Alpha, 1e-6)
	return errors.Join(
		check.Inside("alpha", o.Alpha, 0, 1),
		check.AtLeast("samples", o.Samples, 1000),
		check.AtLeast("words", o.Words, 0),
		check.AtLeast("workers", o.Workers, 1),
	)
}

// Method is the way in which probabilities were obtained.
type Method string

const (
	Exact   Method = "exact"   // proven bounds of every probability
	Sampled Method = "sampled" // black box, Clopper–Pearson bounds
	NoAudit Method = ""        // nothing was audited, see Report.Reason
)

// Report is the outcome for one instance.
type Report struct {
	Settings  mechanisms.Settings
	Guarantee mechanisms.Guarantee
	Method    Method
	// Metric is the distance used with ε: that of the guarantee or, where
	// nothing is guaranteed, the one in which the source states ε.
	Metric  string
	Alpha   float64 // of a sampled report: probability of a false accusation
	Samples int     // per word and test
	Words   int     // looked at
	Pairs   int     // ordered pairs looked at
	Tests   int     // events tested on fresh samples; 0 where exact

	// EpsilonLowerBound is a lower bound on every ε for which the instance
	// could be ε·d-private, +Inf where there is none.
	EpsilonLowerBound float64
	// Worst is the finding with the largest excess over what is allowed.
	Worst Finding
	// Violated reports whether Worst exceeds what ε allows.
	Violated bool
	// OutsidePairs is the number of ordered pairs audited that are outside the
	// scope of the guarantee. Outside is the worst finding among them, and
	// OutsideViolated reports whether it exceeds what ε would allow. These
	// pairs do not count in the fields above.
	OutsidePairs    int
	Outside         Finding
	OutsideViolated bool
	// Noise is the audit of the noise, nil for a mechanism without Noise.
	Noise *NoiseReport
	// Detects is the least factor by which ε could exceed its claim, for all
	// words alike, that this run would have found, computed: by
	// bisection where rows are known, else in proportion to the log-ratios seen. 0
	// where none would have been found, or that is not known. DetectsOne
	// is the same for a violation on one word in a hundred, of those that a fault
	// strikes by chance, found in at least 9 of 10 cases.
	Detects, DetectsOne float64
	// Reason is why nothing was audited.
	Reason string
}

// DetectsText says what the audit could have seen.
func (r Report) DetectsText() string {
	switch {
	case r.Method == NoAudit || !r.Guarantee.Holds() || r.Violated || r.Guarantee.Epsilon == 0:
		return ""
	case r.Settings.Variant == mechanisms.External:
		return "what it would have found: not measured"
	}
	factor := func(x float64, where string) string {
		if x == 0 {
			return "no factor"
		}
		return fmt.Sprintf("%.3g times the claimed epsilon%s", x, where)
	}
	where := ""
	if r.Noise != nil { // a comparison of words shows less than one of lengths
		where = ", in its noise"
	}
	return "would have found on all words " + factor(r.Detects, where) + "; on one word in a hundred " +
		factor(r.DetectsOne, "")
}

// Finding is one pair of words and one event.
type Finding struct {
	A, B     string
	Event    []string // outputs, the most probable first; at most a few are named
	Outputs  int      // outputs in the event
	Distance float64
	LogRatio float64 // lower bound of ln Pr[M(A) ∈ S] − ln Pr[M(B) ∈ S]
	Allowed  float64 // ε·Distance
}

// excess is the amount by which the ratio exceeds what is allowed.
func (f Finding) excess() float64 { return f.LogRatio - f.Allowed }

// violates reports whether the ratio exceeds what is allowed by more than
// rounding.
// A log-ratio and a bound that are both infinite do not compare.
func (f Finding) violates() bool {
	return !math.IsInf(f.Allowed, 1) && f.excess() > tolerance*(1+math.Abs(f.Allowed))
}

// Breach reports whether a guarantee that is claimed does not hold.
func (r Report) Breach() bool { return r.Violated && r.Guarantee.Holds() }

// Verdict returns the outcome in words; it never says "proved".
func (r Report) Verdict() string {
	switch {
	case r.Method == NoAudit:
		return "not audited: " + r.Reason
	case r.Violated:
		return "violated (" + r.confidence() + ")"
	case r.OutsideViolated:
		return "not refuted in its scope, violated outside (" + r.confidence() + ")"
	case r.OutsidePairs > 0:
		return "not refuted in its scope"
	}
	return "not refuted"
}

func (r Report) confidence() string {
	if r.Method == Exact {
		return "exact"
	}
	return "confidence 1−" + strings.Replace(strconv.FormatFloat(r.Alpha, 'g', -1, 64), "e-0", "e-", 1)
}

// tolerance allows for the rounding of log-probabilities and distances.
const tolerance = 1e-9

// Run audits one instance. For settings at which a mechanism is undefined, and
// for mechanisms that release vectors, it returns a report without an audit and
// no error.
func Run(ctx context.Context, env mechanisms.Environment, s mechanisms.Settings, o Options) (Report, error) {
	if err := o.complete(); err != nil {
		return Report{}, err
	}
	s, err := mechanisms.Complete(s)
	if err != nil {
		return Report{}, err
	}
	definition, err := mechanisms.Find(s.Mechanism)
	if err != nil {
		return Report{}, err
	}
	r := Report{Settings: s, Metric: definition.Metric}
	if definition.New == nil {
		m, err := mechanisms.NewVector(env, s)
		if err != nil {
			return Report{}, err
		}
		r.Guarantee, r.Reason = m.Guarantee(), "releases vectors"
		return r, nil
	}
	m, err := mechanisms.New(env, s)
	if undefined := (*mechanisms.UndefinedError)(nil); errors.As(err, &undefined) ||
		errors.Is(err, mechanisms.ErrNoTexts) {
		r.Reason = err.Error()
		r.Guarantee = mechanisms.Guarantee{Reason: r.Reason}
		return r, nil
	}
	if err != nil {
		return Report{}, err
	}
	return Mechanism(ctx, m, env.Space, o)
}

// Mechanism audits an instance over a space against its guarantee or, where it
// has none, against the ε and metric that its source states.
func Mechanism(ctx context.Context, m *mechanisms.Mechanism, space *embeddings.Space, o Options) (Report, error) {
	if err := o.complete(); err != nil {
		return Report{}, err
	}
	s := m.Settings()
	r := Report{Settings: s, Guarantee: m.Guarantee()}
	epsilon := strconv.FormatFloat(s.Epsilon, 'g', -1, 64)
	seed := o.Seed.Derive("audit", s.Mechanism, string(s.Variant), s.Parameters.String(), epsilon)
	a := &audit{mechanism: m, space: space, options: o, output: m.Vocabulary().Word,
		count: func(ctx context.Context, w embeddings.WordID, samples int, purpose string) ([]int, error) {
			return countSamples(ctx, released(m, w), m.Vocabulary().Len(), samples, o.Workers,
				seed.Derive(purpose, strconv.Itoa(int(w))))
		},
	}
	if r.Guarantee.Holds() {
		r.Metric, a.epsilon, a.distance = r.Guarantee.Metric, r.Guarantee.Epsilon, r.Guarantee.Distance
	} else {
		definition, err := mechanisms.Find(s.Mechanism)
		if err != nil {
			return Report{}, err
		}
		r.Metric, a.epsilon = definition.Metric, s.Epsilon
		if a.distance, err = mechanisms.DistanceOf(space, definition.Metric); err != nil {
			return Report{}, err
		}
	}
	noisy := r.Guarantee.Holds() && m.Noise() != nil
	if noisy { // half of alpha for the outputs, half for the noise
		a.options.Alpha /= 2
	}
	if err := a.run(ctx, &r); err != nil || r.Method == NoAudit {
		return r, err
	}
	if noisy {
		r.Alpha = o.Alpha
		found, err := noise(ctx, m.Noise(), space, o.Samples, o.Alpha/2, seed.Derive("noise"))
		if err != nil {
			return r, err
		}
		r.Noise = &found
		r.judgeNoise(a.epsilon)
	}
	return r, nil
}

// judgeNoise takes the finding on the noise into the verdict. Noise divided by a
// factor has its lengths divided by it and its bound multiplied, so the factor
// that would have been found follows from the same samples.
func (r *Report) judgeNoise(epsilon float64) {
	f := Finding{A: "noise", B: "noise", Event: []string{r.Noise.Event}, Outputs: 1, Distance: 1,
		LogRatio: r.Noise.Lower, Allowed: epsilon}
	if r.Noise.Lopsided != "" {
		f.Event, f.LogRatio = []string{"a preferred direction, " + r.Noise.Lopsided}, math.Inf(1)
	}
	if f.violates() {
		r.Violated = true
		if r.Worst.A == "" || f.excess() > r.Worst.excess() {
			r.Worst = f
		}
	}
	if r.Noise.Lower > 0 && !r.Violated {
		r.Detects = epsilon / r.Noise.Lower
	}
}

// run audits the guarantee, or the source's claim where there is none, and then
// the pairs outside the scope of the guarantee.
func (a *audit) run(ctx context.Context, r *Report) error {
	words := exactWords
	if !a.mechanism.Closed() {
		words = sampledWords
	}
	inside, outside := a.pairs(min(cmp.Or(a.options.Words, words), a.space.Len()), r)
	r.Pairs, r.OutsidePairs = len(inside), len(outside)
	r.Method = Exact
	examine := a.exact
	if !a.mechanism.Closed() {
		r.Method, r.Alpha, r.Samples = Sampled, a.options.Alpha, a.options.Samples
		examine = a.sampled
	}
	if err := a.see(slices.Concat(inside, outside), r); err != nil || r.Method == NoAudit {
		return err
	}
	tests, err := examine(ctx, inside, r)
	if err != nil {
		return err
	}
	r.Tests = tests
	var beyond Report
	_, err = examine(ctx, outside, &beyond)
	r.Outside, r.OutsideViolated = beyond.Worst, beyond.Violated
	return err
}

const (
	exactWords   = 1000 // looked at, by default
	sampledWords = 300
	// aHundredth is how many words must be looked at, each of which would show a
	// fault, to meet one of a fault in a hundred in 9 of 10 cases: 1 − .99^230.
	aHundredth = 230
)

// needed is how many of the words looked at must each show a fault, so that one on
// a word in a hundred is found in 9 of 10 cases. Where all words are looked at,
// these are 9 in 10 of them.
func needed(looked, words int) int {
	if looked == words {
		return min(aHundredth, (9*words+9)/10)
	}
	return aHundredth
}

// see reports pairs that cannot be judged: where ε times a distance is beyond
// float64, ratios of +Inf would be compared with bounds of +Inf; and samples show
// at most an event that the first word of a pair always has and the second never.
func (a *audit) see(pairs []pair, r *Report) (err error) {
	least := math.Inf(1)
	for _, p := range pairs {
		allowed := a.epsilon * a.distance(p.a, p.b)
		if least = min(least, allowed); math.IsInf(allowed, 1) {
			r.Method, r.Reason = NoAudit, fmt.Sprintf("undefined: epsilon = %v times the distance of %s and %s is beyond "+
				"float64", a.epsilon, a.output(p.a), a.output(p.b))
		}
	}
	if r.Method != Sampled || len(pairs) == 0 {
		return nil
	}
	a.most, err = logRatio(r.Samples, 0, r.Samples, r.Alpha)
	// Beyond this the lower bound of ε would be 0 as well; see record.
	if a.most <= tolerance*(1+least) {
		r.Method, r.Reason = NoAudit, fmt.Sprintf("%d samples show a log-ratio of %.3g at most, and epsilon allows "+
			"%.3g or more", r.Samples, a.most, least)
	}
	return err
}

// Grid audits all cells in order and passes on each report as soon as it is
// ready.
func Grid(
	ctx context.Context, env mechanisms.Environment, cells []mechanisms.Settings, o Options, each func(Report) error,
) error {
	if len(cells) > 1 { // one shows its samples
		bar := progress.Start(ctx, "instances", len(cells))
		defer bar.Close()
		shown := each
		each = func(r Report) error {
			defer bar.Add(1, r.Settings.Mechanism)
			return shown(r)
		}
	}
	for _, s := range cells {
		r, err := Run(ctx, env, s, o)
		if err != nil {
			return fmt.Errorf("%s %s at epsilon %v: %w", s.Mechanism, s.Variant, s.Epsilon, err)
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// Cells returns every registered mechanism × variant × ε, with default
// parameters. Some mechanisms add further ε; see
// mechanisms.Definition.Epsilons.
func Cells(epsilons []float64) []mechanisms.Settings {
	var cells []mechanisms.Settings
	for _, d := range mechanisms.Definitions() {
		all := slices.Concat(epsilons, d.Epsilons)
		slices.Sort(all)
		for _, v := range d.Variants {
			for _, e := range slices.Compact(all) {
				cells = append(cells, mechanisms.Settings{Mechanism: d.Name, Variant: v, Epsilon: e})
			}
		}
	}
	return cells
}

// record keeps a finding if it is the worst so far.
func (r *Report) record(f Finding) {
	bound := 0.0
	switch {
	case f.LogRatio <= tolerance*(1+math.Abs(f.Allowed)):
	case f.Distance == 0:
		bound = math.Inf(1)
	default:
		bound = f.LogRatio / f.Distance
	}
	r.EpsilonLowerBound = max(r.EpsilonLowerBound, bound)
	if r.Worst.A == "" || f.excess() > r.Worst.excess() {
		r.Worst = f
	}
	r.Violated = r.Violated || f.violates()
}
