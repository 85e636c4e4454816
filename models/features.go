package models

import (
	"math"
	"slices"

	"mldpbench/internal/kernel"
)

// rows are the feature vectors of examples, as the dual solver reads them.
// All sums run in index order without fused multiply-add, so that results are
// the same on every platform.
type rows interface {
	len() int
	width() int
	dot(i int, w []float64) float64    // w·x_i
	add(i int, a float64, w []float64) // w += a·x_i
}

// design is a matrix of features, a row per example, in whatever form makes its
// two products cheap.
type design interface {
	len() int
	width() int
	times(w, out []float64)       // out_i = w·x_i
	transposed(a, into []float64) // into += Σ a_i·x_i
}

// rowDesign takes the products row by row.
type rowDesign struct{ rows }

func (d rowDesign) times(w, out []float64) {
	for i := range out {
		out[i] = d.dot(i, w)
	}
}

func (d rowDesign) transposed(a, into []float64) {
	for i, v := range a {
		d.add(i, v, into)
	}
}

// packed is a matrix of sparse rows, and its transpose, in a form whose products are
// cheap: it costs as much to make as a few of them.
type packed struct {
	rows, columns int
	forward       *kernel.Sparse
	backward      *kernel.Sparse
}

// pack makes products with a matrix cheaper, to the bit, where many will be taken.
func pack(x design) design {
	switch x := x.(type) {
	case bags:
		return bags{documents: pack(x.documents), words: pack(x.words)}
	case rowDesign:
		r, sparse := x.rows.(sparseRows)
		if sparse {
			m := kernel.CSR{
				Width:   r.d,
				Start:   r.start,
				Columns: r.columns,
				Data:    r.data,
			}
			return packed{
				rows:     r.len(),
				columns:  r.d,
				forward:  m.Pack(),
				backward: m.Transposed().Pack(),
			}
		}
	}
	return x
}

func (p packed) len() int                     { return p.rows }
func (p packed) width() int                   { return p.columns }
func (p packed) transposed(a, into []float64) { p.backward.AddProducts(into, a) }

func (p packed) times(w, out []float64) {
	clear(out)
	p.forward.AddProducts(out, w)
}

// denseRows are n × d numbers, row-major.
type denseRows struct {
	d    int
	data []float32
}

func (r denseRows) len() int            { return len(r.data) / r.d }
func (r denseRows) width() int          { return r.d }
func (r denseRows) row(i int) []float32 { return r.data[i*r.d : (i+1)*r.d] }

// dot takes four independent sums, which hide the latency of the additions.
func (r denseRows) dot(i int, w []float64) float64 {
	var s0, s1, s2, s3 float64
	x := r.row(i)
	w = w[:len(x)]
	j := 0
	for ; j+4 <= len(x); j += 4 {
		a := x[j : j+4 : j+4]
		b := w[j : j+4 : j+4]
		s0 += float64(float64(a[0]) * b[0])
		s1 += float64(float64(a[1]) * b[1])
		s2 += float64(float64(a[2]) * b[2])
		s3 += float64(float64(a[3]) * b[3])
	}
	for ; j < len(x); j++ {
		s0 += float64(float64(x[j]) * w[j])
	}
	return (s0 + s1) + (s2 + s3)
}

func (r denseRows) add(i int, a float64, w []float64) {
	x := r.row(i)
	w = w[:len(x)]
	for j, v := range x {
		w[j] += float64(a * float64(v))
	}
}

// sparseRows are rows of few non-zero columns.
type sparseRows struct {
	d       int
	start   []int // row i is [start[i], start[i+1])
	columns []int32
	data    []float32
}

func (r sparseRows) len() int   { return len(r.start) - 1 }
func (r sparseRows) width() int { return r.d }

func (r sparseRows) dot(i int, w []float64) float64 {
	var s float64
	for k := r.start[i]; k < r.start[i+1]; k++ {
		s += float64(float64(r.data[k]) * w[r.columns[k]])
	}
	return s
}

func (r sparseRows) add(i int, a float64, w []float64) {
	for k := r.start[i]; k < r.start[i+1]; k++ {
		w[r.columns[k]] += float64(a * float64(r.data[k]))
	}
}

// dense are given vectors or the mean vectors of sequences, standardised on
// training examples.
type dense struct {
	embedding Embedding
	scaling   scaling
}

func learnDense(e Embedding, train Examples) *dense {
	return &dense{e, fitScaling(vectorsOf(e, train))}
}

func (p *dense) matrix(x Examples) design {
	d := vectorsOf(p.embedding, x)
	p.scaling.apply(d)
	return rowDesign{d}
}

// vectorsOf returns a copy of the vectors of examples: those given, or the mean of
// each sequence. A token without a vector (a zero row) does not count; the mean of
// such tokens only, or of none, is the zero vector.
func vectorsOf(e Embedding, x Examples) denseRows {
	if x.Vectors != nil {
		return denseRows{len(x.Vectors[0]), slices.Concat(x.Vectors...)}
	}
	d := e.Dimension
	known := make([]bool, e.Len())
	for i := range known {
		known[i] = nonzero(e.row(int32(i)))
	}
	out := denseRows{d, make([]float32, len(x.Sequences)*d)}
	sum := make([]float64, d)
	for i, s := range x.Sequences {
		clear(sum)
		n := 0
		for _, id := range s {
			if !known[id] {
				continue
			}
			n++
			for j, v := range e.row(id) {
				sum[j] += float64(v)
			}
		}
		if n > 0 {
			row := out.row(i)
			for j := range row {
				row[j] = float32(sum[j] / float64(n))
			}
		}
	}
	return out
}

func nonzero(v []float32) bool {
	return slices.ContainsFunc(v, func(x float32) bool { return x != 0 })
}

// scaling centres every column and divides it by its standard deviation times
// √d, so that rows have squared length 1 on average: C then means the same at
// every dimension and for every embedding.
type scaling struct{ Centre, Scale []float64 }

// fitScaling is that of rows, of which there is one at least. A constant column gets the scale 0: it carries no
// information.
func fitScaling(x denseRows) scaling {
	s := scaling{Centre: make([]float64, x.d), Scale: make([]float64, x.d)}
	n := float64(x.len())
	for i := range x.len() {
		for j, v := range x.row(i) {
			s.Centre[j] += float64(v)
		}
	}
	for j := range s.Centre {
		s.Centre[j] /= n
	}
	for i := range x.len() {
		for j, v := range x.row(i) {
			c := float64(v) - s.Centre[j]
			s.Scale[j] += float64(c * c)
		}
	}
	for j, squares := range s.Scale {
		s.Scale[j] = 0
		if squares > 0 {
			s.Scale[j] = 1 / math.Sqrt(squares/n*float64(x.d))
		}
	}
	return s
}

func (s scaling) apply(x denseRows) {
	for i := range x.len() {
		row := x.row(i)
		for j, v := range row {
			row[j] = float32((float64(v) - s.Centre[j]) * s.Scale[j])
		}
	}
}
