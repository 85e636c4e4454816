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
	// false with the same probability again, and that the words are not those
	// of the reported noise with a thousandth of it.
	Alpha float64
	// Samples is the number of samples per word and test of a black-box audit;
	// default 200,000. A quarter as many per word are drawn first, to choose
	// the tests.
	Samples int
	// Words is the number of random words that are paired with their nearest,
	// their farthest and a random word; default 20 for exact audits, 2 for
	// sampled ones.
	Words int
	// Closest is the number of closest pairs of the vocabulary that are
	// audited, because little is allowed where ε·d is small; default 20 for
	// exact audits, 8 for sampled ones.
	Closest int
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
		check.AtLeast("closest", o.Closest, 0),
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
	// Noise is the audit of the noise, nil for a mechanism that is not Noisy.
	Noise *NoiseReport
	// Detects is the smallest factor by which ε could exceed its claim that this
	// audit would have found, measured by planting it; 0 where none was found up
	// to the largest planted, or nothing is promised.
	Detects float64
	// Reason is why nothing was audited.
	Reason string

	// blind means that no samples could have exceeded what ε allows, whatever the
	// mechanism does: there is nothing to learn from planting.
	blind bool
}

// DetectsText says what the audit could have seen.
func (r Report) DetectsText() string {
	switch {
	case r.Method == NoAudit || !r.Guarantee.Holds() || r.Violated:
		return ""
	case r.Detects == 0:
		return fmt.Sprintf("would not have found %g times the claimed epsilon", planted[len(planted)-1])
	case r.Noise != nil: // a comparison of words shows less than one of lengths
		return fmt.Sprintf("would have found %.3g times the claimed epsilon in the noise that it reports", r.Detects)
	}
	return fmt.Sprintf("would have found %.3g times the claimed epsilon", r.Detects)
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
func (f Finding) violates() bool { return f.excess() > tolerance*(1+math.Abs(f.Allowed)) }

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
	if r, err = Mechanism(ctx, m, env.Space, o); err != nil || r.Violated || !r.Guarantee.Holds() || r.Detects > 0 ||
		r.blind {
		return r, err
	}
	for _, factor := range planted {
		more := s
		more.Epsilon *= factor
		stronger, err := mechanisms.New(env, more)
		if err != nil {
			break // undefined there: nothing to plant
		}
		found, err := Mechanism(ctx, pretender{stronger, m}, env.Space, o)
		if err != nil {
			return r, err
		}
		if found.Violated {
			r.Detects = factor
			break
		}
	}
	return r, nil
}

// pretender runs at one ε and promises that of another.
type pretender struct {
	mechanisms.Mechanism
	honest mechanisms.Mechanism
}

func (p pretender) Settings() mechanisms.Settings   { return p.honest.Settings() }
func (p pretender) Guarantee() mechanisms.Guarantee { return p.honest.Guarantee() }

// Mechanism audits an instance over a space against its guarantee or, where it
// has none, against the ε and metric that its source states.
func Mechanism(ctx context.Context, m mechanisms.Mechanism, space *embeddings.Space, o Options) (Report, error) {
	if err := o.complete(); err != nil {
		return Report{}, err
	}
	s := m.Settings()
	r := Report{Settings: s, Guarantee: m.Guarantee()}
	epsilon := strconv.FormatFloat(s.Epsilon, 'g', -1, 64)
	seed := o.Seed.Derive("audit", s.Mechanism, string(s.Variant), s.Parameters.String(), epsilon)
	a := &audit{
		space: space, options: o, output: m.Vocabulary().Word,
		count: func(ctx context.Context, w embeddings.WordID, samples int, purpose string) ([]int, error) {
			return countSamples(ctx, released(m, w), m.Vocabulary().Len(), samples, o.Workers,
				seed.Derive(purpose, strconv.Itoa(int(w))))
		},
	}
	if !r.Guarantee.Holds() {
		definition, err := mechanisms.Find(s.Mechanism)
		if err != nil {
			return Report{}, err
		}
		r.Metric, a.epsilon = definition.Metric, s.Epsilon
		if a.distance, err = mechanisms.DistanceOf(space, definition.Metric); err != nil {
			return Report{}, err
		}
	}
	runs := m
	if p, ok := m.(pretender); ok {
		runs = p.Mechanism
	}
	a.bounder, _ = runs.(mechanisms.LogBounder)
	noisy, isNoisy := runs.(mechanisms.Noisy)
	isNoisy = isNoisy && r.Guarantee.Holds() && a.bounder == nil
	if isNoisy { // half of alpha for the outputs, half for the noise
		a.options.Alpha /= 2
	}
	if err := a.run(ctx, &r); err != nil || !isNoisy || r.Method == NoAudit {
		return r, err
	}
	r.Alpha = o.Alpha
	found, err := noise(ctx, noisy, space, o.Samples, o.Alpha/2, seed.Derive("noise"))
	if err != nil {
		return r, err
	}
	r.Noise = &found
	if found.Words, err = words(ctx, m, noisy, space, o, seed.Derive("noise")); err != nil {
		return r, err
	}
	r.judgeNoise(a.epsilon)
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
	for _, f := range []Finding{f, r.Noise.Words} {
		if f.violates() {
			r.Violated = true
			if r.Worst.A == "" || f.excess() > r.Worst.excess() {
				r.Worst = f
			}
		}
	}
	if r.Noise.Lower > 0 && !r.Violated {
		r.Detects = epsilon / r.Noise.Lower
	}
}

// planted are the factors that an audit of outputs plants to learn what it would
// have found.
var planted = []float64{1.1, 1.5, 2, 3, 5, 10, 20, 50, 100}

// run audits the guarantee, or the source's claim where there is none, and then
// the pairs outside the scope of the guarantee.
func (a *audit) run(ctx context.Context, r *Report) error {
	if r.Guarantee.Holds() {
		r.Metric, a.epsilon, a.distance = r.Guarantee.Metric, r.Guarantee.Epsilon, r.Guarantee.Distance
	}
	words, closest := 2, 8
	if a.bounder != nil {
		words, closest = 20, 20
	}
	every := a.bounder != nil && a.space.Len() <= allPairs
	inside, outside := a.pairs(cmp.Or(a.options.Words, words), cmp.Or(a.options.Closest, closest), every, r)
	r.Pairs, r.OutsidePairs = len(inside), len(outside)
	r.Method = Exact
	examine := a.exact
	if a.bounder == nil {
		r.Method, r.Alpha, r.Samples = Sampled, a.options.Alpha, a.options.Samples
		examine = a.sampled
		if err := a.see(slices.Concat(inside, outside), r); err != nil || r.Method == NoAudit {
			return err
		}
	}
	tests, err := examine(ctx, inside, r.record)
	if err != nil {
		return err
	}
	r.Tests = tests
	_, err = examine(ctx, outside, func(f Finding) {
		if r.Outside.A == "" || f.excess() > r.Outside.excess() {
			r.Outside = f
		}
		r.OutsideViolated = r.OutsideViolated || f.violates()
	})
	return err
}

// see reports what samples could show at best: an event that the first word of a
// pair always has and the second never.
func (a *audit) see(pairs []pair, r *Report) error {
	most, err := logRatio(r.Samples, 0, r.Samples, r.Alpha)
	if err != nil || len(pairs) == 0 {
		return err
	}
	least := math.Inf(1)
	for _, p := range pairs {
		least = min(least, a.epsilon*a.distance(p.a, p.b))
	}
	r.blind = least > most
	// Beyond this the lower bound of ε would be 0 as well; see record.
	if most <= tolerance*(1+least) {
		r.Method, r.Reason = NoAudit, fmt.Sprintf("%d samples show a log-ratio of %.3g at most, and epsilon allows "+
			"%.3g or more", r.Samples, most, least)
	}
	return nil
}

// Grid audits all cells in order and passes on each report as soon as it is
// ready.
func Grid(
	ctx context.Context, env mechanisms.Environment, cells []mechanisms.Settings, o Options, each func(Report) error,
) error {
	if len(cells) > 1 { // one shows its samples
		bar := progress.Start(ctx, "instances", len(cells), float64(len(cells)))
		defer bar.Close()
		shown := each
		each = func(r Report) error {
			defer bar.Add(1, 1, r.Settings.Mechanism)
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
