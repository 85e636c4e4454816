package mechanisms

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/embeddings/nearest"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// The words released are chosen among the nearest of the noisy vectors that Noise
// shows, and so what an audit says of the noise is said of the words.
func TestWordsAreThoseOfTheNoise(t *testing.T) {
	t.Parallel()
	env := environment(spacetest.Gaussian(t, 200, 20, 1, 5))
	for _, name := range []string{"cmp", "mahalanobis", "vickrey", "vickrey-k", "kth"} {
		m := mustNew(t, env, Settings{Mechanism: name, Epsilon: 5})
		const n = 1000
		k, words, vectors := m.sampler.(*projector).Neighbors, slices.Repeat([]WordID{7}, n), make([]float32, n*20)
		if err := m.Privatize(t.Context(), words, words, stream.FromUint64(3).Rand()); err != nil {
			t.Fatal(err)
		}
		m.Noise().Vectors(vectors, 7, stream.FromUint64(3).Rand())
		near := make([]nearest.Neighbor, n*k)
		nearest.Of(env.Space).Search(near, vectors, k)
		for i, w := range words {
			if !slices.ContainsFunc(near[i*k:][:k], func(x nearest.Neighbor) bool { return x.ID == w }) {
				t.Fatalf("%s: word %d is %d, none of the %d nearest of its noisy vector", name, i, w, k)
			}
		}
	}
}

// What is drawn by the probabilities of the choices has the law of what is released,
// also where words are kept and where a rank lies beyond the neighbours that are kept.
func TestChoicesHaveTheLaw(t *testing.T) {
	t.Parallel()
	env := environment(spacetest.Gaussian(t, 300, 4, 1, 6))
	env.Train = [][]string{env.Space.Vocabulary.Words()}
	const n, word = 20000, WordID(7)
	for _, c := range []struct {
		name    string
		variant Variant
		epsilon float64
	}{{"vickrey", Proved, 3}, {"vickrey", Released, 3}, {"vickrey", AsRun, 3}, {"vickrey-k", Proved, 3}, {"kth", Proved, 3},
		{"rank-fix", Proved, 0.05}, {"rank-fix", Proved, 5}} {
		name := fmt.Sprintf("%s, %s, ε = %v", c.name, c.variant, c.epsilon)
		m := mustNew(t, env, Settings{Mechanism: c.name, Variant: c.variant, Epsilon: c.epsilon})
		m = KeepWords(m, []string{env.Space.Vocabulary.Word(9)})
		rng, drawn, several := stream.FromUint64(8).Rand(), make([]int, m.Vocabulary().Len()), 0
		choices := m.Choices()(append(slices.Repeat([]WordID{word}, n), 9), stream.FromUint64(4).Rand())
		for i := range n {
			u, sum, outputs, found := rng.Float64(), 0.0, 0, false
			choices(i, func(y WordID, p float64) {
				outputs++
				if sum += p; sum > u && !found {
					found = true
					drawn[y]++
				}
			})
			if several += min(outputs-1, 1); math.Abs(sum-1) > 1e-9 {
				t.Fatalf("%s: probabilities of draw %d sum to %v", name, i, sum)
			}
		}
		requireSameDistribution(t, name, drawn, sample(m, word, n, stream.FromUint64(5)))
		if (several == 0) != (c.name == "kth") {
			t.Errorf("%s: %d of %d draws have several outputs", name, several, n)
		}
		choices(n, func(y WordID, p float64) {
			if y != 9 || p != 1 {
				t.Errorf("%s: the kept word becomes %d with %v", name, y, p)
			}
		})
	}
	if m := mustNew(t, env, Settings{Mechanism: "cmp", Epsilon: 3}); m.Choices() != nil {
		t.Error("cmp chooses nothing")
	}
}

// The length is Gamma(p, 1/ε). The direction is uniform: the square of a
// coordinate is Beta(1/2, (p−1)/2), of either sign, and coordinates are
// uncorrelated.
func TestSphericalNoise(t *testing.T) {
	t.Parallel()
	const n, epsilon = 20000, 2.5
	for _, p := range []int{1, 2, 3, 50, 300} {
		rng, z, dim := stream.FromUint64(1).At(uint64(p)).Rand(), make([]float64, p), float64(p)
		length, square := distuv.Gamma{Alpha: dim, Beta: epsilon}, distuv.Beta{Alpha: .5, Beta: (dim - 1) / 2}
		lengths, coordinates := make([]float64, n), make([]float64, n)
		signs, cross := make([]float64, n), make([]float64, n)
		for i := range n {
			sphericalNoise(z, epsilon, rng)
			norm := floats.Norm(z, 2)
			lengths[i], signs[i], cross[i] = length.CDF(norm), math.Copysign(1, z[0]), z[0]/norm*z[p-1]/norm
			if p > 1 {
				coordinates[i] = square.CDF(min(z[0]/norm*z[0]/norm, 1))
			}
		}
		name := fmt.Sprintf("p = %d: ", p)
		requireUniform(t, name+"length", lengths)
		requireMean(t, name+"sign", signs, 0, 1)
		if p > 1 {
			requireUniform(t, name+"square of a coordinate", coordinates)
			requireMean(t, name+"product of coordinates", cross, 0, math.Sqrt(1/(dim*(dim+2)))) // E v₀²v₁² on the sphere
		}
	}
	rng, law, x := stream.FromUint64(2).Rand(), distuv.Gamma{Alpha: 7.5, Beta: 1}, make([]float64, n)
	for i := range x {
		x[i] = law.CDF(gamma(7.5, rng))
	}
	requireUniform(t, "shape 7.5", x)
}

// On the line the noise is Laplace and neighbours are easy to see, so the
// output law of the whole noise family follows from one integral over the
// noise, written here without any of the code under test.
func TestNoiseFamilyOnTheLine(t *testing.T) {
	t.Parallel()
	vectors := []float32{-3, -1.75, -1, -0.25, 0, 0.5, 0.625, 1.5, 2.25, 4}
	s := spacetest.New(t, 1, vectors)
	const epsilon, word, cells = 0.8, 4, 20000
	// ranked returns words, nearest to x first, and distances.
	ranked := func(x float64) (ids []int, a []float64) {
		for i := range vectors {
			ids = append(ids, i)
			a = append(a, math.Abs(float64(vectors[i])-x))
		}
		floats.ArgsortStable(a, ids)
		return ids, a
	}
	var all [cells]struct {
		ids []int
		a   []float64
	}
	for i := range all { // equal parts of the Laplace law, each by its middle
		law := distuv.Laplace{Mu: float64(vectors[word]), Scale: 1 / epsilon}
		all[i].ids, all[i].a = ranked(law.Quantile((float64(i) + .5) / cells))
	}
	vickrey := func(t float64) func([]int, []float64, []float64) {
		return func(ids []int, a, p []float64) {
			first := (1 - t) * a[1] / (t*a[0] + (1-t)*a[1])
			p[ids[0]] += first
			p[ids[1]] += 1 - first
		}
	}
	kth := func(k int) func([]int, []float64, []float64) {
		return func(ids []int, _, p []float64) { p[ids[k-1]]++ }
	}
	generalised := func(t ...float64) func([]int, []float64, []float64) {
		return func(ids []int, a, p []float64) {
			weights := make([]float64, len(t))
			for r := range t {
				weights[r] = math.Exp(-t[r] * a[r])
			}
			for r, w := range weights {
				p[ids[r]] += w / floats.Sum(weights)
			}
		}
	}
	released := func(ids []int, a, p []float64) {
		if ids[0] == word {
			ids, a = ids[1:], a[1:]
		}
		first := math.Exp(-a[0]) / (math.Exp(-a[0]) + 1)
		p[ids[0]] += first
		p[ids[1]] += 1 - first
	}
	// The rank fix is exact given the word x* that is nearest.
	const c = 0.7
	orders := make([][]int, len(vectors))
	for y := range orders {
		orders[y], _ = ranked(float64(vectors[y]))
	}
	rankFix := func(ids []int, _, p []float64) {
		for r, y := range orders[ids[0]] {
			p[y] += math.Exp(-c*epsilon*float64(r)) * math.Expm1(-c*epsilon) / math.Expm1(-c*epsilon*float64(len(p)))
		}
	}
	for _, c := range []struct {
		settings Settings
		law      func(ids []int, a, p []float64)
	}{
		{Settings{Mechanism: "cmp"}, kth(1)},
		// In one dimension the covariance scaled to trace 1 is 1.
		{Settings{Mechanism: "mahalanobis"}, kth(1)},
		{Settings{Mechanism: "vickrey"}, vickrey(0.5)},
		{Settings{Mechanism: "vickrey", Parameters: Parameters{"t": 0.25}}, vickrey(0.25)},
		{Settings{Mechanism: "vickrey", Parameters: Parameters{"t": 0.0}}, kth(1)},
		{Settings{Mechanism: "vickrey", Parameters: Parameters{"t": 1.0}}, kth(2)},
		{Settings{Mechanism: "vickrey", Variant: Released}, released},
		{Settings{Mechanism: "vickrey-k", Parameters: Parameters{"t": []float64{2}}}, kth(1)},
		{Settings{Mechanism: "vickrey-k", Parameters: Parameters{"t": []float64{1, 0}}}, generalised(1, 0)},
		{Settings{Mechanism: "vickrey-k", Parameters: Parameters{"t": []float64{0.5, 1, 2}}}, generalised(0.5, 1, 2)},
		{Settings{Mechanism: "kth", Parameters: Parameters{"k": 1.0}}, kth(1)},
		{Settings{Mechanism: "kth", Parameters: Parameters{"k": 3.0}}, kth(3)},
		{Settings{Mechanism: "rank-fix", Parameters: Parameters{"c": c}}, rankFix},
	} {
		c.settings.Epsilon = epsilon
		p := make([]float64, len(vectors))
		for _, x := range all {
			c.law(x.ids, x.a, p)
		}
		floats.Scale(1./cells, p)
		requireFit(t, fmt.Sprintf("%s %s %s", c.settings.Mechanism, c.settings.Variant, c.settings.Parameters),
			sample(mustNew(t, Environment{Space: s}, c.settings), word, 100000, stream.FromUint64(40)), p)
	}
}

// Ranks are drawn from the law of the rank fix, and those beyond the stored ones too.
func TestRankFixRanks(t *testing.T) {
	t.Parallel()
	s := spacetest.Gaussian(t, 3*keptRanks, 3, 1, 65)
	// ε so large that x* is the word itself; c·ε = 0.001.
	m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "rank-fix", Epsilon: 1e6,
		Parameters: Parameters{"c": 1e-9}})
	law := func(x float64, order []WordID) []float64 {
		p := make([]float64, len(order))
		for r, y := range order {
			p[y] = math.Exp(-x * float64(r))
		}
		floats.Scale(1/floats.Sum(p), p)
		return p
	}
	order, _ := orderFrom(s, 5)
	requireFit(t, "words", sample(m, 5, 20000, stream.FromUint64(66)), law(0.001, order))
	for _, x := range []float64{1e-13, 0.001, 0.5} {
		counts, rng := make([]int, s.Len()), stream.FromUint64(67).Rand()
		fix := newRankSampler(samplerOf[*rankSampler](t, m).base, s, x)
		for range 200_000 {
			counts[fix.rank(rng)]++
		}
		requireFit(t, fmt.Sprint("ranks, c·ε = ", x), counts, law(x, s.Vocabulary.IDs()))
	}
}

// The shape of Mahalanobis' noise is a root of R, and d_R the norm after whitening. R
// of the released one divides the covariance as numpy's cov(x)/var(x) does.
func TestMahalanobisShape(t *testing.T) {
	const n, p, lambda, epsilon = 40, 3, 0.6, 2.0
	s := spacetest.Gaussian(t, n, p, 1, 44)
	rows := mat.NewDense(n, p, nil)
	for i := range s.Vectors { // correlated and of unequal scales
		if i%p == 1 {
			s.Vectors[i] = 3*s.Vectors[i] + s.Vectors[i-1] + 2
		}
		rows.Set(i/p, i%p, float64(s.Vectors[i]))
	}
	for variant, divisor := range map[Variant]float64{Proved: meanVariance(rows),
		Released: stat.PopVariance(rows.RawMatrix().Data, nil)} {
		m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "mahalanobis", Variant: variant, Epsilon: epsilon,
			Parameters: Parameters{"lambda": lambda}})
		var whole mat.Cholesky
		if !whole.Factorize(requireShape(t, samplerOf[*projector](t, m).shape, rows, lambda, divisor)) {
			t.Fatal("R is not positive definite")
		}
		g := m.Guarantee()
		for a := range WordID(n) {
			b := (a + 7) % n
			want := stat.Mahalanobis(rows.RowView(int(a)), rows.RowView(int(b)), &whole)
			if got := g.Distance(a, b); math.Abs(got-want) > 1e-6*want ||
				g.Epsilon*got > g.EuclideanEpsilon*s.Distance(a, b)*(1+1e-9) {
				t.Errorf("%s: d_R(%d,%d) = %v, want %v and at most %v", variant, a, b, got, want,
					g.EuclideanEpsilon*s.Distance(a, b))
			}
		}
	}
}

// The noisy vector is the float64 sum rounded once, also where the noise has a
// shape.
func TestNoiseIsRoundedOnce(t *testing.T) {
	const d, rows = 37, 201 // rows not a multiple of those that are shaped together
	s := spacetest.Gaussian(t, 60, d, 1, 61)
	for _, name := range []string{"cmp", "mahalanobis"} {
		for _, epsilon := range []float64{1e-3, 1, 50} {
			m := mustNew(t, environment(s), Settings{Mechanism: name, Epsilon: epsilon})
			got, z, rng := make([]float32, rows*d), make([]float64, d), stream.FromUint64(62).Rand()
			m.Noise().Vectors(got, 1, stream.FromUint64(62).Rand())
			var root [][]float64
			if shape := samplerOf[*projector](t, m).shape; shape != nil {
				root = rowsOf(shape, d)
			}
			for r := range rows {
				sphericalNoise(z, epsilon, rng)
				for i := range d {
					noise := z[i]
					if root != nil {
						noise = 0
						for k, x := range z {
							noise += float64(root[i][k] * x)
						}
					}
					if want := float32(float64(s.Vector(1)[i]) + noise); got[r*d+i] != want {
						t.Fatalf("%s, ε = %v: %v, want %v", name, epsilon, got[r*d+i], want)
					}
				}
			}
		}
	}
}

// A release is Φx plus noise of length Gamma(m, (1+β)/ε); Φ keeps squared lengths
// on average. It lies on a grid, whatever the word: the last bits of the sum, which
// would reveal the vector a float comes from, are not released.
func TestPrivEmb(t *testing.T) {
	t.Parallel()
	// m at p = 300, δ = 1e-6, against the source's own pairs, which print β with two
	// or three digits.
	for beta, m := range map[float64]float64{0.93: 50, 0.66: 100, 0.468: 200} {
		if got := projectedDimension(300, beta, 1e-6); math.Abs(float64(got)-m) > 0.011*m {
			t.Errorf("β = %v: m = %d, want %v within the digits of β", beta, got, m)
		}
	}
	const words, p, beta = 400, 20, 0.8
	s := spacetest.Gaussian(t, words, p, 1, 45)
	for _, epsilon := range []float64{0.01, 2, 30} {
		for projection, scale := range map[string]float64{"gaussian": (1 + beta) / epsilon, "none": 1 / epsilon} {
			v, err := NewVector(environment(s), Settings{Mechanism: "privemb", Epsilon: epsilon,
				Parameters: Parameters{"projection": projection, "beta": beta}})
			if err != nil {
				t.Fatal(err)
			}
			m, src := v.(*privEmb), make([]WordID, 10*words)
			for i := range src {
				src[i] = WordID(i % words)
			}
			out, dim, name := make([]float32, len(src)*m.m), float64(m.m), fmt.Sprint(projection, ", ε = ", epsilon)
			m.Release(out, src, stream.FromUint64(46).Rand())
			lengths, z := make([]float64, len(src)), make([]float64, m.m)
			for i, w := range src {
				for r := range z {
					z[r] = float64(out[i*m.m+r]) - m.coordinate(r, s.Vector(w))
				}
				lengths[i] = floats.Norm(z, 2)
			}
			requireMean(t, name+": length of the noise", lengths, dim*scale, scale*math.Sqrt(dim))
			grid := m.grid()
			if ratio := grid * m.noise; ratio > 1.0/1024 || ratio <= 1.0/2048 {
				t.Errorf("%s: grid of %v of the noise's scale", name, ratio)
			}
			if i := slices.IndexFunc(out, func(x float32) bool {
				steps := float64(x) / grid
				return steps != math.Trunc(steps) && math.Abs(steps) < 1<<24
			}); i >= 0 {
				t.Errorf("%s: number %d is %v, not on the grid of %v", name, i, out[i], grid)
			}
			if projection == "gaussian" {
				squares := slices.Clone(m.projection)
				floats.Mul(squares, m.projection)
				requireMean(t, name+": Φ", m.projection, 0, 1/math.Sqrt(dim))
				requireMean(t, name+": squares of Φ", squares, 1/dim, math.Sqrt2/dim)
			}
		}
	}
}

func TestTruncatedGumbelNoise(t *testing.T) {
	t.Parallel()
	for _, g := range []gumbelNoise{{1, 3}, {0.2, 3}, {50, 3}} {
		const n = 30000
		rng, x := stream.FromUint64(47).Rand(), make([]float64, n)
		law := distuv.GumbelRight{Beta: g.scale}
		low, high := law.CDF(-g.bound), law.CDF(g.bound)
		for i := range x {
			v := g.draw(rng)
			if v < -g.bound || v > g.bound {
				t.Fatalf("%+v: drew %v", g, v)
			}
			x[i] = (law.CDF(v) - low) / (high - low)
		}
		requireUniform(t, fmt.Sprintf("%+v", g), x)
	}
}

func TestTruncatedPoisson(t *testing.T) {
	for _, c := range []struct {
		mean            float64
		least, greatest int
	}{{math.Log(27000), 1, 27000}, {math.Log(5), 1, 5}, {math.Log(99), 0, 99}, {math.Log(2), 1, 2}} {
		p := newTruncatedPoisson(c.mean, c.least, c.greatest)
		law, inside := distuv.Poisson{Lambda: c.mean}, 0.0
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
		counts, rng := make([]int, len(probabilities)), stream.FromUint64(48).Rand()
		for range 50000 {
			counts[p.draw(rng)]++
		}
		requireFit(t, fmt.Sprintf("%+v", c), counts, probabilities)
	}
}
