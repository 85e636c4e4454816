package models

import (
	"slices"

	"mldpbench/internal/cores"
	"mldpbench/internal/kernel"
)

// A recurrence is an LSTM layer (Hochreiter & Schmidhuber 1997 with the forget gate of Gers et al. 2000) over frozen
// token vectors, with its backward pass through time. Its output is the hidden state after the last token of each
// sequence; that of an empty sequence is zero. For a token x_t of a sequence:
//
//	z = [x_t, 1, h_{t-1}]·W        W is (d+1+h) × 4h, its columns the gates i, f, o, g
//	i, f, o = σ(z_i), σ(z_f), σ(z_o);  g = tanh(z_g)
//	c_t = f∘c_{t-1} + i∘g;  h_t = o∘tanh(c_t)
//
// With two directions the second reads the sequences from their ends, with a W of its own below that of the first.
//
// A recurrence owns its scratch memory and does one pass of one batch at a time. Sequences, then rows of weights, are
// divided among free cores. No bit depends on how many there are: each number is computed by one core as if it were
// alone.
type recurrence[T float] struct {
	arithmetic[T]
	layerSize
	table []float32 // tokens × d
	batch *batch
	// mask has factors of the output, batch × outputs: dropout. Without data there is none. It is made by the caller
	// because gorgonia.Dropout is seeded from the clock and scales wrongly for shares other than one half.
	mask kernel.Matrix[T]
	free func() int // cores

	division  division
	inputs    batchInputs[T]
	zeros     prefix[T]   // of a batch with a longest sequence
	state     []memory[T] // per direction
	gradients gradients[T]
	unused    unused[T]
}

// layerSize has the numbers of an LSTM layer.
type layerSize struct {
	d          int // of the vector of a token
	h          int // of a hidden state
	directions int
}

// width is the number of rows of the W of one direction, outputs that of the numbers of a sequence's output.
func (s layerSize) width() int   { return s.d + 1 + s.h }
func (s layerSize) outputs() int { return s.directions * s.h }

// division is how the sequences of a batch are divided among cores.
type division struct {
	cores int   // in use
	rows  []int // first of the sequences of each core, and their number
}

// batchInputs are the words of a batch and what W makes of them: [x, 1]·W is computed, and its gradient taken, once
// for each distinct token of a batch.
type batchInputs[T float] struct {
	local     [2][]int32       // by direction, for each token in the order of reading its index in words; ^ see mark
	fresh     []bool           // of words
	vectors   kernel.Matrix[T] // words × (d+1): x, 1
	projected kernel.Matrix[T] // words × 4h: [x, 1]·W; from the backward pass on, the gradient with respect to it
}

// memory is what the backward pass of one direction needs of the forward pass, a row a token; see stepRows.
type memory[T float] struct {
	hidden kernel.Matrix[T] // rows × h: h_{t−1}, not set in the first step
	gates  kernel.Matrix[T] // rows × 4h: i, f, o, g; the backward pass leaves dz here
	prev   kernel.Matrix[T] // rows × h: c_{t−1}
	tanh   kernel.Matrix[T] // rows × h: tanh c_t
}

// gradients is the memory of the backward pass, of one direction at a time.
type gradients[T float] struct {
	hidden    kernel.Matrix[T] // batch × h: of the loss with respect to h_t
	cell      kernel.Matrix[T] // batch × h: with respect to c_t
	masked    kernel.Matrix[T] // batch × outputs: with respect to the output before dropout
	transpose kernel.Matrix[T] // 4h × h: W_hᵀ
}

// unused is where kernels leave what nobody reads, a row a core.
type unused[T float] struct {
	cells   kernel.Matrix[T] // cores × h: cell states after the last token
	sums    kernel.Matrix[T] // cores × 4h: sums of dz, where cores do not add them up by word
	nowhere []int32          // for each sequence the word ^0, whose sum begins anew
	zero    [1]int32         // the word of an only row
}

// weights are the W of one direction, or the gradient with respect to it, in its two parts.
type weights[T float] struct {
	input     kernel.Matrix[T] // W_x, (d+1) × 4h: what x_t and 1 meet; the last row is the bias
	recurrent kernel.Matrix[T] // W_h, h × 4h: what h_{t−1} meets
}

// of is the part of one direction of w, which has directions·(d+1+h) rows of 4h.
func (r *recurrence[T]) of(direction int, w kernel.Matrix[T]) weights[T] {
	first := direction * r.width()
	split := first + r.d + 1
	return weights[T]{input: rowsOf(w, first, split), recurrent: rowsOf(w, split, first+r.width())}
}

// bias is the last row of the input's part.
func (w weights[T]) bias() []T { return rowOf(w.input, w.input.Rows-1) }

// weightMatrix has the numbers of W of all directions, or of the gradient with respect to it.
func (r *recurrence[T]) weightMatrix(w []T) kernel.Matrix[T] {
	return kernel.Dense(w, r.directions*r.width(), 4*r.h)
}

// outputMatrix has those of the output of a batch.
func (r *recurrence[T]) outputMatrix(out []T) kernel.Matrix[T] {
	return kernel.Dense(out, len(r.batch.lengths), r.outputs())
}

// columnsOfDirection are those of the output of one direction, batch × h of batch × outputs.
func (r *recurrence[T]) columnsOfDirection(direction int, out kernel.Matrix[T]) kernel.Matrix[T] {
	return columnsOf(out, direction*r.h, (direction+1)*r.h)
}

func newRecurrence[T float](a arithmetic[T], e Embedding, size layerSize, b *batch) *recurrence[T] {
	return &recurrence[T]{
		arithmetic: a,
		layerSize:  size,
		table:      e.Vectors,
		batch:      b,
		state:      make([]memory[T], size.directions),
		unused:     unused[T]{nowhere: slices.Repeat([]int32{^0}, len(b.lengths))},
		free:       func() int { return 1 },
	}
}

// forward writes the final hidden states to out, batch × outputs, given w, (directions·(d+1+h)) × 4h, and keeps what
// backward needs.
//
// For n sequences that have a token at step t, X their words' rows [x_t, 1], n × (d+1), and H those of h_{t−1}, n × h,
// W_x the first d+1 rows of W and W_h its last h:
//
//	Z = X·W_x + H·W_h            n × 4h; X·W_x once for each word, for all steps
//	C_t, H_t from Z and C_{t−1}  n × h, element by element: kernel.CellForward
func (r *recurrence[T]) forward(w, out kernel.Matrix[T]) {
	b := r.batch
	r.pass(w, out, stepRows{first: b.offset, total: len(b.local)})
}

// infer is forward without what backward needs: the numbers are the same.
func (r *recurrence[T]) infer(w, out kernel.Matrix[T]) {
	b := r.batch
	r.pass(w, out, stepRows{first: make([]int, len(b.offset)), total: len(b.lengths)})
}

// stepRows says which rows of the memory each step has: rows of its own, one a token, or, for inference, always the
// first ones, one a sequence, which every step overwrites.
type stepRows struct {
	first []int // by step, ending with the rows after the last one
	total int
}

// pass is the forward pass of all directions.
func (r *recurrence[T]) pass(w, out kernel.Matrix[T], rows stepRows) {
	r.divide()
	r.lookUp()
	clear(out.Data)
	for direction := range r.directions {
		r.passOne(direction, r.of(direction, w), r.columnsOfDirection(direction, out), rows)
	}
	for i, m := range r.mask.Data {
		out.Data[i] *= m
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
	r.unused.cells = resized(r.unused.cells, r.division.cores, r.h)
	r.unused.sums = resized(r.unused.sums, r.division.cores, 4*r.h)
}

// lookUp finds the vectors of the words of the batch, and the words in the order in which each direction reads.
func (r *recurrence[T]) lookUp() {
	b := r.batch
	in := &r.inputs
	in.vectors = resized(in.vectors, len(b.words), r.d+1)
	in.projected = resized(in.projected, len(b.words), 4*r.h)
	in.fresh = grow(in.fresh, len(b.words))
	for k, id := range b.words {
		to := rowOf(in.vectors, k)
		convert(to[:r.d], r.table[int(id)*r.d:])
		to[r.d] = 1
	}
	in.local[0] = append(in.local[0][:0], b.local...)
	if r.directions == 2 {
		in.local[1] = b.appendReversed(in.local[1][:0])
	}
	for direction := range r.directions {
		r.mark(in.local[direction])
	}
}

// convert fills dst with the first numbers of src.
func convert[T float](dst []T, src []float32) {
	same, ok := any(src).([]T)
	if ok {
		copy(dst, same)
		return
	}
	for j := range dst {
		dst[j] = T(src[j])
	}
}

// mark negates the index of each word where the backward pass meets it first: there its gradient begins.
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

// passOne is the forward pass of one direction, whose output is out, batch × h.
func (r *recurrence[T]) passOne(direction int, w weights[T], out kernel.Matrix[T], rows stepRows) {
	b := r.batch
	s := &r.state[direction]
	s.hidden = resized(s.hidden, rows.total, r.h)
	s.gates = resized(s.gates, rows.total, 4*r.h)
	s.prev = resized(s.prev, rows.total, r.h)
	s.tanh = resized(s.tanh, rows.total, r.h)
	clear(rowsOf(s.prev, 0, b.active[0]).Data)
	if b.longest > 0 {
		r.start(w, s, out)
	}
	in := &r.inputs
	cores.Share(r.division.cores, len(b.words), func(_, from, to int) {
		r.product(rowsOf(in.projected, from, to), rowsOf(in.vectors, from, to), w.input)
	})
	cores.Share(r.division.cores, r.division.cores, func(core, _, _ int) {
		for t := range b.steps() {
			p := r.part(core, t)
			if p.n <= 0 {
				return
			}
			from := rows.first[t] + p.first
			gates := rowsOf(s.gates, from, from+p.n)
			if t >= r.firstWithState() {
				r.product(gates, rowsOf(s.hidden, from, from+p.n), w.recurrent)
			} else {
				clear(gates.Data)
			}
			r.advance(direction, p, from, rows.first[t+1]+p.first, out)
		}
	})
}

// advance computes the cells of one core at one step from H·W_h in their gates, which are in the rows of the memory
// after from; the states of sequences that go on go to the rows after next, those of the others to out.
func (r *recurrence[T]) advance(direction int, p corePart, from, next int, out kernel.Matrix[T]) {
	s := &r.state[direction]
	words := r.inputs.local[direction][r.batch.offset[p.step]+p.first:][:p.n]
	if p.going > 0 {
		cells := s.cells(from, from+p.going)
		cells.Cell = rowsOf(s.prev, next, next+p.going).Data
		cells.Hidden = rowsOf(s.hidden, next, next+p.going).Data
		r.cellForward(words[:p.going], r.inputs.projected.Data, cells)
	}
	for i := p.going; i < p.n; i++ {
		cells := s.cells(from+i, from+i+1)
		cells.Cell = rowOf(r.unused.cells, p.core)
		cells.Hidden = rowOf(out, p.first+i)
		r.cellForward(words[i:i+1], r.inputs.projected.Data, cells)
	}
}

// cells are those of some rows, for the backward pass; the forward pass adds where its states go.
func (s *memory[T]) cells(from, to int) kernel.Cells[T] {
	return kernel.Cells[T]{
		Gates: rowsOf(s.gates, from, to).Data,
		Prev:  rowsOf(s.prev, from, to).Data,
		Tanh:  rowsOf(s.tanh, from, to).Data,
	}
}

// firstWithState is the first step whose hidden states before it are not zero: with zeros in front the very first.
func (r *recurrence[T]) firstWithState() int {
	if r.batch.longest > 0 {
		return 0
	}
	return 1
}

// A corePart is what one core has of one step: n sequences from first on, of which the first ones, going, have a next
// step.
type corePart struct{ core, step, first, n, going int }

// part is that of a core; n is not positive where all of its sequences have ended.
func (r *recurrence[T]) part(core, step int) corePart {
	first := r.division.rows[core]
	last := r.division.rows[core+1]
	return corePart{
		core:  core,
		step:  step,
		first: first,
		n:     min(last, r.batch.active[step]) - first,
		going: max(0, min(last, r.batch.active[step+1])-first),
	}
}

// arithmetic holds the operations that the recurrence needs for its number type; see kernel.
type arithmetic[T float] struct {
	product              func(c, a, b kernel.Matrix[T]) // C = A·B
	addTransposedProduct func(c, a, b kernel.Matrix[T]) // C += Aᵀ·B
	cellForward          func(words []int32, input []T, cells kernel.Cells[T])
	cellBackward         func(words []int32, sum []T, cells kernel.Cells[T], dh, dc []T)
}

// inFloat32 is the arithmetic of training.
var inFloat32 = arithmetic[float32]{
	product:              kernel.Product,
	addTransposedProduct: kernel.AddTransposedProduct,
	cellForward:          kernel.CellForward,
	cellBackward:         kernel.CellBackward,
}
