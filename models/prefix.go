package models

import "mldpbench/internal/kernel"

// prefix is the path of an LSTM's state over inputs of zeros from the zero
// state. Keras' pad_sequences puts zeros in front, and without a mask the
// network reads them: a text of 25 words in a sequence of 500 comes after 475
// steps that are the same for all texts. They are computed once for a batch,
// and only until the state no longer moves.
type prefix[T float] struct {
	steps       int // steps computed; every later one repeats the last
	hidden      []T // (steps+1) × h: row k is the state after k steps
	cell        []T // (steps+1) × h
	gates, tanh []T // of the step from row k, 4h and h numbers
	// of the backward pass
	enter  []T // per number of steps, the derivatives of hidden and of cell that enter there
	dgates []T // steps × 4h: derivatives of the gates' inputs, summed over the steps that a row stands for
	z      []T // 4h
}

// rest is the change of a state, relative and absolute, below which it counts
// as unmoved: half an ulp and an eighth of the ulp of 1.
func rest[T float]() (relative, absolute T) {
	ulp := T(0x1p-23)
	if _, ok := any(ulp).(float64); ok {
		ulp = T(0x1p-52)
	}
	return ulp / 2, ulp / 8
}

// extend computes the path up to most steps with weights w, see recurrence.
func (p *prefix[T]) extend(r *recurrence[T], w weights[T], most int) {
	h := r.h
	p.hidden = grow(p.hidden, (most+1)*h)
	p.cell = grow(p.cell, (most+1)*h)
	p.gates = grow(p.gates, most*4*h)
	p.tanh = grow(p.tanh, most*h)
	clear(p.hidden[:h])
	clear(p.cell[:h])
	for p.steps = 0; p.steps < most; {
		k := p.steps
		cells := p.cells(k, h)
		r.product(kernel.Dense(cells.Gates, 1, 4*h), kernel.Dense(p.hidden[k*h:], 1, h), w.recurrent)
		r.cellForward(r.zero[:], w.bias(), cells)
		p.steps++
		if unmoved(p.hidden[k*h:(k+2)*h]) && unmoved(p.cell[k*h:(k+2)*h]) {
			return
		}
	}
}

// cells is the step from row k to the next.
func (p *prefix[T]) cells(k, h int) kernel.Cells[T] {
	return kernel.Cells[T]{
		Gates:  p.gates[k*4*h : (k+1)*4*h],
		Prev:   p.cell[k*h : (k+1)*h],
		Cell:   p.cell[(k+1)*h : (k+2)*h],
		Tanh:   p.tanh[k*h : (k+1)*h],
		Hidden: p.hidden[(k+1)*h : (k+2)*h],
	}
}

// unmoved compares the two halves of x.
func unmoved[T float](x []T) bool {
	h := len(x) / 2
	relative, absolute := rest[T]()
	for i, v := range x[:h] {
		if e := x[h+i] - v; max(e, -e) > absolute+relative*max(v, -v) {
			return false
		}
	}
	return true
}

// after returns the state after k steps.
func (p *prefix[T]) after(k, h int) (hidden, cell []T) {
	k = min(k, p.steps)
	return p.hidden[k*h : (k+1)*h], p.cell[k*h : (k+1)*h]
}

// backward adds the derivatives of the weights to dw, given those of the states
// in p.enter, which are after least to most steps.
func (p *prefix[T]) backward(r *recurrence[T], least, most int, dw weights[T]) {
	h := r.h
	p.dgates = grow(p.dgates, p.steps*4*h)
	p.z = grow(p.z, 4*h)
	clear(p.dgates)
	dh := make([]T, h)
	dc := make([]T, h)
	dz := kernel.Dense(p.z, 1, 4*h)
	back := kernel.Dense(r.gradients.transpose, 4*h, h)
	relative, _ := rest[T]()
	var entered T // size of the derivative where the last of it has entered
	for k := most; k >= 1; k-- {
		add(dh, p.enter[k*2*h:k*2*h+h])
		add(dc, p.enter[k*2*h+h:(k+1)*2*h])
		if k <= least {
			now := max(magnitude(dh), magnitude(dc))
			if k == least {
				entered = now
			}
			if now <= entered*relative/32 {
				break // what is left of it no longer counts
			}
		}
		row := min(k, p.steps) - 1
		cells := p.cells(row, h)
		copy(p.z, cells.Gates)
		cells.Gates = p.z
		r.cellBackward(r.zero[:], p.dgates[row*4*h:(row+1)*4*h], cells, dh, dc)
		r.product(kernel.Dense(dh, 1, h), dz, back)
	}
	r.addTransposedProduct(dw.recurrent, kernel.Dense(p.hidden, p.steps, h), kernel.Dense(p.dgates, p.steps, 4*h))
	for row := range p.steps {
		add(dw.bias(), p.dgates[row*4*h:(row+1)*4*h])
	}
}

func magnitude[T float](x []T) T {
	var m T
	for _, v := range x {
		m = max(m, v, -v)
	}
	return m
}

// front is the number of zeros in front of sequence i.
func (r *recurrence[T]) front(i int) int { return r.batch.longest - int(r.batch.lengths[i]) }

// most is the largest number of zeros in front of a sequence of the batch.
func (r *recurrence[T]) most() int { return r.front(len(r.batch.lengths) - 1) }

// start writes the states after the zeros in front: before the first token to
// hidden and cell, and to out for a sequence without tokens.
func (r *recurrence[T]) start(w weights[T], hidden, cell, out []T) {
	r.zeros.extend(r, w, r.most())
	for i := range r.batch.lengths {
		h, c := r.zeros.after(r.front(i), r.h)
		if i < r.batch.active[0] {
			copy(hidden[i*r.h:], h)
			copy(cell[i*r.h:], c)
		} else {
			copy(out[i*r.outputs():], h)
		}
	}
}

// backwardStart adds the derivatives through the zeros in front, given those of the states
// before the first tokens.
func (r *recurrence[T]) backwardStart(dout []T, dw weights[T]) {
	h := r.h
	most := r.most()
	p := &r.zeros
	p.enter = grow(p.enter, (most+1)*2*h)
	clear(p.enter)
	for i := range r.batch.lengths {
		at := p.enter[r.front(i)*2*h:]
		if i < r.batch.active[0] {
			add(at[:h], r.gradients.hidden[i*h:(i+1)*h])
			add(at[h:2*h], r.gradients.cell[i*h:(i+1)*h])
		} else {
			add(at[:h], dout[i*r.outputs():i*r.outputs()+h])
		}
	}
	p.backward(r, r.front(0), most, dw)
}
