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

// SymDiff adds the derivative to the graph. Its memory is made here, once.
func (o *op) SymDiff(in gorgonia.Nodes, out, gradient *gorgonia.Node) (gorgonia.Nodes, error) {
	shape := in[0].Shape().Clone()
	to := tensor.New(tensor.WithShape(shape...), tensor.Of(in[0].Dtype()))
	derivative := &op{
		name:  "d" + o.name,
		id:    opCount.Add(1),
		types: append(slices.Clone(o.types), gradient.Type(), in[0].Type()),
		shape: shape,
		do: func(inputs []gorgonia.Value) (gorgonia.Value, error) {
			o.backward(inputs[0], inputs[2], to)
			return to, nil
		},
	}
	d, err := gorgonia.ApplyOp(derivative, in[0], out, gradient)
	return gorgonia.Nodes{d}, err
}

// A layer is a part of a network that is one op of one input.
type layer[T float] interface {
	// forward returns the output, in memory of its own, for an input.
	forward(x []T) gorgonia.Value
	// backward writes the derivative of the loss with respect to the input to one of its shape, given that with
	// respect to the output of the last forward pass.
	backward(x []T, gradient gorgonia.Value, to []T)
}

// fuse adds a layer with an output of that shape to the graph of its input.
func fuse[T float](name string, in *gorgonia.Node, shape tensor.Shape, l layer[T]) (*gorgonia.Node, error) {
	var kind hm.Type = dtypeOf[T]()
	if len(shape) == 2 {
		kind = gorgonia.TensorType{Dims: 2, Of: dtypeOf[T]()}
	}
	return gorgonia.ApplyOp(&op{
		name:  name,
		id:    opCount.Add(1),
		types: []hm.Type{in.Type(), kind},
		shape: shape,
		do: func(inputs []gorgonia.Value) (gorgonia.Value, error) {
			return l.forward(data[T](inputs[0])), nil
		},
		backward: func(input, gradient, to gorgonia.Value) { l.backward(data[T](input), gradient, data[T](to)) },
	}, in)
}

func dtypeOf[T float]() tensor.Dtype { return tensor.Dtype{Type: reflect.TypeFor[T]()} }

func newDense[T any](shape tensor.Shape, data []T) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
}

// data is the backing of a dense value.
func data[T any](v gorgonia.Value) []T { return v.Data().([]T) }

// input adds a tensor that the caller fills before each run. Two of one name, type and shape would be one node.
func input(g *gorgonia.ExprGraph, name string, t *tensor.Dense) *gorgonia.Node {
	return gorgonia.NewTensor(g, t.Dtype(), t.Dims(), gorgonia.WithShape(t.Shape()...), gorgonia.WithName(name),
		gorgonia.WithValue(t))
}

// affine is x·w + b for every row of x, a dense layer of Gorgonia: x is n × in, w in × out, b 1 × out.
func affine(x, w, b *gorgonia.Node) (*gorgonia.Node, error) {
	product, err := gorgonia.Mul(x, w)
	if err != nil {
		return nil, err
	}
	return gorgonia.BroadcastAdd(product, b, nil, []byte{0})
}
