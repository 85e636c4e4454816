package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

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
func typeOf(kind uint64) (Type, error) {
	switch kind {
	case protoFloat, protoDouble:
		return Float, nil
	case protoUint8, protoInt8, protoInt32, protoInt64:
		return Int, nil
	case protoBool:
		return Bool, nil
	}
	names := map[uint64]string{8: "STRING", 10: "FLOAT16", 16: "BFLOAT16"}
	if name, ok := names[kind]; ok {
		return 0, fmt.Errorf("numbers of type %s are not supported", name)
	}
	return 0, fmt.Errorf("numbers of type %d are not supported", kind)
}

// tensorProto is a TensorProto as it is stored.
type tensorProto struct {
	dims     []uint64
	kind     uint64
	floats   []uint64 // bits of float_data
	ints     []uint64 // int32_data or int64_data
	doubles  []uint64
	raw      []byte
	hasRaw   bool
	external map[string]string
}

func parseTensor(data []byte, ext external) (name string, _ *Tensor, err error) {
	p := tensorProto{external: map[string]string{}}
	outside := false
	err = fields(data, func(v field) (err error) {
		switch v.number {
		case 1:
			p.dims, err = numbers(p.dims, v, protowire.VarintType)
		case 2:
			p.kind = v.bits
		case 4:
			p.floats, err = numbers(p.floats, v, protowire.Fixed32Type)
		case 5, 7:
			p.ints, err = numbers(p.ints, v, protowire.VarintType)
		case 8:
			name = string(v.bytes)
		case 9:
			p.raw, p.hasRaw = v.bytes, true
		case 10:
			p.doubles, err = numbers(p.doubles, v, protowire.Fixed64Type)
		case 13:
			var key, value string
			err = fields(v.bytes, func(v field) error {
				switch v.number {
				case 1:
					key = string(v.bytes)
				case 2:
					value = string(v.bytes)
				}
				return nil
			})
			p.external[key] = value
		case 14:
			outside = v.bits == 1
		}
		return err
	})
	if err != nil {
		return name, nil, err
	}
	if outside {
		if err := p.readExternal(ext); err != nil {
			return name, nil, err
		}
	}
	t, err := p.tensor()
	return name, t, err
}

func (p *tensorProto) readExternal(ext external) (err error) {
	if ext == nil {
		return errors.New("its numbers are in another file")
	}
	var offset, length int64 = 0, -1
	for key, to := range map[string]*int64{"offset": &offset, "length": &length} {
		if s, ok := p.external[key]; ok {
			if *to, err = strconv.ParseInt(s, 10, 64); err != nil || *to < 0 {
				return fmt.Errorf("external data: %s = %q: must be a number of bytes", key, s)
			}
		}
	}
	p.raw, err = ext(p.external["location"], offset, length)
	p.hasRaw = true
	return err
}

// width is the number of bytes of an element in raw_data.
var width = map[uint64]int{protoFloat: 4, protoUint8: 1, protoInt8: 1, protoInt32: 4, protoInt64: 8, protoBool: 1,
	protoDouble: 8}

// tensor converts to one of our types. The numbers stored must be as many as
// the shape says, so that a small file can't ask for much memory.
func (p *tensorProto) tensor() (*Tensor, error) {
	kind, err := typeOf(p.kind)
	if err != nil {
		return nil, err
	}
	t := &Tensor{Type: kind, Shape: make([]int, len(p.dims))}
	size := uint64(1)
	for i, d := range p.dims {
		if d > math.MaxInt32 {
			return nil, fmt.Errorf("dimension %d: must be at most 2^31 − 1", d)
		}
		if size *= d; size > math.MaxInt32 {
			return nil, fmt.Errorf("shape %v: too many numbers", p.dims)
		}
		t.Shape[i] = int(d)
	}
	var stored int
	switch {
	case p.hasRaw:
		stored = len(p.raw) / width[p.kind]
		if len(p.raw)%width[p.kind] != 0 {
			stored = -1
		}
	case p.kind == protoDouble:
		stored = len(p.doubles)
	case t.Type == Float:
		stored = len(p.floats)
	default:
		stored = len(p.ints)
	}
	if uint64(stored) != size {
		return nil, fmt.Errorf("%d numbers for shape %v", stored, t.Shape)
	}
	if t.Type == Float {
		t.F = make([]float32, size)
	} else {
		t.I = make([]int64, size)
	}
	for i := range int(size) {
		p.set(t, i)
	}
	return t, nil
}

// set converts element i.
func (p *tensorProto) set(t *Tensor, i int) {
	var bits uint64
	if p.hasRaw {
		switch width[p.kind] {
		case 1:
			bits = uint64(p.raw[i])
		case 4:
			bits = uint64(binary.LittleEndian.Uint32(p.raw[4*i:]))
		default:
			bits = binary.LittleEndian.Uint64(p.raw[8*i:])
		}
	}
	switch {
	case p.hasRaw:
	case p.kind == protoDouble:
		bits = p.doubles[i]
	case t.Type == Float:
		bits = p.floats[i]
	default:
		bits = p.ints[i]
	}
	switch p.kind {
	case protoFloat:
		t.F[i] = math.Float32frombits(uint32(bits))
	case protoDouble:
		t.F[i] = float32(math.Float64frombits(bits))
	case protoInt8:
		t.I[i] = int64(int8(bits))
	case protoInt32:
		t.I[i] = int64(int32(bits))
	case protoBool:
		t.I[i] = min(1, int64(bits&0xff))
	default:
		t.I[i] = int64(bits)
	}
}
