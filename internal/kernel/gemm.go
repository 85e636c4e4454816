package kernel

import (
	"fmt"
	"sync"
)

// A Matrix is row-major: row i is Data[i·Stride:][:Columns]. Data may go on after its last row.
type Matrix[T float32 | float64] struct {
	Data                  []T
	Rows, Columns, Stride int
}

// Dense is a matrix without gaps between its rows, at the start of data.
func Dense[T float32 | float64](data []T, rows, columns int) Matrix[T] {
	return Matrix[T]{
		Data:    data,
		Rows:    rows,
		Columns: columns,
		Stride:  columns,
	}
}

// Product computes C = A·B, with A m × k, B k × n and C m × n. C must not overlap A or B.
//
// The error is that of a float32 sum in any order: k·2⁻²⁴·Σ|aᵢₚ·bₚⱼ|.
func Product(c, a, b Matrix[float32]) {
	checkProduct(c, a, b, a.Rows, a.Columns)
	product(c, operand{a.Data, a.Stride, 1}, b, Matrix[float32]{})
}

// AddTransposedProduct adds Aᵀ·B to C, with A k × m, B k × n and C m × n. C must not overlap A or B. The error is
// that of Product.
func AddTransposedProduct(c, a, b Matrix[float32]) {
	checkProduct(c, a, b, a.Columns, a.Rows)
	product(c, operand{a.Data, 1, a.Stride}, b, c)
}

// checkProduct panics unless the shapes are those of a product whose first factor, as it is multiplied, is m × k.
func checkProduct(c, a, b Matrix[float32], m, k int) {
	a.check("A")
	b.check("B")
	c.check("C")
	if b.Rows != k || c.Rows != m || c.Columns != b.Columns {
		panic(fmt.Sprintf("kernel: %d × %d is no product of %d × %d and %d × %d", c.Rows, c.Columns, m, k, b.Rows,
			b.Columns))
	}
}

// check panics unless the data has room for the matrix of that name.
func (x Matrix[T]) check(name string) {
	if x.Rows < 0 ||
		x.Columns < 0 ||
		x.Stride < x.Columns ||
		x.Rows > 0 && x.Columns > 0 && len(x.Data) < (x.Rows-1)*x.Stride+x.Columns {
		panic(fmt.Sprintf("kernel: %s: %d numbers, stride %d, for %d × %d", name, len(x.Data), x.Stride, x.Rows,
			x.Columns))
	}
}

// An operand is the first factor of a product, as it is or transposed: its element i, q is
// data[i·rowStride+q·columnStride].
type operand struct {
	data                    []float32
	rowStride, columnStride int
}

// referenceProduct is the specification of product.
func referenceProduct(c Matrix[float32], a operand, b, from Matrix[float32]) {
	for i := range c.Rows {
		row := c.Data[i*c.Stride : i*c.Stride+c.Columns]
		if from.Data == nil {
			clear(row)
		} else {
			copy(row, from.Data[i*from.Stride:])
		}
		for q := range b.Rows {
			x := a.data[i*a.rowStride+q*a.columnStride]
			for j, y := range b.Data[q*b.Stride : q*b.Stride+b.Columns] {
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

// product writes C = A·B + F, F being 0 where it has no data; it may be C, and rows of it that are 0 apart are one.
// It goes over blocks along k, and in each over groups of so many rows that they stay in the second cache while all
// panels of B pass.
func product(c Matrix[float32], a operand, b, from Matrix[float32]) {
	if c.Rows == 0 || c.Columns == 0 {
		return
	}
	s := simd()
	if s.lanes == 0 || b.Rows == 0 {
		referenceProduct(c, a, b, from)
		return
	}
	p := tiledProduct{
		assembly: s,
		c:        c,
		a:        a,
		b:        b,
		from:     from,
	}
	if c.Columns%s.tileWidth > 0 {
		buffer := buffers.Get().(*[]float32)
		defer buffers.Put(buffer)
		*buffer = resized(*buffer, (blockDepth+len(s.tiles))*s.tileWidth)
		p.panel = (*buffer)[:blockDepth*s.tileWidth]
		p.corner = (*buffer)[blockDepth*s.tileWidth:]
	}
	group := 8 * len(s.tiles)
	for p.first = 0; p.first < b.Rows; p.first += blockDepth {
		p.depth = min(blockDepth, b.Rows-p.first)
		for row := 0; row < c.Rows; row += group {
			p.rows(row, min(row+group, c.Rows))
		}
		p.from = c
	}
}

// tiledProduct is a product on its way through one block along k.
type tiledProduct struct {
	*assembly
	c       Matrix[float32]
	a       operand
	b, from Matrix[float32]

	first, depth  int       // of the block: columns of A, rows of B
	panel, corner []float32 // the last panel of B, zero-padded, and its tile of C, where it is narrower than a tile
}

// rows computes some rows of C, panel by panel of B.
func (p *tiledProduct) rows(first, last int) {
	n := p.c.Columns
	whole := n - n%p.tileWidth
	for column := 0; column < whole; column += p.tileWidth {
		p.wholePanel(first, last, column)
	}
	if whole < n {
		p.narrowPanel(first, last, whole)
	}
}

// wholePanel computes some rows of the columns of C that a tile has, in place.
func (p *tiledProduct) wholePanel(first, last, column int) {
	panel := &p.b.Data[p.first*p.b.Stride+column]
	for i := first; i < last; {
		rows, run := p.tile(last - i)
		var start *float32
		if p.from.Data != nil {
			start = &p.from.Data[i*p.from.Stride+column]
		}
		run(p.depth, &p.a.data[i*p.a.rowStride+p.first*p.a.columnStride], 4*p.a.rowStride, 4*p.a.columnStride,
			panel, 4*p.b.Stride, &p.c.Data[i*p.c.Stride+column], 4*p.c.Stride, start, 4*p.from.Stride)
		i += rows
	}
}

// narrowPanel computes some rows of the columns of C from the given one on, which are fewer than a tile has: B is
// packed, and a tile is copied to C as far as C goes.
func (p *tiledProduct) narrowPanel(first, last, column int) {
	width := p.tileWidth
	for q := range p.depth {
		row := p.panel[q*width : (q+1)*width]
		at := (p.first+q)*p.b.Stride + column
		copied := copy(row, p.b.Data[at:at+p.c.Columns-column])
		clear(row[copied:])
	}
	for i := first; i < last; {
		rows, run := p.tile(last - i)
		run(p.depth, &p.a.data[i*p.a.rowStride+p.first*p.a.columnStride], 4*p.a.rowStride, 4*p.a.columnStride,
			&p.panel[0], 4*width, &p.corner[0], 4*width, nil, 0)
		for r := range rows {
			row := p.c.Data[(i+r)*p.c.Stride:][column:p.c.Columns]
			store(row, p.corner[r*width:], p.from.Data, (i+r)*p.from.Stride+column)
		}
		i += rows
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
