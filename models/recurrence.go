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
// With two directions the second reads the sequences backwards with its own
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

	division  division
	inputs    batchInputs[T]
	zeros     prefix[T]   // of a batch with a longest sequence
	state     []memory[T] // per direction
	gradients gradients[T]
	ended     []T      // cores × 4h: cell states that are not used, or sums
	nowhere   []int32  // −1 for each sequence
	zero      [1]int32 // the index of an only row
}

// division is how the sequences of a batch are divided among cores.
type division struct {
	cores int   // in use
	rows  []int // first of the sequences of each core, and their number
}

// batchInputs are the words of a batch and what W makes of them: [x, 1]·W is computed, and its gradient taken, once
// for each distinct token of a batch.
type batchInputs[T float] struct {
	local     [2][]int32 // by direction, for each token in the order of reading its index in words; ^ see mark
	fresh     []bool     // of words
	vectors   []T        // words × (d+1): x, 1
	projected []T        // words × 4h: [x, 1]·W, or the gradient with respect to it
}

// memory is the part of the forward pass that the backward pass needs: one row
// per token, or, for inference, one per sequence, overwritten at every step.
type memory[T float] struct {
	hidden []T // rows × h: h_{t-1}, not set in the first step
	gates  []T // rows × 4h: after their activation; the backward pass leaves dz here
	prev   []T // rows × h: c_{t-1}
	tanh   []T // rows × h: tanh c_t
}

// gradients is the memory of the backward pass.
type gradients[T float] struct {
	hidden, cell []T // batch × h: of the loss with respect to h_t and c_t
	masked       []T // batch × outputs: with respect to the output before dropout
	transpose    []T // 4h × h: the rows of W that h_{t−1} meets
}

// weights are the W of one direction, or the gradient with respect to it, in its two parts.
type weights[T float] struct {
	input     kernel.Matrix[T] // (d+1) × 4h: what x_t and 1 meet; the last row is the bias
	recurrent kernel.Matrix[T] // h × 4h: what h_{t−1} meets
}

// of is the part of one direction of w, directions × (d+1+h) × 4h.
func (r *recurrence[T]) of(direction int, w []T) weights[T] {
	gates := 4 * r.h
	size := r.width() * gates
	own := w[direction*size : (direction+1)*size]
	split := (r.d + 1) * gates
	return weights[T]{
		input:     kernel.Dense(own[:split], r.d+1, gates),
		recurrent: kernel.Dense(own[split:], r.h, gates),
	}
}

// bias is the last row of the input's part.
func (w weights[T]) bias() []T { return rowsOf(w.input, w.input.Rows-1, w.input.Rows).Data }

// rowsOf are some of the rows of a matrix, and columnsOf some of its columns.
func rowsOf[T float](m kernel.Matrix[T], from, to int) kernel.Matrix[T] {
	if from < to {
		m.Data = m.Data[from*m.Stride : (to-1)*m.Stride+m.Columns]
	}
	m.Rows = to - from
	return m
}

func columnsOf[T float](m kernel.Matrix[T], from, to int) kernel.Matrix[T] {
	m.Data = m.Data[from:]
	m.Columns = to - from
	return m
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

// projections are [x, 1]·W of the words of the batch, words × 4h, or the gradients with respect to them.
func (r *recurrence[T]) projections() kernel.Matrix[T] {
	return kernel.Dense(r.inputs.projected, len(r.batch.words), 4*r.h)
}

// vectors are the inputs of the words of the batch, words × (d+1).
func (r *recurrence[T]) vectors() kernel.Matrix[T] {
	return kernel.Dense(r.inputs.vectors, len(r.batch.words), r.d+1)
}

// cells are those of some rows, for the backward pass; the forward pass adds where its states go.
func (s *memory[T]) cells(from, to, h int) kernel.Cells[T] {
	return kernel.Cells[T]{Gates: s.gates[from*4*h : to*4*h], Prev: s.prev[from*h : to*h], Tanh: s.tanh[from*h : to*h]}
}

// grow returns a slice of n numbers, reusing s where it is large enough; some room
// more saves most of the pages that a batch with more words would touch first.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}

// forward writes the final hidden states to out (batch × outputs), given w (directions·(d+1+h) × 4h). With keep it
// stores what backward needs.
//
// For n sequences that have a token at step t, X their words' rows [x_t, 1] (n × (d+1)) and H those of h_{t−1}
// (n × h), W_x the first d+1 rows of W and W_h its last h:
//
//	Z = X·W_x + H·W_h            n × 4h; X·W_x once for each word, for all steps
//	C_t, H_t from Z and C_{t−1}  n × h, element by element: kernel.CellForward
func (r *recurrence[T]) forward(w, out []T, keep bool) {
	r.divide()
	r.lookUp()
	clear(out)
	for direction := range r.directions {
		r.forwardOne(direction, r.of(direction, w), out[direction*r.h:], keep)
	}
	for i, m := range r.mask {
		out[i] *= m
	}
}

// divide gives each core sequences with about as many tokens; 8,192 numbers of hidden states are worth waking one.
func (r *recurrence[T]) divide() {
	b := r.batch
	most := max(1, min(r.free(), len(b.local)*r.h>>13))
	tokens := 0
	rows := append(r.division.rows[:0], 0)
	for i, length := range b.lengths {
		tokens += int(length)
		if len(rows) < most && tokens*most >= len(b.local)*len(rows) {
			rows = append(rows, i+1)
		}
	}
	r.division.rows = append(rows, len(b.lengths))
	r.division.cores = len(rows)
	r.ended = grow(r.ended, r.division.cores*4*r.h)
}

// lookUp finds the vectors of the words of the batch.
func (r *recurrence[T]) lookUp() {
	d := r.d
	b := r.batch
	in := &r.inputs
	in.vectors = grow(in.vectors, len(b.words)*(d+1))
	same, ok := any(r.table).([]T)
	for k, id := range b.words {
		to := in.vectors[k*(d+1) : (k+1)*(d+1)]
		if ok {
			copy(to, same[int(id)*d:(int(id)+1)*d])
		} else {
			for j, v := range r.table[int(id)*d : (int(id)+1)*d] {
				to[j] = T(v)
			}
		}
		to[d] = 1
	}
	in.projected = grow(in.projected, len(b.words)*4*r.h)
	in.fresh = grow(in.fresh, len(b.words))
	in.local[0] = append(in.local[0][:0], b.local...)
	if r.directions == 2 {
		in.local[1] = in.local[1][:0]
		for t := range b.steps() {
			for i := range b.active[t] {
				in.local[1] = append(in.local[1], b.local[b.offset[int(b.lengths[i])-1-t]+i])
			}
		}
	}
	for direction := range r.directions {
		r.mark(in.local[direction])
	}
}

// mark negates the index of each word where the backward pass meets it first:
// there its gradient begins.
func (r *recurrence[T]) mark(local []int32) {
	fresh := r.inputs.fresh
	for i := range fresh {
		fresh[i] = true
	}
	for t := r.batch.steps() - 1; t >= 0; t-- {
		step := local[r.batch.offset[t]:r.batch.offset[t+1]]
		for i, word := range step {
			if fresh[word] {
				fresh[word] = false
				step[i] = ^word
			}
		}
	}
}

// forwardOne is the forward pass of one direction; out is where its states of the first sequence go.
func (r *recurrence[T]) forwardOne(direction int, w weights[T], out []T, keep bool) {
	h := r.h
	b := r.batch
	rows := len(b.lengths)
	if keep {
		rows = len(b.local)
	}
	s := &r.state[direction]
	s.hidden = grow(s.hidden, rows*h)
	s.gates = grow(s.gates, rows*4*h)
	s.prev = grow(s.prev, rows*h)
	s.tanh = grow(s.tanh, rows*h)
	clear(s.prev[:b.active[0]*h])
	if b.longest > 0 {
		r.start(w, s.hidden, s.prev, out)
	}
	cores.Share(r.division.cores, len(b.words), func(_, from, to int) {
		r.product(rowsOf(r.projections(), from, to), rowsOf(r.vectors(), from, to), w.input)
	})
	cores.Share(r.division.cores, r.division.cores, func(core, _, _ int) {
		for t := range b.steps() {
			p := r.part(core, t)
			if p.n <= 0 {
				return
			}
			at := p.first
			next := p.first
			if keep {
				at = b.offset[t] + p.first
				next = b.offset[t+1] + p.first
			}
			gates := kernel.Dense(s.gates[at*4*h:], p.n, 4*h)
			if t >= r.first() {
				r.product(gates, kernel.Dense(s.hidden[at*h:], p.n, h), w.recurrent)
			} else { // the hidden state is zero
				clear(gates.Data[:p.n*4*h])
			}
			words := r.inputs.local[direction][b.offset[t]+p.first:][:p.n]
			if p.going > 0 {
				cells := s.cells(at, at+p.going, h)
				cells.Cell = s.prev[next*h : (next+p.going)*h]
				cells.Hidden = s.hidden[next*h : (next+p.going)*h]
				r.cellForward(words[:p.going], r.inputs.projected, cells)
			}
			for i := p.going; i < p.n; i++ { // sequences that end here
				cells := s.cells(at+i, at+i+1, h)
				cells.Cell = r.ended[core*4*h:][:h]
				cells.Hidden = out[(p.first+i)*r.outputs():][:h]
				r.cellForward(words[i:i+1], r.inputs.projected, cells)
			}
		}
	})
}

// A corePart is what one core has of one step: n sequences from first on, of which the first ones go on to the next step.
type corePart struct{ first, n, going int }

func (r *recurrence[T]) part(core, step int) corePart {
	first := r.division.rows[core]
	last := r.division.rows[core+1]
	return corePart{
		first: first,
		n:     min(last, r.batch.active[step]) - first,
		going: max(0, min(last, r.batch.active[step+1])-first),
	}
}

// float is the arithmetic a network can be built in: float32 is for training,
// float64 for checking derivatives against differences.
type float interface{ float32 | float64 }

// arithmetic holds the operations that the recurrence needs for its number type; see kernel.
type arithmetic[T float] struct {
	product              func(c, a, b kernel.Matrix[T]) // C = A·B
	addTransposedProduct func(c, a, b kernel.Matrix[T]) // C += Aᵀ·B
	cellForward          func(words []int32, input []T, cells kernel.Cells[T])
	cellBackward         func(words []int32, sum []T, cells kernel.Cells[T], dh, dc []T)
}

// inFloat32 is the arithmetic of training.
var inFloat32 = arithmetic[float32]{kernel.Product, kernel.AddTransposedProduct, kernel.CellForward, kernel.CellBackward}

func add[T float](dst, src []T) {
	for i, x := range src {
		dst[i] += x
	}
}
