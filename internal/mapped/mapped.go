// Package mapped keeps large tables in files that are used where they lie: a file of named
// parts, written once, is mapped into memory and shared by all processes that open it. What a
// process touches is what it reads.
//
// A file begins with its parts, each at a multiple of 4096 bytes, in the byte order of the
// machine. An index of them follows in JSON, and a trailer of fixed size, which is the last
// that is written. A file is trusted by its trailer, index and size, and by the checksums of
// its parts; these are computed once, as a stamp beside the file (FILE.stamp) then says which
// file was checked, see Identity. A file is only ever replaced as a whole.
//
// A mapping lasts as long as the process: strings and slices may point into it for good. It is
// read only, and writing to it stops the process.
package mapped

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"
)

// alignment of parts: a page, so that no two parts share one.
const alignment = 4096

// magic is that of this layout.
const magic = "mldpmap1"

// trailer is the end of a file.
type trailer struct {
	Magic     [8]byte
	ByteOrder uint32 // byteOrder, as the machine writes it
	_         uint32
	Length    uint64 // of the index
	Sum       uint64 // of the index, xxHash64
}

const (
	byteOrder     = 0x01020304
	trailerLength = 32
)

// index says what a file has.
type index struct {
	Kind  string // what the file is, with its version
	Key   string // what it was made from
	Meta  json.RawMessage
	Parts []part
}

type part struct {
	Name   string
	Offset int64
	Length int64
	Sum    uint64 // xxHash64
}

// File is a file in memory.
type File struct {
	Key   string
	index index
	data  []byte
}

// ErrUnusable is that of a file that is damaged, or none of its kind.
var ErrUnusable = errors.New("unusable")

// Open opens a file of a kind. The error of one that is damaged, or is none of the kind, says why and is
// ErrUnusable.
func Open(path, kind string) (*File, error) {
	opened, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	before := IdentityOf(opened)
	data, err := mapFile(opened)
	if err != nil {
		return nil, err
	}
	f, err := parse(data, kind)
	if err == nil && !stampOf(path).Vouches(before) {
		err = f.verify()
		if err == nil {
			NewStamp(before).write(path)
		}
	}
	if err != nil {
		unmap(data)
		return nil, err
	}
	return f, nil
}

// parse reads trailer and index.
func parse(data []byte, kind string) (*File, error) {
	var end trailer
	if len(data) < trailerLength {
		return nil, fmt.Errorf("%w: cut short", ErrUnusable)
	}
	body := data[:len(data)-trailerLength]
	_, err := binary.Decode(data[len(body):], binary.NativeEndian, &end)
	if err != nil {
		return nil, err
	}
	switch {
	case string(end.Magic[:]) != magic:
		return nil, fmt.Errorf("%w: cut short, or of another program or version", ErrUnusable)
	case end.ByteOrder != byteOrder:
		return nil, fmt.Errorf("%w: of another kind of machine", ErrUnusable)
	case end.Length > uint64(len(body)):
		return nil, fmt.Errorf("%w: damaged", ErrUnusable)
	}
	text := body[len(body)-int(end.Length):]
	if xxhash.Sum64(text) != end.Sum {
		return nil, fmt.Errorf("%w: damaged", ErrUnusable)
	}
	f := &File{data: body[:len(body)-len(text)]}
	err = json.Unmarshal(text, &f.index)
	if err != nil {
		return nil, fmt.Errorf("%w: damaged", ErrUnusable)
	}
	if f.index.Kind != kind {
		return nil, fmt.Errorf("%w: is %q, not %q", ErrUnusable, f.index.Kind, kind)
	}
	f.Key = f.index.Key
	for _, p := range f.index.Parts {
		if p.Offset%alignment != 0 || p.Offset < 0 || p.Length < 0 || p.Length > int64(len(f.data))-p.Offset {
			return nil, fmt.Errorf("%w: damaged", ErrUnusable)
		}
	}
	return f, nil
}

// verify compares the checksums of all parts.
func (f *File) verify() error {
	var g errgroup.Group
	for _, p := range f.index.Parts {
		g.Go(func() error {
			if xxhash.Sum64(f.data[p.Offset:p.Offset+p.Length]) != p.Sum {
				return fmt.Errorf("%w: %s damaged", ErrUnusable, p.Name)
			}
			return nil
		})
	}
	return g.Wait()
}

// Meta reads what was written beside the parts.
func (f *File) Meta(v any) error { return json.Unmarshal(f.index.Meta, v) }

// Number is of the types that parts have.
type Number interface {
	~byte | ~int32 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Part returns a part as the numbers that were written, nil where the file has none of this
// name. They are read only.
func Part[T Number](f *File, name string) []T {
	for _, p := range f.index.Parts {
		if p.Name == name {
			return numbers[T](f.data[p.Offset : p.Offset+p.Length])
		}
	}
	return nil
}

// numbers is the memory of data as numbers. Its beginning is aligned, as parts are: the kernel
// maps whole pages, and what is read into memory instead is aligned by its size.
func numbers[T Number](data []byte) []T {
	size := int(unsafe.Sizeof(*new(T)))
	if len(data) < size {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/size)
}

// Bytes is the memory of numbers as bytes, in the machine's order.
func Bytes[T Number](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(T))))
}

// String is the memory of a part's bytes as text, without a copy.
func String(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// Reason is what is wrong with a file, without the word unusable.
func Reason(err error) string { return strings.TrimPrefix(err.Error(), ErrUnusable.Error()+": ") }
