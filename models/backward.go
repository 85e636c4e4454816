package models

import (
	"mldpbench/internal/cores"
	"mldpbench/internal/kernel"
)

// backward writes the gradient of the loss with respect to all weights to dw, which has the shape of w, given dout,
// that with respect to the output of the last forward pass, batch × outputs.
//
// With dH_t and dC_t, n × h, the derivatives with respect to the states after step t, and ∘ element by element:
//
//	dC_t += dH_t ∘ o ∘ (1 − tanh²C_t)
//	dZ    = [dC_t∘g∘i(1−i), dC_t∘C_{t−1}∘f(1−f), dH_t∘tanh(C_t)∘o(1−o), dC_t∘i∘(1−g²)]   n × 4h
//	dC_{t−1} = dC_t ∘ f;  dH_{t−1} = dZ·W_hᵀ                                              n × h
//	dW_h  = Σ_t H_{t−1}ᵀ·dZ                                                               h × 4h
//	dW_x  = Σ_words [x, 1]ᵀ·(Σ dZ of the word)                                            (d+1) × 4h
//
// kernel.CellBackward has the first three lines but the product.
func (r *recurrence[T]) backward(w, dout, dw kernel.Matrix[T]) {
	if r.mask.Data != nil {
		masked := resized(r.gradients.masked, dout.Rows, dout.Columns)
		for i, m := range r.mask.Data {
			masked.Data[i] = dout.Data[i] * m
		}
		r.gradients.masked = masked
		dout = masked
	}
	clear(dw.Data)
	for direction := range r.directions {
		r.backwardOne(direction, r.of(direction, w), r.columnsOfDirection(direction, dout), r.of(direction, dw))
	}
}

// accumulate is the number of rows gathered before they are added to the weight gradient: enough for the product to be
// efficient.
const accumulate = 128

// backwardOne is the backward pass of one direction; dout is batch × h, dw is zero before.
func (r *recurrence[T]) backwardOne(direction int, w weights[T], dout kernel.Matrix[T], dw weights[T]) {
	b := r.batch
	g := &r.gradients
	g.hidden = resized(g.hidden, len(b.lengths), r.h)
	g.cell = resized(g.cell, len(b.lengths), r.h)
	g.transpose = resized(g.transpose, 4*r.h, r.h)
	transpose(g.transpose, w.recurrent)
	used := r.division.cores
	cores.Share(used, used, func(core, _, _ int) { r.backThroughTime(direction, core, dout) })
	cores.Share(used, r.h, func(_, from, to int) {
		if used > 1 {
			r.sumByWord(direction, 4*from, 4*to)
		}
		r.addRecurrent(direction, from, to, dw)
	})
	if b.longest > 0 {
		r.backwardStart(dout, dw)
	}
	in := &r.inputs
	cores.Share(used, r.d+1, func(_, from, to int) {
		for k := 0; k < len(b.words); k += accumulate {
			end := min(k+accumulate, len(b.words))
			r.addTransposedProduct(rowsOf(dw.input, from, to), columnsOf(rowsOf(in.vectors, k, end), from, to),
				rowsOf(in.projected, k, end))
		}
	})
}

// backThroughTime makes gates dZ for the sequences of one core. Where it is the only one, it also sums dZ by word.
func (r *recurrence[T]) backThroughTime(direction, core int, dout kernel.Matrix[T]) {
	b := r.batch
	g := &r.gradients
	s := &r.state[direction]
	for t := b.steps() - 1; t >= 0; t-- {
		p := r.part(core, t)
		if p.n <= 0 {
			continue
		}
		for i := p.first + p.going; i < p.first+p.n; i++ { // sequences that end here
			copy(rowOf(g.hidden, i), rowOf(dout, i))
			clear(rowOf(g.cell, i))
		}
		from := b.offset[t] + p.first
		words := r.inputs.local[direction][from : from+p.n]
		sums := r.inputs.projected.Data
		if r.division.cores > 1 { // other cores have tokens of the same word
			words = r.unused.nowhere[:p.n]
			sums = rowOf(r.unused.sums, core)
		}
		dh := rowsOf(g.hidden, p.first, p.first+p.n)
		dc := rowsOf(g.cell, p.first, p.first+p.n)
		r.cellBackward(words, sums, s.cells(from, from+p.n), dh.Data, dc.Data)
		if t >= r.firstWithState() {
			r.product(dh, rowsOf(s.gates, from, from+p.n), g.transpose)
		}
	}
}

// sumByWord sums some columns of dZ by word, in the order in which one core does.
func (r *recurrence[T]) sumByWord(direction, from, to int) {
	b := r.batch
	gates := r.state[direction].gates
	for t := b.steps() - 1; t >= 0; t-- {
		first := b.offset[t]
		for i, word := range r.inputs.local[direction][first:b.offset[t+1]] {
			sum := rowOf(r.inputs.projected, int(max(word, ^word)))[from:to]
			if word < 0 {
				clear(sum)
			}
			add(sum, rowOf(gates, first+i)[from:to])
		}
	}
}

// addRecurrent adds Σ_t H_{t−1}ᵀ·dZ to some rows of dW_h, from the last step on.
func (r *recurrence[T]) addRecurrent(direction, from, to int, dw weights[T]) {
	b := r.batch
	s := &r.state[direction]
	pending := len(b.local) // tokens from here on are already in dw
	for t := b.steps() - 1; t >= r.firstWithState(); t-- {
		first := b.offset[t]
		if t > r.firstWithState() && pending-first < accumulate {
			continue
		}
		hidden := columnsOf(rowsOf(s.hidden, first, pending), from, to)
		r.addTransposedProduct(rowsOf(dw.recurrent, from, to), hidden, rowsOf(s.gates, first, pending))
		pending = first
	}
}
