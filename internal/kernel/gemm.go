package kernel

import (
	"fmt"
	"sync"
)

// Gemm computes C = alpha·op(A)·op(B) + beta·C for row-major matrices, where
// op(A) is m × k and op(B) is k × n; with transA, A is stored k × m; with
// transB, B is stored n × k. lda, ldb, ldc are the distances of rows in
// elements. C is not read when beta is 0, and must not overlap A or B.
//
// The error is that of a float32 sum in any order: k·2⁻²⁴·Σ|aᵢₚ·bₚⱼ|. The
// fastest case is B not transposed; a transposed B is repacked on every call,
// so transpose a matrix once (Transpose) when it is used often.
func Gemm(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32,
	c []float32, ldc int) {
	checkMatrix("A", transA, m, k, a, lda)
	checkMatrix("B", transB, k, n, b, ldb)
	checkMatrix("C", false, m, n, c, ldc)
	if m == 0 || n == 0 {
		return
	}
	if s := simd(); s.lanes > 0 && k > 0 {
		s.product(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	referenceGemm(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
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
func referenceGemm(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		for j := range row {
			if beta == 0 {
				row[j] = 0
			} else {
				row[j] *= beta
			}
		}
		for q := range k {
			x := alpha
			if transA {
				x *= a[q*lda+i]
			} else {
				x *= a[i*lda+q]
			}
			if transB {
				for j := range row {
					row[j] += x * b[j*ldb+q]
				}
			} else {
				for j, y := range b[q*ldb : q*ldb+n] {
					row[j] += x * y
				}
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
// rows that they stay in the second cache while all panels of B pass. B is
// packed into panels, zero-padded, where it is transposed or where its last
// panel is narrower than a tile.
func (s *assembly) product(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
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
	group := m
	if !transB {
		group = 8 * len(s.tiles)
	}
	for q := 0; q < k; q += depth {
		d := min(depth, k-q)
		for first := 0; first < m; first += group {
			last := min(first+group, m)
			for j := 0; j < n; j += width {
				w := min(width, n-j)
				bp, bStride := panel, width
				switch {
				case transB:
					packTransposed(panel[:d*width], b[j*ldb+q:], ldb, w, width)
				case w < width:
					for i := range d {
						row := panel[i*width : i*width+width]
						copy(row, b[(q+i)*ldb+j:(q+i)*ldb+j+w])
						clear(row[w:])
					}
				default:
					bp, bStride = b[q*ldb+j:], ldb
				}
				for i, rows := first, 0; i < last; i += rows {
					var run tile
					rows, run = s.tile(last - i)
					ap := &a[i*rowStride+q*colStride]
					if w == width {
						at := &c[i*ldc+j]
						run(d, ap, 4*rowStride, 4*colStride, &bp[0], 4*bStride, at, 4*ldc, at, 4*ldc, alpha, beta)
						continue
					}
					run(d, ap, 4*rowStride, 4*colStride, &bp[0], 4*bStride, &corner[0], 4*width, nil, 0, alpha, 0)
					for r := range rows {
						addTo(c[(i+r)*ldc+j:][:w], corner[r*width:], beta)
					}
				}
			}
		}
		beta = 1
	}
}

// packTransposed stores the first w rows of b as the columns of a panel.
func packTransposed(panel, b []float32, ldb, w, width int) {
	clear(panel)
	for j := range w {
		for i, x := range b[j*ldb:][:len(panel)/width] {
			panel[i*width+j] = x
		}
	}
}

// addTo writes dst = src + beta·dst; dst is not read when beta is 0.
func addTo(dst, src []float32, beta float32) {
	for j, x := range src[:len(dst)] {
		if beta == 0 {
			dst[j] = x
		} else {
			dst[j] = x + beta*dst[j]
		}
	}
}

// tile returns that of the next of so many rows, all of about equal height: a
// low one costs more a row.
func (s *assembly) tile(rows int) (rowsOf int, run tile) {
	tiles := (rows + len(s.tiles) - 1) / len(s.tiles)
	rows = (rows + tiles - 1) / tiles
	return rows, s.tiles[rows-1]
}
