package table

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// The footer of a Parquet file is a Thrift structure. It is kept as a tree of numbered
// fields, not as Go structures of the library: what the library does not know (a newer
// logical type, a zero where it expects none) is written as it was read.
type (
	structure struct{ fields []field } // in the order of their numbers
	field     struct {
		number int16
		kind   thrift.Type
		value  any // bool, int8 to int64, float64, []byte, series or *structure
	}
	series struct {
		kind   thrift.Type
		values []any
	}
)

// Numbers of fields, by structure, as parquet.thrift has them.
const (
	fileRowGroups, fileEncryption = 4, 8

	groupColumns, groupBytes, groupRows, groupSorting, groupOffset, groupCompressed = 1, 2, 3, 4, 5, 6

	sortingColumn = 1

	chunkFile, chunkOffset, chunkMeta                            = 1, 2, 3
	chunkIndexFirst, chunkIndexLast, chunkCrypto, chunkEncrypted = 4, 7, 8, 9

	metaEncodings, metaBytes, metaCompressed, metaKeyValues, metaDataPage     = 2, 6, 7, 8, 9
	metaIndexPage, metaDictionaryPage, metaStatistics, metaEncodingStatistics = 10, 11, 12, 13
	metaBloomOffset, metaBloomLength, metaSizes, metaGeospatial               = 14, 15, 16, 17
)

// deepest is a bound on nested structures, which those of a broken file need not have.
const deepest = 32

// parseStructure reads a structure, which must end where the bytes end.
func parseStructure(data []byte) (*structure, error) {
	r := new(thrift.CompactProtocol).NewReaderFromBytes(data)
	s, err := readStructure(r, 0)
	if err == nil && r.BytesRead() != len(data) {
		err = errors.New("more after the end of the footer")
	}
	return s, err
}

// readStructure reads the fields of a structure, those of the ones in it too.
func readStructure(r thrift.Reader, depth int) (*structure, error) {
	if depth > deepest {
		return nil, errors.New("the footer is nested too deeply")
	}
	s := &structure{}
	number := int16(0)
	for {
		f, err := r.ReadField()
		if err != nil || f.Type == thrift.STOP {
			return s, err
		}
		if f.Delta {
			f.ID += number
		}
		number = f.ID
		var value any = f.Type == thrift.TRUE
		if f.Type != thrift.TRUE && f.Type != thrift.FALSE {
			value, err = readValue(r, f.Type, depth)
		}
		if err != nil {
			return nil, err
		}
		s.fields = append(s.fields, field{number, f.Type, value})
	}
}

// readValue reads a value that is not the bool of a field.
func readValue(r thrift.Reader, kind thrift.Type, depth int) (any, error) {
	switch kind {
	case thrift.TRUE, thrift.FALSE:
		return r.ReadBool()
	case thrift.I8:
		return r.ReadInt8()
	case thrift.I16:
		return r.ReadInt16()
	case thrift.I32:
		return r.ReadInt32()
	case thrift.I64:
		return r.ReadInt64()
	case thrift.DOUBLE:
		return r.ReadFloat64()
	case thrift.BINARY:
		return r.ReadBytes()
	case thrift.STRUCT:
		return readStructure(r, depth+1)
	case thrift.LIST, thrift.SET:
		head, err := r.ReadList()
		if err != nil {
			return nil, err
		}
		s := series{kind: head.Type}
		for range head.Size {
			value, err := readValue(r, head.Type, depth+1)
			if err != nil {
				return nil, err
			}
			s.values = append(s.values, value)
		}
		return s, nil
	}
	return nil, fmt.Errorf("the footer has a field of the kind %s", kind)
}

// bytes is the structure as it is written.
func (s *structure) bytes() ([]byte, error) {
	var b bytes.Buffer
	err := writeStructure(new(thrift.CompactProtocol).NewWriter(&b), s)
	return b.Bytes(), err
}

// writeStructure writes the fields of a structure, in their order.
func writeStructure(w thrift.Writer, s *structure) error {
	last := int16(0)
	for _, f := range s.fields {
		id := f.number - last
		if id <= 0 {
			return fmt.Errorf("the footer has a field %d after %d", f.number, last)
		}
		if id > 15 { // as much as a difference holds
			id = f.number
		}
		last = f.number
		if on, ok := f.value.(bool); ok {
			f.kind = thrift.FALSE
			if on {
				f.kind = thrift.TRUE
			}
		}
		if err := w.WriteField(thrift.Field{ID: id, Type: f.kind}); err != nil {
			return err
		}
		if f.kind == thrift.TRUE || f.kind == thrift.FALSE {
			continue
		}
		if err := writeValue(w, f.kind, f.value); err != nil {
			return err
		}
	}
	return w.WriteField(thrift.Field{Type: thrift.STOP})
}

// writeValue writes what readValue returned.
func writeValue(w thrift.Writer, kind thrift.Type, value any) error {
	switch v := value.(type) {
	case bool:
		return w.WriteBool(v)
	case int8:
		return w.WriteInt8(v)
	case int16:
		return w.WriteInt16(v)
	case int32:
		return w.WriteInt32(v)
	case int64:
		return w.WriteInt64(v)
	case float64:
		return w.WriteFloat64(v)
	case []byte:
		return w.WriteBytes(v)
	case *structure:
		return writeStructure(w, v)
	case series:
		if err := w.WriteList(thrift.List{Size: int32(len(v.values)), Type: v.kind}); err != nil {
			return err
		}
		for _, element := range v.values {
			if err := writeValue(w, v.kind, element); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("the footer has a value of the kind %s", kind)
}

func (s *structure) find(number int16) (int, bool) {
	return slices.BinarySearchFunc(s.fields, number, func(f field, n int16) int {
		return cmp.Compare(f.number, n)
	})
}

func (s *structure) has(number int16) bool {
	_, ok := s.find(number)
	return ok
}

// number is the value of a field, 0 where there is none.
func (s *structure) number(number int16) int64 {
	at, ok := s.find(number)
	if !ok {
		return 0
	}
	switch v := s.fields[at].value.(type) {
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case int64:
		return v
	}
	return 0
}

// structure is the value of a field, an empty one where there is none.
func (s *structure) structure(number int16) *structure {
	if at, ok := s.find(number); ok {
		if v, ok := s.fields[at].value.(*structure); ok {
			return v
		}
	}
	return &structure{}
}

// structures are the elements of a list.
func (s *structure) structures(number int16) (all []*structure) {
	at, ok := s.find(number)
	if !ok {
		return nil
	}
	values, _ := s.fields[at].value.(series)
	for _, v := range values.values {
		if element, ok := v.(*structure); ok {
			all = append(all, element)
		}
	}
	return all
}

// set replaces a field, or adds it.
func (s *structure) set(number int16, kind thrift.Type, value any) {
	at, ok := s.find(number)
	if ok {
		s.fields[at] = field{number, kind, value}
		return
	}
	s.fields = slices.Insert(s.fields, at, field{number, kind, value})
}

// drop removes the fields from first to last.
func (s *structure) drop(first, last int16) {
	s.fields = slices.DeleteFunc(s.fields, func(f field) bool {
		return f.number >= first && f.number <= last
	})
}
