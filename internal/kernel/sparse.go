package kernel

import (
	"cmp"
	"fmt"
	"slices"
)

// stripRows is the number of rows of a strip.
const stripRows = 8

// Sparse is a matrix of few numbers that are not zero, packed for products with
// vectors: rows of about the same length lie side by side in strips, a step is a
// number of each of them, and shorter rows end in zeros. It is immutable.
type Sparse struct {
	width   int
	order   []int32 // of rows: those of a strip follow each other
	steps   []int   // of each strip
	columns []int32
	data    []float32
}

// CSR is a matrix in compressed sparse rows: row i has the numbers
// [Start[i], Start[i+1]) of Data in the columns that Columns says, in any order.
type CSR struct {
	Width   int
	Start   []int
	Columns []int32
	Data    []float32
}

// Transposed has the numbers of each row in the order of the rows of m.
func (m CSR) Transposed() CSR {
	t := CSR{
		Width:   len(m.Start) - 1,
		Start:   make([]int, m.Width+1),
		Columns: make([]int32, len(m.Columns)),
		Data:    make([]float32, len(m.Data)),
	}
	for _, c := range m.Columns {
		t.Start[c+1]++
	}
	for c := range m.Width {
		t.Start[c+1] += t.Start[c]
	}
	next := slices.Clone(t.Start)
	for i := range t.Width {
		for k := m.Start[i]; k < m.Start[i+1]; k++ {
			c := m.Columns[k]
			t.Columns[next[c]] = int32(i)
			t.Data[next[c]] = m.Data[k]
			next[c]++
		}
	}
	return t
}

// length is the number of numbers of a row.
func (m CSR) length(row int32) int { return m.Start[row+1] - m.Start[row] }

// Pack copies a matrix.
func (m CSR) Pack() *Sparse {
	for _, c := range m.Columns {
		if c < 0 || int(c) >= m.Width {
			panic(fmt.Sprintf("kernel: column %d of %d", c, m.Width))
		}
	}
	p := &Sparse{width: m.Width, order: make([]int32, len(m.Start)-1)}
	for i := range p.order {
		p.order[i] = int32(i)
	}
	slices.SortFunc(p.order, func(a, b int32) int {
		if m.length(a) != m.length(b) {
			return cmp.Compare(m.length(b), m.length(a))
		}
		return cmp.Compare(a, b)
	})
	numbers := 0
	for strip := range slices.Chunk(p.order, stripRows) {
		steps := m.length(strip[0])
		p.steps = append(p.steps, steps)
		numbers += stripRows * steps
	}
	p.columns = make([]int32, numbers)
	p.data = make([]float32, numbers)
	at := 0
	for s, steps := range p.steps {
		for lane, row := range p.order[stripRows*s : min(stripRows*(s+1), len(p.order))] {
			for k := range m.length(row) {
				p.columns[at+stripRows*k+lane] = m.Columns[m.Start[row]+k]
				p.data[at+stripRows*k+lane] = m.Data[m.Start[row]+k]
			}
		}
		at += stripRows * steps
	}
	return p
}

// AddProducts adds to to[i] the products of row i with from, one number after
// the other in the order in which the row has them, each product rounded before
// it is added: the same bits on every path, but for the sign of a zero. The
// numbers of from are finite.
func (p *Sparse) AddProducts(to, from []float64) {
	if len(to) != len(p.order) || len(from) != p.width {
		panic(fmt.Sprintf("kernel: product of %d × %d with %d numbers, into %d", len(p.order), p.width, len(from),
			len(to)))
	}
	assembly := simd().sparseStrip
	var sums [stripRows]float64
	at := 0
	for s, steps := range p.steps {
		if steps == 0 {
			break // so have all that follow
		}
		rows := p.order[stripRows*s : min(stripRows*(s+1), len(p.order))]
		for lane, row := range rows {
			sums[lane] = to[row]
		}
		numbers := stripRows * steps
		if assembly != nil {
			assembly(steps, &p.columns[at], &p.data[at], &from[0], &sums[0])
		} else {
			addStrip(p.columns[at:at+numbers], p.data[at:at+numbers], from, &sums)
		}
		at += numbers
		for lane, row := range rows {
			to[row] = sums[lane]
		}
	}
}

// addStrip adds the products of a strip: the specification of the assembly.
func addStrip(columns []int32, data []float32, from []float64, sums *[stripRows]float64) {
	for ; len(data) >= stripRows; data = data[stripRows:] {
		for lane := range sums {
			sums[lane] += float64(float64(data[lane]) * from[columns[lane]])
		}
		columns = columns[stripRows:]
	}
}
