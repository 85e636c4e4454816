// Package onnxtest writes ONNX model files by hand, for tests.
package onnxtest

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/proto"

	"mldpbench/internal/list"
	"mldpbench/models/onnx/onnxproto"
)

// Element types of onnx.proto.
const (
	Float = 1
	Int64 = 7
	Bool  = 9
)

// Builder collects the nodes, constants, inputs and outputs of a graph.
type Builder struct{ Graph onnxproto.Graph }

// Tensor is a constant of float32, or of int64 with kind Int64 …
func Tensor(name string, kind int32, shape []int, numbers ...float64) *onnxproto.Tensor {
	t := &onnxproto.Tensor{Name: &name, DataType: &kind, RawData: []byte{},
		Dims: list.Map(shape, func(d int) int64 { return int64(d) })}
	for _, x := range numbers {
		switch kind {
		case Float:
			t.RawData = binary.LittleEndian.AppendUint32(t.RawData, math.Float32bits(float32(x)))
		case Bool:
			t.RawData = append(t.RawData, byte(x))
		default:
			t.RawData = binary.LittleEndian.AppendUint64(t.RawData, uint64(int64(x)))
		}
	}
	return t
}

// Floats adds a constant of float32.
func (b *Builder) Floats(name string, shape []int, numbers ...float64) *Builder {
	b.Graph.Initializer = append(b.Graph.Initializer, Tensor(name, Float, shape, numbers...))
	return b
}

// Ints adds a constant of int64.
func (b *Builder) Ints(name string, shape []int, numbers ...float64) *Builder {
	b.Graph.Initializer = append(b.Graph.Initializer, Tensor(name, Int64, shape, numbers...))
	return b
}

// value is an input or output; −1 is a size that is not fixed.
func value(name string, kind int32, shape []int) *onnxproto.Value {
	t := &onnxproto.TensorType{ElemType: &kind, Shape: &onnxproto.Shape{}}
	for _, d := range shape {
		dim := &onnxproto.Dimension{DimParam: proto.String("n")}
		if d >= 0 {
			dim = &onnxproto.Dimension{DimValue: proto.Int64(int64(d))}
		}
		t.Shape.Dim = append(t.Shape.Dim, dim)
	}
	return &onnxproto.Value{Name: &name, Type: &onnxproto.Type{TensorType: t}}
}

// Input adds an input.
func (b *Builder) Input(name string, kind int32, shape ...int) *Builder {
	b.Graph.Input = append(b.Graph.Input, value(name, kind, shape))
	return b
}

// Output adds an output of float32.
func (b *Builder) Output(name string, shape ...int) *Builder {
	b.Graph.Output = append(b.Graph.Output, value(name, Float, shape))
	return b
}

// Attribute returns an attribute of a node: an int, float64, string, []int or
// Tensor.
func Attribute(name string, value any) *onnxproto.Attribute {
	a := &onnxproto.Attribute{Name: &name}
	switch v := value.(type) {
	case int:
		a.I = proto.Int64(int64(v))
	case float64:
		a.F = proto.Float32(float32(v))
	case string:
		a.S = []byte(v)
	case []int:
		a.Ints = list.Map(v, func(x int) int64 { return int64(x) })
	case *onnxproto.Tensor:
		a.T = v
	}
	return a
}

// Node adds an operation.
func (b *Builder) Node(op string, in, out []string, attrs ...*onnxproto.Attribute) *Builder {
	b.Graph.Node = append(b.Graph.Node, &onnxproto.Node{OpType: &op, Input: in, Output: out, Attribute: attrs})
	return b
}

// File returns a model file of an opset.
func (b *Builder) File(opset int64) []byte {
	data, err := proto.Marshal(&onnxproto.Model{IrVersion: proto.Int64(8), Graph: &b.Graph,
		OpsetImport: []*onnxproto.OperatorSet{{Version: &opset}}})
	if err != nil {
		panic(err) // no such graph
	}
	return data
}
