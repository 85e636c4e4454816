package models

import (
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"sync"
	"sync/atomic"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
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
	do    func(inputs []gorgonia.Value) (gorgonia.Value, error)
}

func newFusedOp(name string, do func([]gorgonia.Value) (gorgonia.Value, error), shape tensor.Shape,
	types ...hm.Type) fusedOp {
	return fusedOp{name: name, id: opCount.Add(1), types: types, shape: shape, do: do}
}

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

// differentiableOp adds the derivative: gradient builds, for the inputs that
// have one, the node of d loss / d input.
type differentiableOp struct {
	fusedOp
	differentiable []bool
	gradient       func(inputs gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error)
}

func (o *differentiableOp) DiffWRT(int) []bool { return o.differentiable }
func (o *differentiableOp) SymDiff(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	return o.gradient(in, out, grad)
}

func dtypeOf[T float]() tensor.Dtype {
	if _, ok := any(T(0)).(float64); ok {
		return tensor.Float64
	}
	return tensor.Float32
}

func vectorOf(t tensor.Dtype) hm.Type { return gorgonia.TensorType{Dims: 1, Of: t} }
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
	t := dtypeOf[T]()
	shape := tensor.Shape{lengths.Shape()[0], r.outputs()}
	out := newDense(shape, make([]T, shape.TotalSize()))
	gradShape := tensor.Shape{r.weightRows(), 4 * r.h}
	op := &differentiableOp{
		fusedOp: newFusedOp("LSTM", func(in []gorgonia.Value) (gorgonia.Value, error) {
			return out, r.forward(data[int32](in[0]), data[int32](in[1]), data[T](in[2]), data[T](out), training)
		}, shape, vectorOf(tensor.Int32), vectorOf(tensor.Int32), matrixOf(t), matrixOf(t)),
		differentiable: []bool{false, false, true},
	}
	op.gradient = func(in gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		dw := newDense(gradShape, make([]T, gradShape.TotalSize()))
		// The output is an input of the derivative so that it runs after the
		// forward pass, whose memory it reads.
		diff := newFusedOp("dLSTM", func(in []gorgonia.Value) (gorgonia.Value, error) {
			r.backward(data[T](in[0]), data[T](in[2]), data[T](dw))
			return dw, nil
		}, gradShape, matrixOf(t), matrixOf(t), matrixOf(t), matrixOf(t))
		n, err := gorgonia.ApplyOp(&diff, in[2], output, grad)
		return gorgonia.Nodes{nil, nil, n}, err
	}
	return gorgonia.ApplyOp(op, tokens, lengths, weights)
}

// noLabel marks a row of a batch that is not an example.
const noLabel = -1

// crossEntropy adds the mean of −ln softmax(logits)[label] over the labelled
// rows as one op: logits (batch × classes) → labels (int32) → scalar. The
// largest logit is subtracted before exponentiating, so nothing overflows.
func crossEntropy[T float](logits, labels *gorgonia.Node) (*gorgonia.Node, error) {
	t := dtypeOf[T]()
	shape := logits.Shape().Clone()
	op := &differentiableOp{
		fusedOp: newFusedOp("SoftmaxCrossEntropy", func(in []gorgonia.Value) (gorgonia.Value, error) {
			loss, n := 0.0, 0
			x, classes := data[T](in[0]), shape[1]
			for i, label := range data[int32](in[1]) {
				if label != noLabel {
					loss += logLoss(x[i*classes:(i+1)*classes], int(label))
					n++
				}
			}
			return scalar(T(loss / float64(max(n, 1)))), nil
		}, tensor.ScalarShape(), matrixOf(t), vectorOf(tensor.Int32), t),
		differentiable: []bool{true, false},
	}
	op.gradient = func(in gorgonia.Nodes, output, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		dx := newDense(shape, make([]T, shape.TotalSize()))
		diff := newFusedOp("dSoftmaxCrossEntropy", func(in []gorgonia.Value) (gorgonia.Value, error) {
			x, labels, d, classes := data[T](in[0]), data[int32](in[1]), data[T](dx), shape[1]
			n := 0
			for _, label := range labels {
				if label != noLabel {
					n++
				}
			}
			scale := in[2].Data().(T) / T(max(n, 1))
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
			return dx, nil
		}, shape, matrixOf(t), vectorOf(tensor.Int32), t, matrixOf(t))
		n, err := gorgonia.ApplyOp(&diff, in[0], in[1], grad)
		return gorgonia.Nodes{n, nil}, err
	}
	return gorgonia.ApplyOp(op, logits, labels)
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
