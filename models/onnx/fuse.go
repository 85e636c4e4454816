package onnx

import (
	"slices"

	"mldpbench/internal/kernel"
)

// fuser replaces patterns of nodes by one node, at the place of the last.
type fuser struct {
	m       *Model
	from    []*node   // by value: what computes it
	readers [][]*node // by value: what reads it, once per operand
	output  []bool    // by value
	gone    map[*node]bool
}

func (m *Model) fuse() {
	f := &fuser{m: m, gone: map[*node]bool{}}
	f.index()
	for _, n := range m.graph.nodes {
		f.pack(n)
	}
	for _, n := range m.graph.nodes {
		f.normalisation(n)
	}
	f.remove()
	types := m.types()
	for _, n := range slices.Backward(m.graph.nodes) {
		f.group(n, types)
	}
	f.remove()
}

// index finds readers and writers of values, leaving out nodes for nothing.
func (f *fuser) index() {
	m := f.m
	f.output = make([]bool, len(m.constants))
	for _, o := range m.Outputs {
		f.output[m.number[o.Name]] = true
	}
	f.from, f.readers = make([]*node, len(m.constants)), make([][]*node, len(m.constants))
	var live []*node
	for _, n := range slices.Backward(m.graph.nodes) {
		if !slices.ContainsFunc(n.outputs, func(v int) bool {
			return v >= 0 && (f.output[v] || len(f.readers[v]) > 0)
		}) {
			continue
		}
		live = append(live, n)
		for _, v := range n.inputs {
			if v >= 0 {
				f.readers[v] = append(f.readers[v], n)
			}
		}
		for _, v := range n.outputs {
			if v >= 0 {
				f.from[v] = n
			}
		}
	}
	slices.Reverse(live)
	m.graph.nodes = live
}

func (f *fuser) remove() {
	f.m.graph.nodes = slices.DeleteFunc(f.m.graph.nodes, func(n *node) bool { return f.gone[n] })
	f.index()
}

// replace makes last stand for all the nodes of a pattern, whose results
// nothing else may read.
func (f *fuser) replace(last *node, pattern []*node, inputs []int) bool {
	for _, n := range pattern {
		if n == last {
			continue
		}
		for _, v := range n.outputs {
			if v >= 0 && (f.output[v] || slices.ContainsFunc(f.readers[v], func(reader *node) bool {
				return !slices.Contains(pattern, reader)
			})) {
				return false
			}
		}
	}
	for _, n := range pattern {
		f.gone[n] = n != last
	}
	last.inputs = inputs
	return true
}

// constant returns a constant float operand of a node.
func (f *fuser) constant(n *node, i int) *Tensor {
	if i >= len(n.inputs) || n.inputs[i] < 0 {
		return nil
	}
	if t := f.m.constants[n.inputs[i]]; t != nil && t.Type == Float {
		return t
	}
	return nil
}

// scalar returns the number of a constant operand that has one.
func (f *fuser) scalar(n *node, i int) (float32, bool) {
	if t := f.constant(n, i); t != nil && len(t.F) == 1 {
		return t.F[0], true
	}
	return 0, false
}

// vector reports whether a constant is one row of so many numbers.
func vector(t *Tensor, length int) bool {
	return t != nil && len(t.F) == length && len(t.Shape) > 0 && t.Shape[len(t.Shape)-1] == length
}

// pack prepares products with a constant matrix, with the sum of a constant
// row where that follows.
func (f *fuser) pack(n *node) {
	b := f.constant(n, 1)
	if b == nil || len(b.Shape) != 2 {
		return
	}
	k, columns := b.Shape[0], b.Shape[1]
	rowStride, colStride := columns, 1
	var bias []float32
	last, pattern := n, []*node{n}
	switch n.op {
	case "MatMul":
		if f.m.constants[n.inputs[0]] != nil || len(f.readers[n.outputs[0]]) != 1 {
			break
		}
		if sum := f.readers[n.outputs[0]][0]; sum.op == "Add" && !f.gone[sum] {
			c := f.constant(sum, 1)
			if c == nil {
				c = f.constant(sum, 0)
			}
			// A bias of more dimensions than the product would add some to it.
			if vector(c, columns) && len(c.Shape) == 1 && !f.output[n.outputs[0]] {
				bias, last, pattern = c.F, sum, []*node{n, sum}
			}
		}
	case "Gemm":
		if n.int("transA", 0) != 0 || n.float("alpha", 1) != 1 || n.float("beta", 1) != 1 {
			return
		}
		if n.int("transB", 0) != 0 {
			k, columns = columns, k
			rowStride, colStride = 1, k
		}
		if len(n.inputs) > 2 && n.inputs[2] >= 0 {
			c := f.constant(n, 2)
			if !vector(c, columns) {
				return
			}
			bias = c.F
		}
	default:
		return
	}
	x := n.inputs[0]
	if !f.replace(last, pattern, []int{x}) {
		return
	}
	last.op, last.exec = "MatMul", packedMatMul
	last.prepared = kernel.Pack(k, columns, b.F, rowStride, colStride, bias)
}

// normalisation finds (x − mean)/√(variance + ε)·scale + bias written out.
func (f *fuser) normalisation(last *node) {
	pattern := []*node{last}
	// step goes from operand i of a node to what computes it.
	step := func(n *node, i int, ops ...string) *node {
		if n == nil || i >= len(n.inputs) || n.inputs[i] < 0 {
			return nil
		}
		p := f.from[n.inputs[i]]
		if p == nil || f.gone[p] || !slices.Contains(ops, p.op) {
			return nil
		}
		if !slices.Contains(pattern, p) {
			pattern = append(pattern, p)
		}
		return p
	}
	// either finds the operand that an operation computes, and the other one, a constant row.
	either := func(n *node, ops ...string) (*node, int) {
		if n == nil || len(n.inputs) != 2 {
			return nil, 0
		}
		for i := range 2 {
			if t := f.constant(n, 1-i); t != nil && len(t.Shape) == 1 {
				if p := step(n, i, ops...); p != nil {
					return p, n.inputs[1-i]
				}
			}
		}
		return nil, 0
	}
	if last.op != "Add" || f.gone[last] {
		return
	}
	scaled, bias := either(last, "Mul")
	quotient, scale := either(scaled, "Div")
	root := step(quotient, 1, "Sqrt")
	shifted := step(root, 0, "Add")
	if shifted == nil {
		return
	}
	epsilon, ok := f.scalar(shifted, 1)
	operand := 0
	if !ok {
		epsilon, ok = f.scalar(shifted, 0)
		operand = 1
	}
	variance := step(shifted, operand, "ReduceMean")
	square := step(variance, 0, "Pow", "Mul")
	centred, again := step(quotient, 0, "Sub"), step(square, 0, "Sub")
	mean := step(centred, 1, "ReduceMean")
	if !ok || again == nil || mean == nil || !f.lastAxis(mean) || !f.lastAxis(variance) {
		return
	}
	if square.op == "Mul" && square.inputs[0] != square.inputs[1] {
		return
	}
	if e, ok := f.scalar(square, 1); square.op == "Pow" && !(ok && e == 2) {
		return
	}
	x := mean.inputs[0]
	for _, difference := range []*node{centred, again} {
		if m := step(difference, 1, "ReduceMean"); m == nil || difference.inputs[0] != x || m.inputs[0] != x ||
			!f.lastAxis(m) {
			return
		}
	}
	n := len(f.m.constants[scale].F)
	if len(f.m.constants[bias].F) != n || !f.replace(last, pattern, []int{x, scale, bias}) {
		return
	}
	last.op, last.exec = "LayerNormalization", layerNorm
	last.attrs = map[string]attribute{"epsilon": {f: epsilon}}
}

// lastAxis reports whether a ReduceMean is over the last dimension, which
// stays.
func (f *fuser) lastAxis(n *node) bool {
	axes := n.attrs["axes"].ints
	if len(n.inputs) > 1 && n.inputs[1] >= 0 {
		t := f.m.constants[n.inputs[1]]
		if t == nil || t.Type == Float {
			return false
		}
		axes = t.I
	}
	return len(axes) == 1 && axes[0] == -1 && n.int("keepdims", 1) == 1
}

// group joins an elementwise node with those that only it, or others of the
// group, read.
func (f *fuser) group(last *node, types []Type) {
	fits := func(n *node) bool {
		return n != nil && !f.gone[n] && n.prepared == nil && elementwiseOps[n.op] && types[n.outputs[0]] == Float &&
			!slices.Contains(n.inputs, -1)
	}
	if !fits(last) {
		return
	}
	members := []*node{last}
	for grown := true; grown; {
		grown = false
		for _, n := range members {
			for _, v := range n.inputs {
				p := f.from[v]
				if !fits(p) || slices.Contains(members, p) || f.output[v] ||
					slices.ContainsFunc(f.readers[v], func(r *node) bool { return !slices.Contains(members, r) }) {
					continue
				}
				members = append(members, p)
				grown = true
			}
		}
	}
	// In the order of the graph.
	var ordered []*node
	for _, n := range f.m.graph.nodes {
		if slices.Contains(members, n) {
			ordered = append(ordered, n)
		}
	}
	g := new(group)
	var inputs []int
	found := map[int]operand{}
	for _, n := range ordered {
		args := make([]operand, len(n.inputs))
		for i, v := range n.inputs {
			known, ok := found[v]
			if !ok {
				if x, scalar := f.scalar(n, i); scalar && len(f.m.constants[v].Shape) < 2 {
					known = g.number(x)
				} else {
					known = operand{fromInput, len(inputs)}
					inputs = append(inputs, v)
				}
				found[v] = known
			}
			args[i] = known
		}
		result, ok := g.append(n, args, func(i int) (float32, bool) { return f.scalar(n, i) })
		if !ok {
			return // each of them runs on its own
		}
		found[n.outputs[0]] = result
	}
	if len(inputs) == 0 || !f.replace(last, ordered, inputs) {
		return
	}
	last.op, last.exec, last.prepared = "Elementwise", runGroup, g
}

// types finds what the numbers of each value are; 0 where that is not known.
func (m *Model) types() []Type {
	types := make([]Type, len(m.constants))
	for v, t := range m.constants {
		if t != nil {
			types[v] = t.Type
		}
	}
	for _, i := range m.Inputs {
		types[m.number[i.Name]] = i.Type
	}
	for _, n := range m.graph.nodes {
		var kind Type
		if len(n.inputs) > 0 && n.inputs[0] >= 0 {
			kind = types[n.inputs[0]]
		}
		switch n.op {
		case "Shape":
			kind = Int
		case "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "IsNaN":
			kind = Bool
		case "Cast":
			kind, _ = typeOf(n.int("to", 0))
		case "CastLike", "Where":
			if kind = 0; n.inputs[1] >= 0 {
				kind = types[n.inputs[1]]
			}
		case "ConstantOfShape", "Constant":
			if kind = Float; n.attrs["value"].t != nil {
				kind = n.attrs["value"].t.Type
			}
		case "MatMul", "Gemm", "Softmax", "LogSoftmax", "LayerNormalization":
			kind = Float
		}
		for _, v := range n.outputs {
			if v >= 0 {
				types[v] = kind
			}
		}
	}
	return types
}
