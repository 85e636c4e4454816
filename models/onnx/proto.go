package onnx

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of onnx.proto (github.com/onnx/onnx, IR version 3 and later)
// that inference needs; the numbers of fields are those of that file.

type graph struct {
	nodes        []*node
	initializers map[string]*Tensor
	inputs       []Info
	outputs      []Info
	opset        int64
}

type node struct {
	name, op string
	domain   string
	in, out  []string
	attrs    map[string]attribute

	inputs, outputs []int // numbers of values; −1 for an absent input
	exec            func(r *run, n *node, in []*Tensor) []*Tensor
	prepared        any // what exec needs besides attributes: a packed matrix, the steps of a group
}

type attribute struct {
	i      int64
	f      float32
	s      string
	t      *Tensor
	ints   []int64
	floats []float32
	graph  bool
}

func (n *node) int(name string, otherwise int64) int64 {
	if a, ok := n.attrs[name]; ok {
		return a.i
	}
	return otherwise
}

func (n *node) float(name string, otherwise float32) float32 {
	if a, ok := n.attrs[name]; ok {
		return a.f
	}
	return otherwise
}

// Info describes an input or output of a model.
type Info struct {
	Name  string
	Type  Type
	Shape []int // −1 where it is not fixed; nil where it is not stated
}

// field is one field of a message: number, and its value by wire type.
type field struct {
	number protowire.Number
	bits   uint64
	bytes  []byte
	kind   protowire.Type
}

// fields calls f for each field of a message.
func fields(message []byte, f func(field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		v := field{number: number, kind: kind}
		switch kind {
		case protowire.VarintType:
			v.bits, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(message)
			v.bits = uint64(x)
		case protowire.Fixed64Type:
			v.bits, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			v.bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}

// numbers appends the values of a repeated field of numbers, packed or not;
// element is the wire type of one.
func numbers(dst []uint64, v field, element protowire.Type) ([]uint64, error) {
	if v.kind == element {
		return append(dst, v.bits), nil
	}
	if v.kind != protowire.BytesType {
		return nil, errors.New("a number of the wrong kind")
	}
	for b := v.bytes; len(b) > 0; {
		var x uint64
		var n int
		switch element {
		case protowire.VarintType:
			x, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var y uint32
			y, n = protowire.ConsumeFixed32(b)
			x = uint64(y)
		default:
			x, n = protowire.ConsumeFixed64(b)
		}
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		dst, b = append(dst, x), b[n:]
	}
	return dst, nil
}

// external reads a tensor's bytes from a file next to the model.
type external func(location string, offset, length int64) ([]byte, error)

func parseModel(data []byte, ext external) (*graph, error) {
	g := &graph{initializers: map[string]*Tensor{}}
	found := false
	err := fields(data, func(v field) error {
		switch v.number {
		case 7:
			found = true
			return g.parse(v.bytes, ext)
		case 8:
			var domain string
			var version int64
			err := fields(v.bytes, func(v field) error {
				switch v.number {
				case 1:
					domain = string(v.bytes)
				case 2:
					version = int64(v.bits)
				}
				return nil
			})
			if domain == "" || domain == "ai.onnx" {
				g.opset = version
			}
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !found || len(g.outputs) == 0 {
		return nil, errors.New("no graph with outputs in it")
	}
	return g, nil
}

func (g *graph) parse(data []byte, ext external) error {
	return fields(data, func(v field) error {
		switch v.number {
		case 1:
			n, err := parseNode(v.bytes, ext)
			g.nodes = append(g.nodes, n)
			return err
		case 5:
			name, t, err := parseTensor(v.bytes, ext)
			if err != nil {
				return fmt.Errorf("initializer %q: %w", name, err)
			}
			g.initializers[name] = t
		case 11, 12:
			info, err := parseInfo(v.bytes)
			if err != nil {
				return err
			}
			if v.number == 11 {
				g.inputs = append(g.inputs, info)
			} else {
				g.outputs = append(g.outputs, info)
			}
		}
		return nil
	})
}

func parseNode(data []byte, ext external) (*node, error) {
	n := &node{attrs: map[string]attribute{}}
	err := fields(data, func(v field) error {
		switch v.number {
		case 1:
			n.in = append(n.in, string(v.bytes))
		case 2:
			n.out = append(n.out, string(v.bytes))
		case 3:
			n.name = string(v.bytes)
		case 4:
			n.op = string(v.bytes)
		case 5:
			return n.parseAttribute(v.bytes, ext)
		case 7:
			n.domain = string(v.bytes)
		}
		return nil
	})
	return n, err
}

func (n *node) parseAttribute(data []byte, ext external) error {
	var a attribute
	var name string
	var ints, floats []uint64
	err := fields(data, func(v field) (err error) {
		switch v.number {
		case 1:
			name = string(v.bytes)
		case 2:
			a.f = math.Float32frombits(uint32(v.bits))
		case 3:
			a.i = int64(v.bits)
		case 4:
			a.s = string(v.bytes)
		case 5:
			_, a.t, err = parseTensor(v.bytes, ext)
		case 6, 11:
			a.graph = true
		case 7:
			floats, err = numbers(floats, v, protowire.Fixed32Type)
		case 8:
			ints, err = numbers(ints, v, protowire.VarintType)
		}
		return err
	})
	for _, x := range ints {
		a.ints = append(a.ints, int64(x))
	}
	for _, x := range floats {
		a.floats = append(a.floats, math.Float32frombits(uint32(x)))
	}
	n.attrs[name] = a
	if err != nil {
		return fmt.Errorf("node %q: attribute %q: %w", n.name, name, err)
	}
	return nil
}

func parseInfo(data []byte) (Info, error) {
	var info Info
	var kind uint64
	err := fields(data, func(v field) error {
		switch v.number {
		case 1:
			info.Name = string(v.bytes)
		case 2:
			return fields(v.bytes, func(v field) error {
				if v.number != 1 {
					return nil
				}
				return fields(v.bytes, func(v field) error {
					switch v.number {
					case 1:
						kind = v.bits
					case 2:
						info.Shape = []int{}
						return fields(v.bytes, func(v field) error {
							size := -1
							err := fields(v.bytes, func(v field) error {
								if v.number == 1 && v.bits <= math.MaxInt32 {
									size = int(v.bits)
								}
								return nil
							})
							info.Shape = append(info.Shape, size)
							return err
						})
					}
					return nil
				})
			})
		}
		return nil
	})
	info.Type, _ = typeOf(kind)
	return info, err
}
