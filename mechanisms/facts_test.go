package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/embeddings"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// On the line the noise is Laplace and neighbours are easy to see, so the
// output law of the whole noise family follows from one integral over the
// noise, written here without any of the code under test.
func TestNoiseFamilyOnTheLine(t *testing.T) {
	points := []float64{-3, -1.75, -1, -0.25, 0, 0.5, 0.625, 1.5, 2.25, 4}
	vectors := make([]float32, len(points))
	for i, x := range points {
		vectors[i] = float32(x)
	}
	s := spacetest.New(t, 1, vectors)
	const epsilon, word = 0.8, 4

	// ranked returns all words but skip, nearest to x first, and distances.
	ranked := func(x float64, skip int) (ids []int, a []float64) {
		for len(ids) < 4 {
			best := -1
			for i, p := range points {
				taken := i == skip
				for _, j := range ids {
					taken = taken || i == j
				}
				if !taken && (best < 0 || math.Abs(p-x) < math.Abs(points[best]-x)) {
					best = i
				}
			}
			ids = append(ids, best)
			a = append(a, math.Abs(points[best]-x))
		}
		return ids, a
	}
	vickrey := func(t float64, skip int) func(float64, []float64) {
		return func(x float64, p []float64) {
			ids, a := ranked(x, skip)
			first := (1 - t) * a[1] / (t*a[0] + (1-t)*a[1])
			p[ids[0]] += first
			p[ids[1]] += 1 - first
		}
	}
	kth := func(k int) func(float64, []float64) {
		return func(x float64, p []float64) {
			ids, _ := ranked(x, -1)
			p[ids[k-1]]++
		}
	}
	generalised := func(t ...float64) func(float64, []float64) {
		return func(x float64, p []float64) {
			ids, a := ranked(x, -1)
			var sum float64
			for r := range t {
				sum += math.Exp(-t[r] * a[r])
			}
			for r := range t {
				p[ids[r]] += math.Exp(-t[r]*a[r]) / sum
			}
		}
	}
	released := func(x float64, p []float64) {
		ids, a := ranked(x, -1)
		if ids[0] == word {
			ids, a = ids[1:], a[1:]
		}
		first := math.Exp(-a[0]) / (math.Exp(-a[0]) + 1)
		p[ids[0]] += first
		p[ids[1]] += 1 - first
	}
	for _, c := range []struct {
		settings Settings
		law      func(x float64, p []float64)
	}{
		{Settings{Mechanism: "cmp"}, kth(1)},
		// In one dimension the covariance scaled to trace 1 is 1.
		{Settings{Mechanism: "mahalanobis"}, kth(1)},
		{Settings{Mechanism: "vickrey"}, vickrey(0.5, -1)},
		{Settings{Mechanism: "vickrey", Parameters: Parameters{"t": 0.25}}, vickrey(0.25, -1)},
		{Settings{Mechanism: "vickrey", Parameters: Parameters{"t": 0.0}}, kth(1)},
		{Settings{Mechanism: "vickrey", Parameters: Parameters{"t": 1.0}}, kth(2)},
		{Settings{Mechanism: "vickrey", Variant: Released}, released},
		{Settings{Mechanism: "vickrey-k", Parameters: Parameters{"t": []float64{2}}}, kth(1)},
		{Settings{Mechanism: "vickrey-k", Parameters: Parameters{"t": []float64{1, 0}}}, generalised(1, 0)},
		{Settings{Mechanism: "vickrey-k", Parameters: Parameters{"t": []float64{0.5, 1, 2}}}, generalised(0.5, 1, 2)},
		{Settings{Mechanism: "kth", Parameters: Parameters{"k": 1.0}}, kth(1)},
		{Settings{Mechanism: "kth", Parameters: Parameters{"k": 3.0}}, kth(3)},
	} {
		c.settings.Epsilon = epsilon
		m := mustNew(t, Environment{Space: s}, c.settings)
		p := make([]float64, len(points))
		const cells = 100000 // equal parts of the Laplace law, each by its middle
		for i := range cells {
			u := (float64(i) + 0.5) / cells
			z := -math.Log(2*u) / epsilon // left half, mirrored below
			if u > 0.5 {
				z = math.Log(2*(1-u)) / epsilon
			}
			c.law(points[word]-z, p)
		}
		for i := range p {
			p[i] /= cells
		}
		requireFit(t, fmt.Sprintf("%s %s %s", c.settings.Mechanism, c.settings.Variant, c.settings.Parameters),
			sample(m, word, 100000, stream.FromUint64(40)), p)
	}
}

// The noise of Mahalanobis has second moment R·E ℓ²/p = R·(p+1)/ε², and d_R
// is the norm after whitening.
func TestMahalanobisShape(t *testing.T) {
	const n, p, lambda, epsilon = 40, 3, 0.6, 2.0
	s := spacetest.Gaussian(t, n, p, 1, 44)
	for i := range s.Vectors { // correlated and of unequal scales
		if i%p == 1 {
			s.Vectors[i] = 3*s.Vectors[i] + s.Vectors[i-1]
		}
	}
	// R by the simplest possible code.
	var mean [p]float64
	for i, x := range s.Vectors {
		mean[i%p] += float64(x) / n
	}
	var r [p][p]float64
	var trace float64
	for w := range n {
		for i := range p {
			for j := range p {
				r[i][j] += (float64(s.Vectors[w*p+i]) - mean[i]) * (float64(s.Vectors[w*p+j]) - mean[j]) / (n - 1)
			}
		}
	}
	for i := range p {
		trace += r[i][i]
	}
	for i := range p {
		for j := range p {
			r[i][j] *= lambda * p / trace
		}
		r[i][i] += 1 - lambda
	}
	shape, err := mahalanobisShapeOf(s, lambda)
	if err != nil {
		t.Fatal(err)
	}
	root := rowsOf(shape.rows, p)
	var rebuilt [p][p]float64
	for i := range p {
		for j := range p {
			for k := range p {
				rebuilt[i][j] += root[i][k] * root[j][k]
			}
			if math.Abs(rebuilt[i][j]-r[i][j]) > 1e-5 {
				t.Errorf("LLᵀ[%d][%d] = %v, want %v", i, j, rebuilt[i][j], r[i][j])
			}
		}
	}
	// x' R⁻¹ x by solving with Cramer's rule for p = 3.
	det := func(m [p][p]float64) float64 {
		return m[0][0]*(m[1][1]*m[2][2]-m[1][2]*m[2][1]) - m[0][1]*(m[1][0]*m[2][2]-m[1][2]*m[2][0]) +
			m[0][2]*(m[1][0]*m[2][1]-m[1][1]*m[2][0])
	}
	m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "mahalanobis", Epsilon: epsilon,
		Parameters: Parameters{"lambda": lambda}})
	g := m.Guarantee()
	for a := range WordID(n) {
		b := (a + 7) % n
		var diff [p]float64
		for i := range p {
			diff[i] = float64(s.Vector(a)[i]) - float64(s.Vector(b)[i])
		}
		var squares float64
		for i := range p {
			replaced := r
			for k := range p {
				replaced[k][i] = diff[k]
			}
			squares += diff[i] * det(replaced) / det(r)
		}
		if want := math.Sqrt(squares); math.Abs(g.Distance(a, b)-want) > 1e-6*want {
			t.Errorf("d_R(%d,%d) = %v, want %v", a, b, g.Distance(a, b), want)
		}
		if g.Epsilon*g.Distance(a, b) > g.EuclideanEpsilon*s.Distance(a, b)*(1+1e-9) {
			t.Errorf("ε·d_R exceeds ε′·d for words %d, %d", a, b)
		}
	}
}

// m from β at p = 300, δ = 1e-6, against the source's own pairs, which print
// β with two or three digits.
func TestPrivEmbPairs(t *testing.T) {
	for _, c := range []struct {
		beta float64
		m    int
	}{{0.93, 50}, {0.66, 100}, {0.468, 200}} {
		if m := ProjectedDimension(300, c.beta, 1e-6); math.Abs(float64(m-c.m)) > 0.011*float64(c.m) {
			t.Errorf("β = %v: m = %d, want %d within the digits of β", c.beta, m, c.m)
		}
	}
}

// A release is Φx plus noise of length Gamma(m, (1+β)/ε); Φ keeps squared
// lengths on average.
func TestPrivEmbRelease(t *testing.T) {
	const words, p, epsilon, beta = 400, 20, 2.0, 0.8
	s := spacetest.Gaussian(t, words, p, 1, 45)
	for projection, scale := range map[string]float64{"gaussian": (1 + beta) / epsilon, "none": 1 / epsilon} {
		m, err := NewVector(environment(s), Settings{Mechanism: "privemb", Epsilon: epsilon,
			Parameters: Parameters{"projection": projection, "beta": beta}})
		if err != nil {
			t.Fatal(err)
		}
		dim := float64(m.OutputDimension())
		e := m.(*privEmb)
		src := make([]WordID, 20*words)
		for i := range src {
			src[i] = WordID(i % words)
		}
		out := make([]float32, len(src)*m.OutputDimension())
		m.Release(out, src, stream.FromUint64(46).Rand())
		lengths := make([]float64, len(src))
		for i, w := range src {
			var squares float64
			for r := range m.OutputDimension() {
				z := float64(out[i*m.OutputDimension()+r]) - e.coordinate(r, s.Vector(w))
				squares += z * z
			}
			lengths[i] = math.Sqrt(squares)
		}
		mean, _ := moments(lengths)
		if sd := scale * math.Sqrt(dim/float64(len(src))); math.Abs(mean-dim*scale) > normalQuantile*sd {
			t.Errorf("%s: mean length of the noise %v, want %v ± %v", projection, mean, dim*scale, normalQuantile*sd)
		}
	}
	m, err := NewVector(environment(s), Settings{Mechanism: "privemb", Epsilon: 1,
		Parameters: Parameters{"beta": beta}})
	if err != nil {
		t.Fatal(err)
	}
	e := m.(*privEmb)
	var entries []float64
	entries = append(entries, e.projection...)
	mean, variance := moments(entries)
	k, dim := float64(len(entries)), float64(e.m)
	if math.Abs(mean) > normalQuantile/math.Sqrt(k*dim) ||
		math.Abs(variance-1/dim) > normalQuantile*math.Sqrt(2/k)/dim {
		t.Errorf("entries of the projection: mean %v, variance %v, want 0 and %v", mean, variance, 1/dim)
	}
}

func TestTruncatedGumbelNoise(t *testing.T) {
	for _, g := range []gumbelNoise{{1, 3}, {0.2, 3}, {50, 3}} {
		rng := stream.FromUint64(47).Rand()
		const n = 50000
		x := make([]float64, n)
		low, high := g.cdf(-g.bound), g.cdf(g.bound)
		for i := range x {
			v := g.draw(rng)
			if v < -g.bound || v > g.bound {
				t.Fatalf("%+v: drew %v", g, v)
			}
			x[i] = (g.cdf(v) - low) / (high - low)
		}
		if d, limit := kolmogorov(x), math.Sqrt(math.Log(2/falseAlarm)/(2*n)); d > limit {
			t.Errorf("%+v: Kolmogorov distance %v > %v", g, d, limit)
		}
		// Gumbel by its definition, −b·ln E with E exponential, kept if within.
		a, b := make([]int, 10), make([]int, 10)
		bin := func(v float64) int { return min(int(10*(v+g.bound)/(2*g.bound)), 9) }
		for i := 0; i < n; {
			if v := -g.scale * math.Log(rng.ExpFloat64()); math.Abs(v) <= g.bound {
				a[bin(v)]++
				i++
			}
		}
		for range n {
			b[bin(g.draw(rng))]++
		}
		requireSameDistribution(t, fmt.Sprintf("%+v", g), a, b)
	}
}

func TestTruncatedPoisson(t *testing.T) {
	for _, c := range []struct {
		mean            float64
		least, greatest int
	}{{math.Log(27000), 1, 27000}, {math.Log(5), 1, 5}, {math.Log(99), 0, 99}, {math.Log(2), 1, 2}} {
		p := newTruncatedPoisson(c.mean, c.least, c.greatest)
		law := distuv.Poisson{Lambda: c.mean}
		inside := 0.0
		for k := c.least; k <= min(c.greatest, 400); k++ {
			inside += law.Prob(float64(k))
		}
		probabilities := make([]float64, p.most()+1)
		for i, mass := range p.masses {
			k := c.least + i
			probabilities[k] = mass
			if want := law.Prob(float64(k)) / inside; math.Abs(mass-want) > 1e-13 ||
				math.Abs(p.logMass(k)-math.Log(want)) > 1e-9 {
				t.Errorf("%+v: Pr[%d] = %v, want %v", c, k, mass, want)
			}
		}
		counts := make([]int, len(probabilities))
		rng := stream.FromUint64(48).Rand()
		for range 50000 {
			counts[p.draw(rng)]++
		}
		requireFit(t, fmt.Sprintf("%+v", c), counts, probabilities)
	}
}

func TestExtentAgreesWithAllPairs(t *testing.T) {
	s := spacetest.Gaussian(t, 300, 6, 1, 49)
	copy(s.Vector(10), s.Vector(20)) // distance 0 does not count
	copy(s.Vector(11), s.Vector(20))
	var want extent
	want.smallest = math.Inf(1)
	for a := range WordID(300) {
		for b := range a {
			d := s.Distance(a, b)
			want.largest = max(want.largest, d)
			if d > 0 {
				want.smallest = min(want.smallest, d)
			}
		}
	}
	if got, err := extentOf(s); err != nil || got != want {
		t.Errorf("extent %+v, %v; want %+v", got, err, want)
	}
	if _, err := extentOf(spacetest.New(t, 2, make([]float32, 8))); !errors.Is(err, errNoDistance) {
		t.Errorf("equal vectors: err = %v", err)
	}
}

func TestGumbelStatesItsSmallestEpsilon(t *testing.T) {
	s := spacetest.Gaussian(t, 50, 5, 1, 50)
	var undefined *UndefinedError
	_, err := New(Environment{Space: s}, Settings{Mechanism: "gumbel", Epsilon: 5})
	if !errors.As(err, &undefined) {
		t.Fatalf("ε = 5: err = %v", err)
	}
	e, err := extentOf(s)
	if err != nil {
		t.Fatal(err)
	}
	if want := (2*(1+math.Log(50)) + 3) / e.smallest; math.Abs(undefined.SmallestEpsilon-want) > 1e-12*want {
		t.Errorf("smallest ε = %v, want %v", undefined.SmallestEpsilon, want)
	}
	if _, err := New(Environment{Space: s}, Settings{Mechanism: "gumbel",
		Epsilon: undefined.SmallestEpsilon}); !errors.As(err, &undefined) {
		t.Errorf("at the smallest ε itself: err = %v", err)
	}
	if _, err := New(Environment{Space: s}, Settings{Mechanism: "gumbel",
		Epsilon: undefined.SmallestEpsilon * 1.001}); err != nil {
		t.Errorf("above the smallest ε: %v", err)
	}
}

// The ε·d that the source states for Truncated Gumbel fails on this space of
// 40 words at about equal distances: y, the farthest word of w, is a candidate
// of w only if k = 40, and Pr[M(w)=y] ≤ Pr[k=40] < e^{−60} is much too rare
// beside Pr[M(y)=y] ≥ Pr[k=1]. Nothing here is estimated.
func TestGumbelGuaranteeIsRefutedByCounting(t *testing.T) {
	const n = 40
	vectors := make([]float32, n*n)
	for i := range n {
		vectors[i*n+i] = 1 + float32(i)/1000
	}
	s := spacetest.New(t, n, vectors)
	e, err := extentOf(s)
	if err != nil {
		t.Fatal(err)
	}
	epsilon := 1.2 * (2*(1+math.Log(n)) + 3) / e.smallest
	m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "gumbel", Epsilon: epsilon})
	lambda := math.Log(n)
	factorial, _ := math.Lgamma(n + 1)
	mostForW := n*math.Log(lambda) - factorial // ln of Pr[k=n] but for the normaliser
	leastForY := math.Log(lambda)              // ln of Pr[k=1], likewise
	if ratio, bound := leastForY-mostForW, epsilon*e.largest; ratio <= bound {
		t.Fatalf("the example does not refute: log-ratio ≥ %v, allowed %v", ratio, bound)
	}
	if g := m.Guarantee(); g.Holds() || !strings.Contains(g.Reason, "fails") {
		t.Errorf("guarantee %q", g)
	}
}

// ε has almost no effect on released Gumbel.
func TestReleasedGumbelIsFlat(t *testing.T) {
	s := spacetest.Gaussian(t, 500, 20, 1, 51)
	var kept []float64
	for _, epsilon := range []float64{0.1, 0.5, 1} {
		m := mustNew(t, environment(s), Settings{Mechanism: "gumbel", Variant: Released, Epsilon: epsilon})
		kept = append(kept, float64(sample(m, 7, 20000, stream.FromUint64(51))[7])/20000)
	}
	for _, p := range kept {
		if math.Abs(p-kept[0]) > 0.07 { // two draws of .005 apart
			t.Errorf("Pr[w] = %v at ε = 0.1, 0.5, 1: not flat", kept)
			break
		}
	}
}

func TestReleasedSynTF(t *testing.T) {
	s := spacetest.Gaussian(t, 30, 5, 1, 52)
	env := environment(s)
	m := mustNew(t, env, Settings{Mechanism: "syntf", Variant: Released, Epsilon: 4})
	v := m.Vocabulary()
	for i, w := range s.Vocabulary.Words() {
		if v.Word(WordID(i)) != w {
			t.Fatalf("the vocabulary does not start with the space's: %q", v.Words())
		}
	}
	if v.ID("w5001") == embeddings.Unknown || v.ID("outside") != embeddings.Unknown {
		t.Error("a corpus word is an input if and only if the thesaurus covers it")
	}
	// w1 occurs twice; the counts are 2 1 1 1 1 1 (w1 w2 w3 outside w0 w5001).
	// Of its lemmas w1, w0 and W0_lemma, the last is not in the corpus.
	d, err := m.Row(v.ID("w1"))
	if err != nil {
		t.Fatal(err)
	}
	heavy := math.Exp(4.0 / 2 * 2 / math.Sqrt(4+5))
	for word, want := range map[string]float64{
		"w1": heavy / (2*heavy + 1), "w0": heavy / (2*heavy + 1), "W0_lemma": 1 / (2*heavy + 1), "w2": 0,
	} {
		if got := d[v.ID(word)]; math.Abs(got-want) > 1e-15 {
			t.Errorf("Pr[%s] = %v, want %v", word, got, want)
		}
	}
	for _, stays := range []string{"w6", "W0_lemma"} { // not covered; no input
		d, err := m.Row(v.ID(stays))
		if err != nil {
			t.Fatal(err)
		}
		if d[v.ID(stays)] != 1 {
			t.Errorf("%s does not stay", stays)
		}
	}
}

// Proved SynTF by its definition: candidates are the covered words, for an
// input that is not covered as well.
func TestProvedSynTF(t *testing.T) {
	s := spacetest.Gaussian(t, 20, 5, 1, 53)
	const epsilon = 3.0
	m := mustNew(t, environment(s), Settings{Mechanism: "syntf", Epsilon: epsilon})
	for _, w := range []WordID{3, 6} {
		d, err := m.Row(w)
		if err != nil {
			t.Fatal(err)
		}
		weights := make([]float64, 20)
		var sum float64
		for y := range weights {
			if !(wordList{}).Covers(s.Vocabulary.Word(WordID(y))) {
				continue
			}
			var ab, aa, bb float64
			for i := range 5 {
				a, b := float64(s.Vector(w)[i]), float64(s.Vector(WordID(y))[i])
				ab, aa, bb = ab+a*b, aa+a*a, bb+b*b
			}
			weights[y] = math.Exp(epsilon / 2 * math.Max(0, ab/math.Sqrt(aa*bb)))
			sum += weights[y]
		}
		for y, weight := range weights {
			if math.Abs(d[y]-weight/sum) > 1e-14 {
				t.Errorf("Pr[%d|%d] = %v, want %v", y, w, d[y], weight/sum)
			}
		}
	}
}

func TestMonteCarloKeepsItsError(t *testing.T) {
	s := spacetest.Gaussian(t, 40, 4, 1, 54)
	m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "santext", Epsilon: 2})
	exact, err := m.Row(5)
	if err != nil {
		t.Fatal(err)
	}
	// The bound holds in 95% of runs; of 200 runs, 30 failures or more have
	// probability below 1e-6 if it does.
	failures := 0
	for i := range 200 {
		d, err := MonteCarlo(ctx, m, 5, 2000, stream.FromUint64(55).At(uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		for y, p := range d.Probabilities {
			if math.Abs(p-exact[y]) > d.Error {
				failures++
				break
			}
		}
	}
	if failures >= 30 {
		t.Errorf("the error was exceeded in %d of 200 runs", failures)
	}
	if _, err := MonteCarlo(ctx, m, -1, 10, stream.FromUint64(1)); err == nil {
		t.Error("an unknown word is accepted")
	}
	if _, err := MonteCarlo(ctx, m, 1, 0, stream.FromUint64(1)); err == nil {
		t.Error("no samples are accepted")
	}
}

func TestParseParameters(t *testing.T) {
	for _, c := range []struct {
		mechanism, text, want string
	}{
		{"tem", "gamma=0.5", "gamma=0.5"},
		{"tem", "gamma=theorem3", "gamma=theorem3"},
		{"vickrey-k", "t=1,0", "t=[1,0]"},
		{"vickrey-k", "t=[1, 0.5]", "t=[1,0.5]"},
		{"vickrey-k", "t=2", "t=[2]"},
		{"kth", "k=3", "k=3"},
	} {
		p, err := ParseParameters(c.mechanism, []string{c.text})
		if err != nil || p.String() != c.want {
			t.Errorf("%s %s: %q, %v; want %q", c.mechanism, c.text, p, err, c.want)
		}
	}
	for mechanism, text := range map[string]string{
		"cmp": "t=1", "kth": "k=many", "tem": "beta=x", "vickrey": "t", "vickrey-k": "t=[1,x]", "nothing": "t=1",
		"santext": "=",
	} {
		if p, err := ParseParameters(mechanism, []string{text}); err == nil {
			t.Errorf("%s %s: %v is accepted", mechanism, text, p)
		}
	}
	if _, err := ParseParameters("kth", []string{"k=1", "k=2"}); err == nil {
		t.Error("a parameter given twice is accepted")
	}
}

func FuzzParseParameters(f *testing.F) {
	for _, s := range []string{"gamma=0.5", "gamma=theorem3", "beta=[1,2]", "=", "gamma=[", "beta=NaN", "gamma=1e999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseParameters("tem", []string{text})
		if err != nil {
			return
		}
		again, err := ParseParameters("tem", []string{p.String()})
		if err != nil || again.String() != p.String() {
			// A word may hold anything but is read back trimmed.
			if _, word := p["gamma"].(string); !word {
				t.Errorf("%q: %q reads back as %q, %v", text, p, again, err)
			}
		}
	})
}
