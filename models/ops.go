package models

import (
	"fmt"
	"hash"
	"hash/fnv"
	"reflect"
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

// op is an operation written here as a whole. One that is part of a network has
// one input and a derivative, which is an op of that input, its output (so that it
// runs after the op, whose memory it reads) and the derivative of the loss with
// respect to that.
type op struct {
	name     string
	id       uint64
	types    []hm.Type // of the inputs and of the output
	shape    tensor.Shape
	do       func(inputs []gorgonia.Value) (gorgonia.Value, error) // in memory of its own
	backward func(input, gradient, to gorgonia.Value)
}

func (o *op) Arity() int { return len(o.types) - 1 }

// Type builds a new value each time because the type checker reuses its
// argument.
func (o *op) Type() hm.Type { return hm.NewFnType(o.types...) }

func (o *op) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) { return o.shape.Clone(), nil }
func (o *op) Do(inputs ...gorgonia.Value) (gorgonia.Value, error)   { return o.do(inputs) }
func (o *op) ReturnsPtr() bool                                      { return false }
func (o *op) CallsExtern() bool                                     { return false }
func (o *op) OverwritesInput() int                                  { return -1 }
func (o *op) String() string                                        { return fmt.Sprintf("%s#%d", o.name, o.id) }
func (o *op) WriteHash(h hash.Hash)                                 { fmt.Fprint(h, o.String()) }
func (o *op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

func (o *op) DiffWRT(inputs int) []bool { return slices.Repeat([]bool{true}, inputs) }

func (o *op) SymDiff(in gorgonia.Nodes, out, gradient *gorgonia.Node) (gorgonia.Nodes, error) {
	shape := in[0].Shape().Clone()
	to := tensor.New(tensor.WithShape(shape...), tensor.Of(in[0].Dtype()))
	d, err := gorgonia.ApplyOp(&op{name: "d" + o.name, id: opCount.Add(1), shape: shape,
		types: append(slices.Clone(o.types), gradient.Type(), in[0].Type()),
		do: func(inputs []gorgonia.Value) (gorgonia.Value, error) {
			o.backward(inputs[0], inputs[2], to)
			return to, nil
		}}, in[0], out, gradient)
	return gorgonia.Nodes{d}, err
}

// fuse adds an op to the graph.
func fuse[T float](name string, in *gorgonia.Node, shape tensor.Shape, forward func(x []T) gorgonia.Value,
	backward func(x []T, gradient gorgonia.Value, to []T)) (*gorgonia.Node, error) {
	var kind hm.Type = dtypeOf[T]()
	if len(shape) == 2 {
		kind = gorgonia.TensorType{Dims: 2, Of: dtypeOf[T]()}
	}
	return gorgonia.ApplyOp(&op{name, opCount.Add(1), []hm.Type{in.Type(), kind}, shape,
		func(inputs []gorgonia.Value) (gorgonia.Value, error) { return forward(data[T](inputs[0])), nil },
		func(input, gradient, to gorgonia.Value) { backward(data[T](input), gradient, data[T](to)) }}, in)
}

func dtypeOf[T float]() tensor.Dtype { return tensor.Dtype{Type: reflect.TypeFor[T]()} }

func newDense[T any](shape tensor.Shape, data []T) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
}

// data is the backing of a dense value.
func data[T any](v gorgonia.Value) []T { return v.Data().([]T) }

// input adds a tensor that the caller fills before each run.
func input(g *gorgonia.ExprGraph, name string, t *tensor.Dense) *gorgonia.Node {
	return gorgonia.NewTensor(g, t.Dtype(), t.Dims(), gorgonia.WithShape(t.Shape()...), gorgonia.WithName(name),
		gorgonia.WithValue(t))
}

// affine is x·w + b for every row of x, an error that of x.
func affine(w, b *gorgonia.Node) func(x *gorgonia.Node, err error) (*gorgonia.Node, error) {
	return func(x *gorgonia.Node, err error) (*gorgonia.Node, error) {
		if err == nil {
			x, err = gorgonia.Mul(x, w)
		}
		if err != nil {
			return nil, err
		}
		return gorgonia.BroadcastAdd(x, b, nil, []byte{0})
	}
}

// lastHidden adds the whole LSTM as one op of its weights: batch × outputs. With
// training the op keeps what its derivative needs. The token vectors are frozen, so
// the only derivative is that of the weights.
func lastHidden[T float](r *recurrence[T], weights *gorgonia.Node, training bool) (*gorgonia.Node, error) {
	shape := tensor.Shape{len(r.batch.lengths), r.outputs()}
	out := newDense(shape, make([]T, shape.TotalSize()))
	return fuse("LSTM", weights, shape, func(w []T) gorgonia.Value {
		r.forward(w, data[T](out), training)
		return out
	}, func(w []T, gradient gorgonia.Value, to []T) { r.backward(w, data[T](gradient), to) })
}

// crossEntropy adds the mean of −ln softmax(logits)[label] over the labelled
// rows as one op of logits (batch × classes). The largest logit is subtracted
// before exponentiating, so nothing overflows.
func crossEntropy[T float](logits *gorgonia.Node, labels []int32) (*gorgonia.Node, error) {
	classes := logits.Shape()[1]
	n := func() int { return max(1, list.Count(labels, func(label int32) bool { return label != noLabel })) }
	return fuse("SoftmaxCrossEntropy", logits, tensor.ScalarShape(), func(x []T) gorgonia.Value {
		loss := 0.0
		for i, label := range labels {
			if label != noLabel {
				loss += logLoss(x[i*classes:(i+1)*classes], int(label))
			}
		}
		if loss /= float64(n()); dtypeOf[T]() == tensor.Float64 {
			return gorgonia.NewF64(loss)
		}
		return gorgonia.NewF32(float32(loss))
	}, func(x []T, gradient gorgonia.Value, to []T) {
		scale := gradient.Data().(T) / T(n())
		clear(to)
		for i, label := range labels {
			if label == noLabel {
				continue
			}
			row := to[i*classes : (i+1)*classes]
			softmax(row, x[i*classes:(i+1)*classes])
			row[label]--
			for j := range row {
				row[j] *= scale
			}
		}
	})
}
