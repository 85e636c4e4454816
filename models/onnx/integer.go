package onnx

import "math"

func (t *Tensor) floats() []float32 { return t.F }
func (t *Tensor) integers() []int64 { return t.I }
func isTrue(ok bool) int64          { return map[bool]int64{true: 1}[ok] }

// pairs computes f of two tensors of one type, number by number.
func pairs[T, R any](r *run, kind Type, a, b *Tensor, of func(*Tensor) []T, to func(*Tensor) []R,
	f func(a, b T) R) *Tensor {
	shape := broadcast(a.Shape, b.Shape)
	out := r.make(kind, shape...)
	dims, strides := collapse(shape, denseStrides(shape), a.stretched(shape), b.stretched(shape))
	last := len(dims) - 1
	x, y, dst := of(a), of(b), to(out)
	eachRow(dims, strides, func(offsets []int) {
		i, j := offsets[1], offsets[2]
		for k := range dims[last] {
			dst[offsets[0]+k] = f(x[i], y[j])
			i, j = i+strides[1][last], j+strides[2][last]
		}
	})
	return out
}

// integerOps are the operations on two integers or truth values.
var integerOps = map[string]func(a, b int64) int64{
	"Add": func(a, b int64) int64 { return a + b },
	"Sum": func(a, b int64) int64 { return a + b },
	"Sub": func(a, b int64) int64 { return a - b },
	"Mul": func(a, b int64) int64 { return a * b },
	"Div": func(a, b int64) int64 { return a / b },
	"Max": func(a, b int64) int64 { return max(a, b) },
	"Min": func(a, b int64) int64 { return min(a, b) },
	"And": func(a, b int64) int64 { return a & b },
	"Or":  func(a, b int64) int64 { return a | b },
	"Pow": func(a, b int64) int64 { return int64(math.Pow(float64(a), float64(b))) },
}

// integers runs an elementwise operation on integers.
func (r *run) integers(n *node, in []*Tensor) *Tensor {
	if f, ok := integerOps[n.op]; ok {
		out := in[0]
		for _, t := range in[1:] {
			if t.Type == Float {
				fail("an integer and a float")
			}
			out = pairs(r, in[0].Type, out, t, (*Tensor).integers, (*Tensor).integers, f)
		}
		return out
	}
	var f func(int64) int64
	switch n.op {
	case "Neg":
		f = func(x int64) int64 { return -x }
	case "Abs":
		f = func(x int64) int64 { return max(x, -x) }
	case "Not":
		f = func(x int64) int64 { return 1 - x }
	case "Relu":
		f = func(x int64) int64 { return max(x, 0) }
	case "Clip":
		low, high := int64(math.MinInt64), int64(math.MaxInt64)
		for i, bound := range []*int64{&low, &high} {
			if i+1 < len(in) && in[i+1] != nil {
				*bound = in[i+1].I[0]
			}
		}
		f = func(x int64) int64 { return min(max(x, low), high) }
	default:
		fail("of integers")
	}
	x := r.dense(in[0])
	out := r.make(x.Type, x.Shape...)
	for i, v := range x.I {
		out.I[i] = f(v)
	}
	return out
}

// compare returns the operation for a comparison of a and b.
func compare(order func(less, equal bool) bool) func(r *run, n *node, in []*Tensor) []*Tensor {
	return func(r *run, n *node, in []*Tensor) []*Tensor {
		if in[0].Type == Float && in[1].Type == Float {
			return []*Tensor{pairs(r, Bool, in[0], in[1], (*Tensor).floats, (*Tensor).integers,
				func(a, b float32) int64 { return isTrue(order(a < b, a == b) && a == a && b == b) })}
		}
		if in[0].Type == Float || in[1].Type == Float {
			fail("a float and an integer")
		}
		return []*Tensor{pairs(r, Bool, in[0], in[1], (*Tensor).integers, (*Tensor).integers,
			func(a, b int64) int64 { return isTrue(order(a < b, a == b)) })}
	}
}

func isNaN(r *run, _ *node, in []*Tensor) []*Tensor {
	x := r.dense(in[0])
	out := r.make(Bool, x.Shape...)
	for i, v := range x.F {
		out.I[i] = isTrue(v != v)
	}
	return []*Tensor{out}
}

// where picks from two tensors by a third.
func where(r *run, _ *node, in []*Tensor) []*Tensor {
	shape := broadcast(in[0].Shape, in[1].Shape, in[2].Shape)
	if in[1].Type != in[2].Type {
		fail("a choice of %v and %v", in[1].Type, in[2].Type)
	}
	out := r.make(in[1].Type, shape...)
	dims, strides := collapse(shape, denseStrides(shape), in[0].stretched(shape), in[1].stretched(shape),
		in[2].stretched(shape))
	if out.Type == Float {
		choose(dims, strides, out.F, in[0].I, in[1].F, in[2].F)
	} else {
		choose(dims, strides, out.I, in[0].I, in[1].I, in[2].I)
	}
	return []*Tensor{out}
}

func choose[T any](dims []int, strides [][]int, dst []T, condition []int64, yes, no []T) {
	last := len(dims) - 1
	eachRow(dims, strides, func(offsets []int) {
		c, y, z := offsets[1], offsets[2], offsets[3]
		for k := range dims[last] {
			if condition[c] != 0 {
				dst[offsets[0]+k] = yes[y]
			} else {
				dst[offsets[0]+k] = no[z]
			}
			c, y, z = c+strides[1][last], y+strides[2][last], z+strides[3][last]
		}
	})
}

func cast(r *run, n *node, in []*Tensor) []*Tensor {
	kind, err := typeOf(n.int("to", 0))
	if err != nil {
		fail("%v", err)
	}
	x := in[0]
	if x.Type == kind || x.Type == Bool && kind == Int {
		y := *x
		y.Type = kind
		return []*Tensor{&y}
	}
	x = r.dense(x)
	out := r.make(kind, x.Shape...)
	switch {
	case kind == Float:
		for i, v := range x.I {
			out.F[i] = float32(v)
		}
	case kind == Bool && x.Type == Float:
		for i, v := range x.F {
			out.I[i] = isTrue(v != 0)
		}
	case kind == Bool:
		for i, v := range x.I {
			out.I[i] = isTrue(v != 0)
		}
	default:
		for i, v := range x.F {
			out.I[i] = int64(v)
		}
	}
	return []*Tensor{out}
}
