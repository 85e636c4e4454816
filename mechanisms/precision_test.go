package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// scripted returns the numbers of a list, then a number that every layer except
// the second accepts at once. It counts the calls.
type scripted struct {
	numbers []uint64
	used    int
}

func (s *scripted) Uint64() uint64 {
	s.used++
	if s.used <= len(s.numbers) {
		return s.numbers[s.used-1]
	}
	return 5<<32 | 1
}

// normalOf returns the result of NormFloat64 for the given bits, and how many
// of them it uses.
func normalOf(bits ...uint64) (x float64, used int) {
	s := &scripted{numbers: bits}
	return rand.New(s).NormFloat64(), s.used
}

// ziggurat is the law of rng.NormFloat64, found by feeding it chosen bits.
type ziggurat struct {
	step [128]float64 // of a layer
	sure [128]uint64  // from here on a point is not taken at once
}

func point(layer int, j uint64) uint64 { return uint64(layer)<<32 | j&math.MaxUint32 }

func readZiggurat() *ziggurat {
	z := &ziggurat{}
	for i := range z.step {
		z.step[i], _ = normalOf(point(i, 1), 0) // 0 passes the second test
		low, high := uint64(0), uint64(1<<31)
		for low < high {
			mid := (low + high) / 2
			if _, used := normalOf(point(i, mid)); used == 1 {
				low = mid + 1
			} else {
				high = mid
			}
		}
		z.sure[i] = low
	}
	return z
}

// taken is the probability with which point j of a layer is taken.
func (z *ziggurat) taken(i int, j uint64) float64 {
	if j < z.sure[i] {
		return 1
	}
	if j >= 1<<31 || i == 0 {
		return 0
	}
	low, high := uint64(0), uint64(1)<<53
	for low < high {
		mid := (low + high) / 2
		if _, used := normalOf(point(i, j), mid); used == 2 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return float64(low) / (1 << 53)
}

// TestNormalNumbersAreNearlyNormal checks what noisePrecision assumes of
// rng.NormFloat64: its density in the core and the mass of its tail, divided by
// those of the normal law, are one constant within e^{±κ/2}, and no step and no
// rounding of the tail moves a number by more than h.
func TestNormalNumbersAreNearlyNormal(t *testing.T) {
	t.Parallel()
	z := readZiggurat()
	const edge = 3.442619855899 // where the tail begins
	density := func(x float64) float64 {
		g := 0.0
		for i, step := range z.step {
			g += z.taken(i, uint64(math.Round(x/step))) / step
		}
		return g / (128 * (1 << 32))
	}
	points := []float64{1e-9, 0.01}
	for i, step := range z.step {
		if step/2 > normalStep {
			t.Errorf("layer %d: a step of %v", i, step)
		}
		inner, outer := step*float64(z.sure[i]), step*(1<<31)
		for _, part := range []float64{1e-6, 0.1, 0.3, 0.5, 0.7, 0.9, 1 - 1e-6} {
			points = append(points, inner+(outer-inner)*part)
		}
	}
	low, high := math.Inf(1), 0.0
	see := func(ratio float64) { low, high = min(low, ratio), max(high, ratio) }
	for _, x := range points {
		if x < edge {
			see(density(x) / math.Exp(-x*x/2) * math.Sqrt(2*math.Pi))
		}
	}
	// Both signs of the tail; j = −2³¹ is one more on the left.
	see(float64(2*(1<<31-z.sure[0])+1) / (128 * (1 << 32)) / math.Erfc(edge/math.Sqrt2))
	t.Logf("%d points: ratios within e^±%.2g", len(points), math.Log(high/low)/2)
	if !(math.Log(high/low) <= normalRatio) {
		t.Errorf("ratios from %v to %v", low, high)
	}

	// The tail is Marsaglia's, from two numbers of 53 bits.
	for _, u := range []uint64{1 << 52, 1 << 40, 123456789, 1 << 26} {
		want := edge - math.Log(float64(u)/(1<<53))/edge
		limit := math.Exp(-(want - edge) * (want - edge) / 2)
		x, used := normalOf(point(0, 1<<31-1), u, uint64(limit*(1<<53)*(1-1e-9)))
		if used != 3 || math.Abs(x-want) > 1e-14*want {
			t.Errorf("tail at %d: %v after %d numbers, want %v", u, x, used, want)
		}
		if _, used := normalOf(point(0, 1<<31-1), u, uint64(limit*(1<<53)*(1+1e-9))+2, 1<<52, 1); used != 5 {
			t.Errorf("tail at %d: taken beyond its limit", u)
		}
		if x <= 9 && math.Log1p(1/float64(u))/edge > normalStep {
			t.Errorf("tail at %v: rounded by %v", x, math.Log1p(1/float64(u))/edge)
		}
	}
	if u := math.Exp(-edge*(9-edge)) * (1 << 53); 1/(u*edge) > normalStep {
		t.Errorf("the tail at 9 has steps of %v", 1/(u*edge))
	}
	if p := math.Erfc(9 / math.Sqrt2); p > 2.3e-19 {
		t.Errorf("|x| > 9 has probability %v", p)
	}
}

// Numbers of the other draws: gamma takes what it proposes with a probability of
// at least e⁻¹¹, and a length is longer than noiseLength rarely (the tail of
// Gamma(p, 1) for whole p is a sum of p terms).
func TestGammaWithinItsBounds(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{leastDimension, 25, 50, 100, 300, 1000} {
		d := p - 1.0/3
		c := 1 / math.Sqrt(9*d)
		for x := -9.0; x <= 9; x += 0.01 {
			v := math.Pow(1+c*x, 3)
			if e := x*x/2 + d - d*v + d*math.Log(v); !(e >= -11 && e <= 1e-9) {
				t.Fatalf("p = %v, x = %v: ln of acceptance %v", p, x, e)
			}
		}
		r, tail := noiseLength(p), 0.0
		for k := range int(p) {
			f, _ := math.Lgamma(float64(k) + 1)
			tail += math.Exp(float64(k)*math.Log(r) - r - f)
		}
		if !(tail <= rare) || r > 6*p {
			t.Errorf("p = %v: Gamma exceeds %v with probability %v", p, r, tail)
		}
	}
}

// A noisy vector is within Moved of the one that numbers of the normal law,
// within h of those drawn, would have given.
func TestNoisyVectorsAreMovedLittle(t *testing.T) {
	t.Parallel()
	for _, p := range []int{leastDimension, 100} {
		s := spacetest.Gaussian(t, 20, p, 1, 71)
		for _, epsilon := range []float64{0.5, 20} {
			n := noisePrecision(s, epsilon, nil)
			a, b, jitter := stream.FromUint64(72).Rand(), stream.FromUint64(72).Rand(), stream.FromUint64(73).Rand()
			q, scratch, g := make([]float32, p), make([]float64, p), make([]float64, p)
			worst := 0.0
			for i := range 500 {
				x := s.Vector(WordID(i % s.Len()))
				addSphericalNoise(q, x, scratch, epsilon, a)
				squares := 0.0
				for k := range g {
					g[k] = b.NormFloat64() + normalStep*(2*jitter.Float64()-1)
					squares += g[k] * g[k]
				}
				length, moved := gamma(float64(p), b)/epsilon, 0.0
				for k := range g {
					d := float64(x[k]) + g[k]*length/math.Sqrt(squares) - float64(q[k])
					moved += d * d
				}
				worst = max(worst, math.Sqrt(moved))
			}
			if !(worst <= n.Moved) || worst < n.Moved/1000 {
				t.Errorf("p = %d, epsilon %v: moved by up to %v, promised %v", p, epsilon, worst, n.Moved)
			}
		}
	}
}

// What noisePrecision needs of cells: if a word y is chosen with some
// probability at a point x displaced by ρ, then after a step of s = 2ρ/g
// towards y its probability is not smaller, up to the factor that the choice
// has in Rate.
func TestCellsMayBeScaled(t *testing.T) {
	t.Parallel()
	const words, p = 60, 3
	s := spacetest.Gaussian(t, words, p, 1, 74)
	index, rng := nearest.Of(s), stream.FromUint64(75).Rand()
	gaps := gapsOf(s, words)
	checked := map[float64]int{}
	for _, prices := range []float64{0, 0.3, 0.5} {
		for range 20000 {
			rho := math.Pow(10, -3*rng.Float64()-1)
			x, moved := make([]float64, p), make([]float32, p)
			for k := range x {
				moved[k] = float32(2 * rng.NormFloat64())
				x[k] = float64(moved[k])
			}
			e, norm := make([]float64, p), 0.0
			for k := range e {
				e[k] = rng.NormFloat64()
				norm += e[k] * e[k]
			}
			for k := range x {
				x[k] += e[k] * rho / math.Sqrt(norm)
			}
			near := make([]nearest.Neighbor, 2)
			index.Search(near, moved, 2)
			for rank, y := range near {
				before := firstPrice(prices, near[0].Distance, near[1].Distance)
				if rank == 1 {
					before = 1 - before
				}
				step := 2 * rho / gaps[y.ID]
				if before == 0 || step > 1.0/64 {
					continue
				}
				target := make([]float64, p)
				for k, v := range s.Vector(y.ID) {
					target[k] = float64(v) + (x[k]-float64(v))/(1+step)
				}
				after, reach := chosenAt(s, target, y.ID, prices), near[1].Distance+gaps[y.ID]
				allowed := 1e-9
				if prices > 0 {
					allowed += step * choiceOfVickrey(reach, near[0].Distance)
				}
				if allowed > 0.25 {
					continue
				}
				checked[prices]++
				if !(math.Log(before/after) <= allowed) {
					t.Fatalf("t = %v: %v becomes %v, step %v, rank %d", prices, before, after, step, rank)
				}
			}
		}
		if checked[prices] < 1000 {
			t.Errorf("t = %v: %d points, too few", prices, checked[prices])
		}
	}
}

// chosenAt is the probability of y at a point, in float64.
func chosenAt(s *embeddings.Space, at []float64, y WordID, prices float64) float64 {
	type word struct {
		id WordID
		d  float64
	}
	var all []word
	for w := range WordID(s.Len()) {
		d := 0.0
		for k, v := range s.Vector(w) {
			d += (at[k] - float64(v)) * (at[k] - float64(v))
		}
		all = append(all, word{w, math.Sqrt(d)})
	}
	slices.SortFunc(all, func(a, b word) int {
		if a.d < b.d {
			return -1
		}
		return 1
	})
	switch first := firstPrice(prices, all[0].d, all[1].d); y {
	case all[0].id:
		return first
	case all[1].id:
		return 1 - first
	}
	return 0
}

// gapsOf are the distances of the first words to the nearest other.
func gapsOf(s *embeddings.Space, words int) []float64 {
	gaps, near := make([]float64, words), make([]nearest.Neighbor, words*2)
	nearest.Of(s).Search(near, s.Vectors[:words*s.Dimension], 2)
	for w := range gaps {
		gaps[w] = max(near[2*w].Distance, near[2*w+1].Distance)
	}
	return gaps
}

// Guarantees state the bound where it is proved, and only there; README quotes
// what -v prints for real vectors.
func TestNoiseStatesItsPrecision(t *testing.T) {
	t.Parallel()
	wide, narrow := spacetest.Gaussian(t, 30, 20, 1, 76), spacetest.Gaussian(t, 30, 8, 1, 77)
	for _, c := range []struct {
		space  *embeddings.Space
		name   string
		t      any
		proved bool
	}{
		{wide, "cmp", nil, true}, {narrow, "cmp", nil, false}, {wide, "vickrey", 0.5, true},
		{wide, "vickrey", 0.0, true},
		{wide, "vickrey", 0.6, false}, {wide, "mahalanobis", nil, false}, {wide, "kth", nil, false},
	} {
		settings := Settings{Mechanism: c.name, Epsilon: 5}
		if c.t != nil {
			settings.Parameters = Parameters{"t": c.t}
		}
		m, err := New(environment(c.space), settings)
		if err != nil {
			t.Fatal(err)
		}
		n := m.Guarantee().Numerical
		if proved := n.Moved > 0; proved != c.proved || proved != strings.HasPrefix(n.String(), "as computed") {
			t.Errorf("%s %v: %+v %q", c.name, c.t, n, n)
		}
		if c.proved && (!(etaOf(n, 1) < 0.1) || etaOf(n, n.Moved) != math.Inf(1)) {
			t.Errorf("%s: eta %v", c.name, etaOf(n, 1))
		}
	}
}

func TestPrecisionOnRealVectors(t *testing.T) {
	s := gloveSpace(t)
	gaps := gapsOf(s, 1000)
	slices.Sort(gaps)
	for _, epsilon := range []float64{1, 5, 10, 20} {
		n := noisePrecision(s, epsilon, nil)
		v := noisePrecision(s, epsilon, choiceOfVickrey)
		line := fmt.Sprintf("epsilon %v: moved by %.2g, delta %.2g;", epsilon, n.Moved, n.Delta)
		for _, share := range []float64{0.01, 0.5} {
			gap := gaps[int(share*float64(len(gaps)-1))]
			line += fmt.Sprintf(" gap %.3f (share %v): cmp %.2g, vickrey %.2g;", gap, share, etaOf(n, gap), etaOf(v, gap))
		}
		t.Log(line)
		if eta := etaOf(n, gaps[len(gaps)/2]); !(eta < 0.01) {
			t.Errorf("epsilon %v: eta %v of the median word", epsilon, eta)
		}
	}
}

// The probability with which k-RR keeps a word is within its delta of the
// definition's, in high precision, at small and large epsilon.
func TestKRRWithinItsDelta(t *testing.T) {
	t.Parallel()
	s := spacetest.Gaussian(t, 30, 3, 1, 78)
	for _, epsilon := range []float64{1e-3, 1, 10, 36, 40, 700} {
		m, err := New(environment(s), Settings{Mechanism: "k-rr", Epsilon: epsilon})
		if err != nil {
			t.Fatal(err)
		}
		d, err := m.(interface {
			Distribution(WordID) (Distribution, error)
		}).Distribution(0)
		if err != nil {
			t.Fatal(err)
		}
		// Float64 returns multiples of 2⁻⁵³: the number of them below the
		// threshold.
		kept := math.Ceil(d.Probabilities[0]*(1<<53)) / (1 << 53)
		var exact big.Float // the rest, (n−1)e^{−ε}/(1+(n−1)e^{−ε})
		rest := exact.SetPrec(200).SetFloat64(29 * math.Exp(-epsilon))
		rest.Quo(rest, new(big.Float).SetPrec(200).Add(rest, big.NewFloat(1)))
		off, _ := new(big.Float).SetPrec(200).Add(rest, big.NewFloat(kept-1)).Float64()
		n := m.Guarantee().Numerical
		if !(math.Abs(off) <= n.Delta) || n.Lost != n.Delta || !strings.Contains(n.String(), "delta 4e-16") {
			t.Errorf("epsilon %v: off by %v, promised %+v (%s)", epsilon, off, n, n)
		}
	}
}

// etaOf is η of Numerical for words with no other vector nearer than gap, +Inf
// where nothing is proved.
func etaOf(n Numerical, gap float64) float64 {
	x := 0.0
	if n.Moved > 0 {
		x = n.Rate * 2 * n.Moved / gap
	}
	if !(x <= 0.25) {
		return math.Inf(1)
	}
	return n.Eta + x*64/63
}
