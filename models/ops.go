package models

import (
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/internal/list"
)

// building serialises the construction of Gorgonia graphs, their derivatives
// and their compilation, which share package globals. Running is concurrent.
var building sync.Mutex

// opCount gives every op its own hash: ops own scratch memory, so no two of
// them may be merged.
var opCount atomic.Uint64

// fusedOp is the common part of all ops here.
type fusedOp struct {
	name  string
	id    uint64
	types []hm.Type // of the inputs and of the output
	shape tensor.Shape
	do    run
}

// run computes an op's output, in memory of its own.
type run func(inputs []gorgonia.Value) (gorgonia.Value, error)

func (o *fusedOp) Arity() int { return len(o.types) - 1 }

// Type builds a new value each time because the type checker reuses its
// argument.
func (o *fusedOp) Type() hm.Type { return hm.NewFnType(o.types...) }

func (o *fusedOp) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) {
	return o.shape.Clone(), nil
}

func (o *fusedOp) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	if len(in) != o.Arity() {
		return nil, fmt.Errorf("%s: %d inputs: must be %d", o, len(in), o.Arity())
	}
	return o.do(in)
}
func (o *fusedOp) ReturnsPtr() bool      { return false }
func (o *fusedOp) CallsExtern() bool     { return false }
func (o *fusedOp) OverwritesInput() int  { return -1 }
func (o *fusedOp) String() string        { return fmt.Sprintf("%s#%d", o.name, o.id) }
func (o *fusedOp) WriteHash(h hash.Hash) { fmt.Fprint(h, o.String()) }
func (o *fusedOp) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// differentiableOp adds the derivative with respect to one input.
type differentiableOp struct {
	fusedOp
	of       int
	backward gradient
}

// gradient computes a derivative into memory that it is given. inputs are those of
// the op, its output (so that it runs after the op, whose memory it reads) and
// the derivative of the loss with respect to that.
type gradient func(inputs []gorgonia.Value, to gorgonia.Value)

func (o *differentiableOp) DiffWRT(inputs int) []bool {
	mask := make([]bool, inputs)
	mask[o.of] = true
	return mask
}

func (o *differentiableOp) SymDiff(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	types := append(slices.Clone(o.types), grad.Type(), in[o.of].Type())
	shape := in[o.of].Shape().Clone()
	to := tensor.New(tensor.WithShape(shape...), tensor.Of(in[o.of].Dtype()))
	diff := &fusedOp{"d" + o.name, opCount.Add(1), types, shape, func(inputs []gorgonia.Value) (gorgonia.Value, error) {
		o.backward(inputs, to)
		return to, nil
	}}
	gradients := make(gorgonia.Nodes, len(in))
	var err error
	gradients[o.of], err = gorgonia.ApplyOp(diff, append(slices.Clone(in), out, grad)...)
	return gradients, err
}

// fuse adds an op to the graph that has a derivative with respect to one of its
// inputs.
func fuse(name string, in gorgonia.Nodes, of int, shape tensor.Shape, kind hm.Type, forward run,
	backward gradient) (*gorgonia.Node, error) {
	types := append(list.Map(in, (*gorgonia.Node).Type), kind)
	return gorgonia.ApplyOp(&differentiableOp{fusedOp{name, opCount.Add(1), types, shape, forward}, of, backward},
		in...)
}

func dtypeOf[T float]() tensor.Dtype {
	if _, ok := any(T(0)).(float64); ok {
		return tensor.Float64
	}
	return tensor.Float32
}

func matrixOf(t tensor.Dtype) hm.Type { return gorgonia.TensorType{Dims: 2, Of: t} }

func newDense[T any](shape tensor.Shape, data []T) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
}

// data is the backing of a dense value.
func data[T any](v gorgonia.Value) []T { return v.Data().([]T) }

// lastHidden adds the whole LSTM as one op to the graph:
//
//	tokens (int32, packed) → lengths (int32) → weights → batch × outputs
//
// With training the op keeps what its derivative needs. The token vectors are
// frozen, so the only derivative is that of the weights.
func lastHidden[T float](r *recurrence[T], tokens, lengths, weights *gorgonia.Node, training bool) (*gorgonia.Node,
	error) {
	shape := tensor.Shape{lengths.Shape()[0], r.outputs()}
	out := newDense(shape, make([]T, shape.TotalSize()))
	return fuse("LSTM", gorgonia.Nodes{tokens, lengths, weights}, 2, shape, matrixOf(dtypeOf[T]()),
		func(in []gorgonia.Value) (gorgonia.Value, error) {
			return out, r.forward(data[int32](in[0]), data[int32](in[1]), data[T](in[2]), data[T](out), training)
		}, func(in []gorgonia.Value, to gorgonia.Value) { r.backward(data[T](in[2]), data[T](in[4]), data[T](to)) })
}

// noLabel marks a row of a batch that is not an example.
const noLabel = -1

// crossEntropy adds the mean of −ln softmax(logits)[label] over the labelled
// rows as one op: logits (batch × classes) → labels (int32) → scalar. The
// largest logit is subtracted before exponentiating, so nothing overflows.
func crossEntropy[T float](logits, labels *gorgonia.Node) (*gorgonia.Node, error) {
	classes := logits.Shape()[1]
	return fuse("SoftmaxCrossEntropy", gorgonia.Nodes{logits, labels}, 0, tensor.ScalarShape(), dtypeOf[T](),
		func(in []gorgonia.Value) (gorgonia.Value, error) {
			loss, n := 0.0, 0
			x := data[T](in[0])
			for i, label := range data[int32](in[1]) {
				if label != noLabel {
					loss += logLoss(x[i*classes:(i+1)*classes], int(label))
					n++
				}
			}
			return scalar(T(loss / float64(max(n, 1)))), nil
		}, func(in []gorgonia.Value, to gorgonia.Value) {
			x, labels, d := data[T](in[0]), data[int32](in[1]), data[T](to)
			n := list.Count(labels, func(label int32) bool { return label != noLabel })
			scale := in[3].Data().(T) / T(max(n, 1))
			clear(d)
			for i, label := range labels {
				if label == noLabel {
					continue
				}
				row := d[i*classes : (i+1)*classes]
				softmax(row, x[i*classes:(i+1)*classes])
				row[label]--
				for j := range row {
					row[j] *= scale
				}
			}
		})
}

func scalar[T float](v T) gorgonia.Value {
	if v, ok := any(v).(float64); ok {
		return gorgonia.NewF64(v)
	}
	return gorgonia.NewF32(float32(v))
}

// logLoss returns −ln softmax(x)[label], in float64.
func logLoss[T float](x []T, label int) float64 {
	top := float64(x[argmax(x)])
	var sum float64
	for _, v := range x {
		sum += math.Exp(float64(v) - top)
	}
	return math.Log(sum) + top - float64(x[label])
}

// softmax writes that of x to dst, which may be x.
func softmax[D, T float](dst []D, x []T) {
	top := float64(x[argmax(x)])
	var sum float64
	for _, v := range x {
		sum += math.Exp(float64(v) - top)
	}
	for j, v := range x {
		dst[j] = D(math.Exp(float64(v)-top) / sum)
	}
}
