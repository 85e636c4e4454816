package onnx

import (
	"slices"

	"mldpbench/internal/kernel"
)

// packedMatMul multiplies by a constant matrix.
func packedMatMul(r *run, n *node, in []*Tensor) []*Tensor {
	p := n.prepared.(*kernel.Packed)
	x := r.dense(in[0])
	rank := len(x.Shape)
	if rank == 0 || x.Shape[rank-1] != p.Rows() || x.Type != Float {
		fail("shape %v for a matrix of %d × %d", x.Shape, p.Rows(), p.Columns())
	}
	shape := slices.Clone(x.Shape)
	shape[rank-1] = p.Columns()
	out := r.make(Float, shape...)
	p.Multiply(product(shape[:rank-1]), x.F, out.F)
	return []*Tensor{out}
}

// matMul multiplies two stacks of matrices, numpy's matmul.
func matMul(r *run, _ *node, in []*Tensor) []*Tensor {
	a, b := in[0], in[1]
	if a.Type != Float || b.Type != Float || len(a.Shape) == 0 || len(b.Shape) == 0 {
		fail("shapes %v and %v of %v and %v", a.Shape, b.Shape, a.Type, b.Type)
	}
	vectorA, vectorB := len(a.Shape) == 1, len(b.Shape) == 1
	if vectorA {
		a = r.reshaped(a, []int{1, a.Shape[0]})
	}
	if vectorB {
		b = r.reshaped(b, []int{b.Shape[0], 1})
	}
	ra, rb := len(a.Shape), len(b.Shape)
	m, k, columns := a.Shape[ra-2], a.Shape[ra-1], b.Shape[rb-1]
	if b.Shape[rb-2] != k {
		fail("shapes %v and %v", a.Shape, b.Shape)
	}
	batch := broadcast(a.Shape[:ra-2], b.Shape[:rb-2])
	a, transA, lda := r.matrices(a)
	b, transB, ldb := r.matrices(b)
	out := r.make(Float, append(slices.Clone(batch), m, columns)...)
	lead := func(t *Tensor) []int {
		all := t.steps()
		head := &Tensor{Shape: t.Shape[:len(t.Shape)-2], strides: all[:len(all)-2]}
		return append(head.stretched(batch), 0)
	}
	at := 0
	eachRow(append(slices.Clone(batch), 1), [][]int{lead(a), lead(b)}, func(offsets []int) {
		kernel.Gemm(transA, transB, m, columns, k, 1, a.F[offsets[0]:], lda, b.F[offsets[1]:], ldb, 0,
			out.F[at:at+m*columns], columns)
		at += m * columns
	})
	if vectorA || vectorB {
		shape := slices.Clone(batch)
		if !vectorA {
			shape = append(shape, m)
		}
		if !vectorB {
			shape = append(shape, columns)
		}
		out = out.view(0, shape, denseStrides(shape))
	}
	return []*Tensor{out}
}

// matrices returns the last two dimensions of t as kernel.Gemm takes them,
// copied where neither rows nor columns are dense.
func (r *run) matrices(t *Tensor) (_ *Tensor, transposed bool, stride int) {
	s, rank := t.steps(), len(t.Shape)
	rows, columns := t.Shape[rank-2], t.Shape[rank-1]
	switch row, column := s[rank-2], s[rank-1]; {
	case (column == 1 || columns == 1) && (row >= columns || rows == 1):
		return t, false, max(row, columns)
	case (row == 1 || rows == 1) && column >= rows:
		return t, true, column
	}
	return r.dense(t), false, columns
}

// gemm is α·op(A)·op(B) + β·C for operands that are not constants.
func gemm(r *run, n *node, in []*Tensor) []*Tensor {
	flip := func(t *Tensor, name string) *Tensor {
		if len(t.Shape) != 2 || t.Type != Float {
			fail("an operand of shape %v", t.Shape)
		}
		if n.int(name, 0) == 0 {
			return t
		}
		s := t.steps()
		return t.view(0, []int{t.Shape[1], t.Shape[0]}, []int{s[1], s[0]})
	}
	out := matMul(r, n, []*Tensor{flip(in[0], "transA"), flip(in[1], "transB")})[0]
	alpha, beta := []float32{n.float("alpha", 1)}, []float32{n.float("beta", 1)}
	if alpha[0] != 1 {
		kernel.Combine(kernel.Multiply, out.F, out.F, alpha)
	}
	if len(in) < 3 || in[2] == nil {
		return []*Tensor{out}
	}
	c := r.dense(in[2].view(0, out.Shape, in[2].stretched(broadcast(out.Shape, in[2].Shape))))
	scaled := make([]float32, len(c.F))
	kernel.Combine(kernel.Multiply, scaled, c.F, beta)
	kernel.Combine(kernel.Add, out.F, out.F, scaled)
	return []*Tensor{out}
}
