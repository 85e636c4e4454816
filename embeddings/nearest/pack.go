package nearest

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/internal/cores"
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

// pack fills the panels on all cores; each is filled by one, so the bytes do not depend on their number.
func pack(s *embeddings.Space, geometry kernel.Geometry) *packed {
	n := s.Len()
	p := &packed{
		geometry: geometry,
		groups:   (s.Dimension + 3) / 4,
		center:   mean(s),
	}
	order := p.order(s)
	width := p.geometry.PanelWords
	panels := (n + width - 1) / width
	p.ids = make([]embeddings.WordID, panels*width)
	p.heads = make([]float32, panels*width)
	p.bounds = make([]float32, 4*panels)
	p.bytes = make([]byte, panels*p.panelBytes())
	step := scatter(panels)
	cores.Share(runtime.GOMAXPROCS(0), panels, func(_, from, to int) {
		vectors := make([]float64, width*s.Dimension)
		for panel := from; panel < to; panel++ {
			p.fill(panel*step%panels, s, order[panel*width:min(n, (panel+1)*width)], vectors)
		}
	})
	return p
}

// mean returns the mean vector of a space.
func mean(s *embeddings.Space) []float64 {
	sum := make([]float64, s.Dimension)
	for id := range embeddings.WordID(s.Len()) {
		for i, v := range s.Vector(id) {
			sum[i] += float64(v)
		}
	}
	for i := range sum {
		sum[i] /= float64(s.Len())
	}
	return sum
}

// order sets the exponent by the longest word and returns words by their largest component.
func (p *packed) order(s *embeddings.Space) []embeddings.WordID {
	largest := make([]float64, s.Len())
	longest := make([]float64, runtime.GOMAXPROCS(0)) // by worker
	cores.Share(len(longest), s.Len(), func(worker, from, to int) {
		most := 0.0
		for id := from; id < to; id++ {
			sum := 0.0
			furthest := 0.0
			for i, v := range s.Vector(embeddings.WordID(id)) {
				y := float64(v) - p.center[i]
				sum += y * y
				// Branches that are hardly ever taken; the sign alone would be guessed wrong half of the time.
				if y > furthest {
					furthest = y
				} else if -y > furthest {
					furthest = -y
				}
			}
			largest[id] = furthest
			most = max(most, math.Sqrt(sum))
		}
		longest[worker] = most
	})
	_, p.exponent = math.Frexp(slices.Max(longest))
	order := s.Vocabulary.IDs()
	slices.SortFunc(order, func(a, b embeddings.WordID) int {
		if largest[a] != largest[b] {
			return cmp.Compare(largest[a], largest[b])
		}
		return cmp.Compare(a, b)
	})
	return order
}

// panelBytes is the size of a panel of words of 8 bits.
func (p *packed) panelBytes() int { return 4 * p.geometry.PanelWords * p.groups }

// fill fills the panel at a place with words; vectors is scratch space for theirs.
func (p *packed) fill(place int, s *embeddings.Space, words []embeddings.WordID, vectors []float64) {
	d := s.Dimension
	for w, id := range words {
		for i, v := range s.Vector(id) {
			vectors[w*d+i] = ldexp(float64(v)-p.center[i], -p.exponent)
		}
	}
	width := p.geometry.PanelWords
	ids := p.ids[place*width : (place+1)*width]
	heads := p.heads[place*width : (place+1)*width]
	for w := range width {
		ids[w] = embeddings.Unknown
		heads[w] = float32(math.Inf(1))
	}
	copy(ids, words)
	size := p.panelBytes()
	panel := p.bytes[place*size : (place+1)*size]
	quantise(panel, heads, p.bounds[4*place:4*place+4], vectors[:len(words)*d], d, p.geometry.Levels)
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
		remainder := a % b
		a = b
		b = remainder
	}
	return a
}

// quantise fills a panel.
func quantise(panel []byte, heads, bounds []float32, vectors []float64, d, levels int) {
	width := len(heads)
	largest := 0.0
	for _, y := range vectors {
		if y > largest {
			largest = y
		} else if -y > largest {
			largest = -y
		}
	}
	scale := max(largest/float64(levels), 0x1p-60) // a panel of zeros has a scale too
	inverse := 1 / scale
	norm := 0.0
	bytesNorm := 0.0
	residual := 0.0
	for i := range panel {
		panel[i] = byte(levels + 1) // zero
	}
	for w := range len(vectors) / d {
		var sum, bytesSum, residualSum float64
		for i, y := range vectors[w*d : w*d+d] {
			b := (y*inverse + toInteger) - toInteger // in [−levels, levels], by the choice of the scale
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
