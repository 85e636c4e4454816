package kernel

import (
	"fmt"
	"sync"
)

// Gemm computes C = op(A)·B, or adds that to C, for row-major matrices, where
// op(A) is m × k and B is k × n; with transA, A is stored k × m. lda, ldb, ldc
// are the distances of rows in elements. C must not overlap A or B.
//
// The error is that of a float32 sum in any order: k·2⁻²⁴·Σ|aᵢₚ·bₚⱼ|.
func Gemm(transA bool, m, n, k int, a []float32, lda int, b []float32, ldb int, add bool, c []float32, ldc int) {
	checkMatrix("A", transA, m, k, a, lda)
	checkMatrix("B", false, k, n, b, ldb)
	checkMatrix("C", false, m, n, c, ldc)
	if m == 0 || n == 0 {
		return
	}
	if s := simd(); s.lanes > 0 && k > 0 {
		s.product(transA, m, n, k, a, lda, b, ldb, add, c, ldc)
		return
	}
	referenceGemm(transA, m, n, k, a, lda, b, ldb, add, c, ldc)
}

func checkMatrix(name string, transposed bool, rows, columns int, x []float32, stride int) {
	if transposed {
		rows, columns = columns, rows
	}
	if rows < 0 || columns < 0 || stride < columns || rows > 0 && columns > 0 && len(x) < (rows-1)*stride+columns {
		panic(fmt.Sprintf("kernel: %s: %d numbers, stride %d, for %d × %d", name, len(x), stride, rows, columns))
	}
}

// referenceGemm is the specification.
func referenceGemm(transA bool, m, n, k int, a []float32, lda int, b []float32, ldb int, add bool, c []float32,
	ldc int) {
	rowStride, colStride := lda, 1
	if transA {
		rowStride, colStride = 1, lda
	}
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		if !add {
			clear(row)
		}
		for q := range k {
			x := a[i*rowStride+q*colStride]
			for j, y := range b[q*ldb : q*ldb+n] {
				row[j] += x * y
			}
		}
	}
}

// resized returns at least n numbers.
func resized(x []float32, n int) []float32 {
	if len(x) < n {
		return make([]float32, n)
	}
	return x
}

// buffers holds packed panels of B and one tile of C.
var buffers = sync.Pool{New: func() any { return new([]float32) }}

// product runs the matrix product over tiles, in blocks along k and of so many
// rows that they stay in the second cache while all panels of B pass. The last
// panel of B, where it is narrower than a tile, is packed, zero-padded.
func (s *assembly) product(transA bool, m, n, k int, a []float32, lda int, b []float32, ldb int, add bool,
	c []float32, ldc int) {
	const depth = 384
	width := s.tileWidth
	rowStride, colStride := lda, 1
	if transA {
		rowStride, colStride = 1, lda
	}
	buffer := buffers.Get().(*[]float32)
	defer buffers.Put(buffer)
	*buffer = resized(*buffer, (depth+len(s.tiles))*width)
	panel, corner := (*buffer)[:depth*width], (*buffer)[depth*width:]
	group := 8 * len(s.tiles)
	for q := 0; q < k; q += depth {
		d := min(depth, k-q)
		for first := 0; first < m; first += group {
			last := min(first+group, m)
			for j := 0; j < n; j += width {
				w := min(width, n-j)
				bp, bStride := panel, width
				if w == width {
					bp, bStride = b[q*ldb+j:], ldb
				} else {
					for i := range d {
						row := panel[i*width : i*width+width]
						clear(row[copy(row, b[(q+i)*ldb+j:][:w]):])
					}
				}
				for i, rows := first, 0; i < last; i += rows {
					var run tile
					rows, run = s.tile(last - i)
					ap := &a[i*rowStride+q*colStride]
					if w == width {
						at, from := &c[i*ldc+j], &c[i*ldc+j]
						if !add {
							from = nil
						}
						run(d, ap, 4*rowStride, 4*colStride, &bp[0], 4*bStride, at, 4*ldc, from, 4*ldc)
						continue
					}
					run(d, ap, 4*rowStride, 4*colStride, &bp[0], 4*bStride, &corner[0], 4*width, nil, 0)
					for r := range rows {
						store(c[(i+r)*ldc+j:][:w], corner[r*width:], add)
					}
				}
			}
		}
		add = true
	}
}

// store writes src to dst, or adds it.
func store(dst, src []float32, add bool) {
	if !add {
		copy(dst, src)
		return
	}
	for j := range dst {
		dst[j] += src[j]
	}
}

// tile returns that of the next of so many rows, all of about equal height: a
// low one costs more a row.
func (s *assembly) tile(rows int) (rowsOf int, run tile) {
	tiles := (rows + len(s.tiles) - 1) / len(s.tiles)
	rows = (rows + tiles - 1) / tiles
	return rows, s.tiles[rows-1]
}
