// Package onnxtest writes ONNX model files by hand, for tests.
package onnxtest

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Element types of onnx.proto.
const (
	Float = 1
	Int64 = 7
	Bool  = 9
)

// Builder collects the nodes, constants, inputs and outputs of a graph.
type Builder struct{ Graph []byte }

// Message appends a field with a message, text or bytes.
func Message(number protowire.Number, to, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), content)
}

// Varint appends a field with a number.
func Varint(number protowire.Number, to []byte, x int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, number, protowire.VarintType), uint64(x))
}

// Tensor is a TensorProto of float32, or of int64 with kind Int64 …
func Tensor(name string, kind int64, shape []int, numbers []float64) []byte {
	var t, raw []byte
	for _, d := range shape {
		t = Varint(1, t, int64(d))
	}
	t = Message(8, Varint(2, t, kind), []byte(name))
	for _, x := range numbers {
		switch kind {
		case Float:
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
		case Bool:
			raw = append(raw, byte(x))
		default:
			raw = binary.LittleEndian.AppendUint64(raw, uint64(int64(x)))
		}
	}
	return Message(9, t, raw)
}

// Floats adds a constant of float32.
func (b *Builder) Floats(name string, shape []int, numbers ...float64) *Builder {
	b.Graph = Message(5, b.Graph, Tensor(name, Float, shape, numbers))
	return b
}

// Ints adds a constant of int64.
func (b *Builder) Ints(name string, shape []int, numbers ...float64) *Builder {
	b.Graph = Message(5, b.Graph, Tensor(name, Int64, shape, numbers))
	return b
}

// Value is an input (11) or output (12); −1 is a size that is not fixed.
func (b *Builder) Value(number protowire.Number, name string, kind int64, shape ...int) *Builder {
	var dims []byte
	for _, d := range shape {
		var dim []byte
		if d >= 0 {
			dim = Varint(1, nil, int64(d))
		} else {
			dim = Message(2, nil, []byte("n"))
		}
		dims = Message(1, dims, dim)
	}
	t := Message(1, nil, Message(2, Varint(1, nil, kind), dims))
	b.Graph = Message(number, b.Graph, Message(2, Message(1, nil, []byte(name)), t))
	return b
}

// Input adds an input.
func (b *Builder) Input(name string, kind int64, shape ...int) *Builder {
	return b.Value(11, name, kind, shape...)
}

// Output adds an output of float32.
func (b *Builder) Output(name string, shape ...int) *Builder {
	return b.Value(12, name, Float, shape...)
}

// Attr is an attribute of a node: an int, float64, string, []int or the bytes of
// a Tensor.
type Attr struct {
	name  string
	value any
}

// Attribute returns an Attr.
func Attribute(name string, value any) Attr { return Attr{name, value} }

// Node adds an operation.
func (b *Builder) Node(op string, in, out []string, attrs ...Attr) *Builder {
	var n []byte
	for _, s := range in {
		n = Message(1, n, []byte(s))
	}
	for _, s := range out {
		n = Message(2, n, []byte(s))
	}
	n = Message(4, n, []byte(op))
	for _, a := range attrs {
		p, kind := Message(1, nil, []byte(a.name)), int64(0)
		switch v := a.value.(type) {
		case int:
			p, kind = Varint(3, p, int64(v)), 2
		case float64:
			p = protowire.AppendTag(p, 2, protowire.Fixed32Type)
			p, kind = protowire.AppendFixed32(p, math.Float32bits(float32(v))), 1
		case string:
			p, kind = Message(4, p, []byte(v)), 3
		case []int:
			for _, x := range v {
				p = Varint(8, p, int64(x))
			}
			kind = 7
		case []byte: // a tensor
			p, kind = Message(5, p, v), 4
		}
		n = Message(5, n, Varint(20, p, kind))
	}
	b.Graph = Message(1, b.Graph, n)
	return b
}

// File returns a model file of an opset.
func (b *Builder) File(opset int64) []byte {
	m := Message(7, Varint(1, nil, 8), Message(2, b.Graph, []byte("g")))
	return Message(8, m, Varint(2, Message(1, nil, nil), opset))
}
