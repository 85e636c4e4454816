package mapped

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"sync"

	"github.com/cespare/xxhash/v2"

	"mldpbench/internal/atomicfile"
)

// Writer writes the parts of a file one after the other.
type Writer struct {
	Key  string // what the file is made from, until Write ends
	Meta any    // small, see File.Meta

	file   *os.File
	buffer *bufio.Writer
	parts  []part
	sum    *xxhash.Digest // of the last part
	at     int64
	err    error // the first
}

// Write writes a file of a kind with the parts that fill adds, and opens it. Others see the old
// file until the new one is complete and on the disk.
func Write(path, kind string, fill func(w *Writer) error) (*File, error) {
	var written Identity
	var data []byte
	err := atomicfile.WriteFile(path, 0o644, func(f *os.File) error {
		w := &Writer{file: f, buffer: bufio.NewWriterSize(f, 1<<20)}
		err := fill(w)
		if err != nil {
			return err
		}
		err = w.end(kind)
		if err != nil {
			return err
		}
		written = IdentityOf(f)
		data, err = mapFile(f)
		return err
	})
	if err != nil {
		return nil, err
	}
	stampWritten(path, written)
	return parse(data, kind)
}

// stampWritten stamps a file if it is still the one that was written: renaming has changed the
// time of its state.
func stampWritten(path string, written Identity) {
	f, err := os.Open(path)
	if err != nil {
		return // replaced or removed: whoever opens it sees
	}
	defer f.Close()
	now := IdentityOf(f)
	if now.sameContent(written) {
		NewStamp(now).write(path)
	}
}

// Begin begins a part, which ends the one before.
func (w *Writer) Begin(name string) {
	w.endPart()
	w.write(make([]byte, -w.at&(alignment-1)))
	w.parts = append(w.parts, part{Name: name, Offset: w.at})
	w.sum = xxhash.New()
}

// Append adds numbers to the part that was begun.
func Append[T Number](w *Writer, x []T) {
	data := Bytes(x)
	_, _ = w.sum.Write(data) // cannot fail
	w.write(data)
}

// Err returns the first error of writing.
func (w *Writer) Err() error { return w.err }

func (w *Writer) write(data []byte) {
	if w.err == nil {
		_, w.err = w.buffer.Write(data)
	}
	w.at += int64(len(data))
}

func (w *Writer) endPart() {
	if n := len(w.parts); n > 0 {
		last := &w.parts[n-1]
		last.Length = w.at - last.Offset
		last.Sum = w.sum.Sum64()
	}
}

// View calls use with the part that was begun, as it is so far, while the disk stores it. What use
// gets is valid until it returns.
func View[T Number](w *Writer, use func(x []T)) error {
	if w.err == nil {
		w.err = w.buffer.Flush()
	}
	if w.err != nil {
		return w.err
	}
	data, err := mapFile(w.file)
	if err != nil {
		return err
	}
	defer unmap(data)
	var stored sync.WaitGroup
	stored.Go(func() { _ = w.file.Sync() }) // again at the end, with its errors
	defer stored.Wait()
	use(numbers[T](data[w.parts[len(w.parts)-1].Offset:w.at]))
	return nil
}

// end writes index and trailer.
func (w *Writer) end(kind string) error {
	w.endPart()
	meta, err := json.Marshal(w.Meta)
	if err != nil {
		return err
	}
	text, err := json.Marshal(index{
		Kind:  kind,
		Key:   w.Key,
		Meta:  meta,
		Parts: w.parts,
	})
	if err != nil {
		return err
	}
	w.write(make([]byte, -w.at&(alignment-1)))
	w.write(text)
	if w.err == nil {
		t := trailer{
			ByteOrder: byteOrder,
			Length:    uint64(len(text)),
			Sum:       xxhash.Sum64(text),
		}
		copy(t.Magic[:], magic)
		w.err = binary.Write(w.buffer, binary.NativeEndian, t)
	}
	if w.err != nil {
		return w.err
	}
	return w.buffer.Flush()
}

// readAll reads a file into memory that is aligned for every Number.
func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := Bytes(make([]uint64, (info.Size()+7)/8))[:info.Size()]
	_, err = io.ReadFull(io.NewSectionReader(f, 0, info.Size()), data)
	return data, err
}
