package onnx

import (
	"math"
	"slices"
)

// axis returns a valid index of one of rank dimensions.
func axis(a int64, rank int) int {
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		fail("axis %d of %d dimensions", a, rank)
	}
	return int(a)
}

// list returns the integers of an operand, or of an attribute in older
// versions of ONNX; nil where neither is there.
func (r *run) list(n *node, in []*Tensor, i int, attribute string) []int64 {
	if i < len(in) && in[i] != nil {
		if in[i].Type == Float {
			fail("operand %d must be integers", i)
		}
		return r.dense(in[i]).I
	}
	return n.attrs[attribute].ints
}

func sizes(dims []int64) []int {
	out, size := make([]int, len(dims)), 1
	for i, d := range dims {
		if d < 0 || d > math.MaxInt32 || d > 0 && size > maxElements/int(d) {
			fail("a shape of %v", dims)
		}
		out[i] = int(d)
		size *= int(d)
	}
	return out
}

func shapeOf(_ *run, n *node, in []*Tensor) []*Tensor {
	rank := int64(len(in[0].Shape))
	bound := func(name string, otherwise int64) int64 {
		v := n.int(name, otherwise)
		if v < 0 {
			v += rank
		}
		return min(max(v, 0), rank)
	}
	start, end := bound("start", 0), bound("end", rank)
	out := &Tensor{Type: Int, Shape: []int{int(max(0, end-start))}, I: []int64{}}
	for _, d := range in[0].Shape[start:max(start, end)] {
		out.I = append(out.I, int64(d))
	}
	return []*Tensor{out}
}

func reshape(r *run, n *node, in []*Tensor) []*Tensor {
	to := slices.Clone(r.list(n, in, 1, "shape"))
	unknown, size := -1, 1
	for i, d := range to {
		switch {
		case d == 0 && n.int("allowzero", 0) == 0:
			to[i] = int64(in[0].Shape[i])
		case d == -1 && unknown < 0:
			unknown = i
			continue
		}
		if to[i] < 0 || to[i] > math.MaxInt32 || to[i] > 0 && size > maxElements/int(to[i]) {
			fail("a shape of %v", to)
		}
		size *= int(to[i])
	}
	if unknown >= 0 {
		if size == 0 || in[0].Size()%size != 0 {
			fail("shape %v for %v", to, in[0].Shape)
		}
		to[unknown] = int64(in[0].Size() / size)
	}
	return []*Tensor{r.reshaped(in[0], sizes(to))}
}

func flatten(r *run, n *node, in []*Tensor) []*Tensor {
	a := n.int("axis", 1)
	if a < 0 {
		a += int64(len(in[0].Shape))
	}
	return []*Tensor{r.reshaped(in[0], []int{product(in[0].Shape[:a]), product(in[0].Shape[a:])})}
}

func transpose(_ *run, n *node, in []*Tensor) []*Tensor {
	x := in[0]
	rank := len(x.Shape)
	perm := n.attrs["perm"].ints
	if perm == nil {
		for i := range rank {
			perm = append(perm, int64(rank-1-i))
		}
	}
	if len(perm) != rank {
		fail("perm %v for shape %v", perm, x.Shape)
	}
	shape, strides, old := make([]int, rank), make([]int, rank), x.steps()
	seen := make([]bool, rank)
	for i, p := range perm {
		from := axis(p, rank)
		if seen[from] {
			fail("perm %v", perm)
		}
		seen[from], shape[i], strides[i] = true, x.Shape[from], old[from]
	}
	return []*Tensor{x.view(0, shape, strides)}
}

func unsqueeze(r *run, n *node, in []*Tensor) []*Tensor {
	x := in[0]
	axes := r.list(n, in, 1, "axes")
	rank := len(x.Shape) + len(axes)
	added := make([]bool, rank)
	for _, a := range axes {
		added[axis(a, rank)] = true
	}
	shape, strides, old, from := make([]int, rank), make([]int, rank), x.steps(), 0
	for i := range shape {
		if added[i] {
			shape[i] = 1
			continue
		}
		shape[i], strides[i] = x.Shape[from], old[from]
		from++
	}
	return []*Tensor{r.kept(x, shape, strides)}
}

func squeeze(r *run, n *node, in []*Tensor) []*Tensor {
	x := in[0]
	axes := r.list(n, in, 1, "axes")
	drop := make([]bool, len(x.Shape))
	for _, a := range axes {
		i := axis(a, len(x.Shape))
		if x.Shape[i] != 1 {
			fail("axis %d of shape %v has more than one", a, x.Shape)
		}
		drop[i] = true
	}
	shape, strides, old := []int{}, []int{}, x.steps()
	for i, d := range x.Shape {
		if drop[i] || axes == nil && d == 1 {
			continue
		}
		shape, strides = append(shape, d), append(strides, old[i])
	}
	return []*Tensor{r.kept(x, shape, strides)}
}

// kept is a view of the same elements with dimensions of size 1 added or left
// out.
func (r *run) kept(x *Tensor, shape, strides []int) *Tensor {
	if x.strides == nil {
		strides = denseStrides(shape)
	}
	return x.view(0, shape, strides)
}

func expand(r *run, n *node, in []*Tensor) []*Tensor {
	shape := broadcast(in[0].Shape, sizes(r.list(n, in, 1, "")))
	if slices.Equal(shape, in[0].Shape) {
		return in[:1]
	}
	to := make([]int64, len(shape))
	for i, d := range shape {
		to[i] = int64(d)
	}
	return []*Tensor{in[0].view(0, sizes(to), in[0].stretched(shape))}
}

func slice(r *run, n *node, in []*Tensor) []*Tensor {
	x := in[0]
	starts, ends := r.list(n, in, 1, "starts"), r.list(n, in, 2, "ends")
	axes, steps := r.list(n, in, 3, "axes"), r.list(n, in, 4, "steps")
	shape, strides, offset := slices.Clone(x.Shape), slices.Clone(x.steps()), 0
	for i := range starts {
		a := i
		if axes != nil {
			a = axis(axes[i], len(shape))
		}
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		d := int64(x.Shape[a])
		start, end := starts[i], ends[i]
		if start < 0 {
			start += d
		}
		if end < 0 {
			end += d
		}
		if step < 1 || step > math.MaxInt32 {
			fail("a step of %d", step)
		}
		start, end = min(max(start, 0), d), min(max(end, 0), d)
		count := max(0, (end-start+step-1)/step)
		if count > 0 {
			offset += int(start) * strides[a]
		}
		shape[a], strides[a] = int(count), strides[a]*int(step)
	}
	return []*Tensor{x.view(offset, shape, strides)}
}

func split(r *run, n *node, in []*Tensor) []*Tensor {
	x := in[0]
	a := axis(n.int("axis", 0), len(x.Shape))
	lengths := r.list(n, in, 1, "split")
	if lengths == nil {
		each := (x.Shape[a] + len(n.out) - 1) / len(n.out)
		for at := 0; len(lengths) < len(n.out); at += each {
			lengths = append(lengths, int64(max(0, min(each, x.Shape[a]-at))))
		}
	}
	var out []*Tensor
	at, strides := int64(0), x.steps()
	for _, l := range lengths {
		if l < 0 || at+l > int64(x.Shape[a]) {
			fail("lengths %v of %d", lengths, x.Shape[a])
		}
		shape := slices.Clone(x.Shape)
		shape[a] = int(l)
		out = append(out, x.view(int(at)*strides[a], shape, strides))
		at += l
	}
	return out
}

func concat(r *run, n *node, in []*Tensor) []*Tensor {
	a := axis(n.int("axis", 0), len(in[0].Shape))
	shape := slices.Clone(in[0].Shape)
	shape[a] = 0
	for _, t := range in {
		if t.Type != in[0].Type || len(t.Shape) != len(shape) {
			fail("shapes %v and %v", in[0].Shape, t.Shape)
		}
		shape[a] += t.Shape[a]
		for i, d := range t.Shape {
			if i != a && d != shape[i] {
				fail("shapes %v and %v", in[0].Shape, t.Shape)
			}
		}
	}
	out := r.make(in[0].Type, shape...)
	outer, at := product(shape[:a]), 0
	for _, t := range in {
		t = r.dense(t)
		length, stride := product(t.Shape[a:]), product(shape[a:])
		for i := range outer {
			out.put(i*stride+at, t, i*length, length)
		}
		at += length
	}
	return []*Tensor{out}
}

// gatherOp picks slices along an axis.
func gatherOp(r *run, n *node, in []*Tensor) []*Tensor {
	x, index := in[0], r.dense(in[1])
	if index.Type != Int {
		fail("indices of type %v", index.Type)
	}
	a := axis(n.int("axis", 0), len(x.Shape))
	if len(index.Shape) == 0 && x.Type == Float { // one: a view
		shape, strides := slices.Clone(x.Shape), slices.Clone(x.steps())
		at := axis(index.I[0], shape[a]) * strides[a]
		return []*Tensor{x.view(at, slices.Delete(shape, a, a+1), slices.Delete(strides, a, a+1))}
	}
	x = r.dense(x)
	shape := slices.Concat(x.Shape[:a], index.Shape, x.Shape[a+1:])
	out := r.make(x.Type, shape...)
	outer, inner, d := product(x.Shape[:a]), product(x.Shape[a+1:]), x.Shape[a]
	at := 0
	for o := range outer {
		for _, i := range index.I {
			if i < 0 {
				i += int64(d)
			}
			if i < 0 || i >= int64(d) {
				fail("index %d of %d", i, d)
			}
			out.put(at, x, (o*d+int(i))*inner, inner)
			at += inner
		}
	}
	return []*Tensor{out}
}

func tile(r *run, n *node, in []*Tensor) []*Tensor {
	repeats := sizes(r.list(n, in, 1, ""))
	x := in[0]
	if len(repeats) != len(x.Shape) {
		fail("repeats %v for shape %v", repeats, x.Shape)
	}
	// Each dimension d becomes repeat × d, the first of which has stride 0.
	var shape, strides, out []int
	for i, s := range x.steps() {
		shape, strides = append(shape, repeats[i], x.Shape[i]), append(strides, 0, s)
		out = append(out, repeats[i]*x.Shape[i])
	}
	y := r.make(x.Type, out...)
	y.gather(x, shape, strides)
	return []*Tensor{y}
}

func trilu(r *run, n *node, in []*Tensor) []*Tensor {
	x := r.dense(in[0])
	k := int64(0)
	if len(in) > 1 && in[1] != nil {
		k = in[1].I[0]
	}
	upper := n.int("upper", 1) != 0
	out := r.make(x.Type, x.Shape...)
	clear(out.F) // its numbers are undefined
	rank := len(x.Shape)
	rows, columns := x.Shape[rank-2], x.Shape[rank-1]
	for at := range x.Size() {
		i, j := int64(at/columns%rows), int64(at%columns)
		if upper && j-i >= k || !upper && j-i <= k {
			out.put(at, x, at, 1)
		}
	}
	return []*Tensor{out}
}

func identity(_ *run, n *node, in []*Tensor) []*Tensor {
	if n.op == "Dropout" && len(n.out) > 1 {
		fail("the mask of Dropout")
	}
	return in[:1]
}

func constantNode(_ *run, n *node, _ []*Tensor) []*Tensor {
	for name, a := range n.attrs {
		switch name {
		case "value":
			if a.t != nil {
				return []*Tensor{a.t}
			}
		case "value_int":
			return []*Tensor{NewInt([]int64{a.i})}
		case "value_ints":
			return []*Tensor{NewInt(a.ints, len(a.ints))}
		case "value_float":
			return []*Tensor{{Type: Float, F: []float32{a.f}}}
		case "value_floats":
			return []*Tensor{{Type: Float, Shape: []int{len(a.floats)}, F: a.floats}}
		}
	}
	fail("a constant without a number")
	return nil
}

func constantOfShape(r *run, n *node, in []*Tensor) []*Tensor {
	shape := sizes(r.list(n, in, 0, ""))
	value := n.attrs["value"].t
	if value == nil {
		value = &Tensor{Type: Float, F: []float32{0}}
	}
	if value.Size() != 1 {
		fail("a value of shape %v", value.Shape)
	}
	out := r.make(value.Type, shape...)
	if value.Type == Float {
		fill(out.F, value.F[0])
	} else {
		fill(out.I, value.I[0])
	}
	return []*Tensor{out}
}

func rangeOf(r *run, _ *node, in []*Tensor) []*Tensor {
	var bound [3]float64 // start, end, step
	for i := range bound {
		if in[i].Type == Float {
			bound[i] = float64(in[i].F[0])
		} else {
			bound[i] = float64(in[i].I[0])
		}
	}
	start, step := bound[0], bound[2]
	count := math.Ceil((bound[1] - start) / step)
	if !(count <= maxElements) || step == 0 {
		fail("a range from %v to %v by %v", start, bound[1], step)
	}
	out := r.make(in[0].Type, int(max(0, count)))
	for i := range out.F {
		out.F[i] = float32(start + float64(i)*step)
	}
	for i := range out.I {
		out.I[i] = int64(start) + int64(i)*int64(step)
	}
	return []*Tensor{out}
}
