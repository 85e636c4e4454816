package models

import "math"

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

// denseRows are n × d numbers, row-major.
type denseRows struct {
	d    int
	data []float32
}

func (r denseRows) len() int            { return len(r.data) / r.d }
func (r denseRows) width() int          { return r.d }
func (r denseRows) row(i int) []float32 { return r.data[i*r.d : (i+1)*r.d] }

func (r denseRows) dot(i int, w []float64) float64 {
	// Four independent sums hide the latency of the additions.
	var s0, s1, s2, s3 float64
	x := r.row(i)
	w = w[:len(x)]
	j := 0
	for ; j+4 <= len(x); j += 4 {
		a, b := x[j:j+4:j+4], w[j:j+4:j+4]
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

// meanVectors averages the vectors of each sequence. A token without a vector
// (a zero row) does not count; a sequence of such tokens only, or of none, is
// the zero vector.
func meanVectors(e Embedding, sequences [][]int32) denseRows {
	d := e.Dimension
	known := make([]bool, e.Len())
	for i, v := range e.Vectors {
		if v != 0 {
			known[i/d] = true
		}
	}
	out := denseRows{d, make([]float32, len(sequences)*d)}
	sum := make([]float64, d)
	for i, s := range sequences {
		clear(sum)
		n := 0
		for _, id := range s {
			if !known[id] {
				continue
			}
			n++
			for j, v := range e.Vectors[int(id)*d : (int(id)+1)*d] {
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

func stack(vectors [][]float32) denseRows {
	r := denseRows{d: len(vectors[0])}
	for _, v := range vectors {
		r.data = append(r.data, v...)
	}
	return r
}

// scaling centres every column and divides it by its standard deviation times
// √d, so that rows have squared length 1 on average: C then means the same at
// every dimension and for every embedding.
type scaling struct{ Centre, Scale []float64 }

func fitScaling(x denseRows) scaling {
	s := scaling{make([]float64, x.d), make([]float64, x.d)}
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
	for j, ss := range s.Scale {
		s.Scale[j] = 0 // a constant column carries no information
		if ss > 0 {
			s.Scale[j] = 1 / math.Sqrt(ss/n*float64(x.d))
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

// inverseDocumentFrequency returns the smoothed ln((1+n)/(1+df)) + 1 of every
// token seen in training, 0 for any other.
func inverseDocumentFrequency(sequences [][]int32) []float64 {
	var df []float64
	var last []int // 1 + the last document a token was counted in
	for i, s := range sequences {
		for _, id := range s {
			for int(id) >= len(df) {
				df, last = append(df, 0), append(last, 0)
			}
			if last[id] != i+1 {
				last[id] = i + 1
				df[id]++
			}
		}
	}
	for id, f := range df {
		if f > 0 {
			df[id] = math.Log((1+float64(len(sequences)))/(1+f)) + 1
		}
	}
	return df
}

// tfidf weighs term counts by idf and scales rows to length 1. Columns come
// in the order of their first occurrence in the sequence.
func tfidf(idf []float64, sequences [][]int32) sparseRows {
	out := sparseRows{d: len(idf), start: make([]int, 1, len(sequences)+1)}
	count := make([]float64, len(idf))
	for _, s := range sequences {
		first := len(out.columns)
		for _, id := range s {
			if int(id) >= len(idf) || idf[id] == 0 {
				continue
			}
			if count[id] == 0 {
				out.columns = append(out.columns, id)
			}
			count[id]++
		}
		var square float64
		for _, id := range out.columns[first:] {
			v := count[id] * idf[id]
			square += float64(v * v)
		}
		for _, id := range out.columns[first:] {
			out.data = append(out.data, float32(count[id]*idf[id]/math.Sqrt(square)))
			count[id] = 0
		}
		out.start = append(out.start, len(out.columns))
	}
	return out
}
