package onnx

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sync"
)

// plan is the work for one result: the nodes it needs, in order, and how often
// each value is read.
type plan struct {
	value int
	nodes []*node
	uses  []int32 // by value; the result has one more
	// Nodes from tail on work row by row on what the others made, cuts: with
	// chosen rows only these rows of cuts go on.
	tail int
	cuts []int
}

// buffer holds the numbers of one or several tensors, which are views.
type buffer struct {
	data []float32
	refs int // values and temporaries that use it
}

// run is the state of one run. It is reused, with its buffers.
type run struct {
	m          *Model
	values     []*Tensor
	uses       []int32
	free       [128][]*buffer // by class, see take
	temporarys []*Tensor
	steps      [][]float32 // rows of intermediate results of a group
	limit      int         // elements of a tensor
}

var errInput = errors.New("wrong input")

// Request names what a run computes.
type Request struct {
	Output string
	// Hidden asks for the numbers that the matrix of the last product before
	// the output is multiplied with: the last hidden state of a language model.
	Hidden bool
	// Rows, where not nil, are the rows of the output that are wanted, as
	// indices into its leading dimensions flattened: the result is then one row
	// each, shape [1, rows, …]. What comes after the last operation that mixes
	// rows is computed for them only.
	Rows []int
}

// Run computes one result from all inputs, by name. Inputs are not changed.
// It is safe for concurrent use, and uses one goroutine, the caller's.
//
// Where the graph itself treats the rows of a batch alike, each row of the
// result is the same in any batch.
func (m *Model) Run(inputs map[string]*Tensor, want Request) (*Tensor, error) {
	p, ok := m.plans[result{want.Output, want.Hidden}]
	switch {
	case !ok && want.Hidden:
		return nil, fmt.Errorf("output %q does not end in a product with a matrix", want.Output)
	case !ok:
		return nil, fmt.Errorf("no output %q", want.Output)
	}
	r := m.runs.Get().(*run)
	defer m.runs.Put(r)
	defer r.end()
	r.uses = append(r.uses[:0], p.uses...)
	for _, info := range m.Inputs {
		t, ok := inputs[info.Name]
		if !ok || t.Type != info.Type || len(t.F)+len(t.I) != t.Size() {
			return nil, fmt.Errorf("input %q: %w: must be %v of %v", info.Name, errInput, info.Type, info.Shape)
		}
		r.values[m.number[info.Name]] = t
	}
	var out *Tensor
	var err error
	if want.Rows != nil && len(p.cuts) > 0 {
		out, err = r.chosen(p, want.Rows)
	} else if err = r.each(p.nodes); err == nil {
		out, err = r.result(p, want.Rows)
	}
	if err == nil {
		err = r.protect(func() { out = r.dense(out) })
	}
	if err != nil {
		return nil, err
	}
	result := &Tensor{Type: out.Type, Shape: slices.Clone(out.Shape), F: out.F, I: slices.Clone(out.I)}
	if out.owner != nil {
		out.owner.refs++ // never given to another run
	} else {
		result.F = slices.Clone(out.F)
	}
	return result, nil
}

// chosen runs the part that mixes rows for all, and the rest for some.
func (r *run) chosen(p *plan, rows []int) (*Tensor, error) {
	if err := r.each(p.nodes[:p.tail]); err != nil {
		return nil, err
	}
	first := r.values[p.cuts[0]].Shape
	if slices.ContainsFunc(p.cuts, func(v int) bool {
		shape := r.values[v].Shape
		return len(shape) != 3 || !slices.Equal(shape[:2], first[:2])
	}) { // one of them is stretched over the others: rows are chosen at the end
		if err := r.each(p.nodes[p.tail:]); err != nil {
			return nil, err
		}
		return r.result(p, rows)
	}
	for _, v := range p.cuts {
		t, err := r.rows(r.values[v], rows)
		if err != nil {
			return nil, err
		}
		r.drop(v)
		r.values[v] = t
		t.hold()
	}
	if err := r.each(p.nodes[p.tail:]); err != nil {
		return nil, err
	}
	return r.result(p, nil)
}

// result returns the value that a plan is for, or chosen rows of it.
func (r *run) result(p *plan, rows []int) (out *Tensor, err error) {
	if err = r.protect(func() { out = r.value(p.value) }); err != nil || rows == nil {
		return out, err
	}
	return r.rows(out, rows)
}

// rows copies rows of a tensor.
func (r *run) rows(t *Tensor, rows []int) (out *Tensor, err error) {
	if t.Type != Float || len(t.Shape) < 2 {
		return nil, fmt.Errorf("rows of an output of shape %v", t.Shape)
	}
	err = r.protect(func() {
		t = r.dense(t)
		n := t.Shape[len(t.Shape)-1]
		out = r.make(Float, 1, len(rows), n)
		for i, row := range rows {
			copy(out.F[i*n:(i+1)*n], t.F[row*n:(row+1)*n])
		}
	})
	return out, err
}

// each runs nodes in order.
func (r *run) each(nodes []*node) error {
	for _, n := range nodes {
		if err := r.do(n); err != nil {
			return err
		}
	}
	return nil
}

// do runs a node and frees what nothing reads any more.
func (r *run) do(n *node) error {
	var out []*Tensor
	if err := r.protect(func() {
		in := make([]*Tensor, len(n.inputs))
		for i, v := range n.inputs {
			if v >= 0 {
				in[i] = r.value(v)
			}
		}
		out = n.exec(r, n, in)
	}); err != nil {
		return fmt.Errorf("node %q (%s): %w", n.name, n.op, err)
	}
	for i, t := range out {
		if i < len(n.outputs) && n.outputs[i] >= 0 && r.uses[n.outputs[i]] > 0 {
			r.values[n.outputs[i]] = t
			t.hold()
		}
	}
	for _, t := range r.temporarys {
		r.release(t)
	}
	r.temporarys = r.temporarys[:0]
	for _, v := range n.inputs {
		if v < 0 || r.m.constants[v] != nil {
			continue
		}
		if r.uses[v]--; r.uses[v] == 0 {
			r.drop(v)
		}
	}
	return nil
}

// protect turns the failure of an operation into an error. An operation on
// shapes that it does not expect may run out of bounds: a wrong model.
func (r *run) protect(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = errors.New(p.text)
		case runtime.Error:
			err = fmt.Errorf("numbers or shapes that do not fit (%v)", p)
		case string: // of package kernel
			err = errors.New(p)
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

func (r *run) value(v int) *Tensor {
	if c := r.m.constants[v]; c != nil {
		return c
	}
	if r.values[v] == nil {
		fail("a value that is not there") // of an output that nothing computes
	}
	return r.values[v]
}

func (t *Tensor) hold() {
	if t.owner != nil {
		t.owner.refs++
	}
}

func (r *run) release(t *Tensor) {
	if t.owner == nil {
		return
	}
	if t.owner.refs--; t.owner.refs == 0 {
		class := classOf(cap(t.owner.data))
		r.free[class] = append(r.free[class], t.owner)
	}
}

func (r *run) drop(v int) {
	if t := r.values[v]; t != nil {
		r.values[v] = nil
		r.release(t)
	}
}

// temporary marks a tensor as needed until the end of the node.
func (r *run) temporary(t *Tensor) {
	t.hold()
	r.temporarys = append(r.temporarys, t)
}

// end frees all values. The result's buffer has one more reference.
func (r *run) end() {
	for _, t := range r.temporarys {
		r.release(t)
	}
	r.temporarys = r.temporarys[:0]
	for v := range r.values {
		r.drop(v)
	}
}

// classOf numbers sizes in steps of at most a quarter: 4, 5, 6 and 7 times
// each power of two.
func classOf(size int) int {
	if size < 8 {
		return size
	}
	shift := bits.Len(uint(size)) - 3
	return 4*shift + size>>shift
}

// take returns a buffer of at least so many numbers, used before or new.
func (r *run) take(size int) *buffer {
	class := classOf(size)
	if shift := bits.Len(uint(size)) - 3; size >= 8 && size&(1<<shift-1) != 0 {
		class++ // round up to the next class
		size = (size>>shift + 1) << shift
	}
	if list := r.free[class]; len(list) > 0 {
		b := list[len(list)-1]
		r.free[class] = list[:len(list)-1]
		return b
	}
	return &buffer{data: make([]float32, size)}
}

// reusable reports whether the numbers of input i of a node may be overwritten:
// nothing else reads them.
func (r *run) reusable(n *node, in []*Tensor, i int) bool {
	t, v := in[i], n.inputs[i]
	return t.owner != nil && t.owner.refs == 1 && t.strides == nil && r.uses[v] == 1
}

// newRuns makes runs whose tensors are at most 64 times as large as the weights
// of the file, or 2²⁶: a small file can't ask for much memory.
func newRuns(m *Model) *sync.Pool {
	limit := min(maxElements, max(1<<26, 64*m.Weights))
	return &sync.Pool{New: func() any {
		return &run{m: m, values: make([]*Tensor, len(m.constants)), limit: limit}
	}}
}
