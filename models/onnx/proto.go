package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/proto"

	"mldpbench/internal/list"
	"mldpbench/models/onnx/onnxproto"
)

type graph struct {
	nodes        []*node
	initializers map[string]*Tensor
	Inputs       []Info // that a run needs
	Outputs      []Info
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

// external reads a tensor's bytes from a file next to the model.
type external func(location string, offset, length int64) ([]byte, error)

func parseModel(data []byte, ext external) (*graph, error) {
	var m onnxproto.Model
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if len(m.GetGraph().GetOutput()) == 0 {
		return nil, errors.New("no graph with outputs in it")
	}
	g := &graph{initializers: map[string]*Tensor{}, Inputs: list.Map(m.Graph.Input, infoOf),
		Outputs: list.Map(m.Graph.Output, infoOf)}
	for _, o := range m.OpsetImport {
		if o.GetDomain() == "" || o.GetDomain() == "ai.onnx" {
			g.opset = o.GetVersion()
		}
	}
	for _, p := range m.Graph.Initializer {
		t, err := tensorOf(p, ext)
		if err != nil {
			return nil, fmt.Errorf("initializer %q: %w", p.GetName(), err)
		}
		g.initializers[p.GetName()] = t
	}
	for _, p := range m.Graph.Node {
		n := &node{name: p.GetName(), op: p.GetOpType(), domain: p.GetDomain(), in: p.Input, out: p.Output,
			attrs: map[string]attribute{}}
		for _, a := range p.Attribute {
			v := attribute{i: a.GetI(), f: a.GetF(), s: string(a.S), ints: a.Ints, floats: a.Floats,
				graph: a.G != nil || a.Graphs != nil}
			if a.T != nil {
				var err error
				if v.t, err = tensorOf(a.T, ext); err != nil {
					return nil, fmt.Errorf("node %q: attribute %q: %w", n.name, a.GetName(), err)
				}
			}
			n.attrs[a.GetName()] = v
		}
		g.nodes = append(g.nodes, n)
	}
	return g, nil
}

func infoOf(v *onnxproto.Value) Info {
	t := v.GetType().GetTensorType()
	info := Info{Name: v.GetName()}
	info.Type, _ = typeOf(int64(t.GetElemType()))
	if t.GetShape() == nil {
		return info
	}
	info.Shape = []int{}
	for _, d := range t.Shape.Dim {
		size := -1
		if d.DimValue != nil && *d.DimValue >= 0 && *d.DimValue <= math.MaxInt32 {
			size = int(*d.DimValue)
		}
		info.Shape = append(info.Shape, size)
	}
	return info
}

// Element types of onnx.proto, TensorProto.DataType.
const (
	protoFloat  = 1
	protoUint8  = 2
	protoInt8   = 3
	protoInt32  = 6
	protoInt64  = 7
	protoBool   = 9
	protoDouble = 11
)

// typeOf maps an element type to ours.
func typeOf(kind int64) (Type, error) {
	switch kind {
	case protoFloat, protoDouble:
		return Float, nil
	case protoUint8, protoInt8, protoInt32, protoInt64:
		return Int, nil
	case protoBool:
		return Bool, nil
	}
	names := map[int64]string{8: "STRING", 10: "FLOAT16", 16: "BFLOAT16"}
	if name, ok := names[kind]; ok {
		return 0, fmt.Errorf("numbers of type %s are not supported", name)
	}
	return 0, fmt.Errorf("numbers of type %d are not supported", kind)
}

// tensorOf converts to one of our types. The numbers stored must be as many as
// the shape says, so that a small file can't ask for much memory.
func tensorOf(p *onnxproto.Tensor, ext external) (*Tensor, error) {
	kind, err := typeOf(int64(p.GetDataType()))
	if err != nil {
		return nil, err
	}
	raw := p.RawData
	if p.GetDataLocation() == 1 {
		if raw, err = readExternal(p, ext); err != nil {
			return nil, err
		}
	}
	t := &Tensor{Type: kind, Shape: make([]int, len(p.Dims))}
	size := int64(1)
	for i, d := range p.Dims {
		if d < 0 || d > math.MaxInt32 {
			return nil, fmt.Errorf("dimension %d: must be 0 to 2^31 − 1", d)
		}
		if size *= d; size > math.MaxInt32 {
			return nil, fmt.Errorf("shape %v: too many numbers", p.Dims)
		}
		t.Shape[i] = int(d)
	}
	switch p.GetDataType() {
	case protoFloat:
		t.F, err = stored(raw, p.FloatData)
	case protoDouble:
		t.F, err = converted[float32](stored(raw, p.DoubleData))
	case protoInt64:
		t.I, err = stored(raw, p.Int64Data)
	case protoInt32:
		t.I, err = converted[int64](stored(raw, p.Int32Data))
	case protoInt8:
		t.I, err = converted[int64](stored(raw, list.Map(p.Int32Data, func(x int32) int8 { return int8(x) })))
	default:
		t.I, err = converted[int64](stored(raw, list.Map(p.Int32Data, func(x int32) uint8 { return uint8(x) })))
	}
	if err != nil || int64(len(t.F)+len(t.I)) != size {
		return nil, fmt.Errorf("%d numbers for shape %v", len(t.F)+len(t.I), t.Shape)
	}
	if kind == Bool {
		t.I = list.Map(t.I, func(x int64) int64 { return min(1, x) })
	}
	return t, nil
}

// stored returns the numbers of raw_data, or else those of a field of their own.
func stored[T any](raw []byte, numbers []T) ([]T, error) {
	if raw == nil {
		return numbers, nil
	}
	var one T
	out := make([]T, len(raw)/binary.Size(one))
	n, err := binary.Decode(raw, binary.LittleEndian, out)
	if err == nil && n != len(raw) {
		err = errors.New("half a number")
	}
	return out, err
}

func converted[To, From float32 | float64 | int8 | uint8 | int32 | int64](x []From, err error) ([]To, error) {
	return list.Map(x, func(v From) To { return To(v) }), err
}

func readExternal(p *onnxproto.Tensor, ext external) (_ []byte, err error) {
	if ext == nil {
		return nil, errors.New("its numbers are in another file")
	}
	location, offset, length := "", int64(0), int64(-1)
	for _, e := range p.ExternalData {
		to := &offset
		switch e.GetKey() {
		case "location":
			location = e.GetValue()
			continue
		case "length":
			to = &length
		case "offset":
		default:
			continue
		}
		if *to, err = strconv.ParseInt(e.GetValue(), 10, 64); err != nil || *to < 0 {
			return nil, fmt.Errorf("external data: %s = %q: must be a number of bytes", e.GetKey(), e.GetValue())
		}
	}
	return ext(location, offset, length)
}
