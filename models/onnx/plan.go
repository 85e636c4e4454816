package onnx

import "slices"

// result is what a plan computes.
type result struct {
	output string
	hidden bool
}

// HasHidden reports whether an output ends in a product with a constant
// matrix, so that Request.Hidden can be asked for.
func (m *Model) HasHidden(output string) bool { return m.plans[result{output, true}] != nil }

func (m *Model) makePlans() {
	m.plans = map[result]*plan{}
	from := make([]*node, len(m.constants))
	for _, n := range m.graph.nodes {
		for _, v := range n.outputs {
			if v >= 0 {
				from[v] = n
			}
		}
	}
	for _, o := range m.Outputs {
		v := m.number[o.Name]
		m.plans[result{o.Name, false}] = m.planFor(v)
		n := from[v]
		for n != nil && n.op == "Elementwise" { // bias or scale after the product
			inputs := slices.DeleteFunc(slices.Clone(n.inputs), func(v int) bool { return m.constants[v] != nil })
			if n = nil; len(inputs) == 1 {
				n = from[inputs[0]]
			}
		}
		if n != nil && n.op == "MatMul" && n.prepared != nil {
			m.plans[result{o.Name, true}] = m.planFor(n.inputs[0])
		}
	}
}

// planFor finds the nodes that a value needs, and which of them, at the end,
// treat each row alone.
func (m *Model) planFor(value int) *plan {
	p := &plan{value: value, uses: make([]int32, len(m.constants))}
	p.uses[value] = 1
	var needed []*node
	for _, n := range slices.Backward(m.graph.nodes) {
		if !slices.ContainsFunc(n.outputs, func(v int) bool { return v >= 0 && p.uses[v] > 0 }) {
			continue
		}
		needed = append(needed, n)
		for _, v := range n.inputs {
			if v >= 0 {
				p.uses[v]++
			}
		}
	}
	// Backwards from the value: a node whose results only such nodes read.
	inTail := map[*node]bool{}
	readers := make([]int32, len(m.constants)) // by nodes of the tail
	readers[value]++
	var head, tail []*node
	for _, n := range needed {
		if m.byRow(n) && p.uses[n.outputs[0]] == readers[n.outputs[0]] {
			inTail[n] = true
			tail = append(tail, n)
			for _, v := range n.inputs {
				readers[v]++
			}
		} else {
			head = append(head, n)
		}
	}
	slices.Reverse(head)
	slices.Reverse(tail)
	made := map[int]bool{}
	for _, n := range tail {
		for _, v := range n.inputs {
			if m.constants[v] == nil && !made[v] && !slices.Contains(p.cuts, v) {
				p.cuts = append(p.cuts, v)
			}
		}
		made[n.outputs[0]] = true
	}
	p.nodes, p.tail = append(head, tail...), len(head)
	return p
}

// byRow reports whether each row of a node's result depends on the same rows
// of its operands and on constants without rows.
func (m *Model) byRow(n *node) bool {
	switch {
	case n.op == "Elementwise":
		for _, v := range n.inputs {
			if t := m.constants[v]; t != nil && t.Size() != 1 && !vector(t, t.Shape[len(t.Shape)-1]) {
				return false
			}
		}
		return true
	case n.op == "MatMul":
		return n.prepared != nil
	case n.op == "LayerNormalization":
		return m.constants[n.inputs[0]] == nil && m.constants[n.inputs[1]] != nil
	}
	return false
}

// forgetUnused frees constants that only packed copies of are read.
func (m *Model) forgetUnused() {
	read := make([]bool, len(m.constants))
	for _, o := range m.Outputs {
		read[m.number[o.Name]] = true
	}
	for _, n := range m.graph.nodes {
		for _, v := range n.inputs {
			if v >= 0 {
				read[v] = true
			}
		}
	}
	for v := range m.constants {
		// A mark stays, so that a run does not count the reads of it.
		if m.constants[v] != nil && !read[v] {
			m.constants[v] = &Tensor{}
		}
	}
}
