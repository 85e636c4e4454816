// Package audit checks the guarantee of a mechanism against its behaviour.
//
// It looks for two words a, b and an event S with
//
//	ln Pr[M(a) ∈ S] − ln Pr[M(b) ∈ S] > ε·d(a,b),
//
// which no ε·d-private mechanism has. Where probabilities have proven bounds
// (closed forms) it compares them over all outputs. Elsewhere it uses samples
// only, and accuses a sound mechanism with at most a stated probability. It
// refutes and never proves: "not refuted" means that these pairs and this number
// of samples show no violation.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Options of an audit. The zero value of each field means its default.
type Options struct {
	// Alpha is the probability of accusing a sound mechanism, for each sampled
	// report; default 1e-6.
	Alpha float64
	// Samples is the number of samples per word and test of a black-box audit;
	// default 200,000. A quarter as many per word are drawn first, to choose
	// the tests.
	Samples int
	// Words is the number of words that are looked at, spread over frequency,
	// density of the neighbourhood and length of the vector; default 1,000 for
	// exact audits, 300 for sampled ones, all where there are fewer.
	Words int
	Seed  stream.Seed
}

// complete fills in defaults and reports values that are not allowed.
func (o *Options) complete() error {
	o.Samples = cmp.Or(o.Samples, 200_000)
	o.Alpha = cmp.Or(o.Alpha, 1e-6)
	return errors.Join(check.Inside("alpha", o.Alpha, 0, 1), check.AtLeast("samples", o.Samples, 1000),
		check.AtLeast("words", o.Words, 0))
}

// Method is the way in which probabilities were obtained.
type Method string

// Methods.
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
	Alpha     float64 // of a sampled report: probability of a false accusation
	Words     int     // looked at
	Pairs     int     // ordered pairs looked at

	// EpsilonLowerBound is a lower bound on every ε for which the instance
	// could be ε·d-private, +Inf where there is none; d is the distance of the
	// guarantee or, where nothing is guaranteed, the one in which the source
	// states ε.
	EpsilonLowerBound float64
	// Worst is the finding with the largest excess over what is allowed.
	Worst Finding
	// Violated reports whether Worst exceeds what ε allows.
	Violated bool
	// Detects is the least factor by which ε could exceed its claim, for all
	// words alike, that this run would have found, computed: by
	// bisection where rows are known, else in proportion to the log-ratios seen;
	// InNoise says that these were of the noise. 0 where none would have been found,
	// or that is not known. DetectsOne is the same for a violation on one word in a
	// hundred, of those that a fault strikes by chance, found in at least 9 of 10
	// cases.
	Detects, DetectsOne float64
	InNoise             bool
	// Reason is why nothing was audited.
	Reason string
	// Blind says that these samples could not have shown any violation of the claim, and
	// at which ε they could; "" where they could, or no guarantee is claimed.
	Blind string
	// Visible is the number of pairs on which samples could show a violation at all.
	Visible int
}

// DetectsText says what the audit could have seen.
func (r Report) DetectsText() string {
	switch {
	case r.Method != NoAudit && !r.Guarantee.Holds():
		return "no guarantee is claimed: the bound is of epsilon as its source states it"
	case r.Method == NoAudit || r.Violated || r.Guarantee.Epsilon == 0 || r.Blind != "":
		return ""
	case r.Guarantee.Metric == mechanisms.AnyDocuments && r.Detects > 0:
		return fmt.Sprintf("would have found %.3g times the claimed epsilon", r.Detects)
	case r.Settings.Variant == mechanisms.External:
		return fmt.Sprintf("what it would have found: not measured; a violation can show on %d of %d pairs", r.Visible,
			r.Pairs)
	}
	factor := func(x float64) string {
		if x == 0 {
			return "no factor"
		}
		return fmt.Sprintf("%.3g times the claimed epsilon", x)
	}
	where := ""
	if r.InNoise { // a comparison of words shows less than one of lengths
		where = ", in its noise"
	}
	return "would have found on all words " + factor(r.Detects) + where + "; on one word in a hundred " +
		factor(r.DetectsOne)
}

// Finding is one pair of words and one event.
type Finding struct {
	A, B     string
	Event    string // its outputs, the most telling first, or what else was compared
	Distance float64
	LogRatio float64 // lower bound of ln Pr[M(A) ∈ S] − ln Pr[M(B) ∈ S]
	Allowed  float64 // ε·Distance
}

// excess is the amount by which the ratio exceeds what is allowed.
func (f Finding) excess() float64 { return f.LogRatio - f.Allowed }

// tolerance allows for the rounding of log-probabilities and distances.
const tolerance = 1e-9

// violates reports whether the ratio exceeds what is allowed by more than
// rounding. A log-ratio and a bound that are both infinite do not compare.
func (f Finding) violates() bool {
	return !math.IsInf(f.Allowed, 1) && f.excess() > tolerance*(1+math.Abs(f.Allowed))
}

// Verdict returns the outcome in words; it never says "proved".
func (r Report) Verdict() string {
	switch {
	case r.Method == NoAudit:
		return "not audited: " + r.Reason
	case r.Violated && r.Method == Exact:
		return "violated (exact)"
	case r.Violated:
		alpha := strings.Replace(strconv.FormatFloat(r.Alpha, 'g', -1, 64), "e-0", "e-", 1)
		return "violated (confidence 1−" + alpha + ")"
	case !r.Guarantee.Holds():
		return "no guarantee is claimed: there is nothing to refute"
	case r.Blind != "":
		return "nothing could be found: " + r.Blind
	case r.Guarantee.Covers != nil:
		return "not refuted in its scope"
	}
	return "not refuted"
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

// Run audits one instance. For settings at which a mechanism is undefined, and
// for mechanisms that release vectors, it returns a report without an audit and
// no error.
func Run(ctx context.Context, env mechanisms.Environment, s mechanisms.Settings, o Options) (Report, error) {
	s, err := mechanisms.Complete(s)
	if err != nil {
		return Report{}, err
	}
	m, g, err := Open(env, s)
	if err != nil {
		return Report{}, err
	}
	if m != nil {
		return Mechanism(ctx, m, env.Space, o)
	}
	r := Report{Settings: s, Guarantee: g, Reason: g.Reason}
	if g.Holds() {
		r.Reason = "releases vectors"
	}
	return r, nil
}

// Open builds a mechanism and returns its guarantee. There is none to audit where
// it releases vectors, or is undefined for these settings, which is the reason of
// the guarantee then.
func Open(env mechanisms.Environment, s mechanisms.Settings) (*mechanisms.Mechanism, mechanisms.Guarantee, error) {
	definition, err := s.Definition()
	if err != nil {
		return nil, mechanisms.Guarantee{}, err
	}
	if definition.New == nil {
		m, err := mechanisms.NewVector(env, s)
		if err != nil {
			return nil, mechanisms.Guarantee{}, err
		}
		return nil, m.Guarantee(), nil
	}
	m, err := mechanisms.New(env, s)
	if undefined := (*mechanisms.UndefinedError)(nil); errors.As(err, &undefined) ||
		errors.Is(err, mechanisms.ErrNoTexts) {
		return nil, mechanisms.Guarantee{Reason: err.Error()}, nil
	}
	if err != nil {
		return nil, mechanisms.Guarantee{}, err
	}
	return m, m.Guarantee(), nil
}

// audit is one run.
type audit struct {
	mechanism *mechanisms.Mechanism
	space     *embeddings.Space
	options   Options
	seed      stream.Seed // of samples
	epsilon   float64
	distance  func(a, b embeddings.WordID) float64
	looked    []embeddings.WordID
	most      float64 // log-ratio that samples can show
}

// output returns the name of an output; those of the words of the space are their
// ids.
func (a *audit) output(id embeddings.WordID) string { return a.mechanism.Vocabulary().Word(id) }

// finding is a log-ratio of a pair.
func (a *audit) finding(p pair, ratio float64) Finding {
	d := a.distance(p.a, p.b)
	return Finding{A: a.output(p.a), B: a.output(p.b), Distance: d, LogRatio: ratio, Allowed: a.epsilon * d}
}

// Mechanism audits an instance over a space against its guarantee or, where it
// has none, against the ε and metric that its source states.
func Mechanism(ctx context.Context, m *mechanisms.Mechanism, space *embeddings.Space, o Options) (Report, error) {
	s := m.Settings()
	g := m.Guarantee()
	r := Report{Settings: s, Guarantee: g, Method: Exact}
	if err := o.complete(); err != nil {
		return r, err
	}
	epsilon := strconv.FormatFloat(s.Epsilon, 'g', -1, 64)
	a := &audit{mechanism: m, space: space, options: o, epsilon: g.Epsilon, distance: g.Distance,
		seed: o.Seed.Derive("audit", s.Mechanism, string(s.Variant), s.Parameters.String(), epsilon)}
	if !g.Holds() && s.Variant == mechanisms.External {
		r.Method = NoAudit
		r.Reason = "no guarantee is declared: there is nothing to refute"
		return r, nil
	}
	if d := m.Documents(); d != nil {
		if !g.Holds() {
			a.epsilon = s.Epsilon
		}
		return r, a.documents(ctx, d, &r)
	}
	if !g.Holds() {
		definition, err := s.Definition()
		if err == nil {
			a.epsilon = s.Epsilon
			a.distance, err = mechanisms.DistanceOf(space, definition.Metric)
		}
		if err != nil {
			return r, err
		}
	}
	pairs := a.pairs()
	r.Words = len(a.looked)
	r.Pairs = len(pairs)
	examine := a.exact
	if !m.Closed() {
		r.Method = Sampled
		r.Alpha = o.Alpha
		examine = a.sampled
	}
	noisy := g.Holds() && m.Noise() != nil
	if noisy { // half of alpha for the outputs, half for the noise
		a.options.Alpha /= 2
	}
	r.Reason = a.unjudgeable(pairs, r.Method)
	if r.Reason != "" {
		r.Method = NoAudit
		return r, nil
	}
	err := examine(ctx, pairs, &r)
	if err == nil && noisy {
		err = a.noise(ctx, &r)
	}
	if g.Holds() && r.Method == Sampled && !noisy {
		a.judgePower(pairs, &r)
	}
	return r, err
}

// judgePower counts the pairs on which samples could show a violation: those of which
// an event that the first word always has and the second never would have been found.
// Where there is none, it says at which ε there would be: there on half of the pairs.
func (a *audit) judgePower(pairs []pair, r *Report) {
	if r.Violated || len(pairs) == 0 || !(a.epsilon > 0) {
		return
	}
	most := logRatio(a.options.Samples, 0, a.options.Samples, a.options.Alpha/mostTests)
	distances := list.Map(pairs, func(p pair) float64 { return a.distance(p.a, p.b) })
	r.Visible = list.Count(distances, func(d float64) bool { return a.epsilon*d < most })
	if r.Visible > 0 {
		return
	}
	slices.Sort(distances)
	r.Blind = fmt.Sprintf("%d samples show a log-ratio of %.3g at most, and epsilon allows %.3g or more; "+
		"a violation can show at epsilon < %.3g", a.options.Samples, most, a.epsilon*distances[0],
		most/distances[len(distances)/2])
}

// noise takes the finding on the noise into the verdict. Noise divided by a factor
// has its lengths divided by it and its bound multiplied, so the factor that would
// have been found follows from the same samples.
func (a *audit) noise(ctx context.Context, r *Report) error {
	f, err := noise(ctx, a.mechanism.Noise(), a.space, a.options.Samples, a.options.Alpha, a.seed.Derive("noise"))
	if err != nil {
		return err
	}
	r.InNoise = true
	f.Allowed = a.epsilon
	if f.violates() {
		r.record(f)
	} else if f.LogRatio > 0 && !r.Violated {
		r.Detects = a.epsilon / f.LogRatio
	}
	return nil
}

// needed is how many of the words looked at must each show a fault, so that one on
// a word in a hundred is found in 9 of 10 cases: 1 − .99^230. Where all words are
// looked at, these are 9 in 10 of them.
func (a *audit) needed() int {
	const aHundredth = 230
	if n := a.space.Len(); len(a.looked) == n {
		return min(aHundredth, (9*n+9)/10)
	}
	return aHundredth
}

// unjudgeable says why pairs cannot be judged, "" where they can: where ε times a
// distance is beyond float64, ratios of +Inf would be compared with bounds of +Inf; and
// samples show at most an event that the first word of a pair always has and the
// second never.
func (a *audit) unjudgeable(pairs []pair, by Method) (reason string) {
	least := math.Inf(1)
	for _, p := range pairs {
		f := a.finding(p, 0)
		least = min(least, f.Allowed)
		if math.IsInf(f.Allowed, 1) {
			reason = fmt.Sprintf("undefined: epsilon = %v times the distance of %s and %s is beyond float64", a.epsilon,
				f.A, f.B)
		}
	}
	if reason != "" || by != Sampled || len(pairs) == 0 {
		return reason
	}
	a.most = logRatio(a.options.Samples, 0, a.options.Samples, a.options.Alpha)
	// Beyond this the lower bound of ε would be 0 as well; see record.
	if a.most <= tolerance*(1+least) {
		return fmt.Sprintf("%d samples show a log-ratio of %.3g at most, and epsilon allows %.3g or more",
			a.options.Samples, a.most, least)
	}
	return ""
}
