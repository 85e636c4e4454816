package nearest

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
)

// packed is a space in the form used by scans.
//
// Let c be the mean vector and 2^−e the scale that brings the longest e−c into
// [½, 1). With word e' = 2^−e(e−c) and query q' alike, the scan looks for small
//
//	s = ½‖e'‖² − q'·e' = ½‖q'−e'‖² − ½‖q'‖².
//
// Words and queries have 8 bits: with one scale σ per panel and t per query,
//
//	e' = σb + r,  q' = ta + ρ,  b ∈ {−L..L}^d, a ∈ {−127..127}^d
//	q'·e' = tσ a·b + ρ·σb + q'·r  ≤  tσ a·b + ‖ρ‖‖σb‖ + ‖q'‖‖r‖
//
// (Cauchy–Schwarz), which bounds s from below. L is the geometry's Levels, 127
// or, on processors that lack an instruction, 63. Words are sorted by their
// largest component so one σ suits all words of a panel. The panels are then
// stored in scattered order, so the first few of them are a fair sample.
//
// Everything is divided by σ. A panel has the four numbers of a kernel scan
// bound: a = 1/σ, b = max‖b‖, and in c and d the residuals of its words and the
// possible error of rounding in float32.
type packed struct {
	geometry kernel.Geometry
	groups   int                 // of four axes
	ids      []embeddings.WordID // by position; Unknown for positions after the last word
	center   []float64
	exponent int // e
	heads    []float32
	bounds   []float32
	bytes    []byte
}

// rounding is the relative allowance for float32 arithmetic outside the
// product: a dozen roundings of 2⁻²⁴, doubled.
const rounding = 0x1p-19

// tiny is the absolute allowance for underflow, for vectors of length below 1.
const tiny = 0x1p-100

// mostAxes keeps sums of 8-bit products inside 32 bits.
const mostAxes = 1 << 31 / (127 * 127)

// build packs a space for the SIMD path in use.
func build(s *embeddings.Space) *Index {
	x := &Index{space: s, packed: pack(s)}
	x.scratch.New = func() any { return new(scratch) }
	return x
}

// pack fills the panels on all cores; each is filled by one, so the bytes do not depend on their number.
func pack(s *embeddings.Space) *packed {
	n, d := s.Len(), s.Dimension
	p := &packed{geometry: kernel.ScanGeometry(), groups: (d + 3) / 4, center: make([]float64, d)}
	for id := range embeddings.WordID(n) {
		for i, v := range s.Vector(id) {
			p.center[i] += float64(v)
		}
	}
	for i := range p.center {
		p.center[i] /= float64(n)
	}

	// Scale by the longest vector, sort by the largest component.
	longest := 0.0
	largest := make([]float64, n)
	order := s.Vocabulary.IDs()
	for id := range order {
		sum := 0.0
		for i, v := range s.Vector(embeddings.WordID(id)) {
			y := float64(v) - p.center[i]
			sum += y * y
			largest[id] = max(largest[id], math.Abs(y))
		}
		longest = max(longest, math.Sqrt(sum))
	}
	_, p.exponent = math.Frexp(longest)
	slices.SortFunc(order, func(a, b embeddings.WordID) int {
		return cmp.Or(cmp.Compare(largest[a], largest[b]), cmp.Compare(a, b))
	})

	width := p.geometry.PanelWords
	panels := (n + width - 1) / width
	p.ids = make([]embeddings.WordID, panels*width)
	p.heads = make([]float32, panels*width)
	p.bounds = make([]float32, 4*panels)
	size := width * p.groups * 4 // of a panel
	p.bytes = make([]byte, panels*size)
	step := scatter(panels)
	cores := runtime.GOMAXPROCS(0)
	var wait sync.WaitGroup
	for core := range cores {
		wait.Go(func() {
			vectors := make([]float64, width*d)
			for panel := core; panel < panels; panel += cores {
				words := order[panel*width : min(n, (panel+1)*width)]
				for w, id := range words {
					for i, v := range s.Vector(id) {
						vectors[w*d+i] = ldexp(float64(v)-p.center[i], -p.exponent)
					}
				}
				place := panel * step % panels
				for w := range width {
					p.ids[place*width+w] = embeddings.Unknown
					p.heads[place*width+w] = float32(math.Inf(1))
				}
				copy(p.ids[place*width:], words)
				heads, bounds := p.heads[place*width:(place+1)*width], p.bounds[4*place:4*place+4]
				quantise(p.bytes[place*size:(place+1)*size], heads, bounds, vectors[:len(words)*d], d, p.geometry.Levels)
			}
		})
	}
	wait.Wait()
	return p
}

// scatter returns a step near the golden section of n that visits all of 0..n−1.
func scatter(n int) int {
	step := max(1, int(0.618*float64(n)))
	for gcd(step, n) != 1 {
		step++
	}
	return step
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// quantise fills a panel.
func quantise(panel []byte, heads, bounds []float32, vectors []float64, d, levels int) {
	width := len(heads)
	largest := 0.0
	for _, y := range vectors {
		largest = max(largest, math.Abs(y))
	}
	scale := max(largest/float64(levels), 0x1p-60) // a panel of zeros has a scale too
	norm, bytesNorm, residual := 0.0, 0.0, 0.0
	for i := range panel {
		panel[i] = byte(levels + 1) // zero
	}
	for w := range len(vectors) / d {
		var sum, bytesSum, residualSum float64
		for i, y := range vectors[w*d : w*d+d] {
			b := math.RoundToEven(y / scale)
			r := y - scale*b
			sum += y * y
			bytesSum += b * b
			residualSum += r * r
			panel[(i/4*width+w)*4+i%4] = byte(int(b) + levels + 1)
		}
		heads[w] = float32(sum / 2 / scale)
		norm = max(norm, math.Sqrt(sum))
		bytesNorm = max(bytesNorm, math.Sqrt(bytesSum))
		residual = max(residual, math.Sqrt(residualSum))
	}
	bounds[0] = float32(1 / scale)
	bounds[1] = up(bytesNorm)
	bounds[2] = up((residual*(1+rounding) + rounding*norm) / scale)
	bounds[3] = up((rounding*norm*norm + tiny) / scale)
}

// up rounds a bound to float32 upwards.
func up(x float64) float32 {
	y := float32(x)
	if float64(y) < x {
		y = math.Nextafter32(y, float32(math.Inf(1)))
	}
	return y
}

// ldexp is math.Ldexp for exponents that keep 2^e a normal number.
func ldexp(x float64, e int) float64 {
	return x * math.Float64frombits(uint64(1023+e)<<52)
}
