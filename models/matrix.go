package models

import "mldpbench/internal/kernel"

// float is the arithmetic a network can be built in: float32 is for training, float64 for checking derivatives against
// differences.
type float interface{ float32 | float64 }

// rowOf is a row of a matrix.
func rowOf[T float](m kernel.Matrix[T], i int) []T { return m.Data[i*m.Stride:][:m.Columns] }

// rowsOf are the rows of a matrix in [from, to). Of a dense one, Data ends after the last of them.
func rowsOf[T float](m kernel.Matrix[T], from, to int) kernel.Matrix[T] {
	if from < to {
		m.Data = m.Data[from*m.Stride : (to-1)*m.Stride+m.Columns]
	}
	m.Rows = to - from
	return m
}

// columnsOf are the columns of a matrix in [from, to).
func columnsOf[T float](m kernel.Matrix[T], from, to int) kernel.Matrix[T] {
	m.Data = m.Data[from:]
	m.Columns = to - from
	return m
}

// resized is a dense matrix in the memory of m where that is large enough. Its numbers are not set.
func resized[T float](m kernel.Matrix[T], rows, columns int) kernel.Matrix[T] {
	return kernel.Dense(grow(m.Data, rows*columns), rows, columns)
}

// grow returns a slice of n numbers, reusing s where it is large enough; some room more saves most of the pages that a
// batch with more words would touch first.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}

// add adds src to dst, number by number.
func add[T float](dst, src []T) {
	for i, x := range src {
		dst[i] += x
	}
}

// magnitude is the largest absolute value, 0 of no numbers.
func magnitude[T float](x []T) T {
	var m T
	for _, v := range x {
		m = max(m, v, -v)
	}
	return m
}

// transpose writes x, m × n, as n × m to the dense matrix dst, in blocks that stay in cache.
func transpose[T float](dst, x kernel.Matrix[T]) {
	const block = 16
	for first := 0; first < x.Columns; first += block {
		last := min(first+block, x.Columns)
		for i := range x.Rows {
			for j, v := range rowOf(x, i)[first:last] {
				dst.Data[(first+j)*x.Rows+i] = v
			}
		}
	}
}
