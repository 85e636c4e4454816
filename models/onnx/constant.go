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
		for i := range out.I {
			out.I[i] = value.I[0]
		}
	}
	return []*Tensor{out}
}

func rangeOf(r *run, _ *node, in []*Tensor) []*Tensor {
	if in[0].Type == Float {
		start, end, step := float64(in[0].F[0]), float64(in[1].F[0]), float64(in[2].F[0])
		count := math.Ceil((end - start) / step)
		if !(count <= maxElements) || step == 0 {
			fail("a range from %v to %v by %v", start, end, step)
		}
		out := r.make(Float, max(0, int(count)))
		for i := range out.F {
			out.F[i] = float32(start + float64(i)*step)
		}
		return []*Tensor{out}
	}
	start, end, step := in[0].I[0], in[1].I[0], in[2].I[0]
	if step == 0 || math.Abs((float64(end)-float64(start))/float64(step)) > maxElements {
		fail("a range from %d to %d by %d", start, end, step)
	}
	count := (end - start + step - step/max(step, -step)) / step
	out := r.make(Int, int(max(0, count)))
	for i := range out.I {
		out.I[i] = start + int64(i)*step
	}
	return []*Tensor{out}
}
