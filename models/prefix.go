package models

import "mldpbench/internal/kernel"

// prefix is the path of an LSTM's state over inputs of zeros from the zero state. Keras' pad_sequences puts zeros in
// front, and without a mask the network reads them: a text of 25 words in a sequence of 500 comes after 475 steps that
// are the same for all texts. They are computed once for a batch, and only until the state no longer moves.
//
// With x = 0 a step is that of recurrence with z = [1, h_{k−1}]·[b; W_h], b the bias.
type prefix[T float] struct {
	steps     int              // steps computed; every later one repeats the last
	hidden    kernel.Matrix[T] // (steps+1) × h: row k is h after k steps
	cell      kernel.Matrix[T] // (steps+1) × h: c
	gates     kernel.Matrix[T] // steps × 4h: those of the step from row k
	tanh      kernel.Matrix[T] // steps × h: tanh c after it
	gradients prefixGradients[T]
}

// prefixGradients is the memory of the backward pass through the zeros: k is the largest number of them.
type prefixGradients[T float] struct {
	hidden kernel.Matrix[T] // (k+1) × h: derivatives that enter at h after k steps
	cell   kernel.Matrix[T] // (k+1) × h: at c
	gates  kernel.Matrix[T] // steps × 4h: dz, summed over the steps that a row stands for
	z      kernel.Matrix[T] // 1 × 4h: dz of one step
}

// rest is the change of a state, relative and absolute, below which it counts as unmoved: half an ulp and an eighth of
// the ulp of 1.
func rest[T float]() (relative, absolute T) {
	ulp := T(0x1p-23)
	if _, ok := any(ulp).(float64); ok {
		ulp = T(0x1p-52)
	}
	return ulp / 2, ulp / 8
}

// extend computes the path up to most steps with weights w.
func (p *prefix[T]) extend(r *recurrence[T], w weights[T], most int) {
	p.hidden = resized(p.hidden, most+1, r.h)
	p.cell = resized(p.cell, most+1, r.h)
	p.gates = resized(p.gates, most, 4*r.h)
	p.tanh = resized(p.tanh, most, r.h)
	clear(rowOf(p.hidden, 0))
	clear(rowOf(p.cell, 0))
	for p.steps = 0; p.steps < most; {
		k := p.steps
		r.product(rowsOf(p.gates, k, k+1), rowsOf(p.hidden, k, k+1), w.recurrent)
		r.cellForward(r.unused.zero[:], w.bias(), p.cells(k))
		p.steps++
		if unmoved(rowOf(p.hidden, k), rowOf(p.hidden, k+1)) && unmoved(rowOf(p.cell, k), rowOf(p.cell, k+1)) {
			return
		}
	}
}

// cells is the step from row k to the next.
func (p *prefix[T]) cells(k int) kernel.Cells[T] {
	return kernel.Cells[T]{
		Gates:  rowOf(p.gates, k),
		Prev:   rowOf(p.cell, k),
		Cell:   rowOf(p.cell, k+1),
		Tanh:   rowOf(p.tanh, k),
		Hidden: rowOf(p.hidden, k+1),
	}
}

// unmoved reports whether a state is the one before, up to rest.
func unmoved[T float](before, after []T) bool {
	relative, absolute := rest[T]()
	for i, v := range before {
		e := after[i] - v
		if max(e, -e) > absolute+relative*max(v, -v) {
			return false
		}
	}
	return true
}

// after returns the state after k steps, h and c.
func (p *prefix[T]) after(k int) (hidden, cell []T) {
	k = min(k, p.steps)
	return rowOf(p.hidden, k), rowOf(p.cell, k)
}

// enter makes room for the derivatives of the states after 0 to most steps, which are zero until they are added.
func (p *prefix[T]) enter(most, h int) {
	g := &p.gradients
	g.hidden = resized(g.hidden, most+1, h)
	g.cell = resized(g.cell, most+1, h)
	clear(g.hidden.Data)
	clear(g.cell.Data)
}

// backward adds the derivatives of the weights to dw, given those that entered at the states after least to most steps.
// It goes back through them, as recurrence.backward does, until what is left no longer counts.
func (p *prefix[T]) backward(r *recurrence[T], least, most int, dw weights[T]) {
	g := &p.gradients
	g.gates = resized(g.gates, p.steps, 4*r.h)
	g.z = resized(g.z, 1, 4*r.h)
	clear(g.gates.Data)
	dh := kernel.Dense(make([]T, r.h), 1, r.h)
	dc := make([]T, r.h)
	relative, _ := rest[T]()
	var entered T // size of the derivative where the last of it has entered
	for k := most; k >= 1; k-- {
		add(dh.Data, rowOf(g.hidden, k))
		add(dc, rowOf(g.cell, k))
		now := max(magnitude(dh.Data), magnitude(dc))
		if k == least {
			entered = now
		}
		if k <= least && now <= entered*relative/32 {
			break
		}
		row := min(k, p.steps) - 1
		cells := p.cells(row)
		copy(g.z.Data, cells.Gates)
		cells.Gates = g.z.Data
		r.cellBackward(r.unused.zero[:], rowOf(g.gates, row), cells, dh.Data, dc)
		r.product(dh, g.z, r.gradients.transpose)
	}
	r.addTransposedProduct(dw.recurrent, rowsOf(p.hidden, 0, p.steps), g.gates)
	for row := range p.steps {
		add(dw.bias(), rowOf(g.gates, row))
	}
}

// front is the number of zeros in front of sequence i.
func (r *recurrence[T]) front(i int) int { return r.batch.longest - int(r.batch.lengths[i]) }

// most is the largest number of zeros in front of a sequence of the batch.
func (r *recurrence[T]) most() int { return r.front(len(r.batch.lengths) - 1) }

// start writes the states after the zeros in front: before the first token to the memory, and to out, batch × h, for a
// sequence without tokens.
func (r *recurrence[T]) start(w weights[T], s *memory[T], out kernel.Matrix[T]) {
	r.zeros.extend(r, w, r.most())
	for i := range r.batch.lengths {
		hidden, cell := r.zeros.after(r.front(i))
		if i < r.batch.active[0] {
			copy(rowOf(s.hidden, i), hidden)
			copy(rowOf(s.prev, i), cell)
		} else {
			copy(rowOf(out, i), hidden)
		}
	}
}

// backwardStart adds the derivatives through the zeros in front to dw, given those of the states before the first
// tokens, and in dout, batch × h, those of the states of sequences without tokens.
func (r *recurrence[T]) backwardStart(dout kernel.Matrix[T], dw weights[T]) {
	most := r.most()
	p := &r.zeros
	p.enter(most, r.h)
	for i := range r.batch.lengths {
		hidden := rowOf(p.gradients.hidden, r.front(i))
		cell := rowOf(p.gradients.cell, r.front(i))
		if i < r.batch.active[0] {
			add(hidden, rowOf(r.gradients.hidden, i))
			add(cell, rowOf(r.gradients.cell, i))
		} else {
			add(hidden, rowOf(dout, i))
		}
	}
	p.backward(r, r.front(0), most, dw)
}
