package models

import (
	"mldpbench/internal/cores"
	"mldpbench/internal/kernel"
)

// backward writes the gradient of the loss with respect to all weights to dw,
// given that with respect to the output of the last forward pass with keep.
//
// With dH_t and dC_t (n × h) the derivatives with respect to the states after step t, and ⊙ element by element:
//
//	dC_t += dH_t ⊙ o ⊙ (1 − tanh²C_t)
//	dZ    = [dC_t⊙g⊙i(1−i), dC_t⊙C_{t−1}⊙f(1−f), dH_t⊙tanh(C_t)⊙o(1−o), dC_t⊙i⊙(1−g²)]   n × 4h
//	dC_{t−1} = dC_t ⊙ f;  dH_{t−1} = dZ·W_hᵀ                                              n × h
//	dW_h  = Σ_t H_{t−1}ᵀ·dZ                                                               h × 4h
//	dW_x  = Σ_words [x, 1]ᵀ·(Σ dZ of the word)                                            (d+1) × 4h
//
// kernel.CellBackward has the first three lines but the product.
func (r *recurrence[T]) backward(w, dout, dw []T) {
	if r.mask != nil {
		r.gradients.masked = grow(r.gradients.masked, len(dout))
		for i, m := range r.mask {
			r.gradients.masked[i] = dout[i] * m
		}
		dout = r.gradients.masked
	}
	clear(dw)
	for direction := range r.directions {
		r.backwardOne(direction, r.of(direction, w), dout[direction*r.h:], r.of(direction, dw))
	}
}

// accumulate is the number of rows gathered before they are added to the weight
// gradient: enough for the product to be efficient.
const accumulate = 128

// backwardOne is the backward pass of one direction; dw is zero before.
func (r *recurrence[T]) backwardOne(direction int, w weights[T], dout []T, dw weights[T]) {
	h := r.h
	b := r.batch
	g := &r.gradients
	g.hidden = grow(g.hidden, len(b.lengths)*h)
	g.cell = grow(g.cell, len(b.lengths)*h)
	g.transpose = grow(g.transpose, 4*h*h)
	transpose(g.transpose, w.recurrent.Data, h, 4*h)
	used := r.division.cores
	cores.Share(used, used, func(core, _, _ int) { r.backThroughTime(direction, core, dout) })
	cores.Share(used, h, func(_, from, to int) {
		if used > 1 {
			r.sumByWord(direction, 4*from, 4*to)
		}
		r.addRecurrent(direction, from, to, dw)
	})
	if b.longest > 0 {
		r.backwardStart(dout, dw)
	}
	vectors := r.vectors()
	projections := r.projections()
	cores.Share(used, r.d+1, func(_, from, to int) {
		for k := 0; k < len(b.words); k += accumulate {
			end := min(k+accumulate, len(b.words))
			r.addTransposedProduct(rowsOf(dw.input, from, to), columnsOf(rowsOf(vectors, k, end), from, to),
				rowsOf(projections, k, end))
		}
	})
}

// backThroughTime makes gates dz for the sequences of one core. Where it is the only one, it also sums dz of each word.
func (r *recurrence[T]) backThroughTime(direction, core int, dout []T) {
	h := r.h
	b := r.batch
	g := &r.gradients
	s := &r.state[direction]
	back := kernel.Dense(g.transpose, 4*h, h)
	for t := b.steps() - 1; t >= 0; t-- {
		p := r.part(core, t)
		if p.n <= 0 {
			continue
		}
		for i := p.first + p.going; i < p.first+p.n; i++ { // sequences that end here
			copy(g.hidden[i*h:(i+1)*h], dout[i*r.outputs():])
			clear(g.cell[i*h : (i+1)*h])
		}
		at := b.offset[t] + p.first
		words := r.inputs.local[direction][at : at+p.n]
		sum := r.inputs.projected
		if r.division.cores > 1 { // other cores have tokens of the same word
			words = r.nowhere[:p.n]
			sum = r.ended[core*4*h:][:4*h]
		}
		dh := g.hidden[p.first*h : (p.first+p.n)*h]
		dc := g.cell[p.first*h : (p.first+p.n)*h]
		r.cellBackward(words, sum, s.cells(at, at+p.n, h), dh, dc)
		if t >= r.first() {
			r.product(kernel.Dense(dh, p.n, h), kernel.Dense(s.gates[at*4*h:], p.n, 4*h), back)
		}
	}
}

// sumByWord sums some columns of dz of each word, in the order in which one core does.
func (r *recurrence[T]) sumByWord(direction, from, to int) {
	b := r.batch
	gates := r.state[direction].gates
	for t := b.steps() - 1; t >= 0; t-- {
		at := b.offset[t]
		for i, word := range r.inputs.local[direction][at:b.offset[t+1]] {
			sum := r.inputs.projected[int(max(word, ^word))*4*r.h:][from:to]
			if word < 0 {
				clear(sum)
			}
			add(sum, gates[(at+i)*4*r.h:][from:to])
		}
	}
}

// addRecurrent adds Σ_t H_{t−1}ᵀ·dZ to some rows of dw, from the last step on.
func (r *recurrence[T]) addRecurrent(direction, from, to int, dw weights[T]) {
	h := r.h
	b := r.batch
	s := &r.state[direction]
	pending := len(b.local) // tokens from here on are already in dw
	for t := b.steps() - 1; t >= r.first(); t-- {
		at := b.offset[t]
		if t > r.first() && pending-at < accumulate {
			continue
		}
		hidden := kernel.Dense(s.hidden[at*h:], pending-at, h)
		r.addTransposedProduct(rowsOf(dw.recurrent, from, to), columnsOf(hidden, from, to),
			kernel.Dense(s.gates[at*4*h:], pending-at, 4*h))
		pending = at
	}
}

// transpose writes that of x, rows × columns, in blocks that stay in cache.
func transpose[T float](dst, x []T, rows, columns int) {
	const block = 16
	for first := 0; first < columns; first += block {
		last := min(first+block, columns)
		for i := range rows {
			for j, v := range x[i*columns+first : i*columns+last] {
				dst[(first+j)*rows+i] = v
			}
		}
	}
}
