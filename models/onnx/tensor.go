package onnx

import (
	"fmt"
	"slices"
)

// Type is what the numbers of a tensor are. All integers of ONNX are Int, and
// float64 is Float.
type Type int

const (
	Float Type = iota + 1 // float32
	Int                   // int64
	Bool                  // 0 or 1
)

func (t Type) String() string {
	return map[Type]string{Float: "float", Int: "integer", Bool: "bool"}[t]
}

// Tensor is an array of numbers, row-major: F for Float, I for the others.
type Tensor struct {
	Type  Type
	Shape []int
	F     []float32
	I     []int64

	strides []int   // in elements; nil when the numbers are dense
	owner   *buffer // of F; nil for numbers that are never reused
}

// NewInt returns a tensor of integers.
func NewInt(numbers []int64, shape ...int) *Tensor {
	return &Tensor{Type: Int, Shape: shape, I: numbers}
}

// Size returns the number of elements.
func (t *Tensor) Size() int { return product(t.Shape) }

func product(shape []int) int {
	size := 1
	for _, d := range shape {
		size *= d
	}
	return size
}

// steps returns the strides, those of a dense tensor included.
func (t *Tensor) steps() []int {
	if t.strides != nil {
		return t.strides
	}
	return denseStrides(t.Shape)
}

func denseStrides(shape []int) []int {
	s := make([]int, len(shape))
	step := 1
	for i := len(shape) - 1; i >= 0; i-- {
		s[i] = step
		step *= shape[i]
	}
	return s
}

// view returns another shape over the same numbers, offset elements on.
func (t *Tensor) view(offset int, shape, strides []int) *Tensor {
	v := &Tensor{Type: t.Type, Shape: shape, strides: strides, owner: t.owner}
	if slices.Equal(strides, denseStrides(shape)) {
		v.strides = nil
	}
	if product(shape) == 0 {
		offset = 0
	}
	if t.Type == Float {
		v.F = t.F[offset:]
	} else {
		v.I = t.I[offset:]
	}
	if v.strides == nil {
		v.trim()
	}
	return v
}

// trim cuts the numbers of a dense tensor to its size.
func (t *Tensor) trim() {
	if t.Type == Float {
		t.F = t.F[:t.Size()]
	} else {
		t.I = t.I[:t.Size()]
	}
}

// maxElements bounds the shape of any tensor.
const maxElements = 1<<31 - 1

// make returns a dense tensor of the run with undefined numbers.
func (r *run) make(t Type, shape ...int) *Tensor {
	size := 1
	for _, d := range shape {
		if d < 0 || d > 0 && size > r.limit/d {
			fail("a tensor of shape %v: must have at most %d numbers", shape, r.limit)
		}
		size *= d
	}
	out := &Tensor{Type: t, Shape: slices.Clone(shape)}
	if t == Float {
		out.owner = r.take(size)
		out.F = out.owner.data[:size]
	} else {
		out.I = make([]int64, size)
	}
	return out
}

// dense returns t with its numbers in row-major order, copied if need be.
func (r *run) dense(t *Tensor) *Tensor {
	if t.strides == nil {
		return t
	}
	out := r.make(t.Type, t.Shape...)
	out.gather(t, t.Shape, t.strides)
	r.temporary(out)
	return out
}

// put copies n numbers of a dense tensor of the same type.
func (t *Tensor) put(at int, src *Tensor, from, n int) {
	if t.Type == Float {
		copy(t.F[at:at+n], src.F[from:from+n])
	} else {
		copy(t.I[at:at+n], src.I[from:from+n])
	}
}

// gather copies all numbers of a strided array.
func (t *Tensor) gather(src *Tensor, shape, strides []int) {
	if t.Type == Float {
		gather(t.F, src.F, shape, strides)
	} else {
		gather(t.I, src.I, shape, strides)
	}
}

// gather copies a strided array to a dense one.
func gather[T any](dst, src []T, shape, strides []int) {
	shape, s := collapse(shape, strides)
	n := shape[len(shape)-1]
	step := s[0][len(shape)-1]
	at := 0
	eachRow(shape, s, func(offsets []int) {
		row := dst[at : at+n]
		if step == 1 {
			copy(row, src[offsets[0]:])
		} else {
			for i := range row {
				row[i] = src[offsets[0]+i*step]
			}
		}
		at += n
	})
}

// collapse joins neighbouring dimensions over which all of several strided
// arrays can be walked in one step, and drops those of size 1. The result has
// at least one dimension.
func collapse(shape []int, strides ...[]int) ([]int, [][]int) {
	var dims []int
	out := make([][]int, len(strides))
	for d, size := range shape {
		if size == 1 {
			continue
		}
		joined := len(dims) > 0
		for k, s := range strides {
			if joined && out[k][len(dims)-1] != s[d]*size {
				joined = false
			}
		}
		if joined {
			dims[len(dims)-1] *= size
		} else {
			dims = append(dims, size)
		}
		for k, s := range strides {
			if joined {
				out[k][len(dims)-1] = s[d]
			} else {
				out[k] = append(out[k], s[d])
			}
		}
	}
	if len(dims) == 0 {
		dims = []int{1}
		for k := range out {
			out[k] = []int{0}
		}
	}
	return dims, out
}

// eachRow calls f with the offset of each row (last dimension) in each array.
func eachRow(shape []int, strides [][]int, f func(offsets []int)) {
	if product(shape) == 0 {
		return
	}
	index, offsets := make([]int, len(shape)), make([]int, len(strides))
	for {
		f(offsets)
		d := len(shape) - 2
		for ; d >= 0; d-- {
			index[d]++
			for k := range offsets {
				offsets[k] += strides[k][d]
			}
			if index[d] < shape[d] {
				break
			}
			for k := range offsets {
				offsets[k] -= shape[d] * strides[k][d]
			}
			index[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// broadcast returns the common shape of several, by ONNX's (numpy's) rules.
func broadcast(shapes ...[]int) []int {
	var out []int
	for _, s := range shapes {
		for len(out) < len(s) {
			out = append([]int{1}, out...)
		}
		for i, d := range s {
			switch at := &out[len(out)-len(s)+i]; {
			case *at == 1:
				*at = d
			case d != 1 && d != *at:
				fail("shapes %v do not fit", shapes)
			}
		}
	}
	return out
}

// stretched returns the strides of t as a tensor of a shape it broadcasts to.
func (t *Tensor) stretched(shape []int) []int {
	own, out := t.steps(), make([]int, len(shape))
	for i, d := range t.Shape {
		if d != 1 {
			out[len(shape)-len(t.Shape)+i] = own[i]
		}
	}
	return out
}

// reshaped returns a view of another shape where the strides allow it, and
// otherwise a copy.
func (r *run) reshaped(t *Tensor, shape []int) *Tensor {
	if product(shape) != t.Size() {
		fail("shape %v for %v", shape, t.Shape)
	}
	if t.strides != nil {
		if s, ok := splitStrides(t.Shape, t.strides, shape); ok {
			return t.view(0, shape, s)
		}
		t = r.dense(t)
	}
	return t.view(0, shape, denseStrides(shape))
}

// splitStrides finds strides of a new shape over the same elements in the same
// order: possible where each new dimension lies inside a run of old dimensions
// that can be walked in one step.
func splitStrides(shape, strides, to []int) ([]int, bool) {
	dims, s := collapse(shape, strides)
	out := make([]int, len(to))
	at := len(dims) - 1
	left, step := dims[at], s[0][at]
	for i := len(to) - 1; i >= 0; i-- {
		if to[i] == 1 {
			continue
		}
		if left == 1 {
			if at--; at < 0 {
				return nil, false
			}
			left, step = dims[at], s[0][at]
		}
		if to[i] == 0 || left%to[i] != 0 {
			return nil, false
		}
		out[i] = step
		left, step = left/to[i], step*to[i]
	}
	return out, left == 1 && at == 0
}

// failure is an error of an operation, found deep inside it; run.do turns it
// into an error that names the node.
type failure struct{ text string }

func fail(format string, args ...any) { panic(failure{fmt.Sprintf(format, args...)}) }
