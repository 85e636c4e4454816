package audit

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/embeddings"
	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// breach reports whether a guarantee that is claimed does not hold.
func breach(r Report) bool { return r.Violated && r.Guarantee.Holds() }

// skipStatistics skips a test whose many samples tell nothing that TestVerdicts does
// not tell of goroutines: the race detector runs -short, ten times slower.
func skipStatistics(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("many samples")
	}
}

// tens is a thesaurus in which w10k … w10k+9 are synonyms.
type tens struct{}

func (tens) Covers(string) bool { return true }

func (tens) Lemmas(word string) []string {
	var i int
	if _, err := fmt.Sscanf(word, "w%d", &i); err != nil {
		return nil
	}
	var all []string
	for j := i / 10 * 10; j < i/10*10+10; j++ {
		all = append(all, fmt.Sprintf("w%d", j))
	}
	return all
}

func environment(s *embeddings.Space) mechanisms.Environment {
	return mechanisms.Environment{Space: s, Thesaurus: tens{}, Documents: [][]string{{"w1", "w2"}},
		Train: [][]string{s.Vocabulary.Words(), {"none", "w1", "w2"}}, Seed: stream.FromUint64(2)}
}

// Every variant gets the right verdict: those that guarantee nothing by design
// are refuted where this space can show it, and none that claims a guarantee
// is. Each sampled report is false with probability 1e-6 at most.
func TestVerdicts(t *testing.T) {
	s := spacetest.Gaussian(t, 100, 4, 1, 1)
	for i := 0; i < 40; i += 2 { // close pairs: little is allowed between them
		copy(s.Vector(embeddings.WordID(i+1)), s.Vector(embeddings.WordID(i)))
		s.Vector(embeddings.WordID(i + 1))[0] += 0.02
	}
	violated := map[string]bool{}
	o := Options{Samples: 20000, Words: 2, Seed: stream.FromUint64(3)}
	for _, cell := range Cells([]float64{2, 20}) {
		r, err := Run(t.Context(), environment(s), cell, o)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%s %s", r.Settings.Mechanism, r.Settings.Variant)
		if breach(r) {
			t.Errorf("%s at ε = %v: claims %q and is accused: %+v", name, r.Settings.Epsilon, r.Guarantee, r.Worst)
		}
		if r.Violated && (r.Worst.A == "" || r.Worst.B == "") {
			t.Errorf("%s: a violation without the words: %+v", name, r)
		}
		if r.Method != NoAudit && r.Violated != (r.EpsilonLowerBound > r.Settings.Epsilon*(1+1e-8)) &&
			r.Settings.Mechanism != "mahalanobis" {
			t.Errorf("%s at ε = %v: verdict %q with ε ≥ %v", name, r.Settings.Epsilon, r.Verdict(), r.EpsilonLowerBound)
		}
		if strings.Contains(r.Verdict(), "proved") {
			t.Errorf("%s: verdict %q", name, r.Verdict())
		}
		violated[name] = violated[name] || r.Violated
	}
	for _, name := range []string{"vickrey released", "syntf released", "gumbel released", "custext released",
		"identity printed", "gumbel as-run", "syntf as-run", "santext as-run"} {
		if !violated[name] {
			t.Errorf("%s is never refuted", name)
		}
	}
	if _, ok := violated["privemb proved"]; !ok {
		t.Error("the grid leaves out privemb")
	}
}

// audited is the report of an instance; settings are "NAME" or "NAME VARIANT".
func audited(t *testing.T, env mechanisms.Environment, name string, epsilon float64, o Options) Report {
	t.Helper()
	name, variant, _ := strings.Cut(name, " ")
	r, err := Run(t.Context(), env, mechanisms.Settings{Mechanism: name, Variant: mechanisms.Variant(variant),
		Epsilon: epsilon}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// judged is the report of a mechanism.
func judged(t *testing.T, m *mechanisms.Mechanism, s *embeddings.Space, o Options) Report {
	t.Helper()
	r, err := Mechanism(t.Context(), m, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What the study's code makes of these mechanisms is refuted where it differs
// from the proved ones, which are not: SanText returns the input word for the
// rows beyond its list of words (that it takes three coordinates of the vectors
// only would make it more private, not less); CMP and Mahalanobis return it
// where the origin is nearest. Vickrey as run keeps its promise.
func TestAsRunIsRefuted(t *testing.T) {
	s := spacetest.Gaussian(t, 60, 20, 3, 4)
	for id, x := range []float32{1, 1.05} { // two close words near the origin, all others far from it
		v := s.Vector(embeddings.WordID(id))
		clear(v)
		v[5] = x
	}
	env := environment(s)
	for i := range 40 {
		env.Train = append(env.Train, []string{fmt.Sprint("none", i)})
	}
	for name, want := range map[string]bool{
		"santext as-run": true, "cmp as-run": true, "mahalanobis as-run": true, "vickrey as-run": false,
		"santext proved": false, "cmp proved": false, "mahalanobis proved": false, "vickrey proved": false,
		"mahalanobis released": false,
	} {
		r := audited(t, env, name, 5, Options{Samples: 20000, Words: 1, Seed: stream.FromUint64(5)})
		if r.Violated != want || r.Guarantee.Holds() == want {
			t.Errorf("%s: verdict %q, %+v, guarantee %s", name, r.Verdict(), r.Worst, r.Guarantee)
		}
	}
	// Released TEM is, where its rounded γ leaves few words beyond it.
	env = environment(spacetest.Gaussian(t, 120, 4, 0.5, 1))
	if !slices.ContainsFunc([]float64{1, 5, 10}, func(epsilon float64) bool {
		return audited(t, env, "tem released", epsilon, Options{}).Violated
	}) {
		t.Error("released TEM is never refuted")
	}
}

// On the line CMP attains its bound: from 0 and from 1 the cell of the word at
// 6 has probabilities in the ratio e^ε exactly. The audit may then err with
// probability alpha, and no more: of 300 audits with alpha = 0.1, more than
// the limit are false with probability 1e-6. It must also come close.
func TestFalseAlarmRateAtTheBound(t *testing.T) {
	skipStatistics(t)
	s := spacetest.New(t, 1, []float32{0, 1, 6})
	const runs, alpha = 300, 0.1
	m := build(t, s, "cmp", 0.5)
	alarms, bounds := 0, 0.0
	for i := range runs {
		r := judged(t, m, s, Options{Samples: 4000, Alpha: alpha, Seed: stream.FromUint64(5).At(uint64(i))})
		if r.Violated {
			alarms++
		}
		bounds += r.EpsilonLowerBound / runs
	}
	limit := 0
	for (distuv.Binomial{N: runs, P: alpha}).CDF(float64(limit)) < 1-1e-6 {
		limit++
	}
	if alarms > limit {
		t.Errorf("%d of %d audits of a sound mechanism accuse it; limit %d", alarms, runs, limit)
	}
	if bounds < 0.3 || bounds > 0.5 {
		t.Errorf("mean lower bound on ε = %v; the truth is 0.5", bounds)
	}
}

// The exact bound against the definition: SanText's largest log-ratio over all
// pairs and outputs per distance.
func TestExactBoundIsTheLargestRatio(t *testing.T) {
	s := spacetest.Gaussian(t, 20, 3, 1, 1)
	m := build(t, s, "santext", 2)
	rows, err := m.Rows(0, 20)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for a, of := range rows {
		for b, against := range rows {
			for y := range of {
				if a != b {
					want = max(want, math.Log(of[y]/against[y])/s.Distance(embeddings.WordID(a), embeddings.WordID(b)))
				}
			}
		}
	}
	if r := judged(t, m, s, Options{}); math.Abs(r.EpsilonLowerBound-want) > 1e-9 {
		t.Errorf("ε ≥ %v, want %v", r.EpsilonLowerBound, want)
	}
}

func TestReportsDoNotDependOnWorkers(t *testing.T) {
	s, o := spacetest.Gaussian(t, 80, 3, 1, 1), Options{Samples: 20000, Seed: stream.FromUint64(6)}
	first := audited(t, environment(s), "vickrey released", 2, o)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if r := audited(t, environment(s), "vickrey released", 2, o); r.Worst != first.Worst || r.Detects != first.Detects {
		t.Errorf("the number of cores changes the report: %+v, %+v", r, first)
	}
}

// Kept words are outside the guarantee, whichever mechanism keeps them: pairs with
// them are not held against it.
func TestKeptWordsAreOutside(t *testing.T) {
	s := spacetest.Gaussian(t, 70, 3, 1, 1)
	var kept []string
	for i := 0; i < 70; i += 2 {
		kept = append(kept, fmt.Sprintf("w%d", i))
	}
	for _, name := range []string{"cmp", "santext"} {
		r := judged(t, mechanisms.KeepWords(build(t, s, name, 1), kept), s,
			Options{Samples: 20000, Seed: stream.FromUint64(7)})
		if r.Pairs == 0 || r.Verdict() != "not refuted in its scope" {
			t.Errorf("%s: %s, %d pairs, worst %+v", name, r.Verdict(), r.Pairs, r.Worst)
		}
		var a, b int
		if _, err := fmt.Sscanf(r.Worst.A+" "+r.Worst.B, "w%d w%d", &a, &b); err != nil || a%2 == 0 || b%2 == 0 {
			t.Errorf("%s: %s and %s are compared: one is kept", name, r.Worst.A, r.Worst.B)
		}
	}
}

// What cannot be audited is said, never called violated; probabilities that underflow,
// equal vectors and ratios at the bound are no violation either.
func TestExtremes(t *testing.T) {
	s := spacetest.Gaussian(t, 80, 3, 10, 1)
	duplicates := spacetest.New(t, 2, []float32{1, 1, 1, 1, 0, 0, 0, 0, 500, 3, 500, 3, 0, 900})
	for _, x := range []struct {
		space *embeddings.Space
		name  string
		at    float64
		says  string
	}{
		{s, "cmp", 1e300, "not audited: 1000 samples show a log-ratio of "}, // nothing is sampled: it would take minutes
		{s, "vickrey", 1e307, "not "}, {s, "mahalanobis", math.MaxFloat64, "not "}, {s, "custext", 1e300, "not "},
		{s, "santext", math.MaxFloat64, "not audited: undefined: epsilon = "}, {s, "k-rr", 1e300, "not refuted"},
		{s, "gumbel", 1, "not audited: "}, {s, "privemb", 1, "not audited: releases vectors"},
		{duplicates, "santext", 1e-9, "not refuted"}, {duplicates, "santext", 1e9, "not refuted"},
		{duplicates, "tem", 1, "not refuted"}, {duplicates, "tem", 1000, "not refuted"},
		{duplicates, "syntf", 1000, "not refuted"},
	} {
		r := audited(t, environment(x.space), x.name, x.at, Options{Samples: 1000})
		if r.Violated || !strings.HasPrefix(r.Verdict(), x.says) ||
			x.space == duplicates && (r.Method != Exact || r.Pairs != 42) {
			t.Errorf("%s at ε = %v: %s, %d pairs, %+v", x.name, x.at, r.Verdict(), r.Pairs, r.Worst)
		}
	}
	if r := audited(t, environment(s), "vickrey", 1e6, Options{Samples: 2000}); r.Method != Sampled || r.Detects != 0 {
		t.Errorf("%+v", r)
	}
	m, ctx := build(t, s, "cmp", 1), t.Context()
	for _, o := range []Options{{Alpha: 2}, {Alpha: math.NaN()}, {Samples: -1}, {Words: -1}} {
		if _, err := Mechanism(ctx, m, s, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	for _, m := range []*mechanisms.Mechanism{m, build(t, s, "santext", 1)} {
		if _, err := Mechanism(ctx, m, s, Options{}); err == nil {
			t.Errorf("%s: a cancelled audit gives a report", m.Settings().Mechanism)
		}
	}
}
