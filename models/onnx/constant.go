package onnx

import "math"

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
