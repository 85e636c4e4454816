package models

import (
	"slices"

	"mldpbench/internal/cores"
	"mldpbench/internal/kernel"
)

// recurrence is an LSTM layer (Hochreiter & Schmidhuber 1997 with the forget
// gate of Gers et al. 2000) over frozen token vectors, with its backward pass
// through time. It returns the hidden state after the last token of each
// sequence; an empty sequence has the zero state.
//
//	z = [x_t, 1, h_{t-1}]·W        W is (d+1+h) × 4h, gates i, f, o, g
//	i, f, o = σ(z_i), σ(z_f), σ(z_o);  g = tanh(z_g)
//	c_t = f∘c_{t-1} + i∘g;  h_t = o∘tanh(c_t)
//
// [x, 1]·W is computed, and its gradient taken, once for each distinct token of a
// batch. With two directions the second reads the sequences backwards with its own
// W below the first.
//
// It owns its scratch memory and can do one forward and one backward pass of a
// batch at a time, with sequences, then weights, divided among free cores. No bit
// depends on their number: each number is computed by one core as if it were alone.
type recurrence[T float] struct {
	arithmetic[T]
	table      []float32 // tokens × d
	d, h       int
	directions int
	batch      *batch
	// mask, if not nil, is batch × outputs factors of the output: dropout. It is an
	// input because gorgonia.Dropout is seeded from the clock and scales wrongly
	// for shares other than one half.
	mask []T
	free func() int // cores

	cores     int         // in use
	rows      []int       // first of the sequences of each core, and their number
	zeros     prefix[T]   // of a batch with a longest sequence
	local     [2][]int32  // by direction, for each token in the order of reading its index in words; ^ see mark
	fresh     []bool      // of words
	vectors   []T         // words × (d+1): x, 1
	projected []T         // words × 4h: [x, 1]·W, or the gradient with respect to it
	state     []memory[T] // per direction
	dh, dc    []T         // batch × h
	masked    []T         // batch × outputs
	ended     []T         // cores × h: cell states that are not used
	nowhere   []int32     // −1 for each sequence
	zero      [1]int32    // the index of an only row
	transpose []T         // 4h × h
}

// memory is the part of the forward pass that the backward pass needs: one row
// per token, or, for inference, one per sequence, overwritten at every step.
type memory[T float] struct {
	hidden []T // rows × h: h_{t-1}, not set in the first step
	gates  []T // rows × 4h: after their activation; the backward pass leaves dz here
	prev   []T // rows × h: c_{t-1}
	tanh   []T // rows × h: tanh c_t
}

func newRecurrence[T float](a arithmetic[T], e Embedding, hidden, directions int, b *batch) *recurrence[T] {
	return &recurrence[T]{arithmetic: a, table: e.Vectors, d: e.Dimension, h: hidden, directions: directions, batch: b,
		state: make([]memory[T], directions), nowhere: slices.Repeat([]int32{-1}, len(b.lengths)),
		free: func() int { return 1 }}
}

// first is the first step with hidden states other than zero.
func (r *recurrence[T]) first() int   { return 1 - min(1, r.batch.longest) }
func (r *recurrence[T]) width() int   { return r.d + 1 + r.h }
func (r *recurrence[T]) outputs() int { return r.directions * r.h }

// grow returns a slice of n numbers, reusing s where it is large enough; some room
// more saves most of the pages that a batch with more words would touch first.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}

// forward writes the final hidden states to out (batch × outputs). With keep it
// stores what backward needs.
func (r *recurrence[T]) forward(w, out []T, keep bool) {
	r.divide()
	r.lookUp()
	clear(out)
	size := r.width() * 4 * r.h
	for direction := range r.directions {
		r.forwardOne(direction, w[direction*size:(direction+1)*size], out[direction*r.h:], keep)
	}
	for i, m := range r.mask {
		out[i] *= m
	}
}

// divide gives each core sequences with about as many tokens; 8,192 numbers of hidden states are worth waking one.
func (r *recurrence[T]) divide() {
	b := r.batch
	n, tokens := max(1, min(r.free(), len(b.local)*r.h>>13)), 0
	r.rows = append(r.rows[:0], 0)
	for i, length := range b.lengths {
		if tokens += int(length); len(r.rows) < n && tokens*n >= len(b.local)*len(r.rows) {
			r.rows = append(r.rows, i+1)
		}
	}
	r.rows = append(r.rows, len(b.lengths))
	r.cores = len(r.rows) - 1
	r.ended = grow(r.ended, r.cores*4*r.h)
}

// lookUp finds the vectors of the words of the batch.
func (r *recurrence[T]) lookUp() {
	d, b := r.d, r.batch
	r.vectors = grow(r.vectors, len(b.words)*(d+1))
	same, ok := any(r.table).([]T)
	for k, id := range b.words {
		to := r.vectors[k*(d+1) : (k+1)*(d+1)]
		if ok {
			copy(to, same[int(id)*d:(int(id)+1)*d])
		} else {
			for j, v := range r.table[int(id)*d : (int(id)+1)*d] {
				to[j] = T(v)
			}
		}
		to[d] = 1
	}
	r.projected = grow(r.projected, len(b.words)*4*r.h)
	r.fresh = grow(r.fresh, len(b.words))
	r.local[0] = append(r.local[0][:0], b.local...)
	if r.directions == 2 {
		r.local[1] = r.local[1][:0]
		for t := range b.steps() {
			for i := range b.active[t] {
				r.local[1] = append(r.local[1], b.local[b.offset[int(b.lengths[i])-1-t]+i])
			}
		}
	}
	for direction := range r.directions {
		r.mark(r.local[direction])
	}
}

// mark negates the index of each word where the backward pass meets it first:
// there its gradient begins.
func (r *recurrence[T]) mark(local []int32) {
	for i := range r.fresh {
		r.fresh[i] = true
	}
	for t := r.batch.steps() - 1; t >= 0; t-- {
		step := local[r.batch.offset[t]:r.batch.offset[t+1]]
		for i, word := range step {
			if r.fresh[word] {
				r.fresh[word], step[i] = false, ^word
			}
		}
	}
}

func (r *recurrence[T]) forwardOne(direction int, w, out []T, keep bool) {
	d, h, b := r.d, r.h, r.batch
	rows := len(b.lengths)
	if keep {
		rows = len(b.local)
	}
	s := &r.state[direction]
	s.hidden, s.gates = grow(s.hidden, rows*h), grow(s.gates, rows*4*h)
	s.prev, s.tanh = grow(s.prev, rows*h), grow(s.tanh, rows*h)
	clear(s.prev[:b.active[0]*h])
	if b.longest > 0 {
		r.start(w, s.hidden, s.prev, out)
	}
	cores.Share(r.cores, len(b.words), func(_, from, to int) {
		r.gemm(false, to-from, 4*h, d+1, r.vectors[from*(d+1):], d+1, w, 4*h, false, r.projected[from*4*h:], 4*h)
	})
	cores.Share(r.cores, r.cores, func(core, _, _ int) {
		first, last := r.rows[core], r.rows[core+1] // its sequences
		at, next := first, first                    // where its rows of this step and of the next begin: for inference one
		for t := range b.steps() {
			n, going := min(last, b.active[t])-first, max(0, min(last, b.active[t+1])-first)
			if n <= 0 {
				return
			}
			if keep {
				at, next = b.offset[t]+first, b.offset[t+1]+first
			}
			gates, words := s.gates[at*4*h:(at+n)*4*h], r.local[direction][b.offset[t]+first:][:n]
			if t >= r.first() {
				r.gemm(false, n, 4*h, h, s.hidden[at*h:], h, w[(d+1)*4*h:], 4*h, false, gates, 4*h)
			} else { // the hidden state is zero
				clear(gates)
			}
			step := func(from, to int, cell, hidden []T) {
				r.cellForward(words[from:to], r.projected, gates[from*4*h:to*4*h], s.prev[(at+from)*h:(at+to)*h], cell,
					s.tanh[(at+from)*h:(at+to)*h], hidden)
			}
			if going > 0 {
				step(0, going, s.prev[next*h:(next+going)*h], s.hidden[next*h:(next+going)*h])
			}
			for i := going; i < n; i++ { // sequences that end here
				step(i, i+1, r.ended[core*4*h:][:h], out[(first+i)*r.outputs():][:h])
			}
		}
	})
}

// backward writes the gradient of the loss with respect to all weights to dw,
// given that with respect to the output of the last forward pass with keep.
func (r *recurrence[T]) backward(w, dout, dw []T) {
	size := r.width() * 4 * r.h
	if r.mask != nil {
		r.masked = grow(r.masked, len(dout))
		for i, m := range r.mask {
			r.masked[i] = dout[i] * m
		}
		dout = r.masked
	}
	for direction := range r.directions {
		r.backwardOne(direction, w[direction*size:(direction+1)*size], dout[direction*r.h:],
			dw[direction*size:(direction+1)*size])
	}
}

// accumulate is the number of rows gathered before they are added to the weight
// gradient: enough for the product to be efficient.
const accumulate = 128

func (r *recurrence[T]) backwardOne(direction int, w, dout, dw []T) {
	d, h, b := r.d, r.h, r.batch
	s := &r.state[direction]
	r.dh, r.dc = grow(r.dh, len(b.lengths)*h), grow(r.dc, len(b.lengths)*h)
	r.transpose = grow(r.transpose, 4*h*h)
	transpose(r.transpose, w[(d+1)*4*h:], h, 4*h)
	clear(dw)
	alone := r.cores == 1
	cores.Share(r.cores, r.cores, func(core, _, _ int) {
		first, last := r.rows[core], r.rows[core+1] // its sequences
		for t := b.steps() - 1; t >= 0; t-- {
			n, at := min(last, b.active[t])-first, b.offset[t]+first
			if n <= 0 {
				continue
			}
			for i := max(first, b.active[t+1]); i < first+n; i++ { // sequences that end here
				copy(r.dh[i*h:(i+1)*h], dout[i*r.outputs():])
				clear(r.dc[i*h : (i+1)*h])
			}
			words, sum := r.local[direction][at:at+n], r.projected
			if !alone { // other cores have tokens of the same word
				words, sum = r.nowhere[:n], r.ended[core*4*h:][:4*h]
			}
			r.cellBackward(words, sum, s.gates[at*4*h:(at+n)*4*h], s.prev[at*h:(at+n)*h], s.tanh[at*h:(at+n)*h],
				r.dh[first*h:(first+n)*h], r.dc[first*h:(first+n)*h])
			if t >= r.first() {
				r.gemm(false, n, h, 4*h, s.gates[at*4*h:], 4*h, r.transpose, h, false, r.dh[first*h:], h)
			}
		}
	})
	cores.Share(r.cores, h, func(_, from, to int) { // each core has some columns of sum and some rows of dw
		pending := len(b.local) // tokens from here on are already in dw
		for t := b.steps() - 1; t >= 0; t-- {
			at := b.offset[t]
			for i, word := range r.local[direction][at:b.offset[t+1]] {
				if alone {
					break // they are in
				}
				sum := r.projected[int(max(word, ^word))*4*h:][4*from : 4*to]
				if word < 0 {
					clear(sum)
				}
				add(sum, s.gates[(at+i)*4*h:][4*from:4*to])
			}
			if rows := pending - at; t == r.first() || t > r.first() && rows >= accumulate {
				r.gemm(true, to-from, 4*h, rows, s.hidden[at*h+from:], h, s.gates[at*4*h:], 4*h, true, dw[(d+1+from)*4*h:], 4*h)
				pending = at
			}
		}
	})
	if b.longest > 0 {
		r.backwardStart(dout, dw)
	}
	cores.Share(r.cores, d+1, func(_, from, to int) {
		for k := 0; k < len(b.words); k += accumulate {
			r.gemm(true, to-from, 4*h, min(accumulate, len(b.words)-k), r.vectors[k*(d+1)+from:], d+1, r.projected[k*4*h:],
				4*h, true, dw[from*4*h:], 4*h)
		}
	})
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

// float is the arithmetic a network can be built in: float32 is for training,
// float64 for checking derivatives against differences.
type float interface{ float32 | float64 }

// arithmetic holds the operations that the recurrence needs for its number
// type. Matrices are row-major with a row stride; gemm is C = op(A)·B, or
// adds to C, with op(A) m × k and B k × n.
type arithmetic[T float] struct {
	gemm         func(transA bool, m, n, k int, a []T, lda int, b []T, ldb int, add bool, c []T, ldc int)
	cellForward  func(words []int32, input, gates, prev, cell, tanh, hidden []T) // see kernel.CellForward
	cellBackward func(words []int32, sum, gates, prev, tanh, dh, dc []T)         // see kernel.CellBackward
}

// inFloat32 is the arithmetic of training.
var inFloat32 = arithmetic[float32]{kernel.Gemm, kernel.CellForward, kernel.CellBackward}

func add[T float](dst, src []T) {
	for i, x := range src {
		dst[i] += x
	}
}
