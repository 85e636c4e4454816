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
	from := c
	if !add {
		from = nil
	}
	product(transA, m, n, k, a, lda, b, ldb, c, ldc, from, ldc)
}

func checkMatrix(name string, transposed bool, rows, columns int, x []float32, stride int) {
	if transposed {
		rows, columns = columns, rows
	}
	if rows < 0 || columns < 0 || stride < columns || rows > 0 && columns > 0 && len(x) < (rows-1)*stride+columns {
		panic(fmt.Sprintf("kernel: %s: %d numbers, stride %d, for %d × %d", name, len(x), stride, rows, columns))
	}
}

// referenceProduct is the specification of product.
func referenceProduct(transA bool, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int,
	from []float32, ldf int) {
	rowStride, colStride := lda, 1
	if transA {
		rowStride, colStride = 1, lda
	}
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		if from == nil {
			clear(row)
		} else {
			copy(row, from[i*ldf:])
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

// blockDepth is the number of products that are summed up at a time.
const blockDepth = 384

// product writes C = op(A)·B + F, F being 0 where it is nil; it may be C, and rows
// of it that are ldf = 0 apart are one. It goes over tiles, in blocks along k and of
// so many rows that they stay in the second cache while all panels of B pass. The
// last panel of B, where it is narrower than a tile, is packed, zero-padded.
func product(transA bool, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int, from []float32,
	ldf int) {
	s := simd()
	if s.lanes == 0 || k == 0 {
		referenceProduct(transA, m, n, k, a, lda, b, ldb, c, ldc, from, ldf)
		return
	}
	width := s.tileWidth
	rowStride, colStride := lda, 1
	if transA {
		rowStride, colStride = 1, lda
	}
	var panel, corner []float32
	if n%width > 0 {
		buffer := buffers.Get().(*[]float32)
		defer buffers.Put(buffer)
		*buffer = resized(*buffer, (blockDepth+len(s.tiles))*width)
		panel, corner = (*buffer)[:blockDepth*width], (*buffer)[blockDepth*width:]
	}
	group := 8 * len(s.tiles)
	for q := 0; q < k; q += blockDepth {
		d := min(blockDepth, k-q)
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
					if w < width {
						run(d, ap, 4*rowStride, 4*colStride, &bp[0], 4*bStride, &corner[0], 4*width, nil, 0)
						for r := range rows {
							store(c[(i+r)*ldc+j:][:w], corner[r*width:], from, (i+r)*ldf+j)
						}
						continue
					}
					var start *float32
					if from != nil {
						start = &from[i*ldf+j]
					}
					run(d, ap, 4*rowStride, 4*colStride, &bp[0], 4*bStride, &c[i*ldc+j], 4*ldc, start, 4*ldf)
				}
			}
		}
		from, ldf = c, ldc
	}
}

// store writes to dst the sum of src and, if it is there, of from on.
func store(dst, src, from []float32, at int) {
	if from == nil {
		copy(dst, src)
		return
	}
	for j := range dst {
		dst[j] = from[at+j] + src[j]
	}
}

// tile returns that of the next of so many rows, all of about equal height: a
// low one costs more a row.
func (s *assembly) tile(rows int) (rowsOf int, run tile) {
	tiles := (rows + len(s.tiles) - 1) / len(s.tiles)
	rows = (rows + tiles - 1) / tiles
	return rows, s.tiles[rows-1]
}
