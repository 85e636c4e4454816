package kernel

import "fmt"

// packedWidth is the number of columns of a panel: the widest tile; narrower
// ones take a part of it at a time.
const packedWidth = 32

// packedDepth is the number of rows of a panel that are read for all rows of A
// before the next: so many of a panel fit the first cache.
const packedDepth = 256

// Packed is a k × n matrix that is multiplied from the right many times,
// stored in panels of columns, which are read in order.
type Packed struct {
	k, n   int
	panels []float32 // ⌈n/32⌉ panels of k × 32, zero-padded
	bias   []float32 // zero-padded; nil without
}

// Pack stores the matrix whose element (i, j) is b[i·rowStride + j·colStride],
// and a vector of n numbers, which may be nil, to be added to every row of
// products.
func Pack(k, n int, b []float32, rowStride, colStride int, bias []float32) *Packed {
	if k < 0 || n < 0 || k > 0 && n > 0 && len(b) <= (k-1)*rowStride+(n-1)*colStride ||
		bias != nil && len(bias) != n {
		panic(fmt.Sprintf("kernel: pack: %d numbers and bias of %d for %d × %d", len(b), len(bias), k, n))
	}
	count := (n + packedWidth - 1) / packedWidth
	p := &Packed{k: k, n: n, panels: make([]float32, count*k*packedWidth)}
	for i := range k {
		for j := range n {
			p.panels[(j/packedWidth*k+i)*packedWidth+j%packedWidth] = b[i*rowStride+j*colStride]
		}
	}
	if bias != nil {
		p.bias = make([]float32, count*packedWidth)
		copy(p.bias, bias)
	}
	return p
}

// Columns returns n.
func (p *Packed) Columns() int { return p.n }

// Rows returns k.
func (p *Packed) Rows() int { return p.k }

// Multiply computes C = A·B + bias for the packed B; A is m × k and C is m × n,
// both row-major and dense, and they must not overlap. A row of C depends on
// the same row of A only, whatever m is. The error is that of Gemm.
func (p *Packed) Multiply(m int, a, c []float32) { p.multiply(m, 1, a, c) }

// multiply computes C = alpha·A·B + bias.
func (p *Packed) multiply(m int, alpha float32, a, c []float32) {
	checkMatrix("A", false, m, p.k, a, p.k)
	checkMatrix("C", false, m, p.n, c, p.n)
	if m == 0 || p.n == 0 {
		return
	}
	s := simd()
	if s.lanes == 0 || p.k == 0 {
		p.reference(m, alpha, a, c)
		return
	}
	width, tallest := s.tileWidth, len(s.tiles)
	buffer := buffers.Get().(*[]float32)
	defer buffers.Put(buffer)
	*buffer = resized(*buffer, tallest*packedWidth)
	corner := *buffer
	// Rows of A that fit the second cache with a panel, in whole tiles.
	group := max(1, (512<<10)/(4*p.k*tallest)) * tallest
	for first := 0; first < m; first += group {
		last := min(first+group, m)
		for j := 0; j < p.n; j += width {
			panel := p.panels[j/packedWidth*p.k*packedWidth+j%packedWidth:]
			narrow := j+width > p.n
			for q := 0; q < p.k; q += packedDepth {
				depth := min(packedDepth, p.k-q)
				if narrow {
					depth = p.k
				}
				for i, rows := first, 0; i < last; i += rows {
					var run tile
					rows, run = s.tile(last - i)
					at, stride := &corner[0], 4*width
					if !narrow {
						at, stride = &c[i*p.n+j], 4*p.n
					}
					from, fromStride, beta := at, stride, float32(1)
					switch {
					case q == 0 && p.bias != nil:
						from, fromStride = &p.bias[j], 0
					case q == 0:
						beta = 0
					}
					run(depth, &a[i*p.k+q], 4*p.k, 4, &panel[q*packedWidth], 4*packedWidth, at, stride,
						from, fromStride, alpha, beta)
					if narrow {
						for r := range rows {
							copy(c[(i+r)*p.n+j:(i+r+1)*p.n], corner[r*width:])
						}
					}
				}
				if narrow {
					break
				}
			}
		}
	}
}

// reference is the specification.
func (p *Packed) reference(m int, alpha float32, a, c []float32) {
	for i := range m {
		row := c[i*p.n : (i+1)*p.n]
		clear(row)
		copy(row, p.bias)
		for q, x := range a[i*p.k : (i+1)*p.k] {
			x *= alpha
			for j := 0; j < p.n; j += packedWidth {
				w := min(packedWidth, p.n-j)
				for l, y := range p.panels[(j/packedWidth*p.k+q)*packedWidth:][:w] {
					row[j+l] += x * y
				}
			}
		}
	}
}
