package onnx

import (
	"math"
	"slices"

	"mldpbench/internal/kernel"
)

// reduce runs ReduceSum and its kin.
func reduce(r *run, n *node, in []*Tensor) []*Tensor {
	x := in[0]
	axes := r.list(n, in, 1, "axes")
	drop := make([]bool, len(x.Shape))
	for _, a := range axes {
		drop[axis(a, len(x.Shape))] = true
	}
	if len(axes) == 0 {
		if n.int("noop_with_empty_axes", 0) != 0 {
			return in[:1]
		}
		for i := range drop {
			drop[i] = true
		}
	}
	// Reduced dimensions in the middle: outer × count × inner.
	var outer, reduced, inner []int
	for i := range x.Shape {
		switch {
		case drop[i]:
			reduced = append(reduced, i)
		case len(reduced) == 0:
			outer = append(outer, i)
		default:
			inner = append(inner, i)
		}
	}
	order := slices.Concat(outer, reduced, inner)
	shape, strides, old := make([]int, len(order)), make([]int, len(order)), x.steps()
	for i, from := range order {
		shape[i], strides[i] = x.Shape[from], old[from]
	}
	x = r.dense(x.view(0, shape, strides))
	result := []int{}
	for i, d := range in[0].Shape {
		switch {
		case !drop[i]:
			result = append(result, d)
		case n.int("keepdims", 1) != 0:
			result = append(result, 1)
		}
	}
	a, b := len(outer), len(outer)+len(reduced)
	out := r.make(x.Type, result...)
	count, width := product(shape[a:b]), product(shape[b:])
	if x.Type == Float {
		reduceFloats(n.op, out.F, x.F, count, width)
	} else {
		reduceIntegers(n.op, out.I, x.I, count, width)
	}
	return []*Tensor{out}
}

// reduceFloats reduces count rows of width numbers to one, over and over.
func reduceFloats(op string, dst, src []float32, count, width int) {
	o := kernel.Add
	switch op {
	case "ReduceMax":
		o = kernel.Larger
	case "ReduceMin":
		o = kernel.Smaller
	case "ReduceProd":
		o = kernel.Multiply
	}
	square := op == "ReduceL2" || op == "ReduceSumSquare"
	space := make([]float32, width)
	for at := 0; at < len(dst); at += width {
		row, all := dst[at:at+width], src[:count*width]
		src = src[count*width:]
		switch {
		case width == 1 && square:
			row[0] = squares(all, make([]float32, len(all)))
		case width == 1 && o == kernel.Add:
			row[0] = kernel.Sum(all)
		case count == 0:
			clear(row)
		default:
			for i := range count {
				next := all[i*width : (i+1)*width]
				if square {
					kernel.Combine(kernel.Multiply, space, next, next)
					next = space
				}
				if i == 0 {
					copy(row, next)
				} else {
					kernel.Combine(o, row, row, next)
				}
			}
		}
		switch op {
		case "ReduceMean":
			kernel.Combine(kernel.Divide, row, row, []float32{float32(count)})
		case "ReduceL2":
			functions["Sqrt"](row, row)
		}
	}
}

func reduceIntegers(op string, dst, src []int64, count, width int) {
	f, ok := integerOps[map[string]string{"ReduceSum": "Add", "ReduceProd": "Mul", "ReduceMax": "Max",
		"ReduceMin": "Min"}[op]]
	if !ok || count == 0 {
		fail("of %d integers", count)
	}
	for i := range dst {
		first := i/width*count*width + i%width
		dst[i] = src[first]
		for c := 1; c < count; c++ {
			dst[i] = f(dst[i], src[first+c*width])
		}
	}
}

// along runs f over the vectors along an axis, which are made dense, and
// returns a tensor of the same shape.
func (r *run) along(n *node, in []*Tensor, a int, f func(dst, src []float32)) *Tensor {
	x := in[0]
	if x.Type != Float {
		fail("of %vs", x.Type)
	}
	last := len(x.Shape) - 1
	swap := func(t *Tensor) *Tensor {
		if a == last {
			return t
		}
		shape, strides := slices.Clone(t.Shape), slices.Clone(t.steps())
		shape[a], shape[last] = shape[last], shape[a]
		strides[a], strides[last] = strides[last], strides[a]
		return t.view(0, shape, strides)
	}
	var out *Tensor
	if a == last && r.reusable(n, in, 0) {
		out = &Tensor{Type: Float, Shape: x.Shape, F: x.F, owner: x.owner}
	} else {
		x = r.dense(swap(x))
		out = r.make(Float, x.Shape...)
	}
	length := x.Shape[last]
	for at := 0; at < len(x.F); at += length {
		f(out.F[at:at+length], x.F[at:at+length])
	}
	return swap(out)
}

func softmax(r *run, n *node, in []*Tensor) []*Tensor {
	otherwise := int64(-1)
	if r.m.graph.opset < 13 {
		otherwise = 1
	}
	a := axis(n.int("axis", otherwise), len(in[0].Shape))
	if r.m.graph.opset < 13 && a != len(in[0].Shape)-1 {
		fail("over axis %d and those after it together", a)
	}
	one := make([]float32, 1)
	return []*Tensor{r.along(n, in, a, func(dst, src []float32) {
		one[0] = kernel.Largest(src)
		kernel.Combine(kernel.Subtract, dst, src, one)
		if n.op == "LogSoftmax" {
			space := make([]float32, len(dst))
			kernel.Exp(space, dst)
			one[0] = float32(math.Log(float64(kernel.Sum(space))))
			kernel.Combine(kernel.Subtract, dst, dst, one)
			return
		}
		kernel.Exp(dst, dst)
		one[0] = 1 / kernel.Sum(dst)
		kernel.Combine(kernel.Multiply, dst, dst, one)
	})}
}

// layerNorm is Ba, Kiros & Hinton 2016 over the last dimension.
func layerNorm(r *run, n *node, in []*Tensor) []*Tensor {
	x := in[0]
	last := len(x.Shape) - 1
	if axis(n.int("axis", -1), last+1) != last || len(n.out) > 1 {
		fail("over several dimensions, or with mean and deviation as outputs")
	}
	length := x.Shape[last]
	scale := r.dense(in[1]).F
	var bias []float32
	if len(in) > 2 && in[2] != nil {
		bias = r.dense(in[2]).F
	}
	if len(scale) != length || bias != nil && len(bias) != length {
		fail("scale of %d and bias of %d numbers for %d", len(scale), len(bias), length)
	}
	epsilon, one := float64(n.float("epsilon", 1e-5)), make([]float32, 1)
	space := make([]float32, length)
	return []*Tensor{r.along(n, in, last, func(dst, src []float32) {
		one[0] = kernel.Sum(src) / float32(length)
		kernel.Combine(kernel.Subtract, dst, src, one)
		variance := float64(squares(dst, space)) / float64(length)
		one[0] = float32(1 / math.Sqrt(variance+epsilon))
		kernel.Combine(kernel.Multiply, dst, dst, one)
		kernel.Combine(kernel.Multiply, dst, dst, scale)
		if bias != nil {
			kernel.Combine(kernel.Add, dst, dst, bias)
		}
	})}
}

func cumSum(r *run, n *node, in []*Tensor) []*Tensor {
	x := r.dense(in[0])
	a := axis(in[1].I[0], len(x.Shape))
	if n.int("exclusive", 0) != 0 || n.int("reverse", 0) != 0 {
		fail("exclusive or reverse")
	}
	out := r.make(x.Type, x.Shape...)
	out.put(0, x, 0, x.Size())
	length, inner := x.Shape[a], product(x.Shape[a+1:])
	for at := range x.Size() {
		switch {
		case at/inner%length == 0:
		case x.Type == Float:
			out.F[at] += out.F[at-inner]
		default:
			out.I[at] += out.I[at-inner]
		}
	}
	return []*Tensor{out}
}

// squares is Σ xᵢ², by way of space, which is as long as x.
func squares(x, space []float32) float32 {
	kernel.Combine(kernel.Multiply, space, x, x)
	return kernel.Sum(space)
}
