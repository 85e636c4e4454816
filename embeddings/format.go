package embeddings

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mldpbench/internal/gunzip"
	"mldpbench/internal/mapped"
	"mldpbench/internal/progress"
	"mldpbench/internal/registry"
)

// Format is a form of files of word vectors.
type Format struct {
	Name string // one word
	// Version is that of the rows that Read makes of a file, at least 1; raised when they
	// change, as copies of a cache are made anew then.
	Version int
	// Recognise reports whether a file is of this format, by its name without folders and .gz
	// and its beginning: all of it, or its first MiB.
	Recognise func(name string, head []byte) bool
	// Read passes all rows of a file on in order and returns the first error of add. An error
	// of its own names the place, File.Path:line.
	Read func(f *File, add func(Rows) error) error
}

// File is a file of vectors, unpacked and without a byte order mark.
type File struct {
	Path string // for errors
	*bufio.Reader

	opened   *os.File
	identity mapped.Identity // when it was opened
	ahead    *readAhead
}

// Rows are consecutive rows of a file. They are the loader's once they are passed on.
type Rows struct {
	Line    int // of the first, from 1; of a file without lines its number
	Words   []string
	Vectors []float32 // Words × dimension, finite
	Bytes   int       // of the file, unpacked, that they take up; 0: not known

	spare bool // Vectors are of numbersFor, and nobody else uses them
}

// spareNumbers are vectors of rows that were written and are not used any more: a large file would
// else be memory to be cleared, and collected, once over.
var spareNumbers sync.Pool

// numbersFor returns room for n numbers, of length 0.
func numbersFor(n int) []float32 {
	spare, ok := spareNumbers.Get().(*[]float32)
	if ok && cap(*spare) >= n {
		return *spare
	}
	return make([]float32, 0, n)
}

// recycle takes the vectors of rows that were copied, if they are spare.
func recycle(rows Rows) {
	if rows.spare {
		vectors := rows.Vectors[:0]
		spareNumbers.Put(&vectors)
	}
}

var registered = registry.New[Format]("vector format")

// Register adds a format, which Load then reads. It is asked before those of this package.
// Formats are registered by init functions.
func Register(f Format) {
	if f.Version < 1 || f.Recognise == nil || f.Read == nil {
		panic("vector format " + f.Name + ": wants a version of at least 1, Recognise and Read")
	}
	registered.Add(f.Name, f)
}

// ownFormats are those of this package; the first that recognises a file reads it. Their
// version is cacheVersion.
var ownFormats = []Format{
	{Name: "fasttext-model", Recognise: isFastTextModel, Read: refuseFastTextModel},
	{Name: "floret-table", Recognise: isFloretTable, Read: refuseFloretTable},
	{Name: "word2vec-binary", Recognise: isBinary, Read: readBinary},
	{Name: "text", Recognise: func(string, []byte) bool { return true }, Read: readText},
}

// sniffLength is the most that a format is recognised by, in bytes.
const sniffLength = 1 << 20

// recognise returns the format of a file.
func recognise(f *File) (Format, error) {
	head, err := f.Peek(sniffLength)
	if len(head) == 0 {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: empty file", f.Path)
		}
		return Format{}, err
	}
	name := strings.TrimSuffix(filepath.Base(f.Path), ".gz")
	all := append(registered.All(), ownFormats...)
	k := slices.IndexFunc(all, func(format Format) bool {
		return format.Recognise(name, head)
	})
	return all[k], nil // text, the last, recognises any file
}

// newFile unpacks a file; path is for errors.
func newFile(packed io.Reader, path string) (*File, error) {
	r, err := gunzip.Open(packed, path, sniffLength)
	if err != nil {
		return nil, err
	}
	gunzip.SkipMark(r)
	return &File{Path: path, Reader: r}, nil
}

// withFile opens a file of vectors and calls use with it, its format and its size, packed.
func withFile(ctx context.Context, path string, use func(f *File, format Format, size int64) error) error {
	opened, err := os.Open(path)
	if err != nil {
		return err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is not a regular file", path)
	}
	identity := mapped.IdentityOf(opened)
	watched, done := progress.File(ctx, opened)
	defer done()
	ahead := newReadAhead(watched)
	defer ahead.stop()
	f, err := newFile(ahead, path)
	if err != nil {
		return err
	}
	f.opened = opened
	f.identity = identity
	f.ahead = ahead
	format, err := recognise(f)
	if err != nil {
		return err
	}
	return use(f, format, info.Size())
}

// end returns the SHA-256 of all of the file, packed, what was not read of it included.
func (f *File) end() (string, error) {
	_, err := io.Copy(io.Discard, f.ahead)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(f.ahead.digest.Sum(nil)), nil
}

// checkedRows returns what is wrong with the rows that a format read, but for words that
// are there twice: dimension is that of the rows before, 0 before the first.
func checkedRows(path string, rows Rows, dimension int) error {
	n := len(rows.Words)
	numbers := len(rows.Vectors)
	if n == 0 || numbers == 0 || numbers%n != 0 {
		return fmt.Errorf("%s:%d: %d numbers for %d words: want as many for each", path, rows.Line, numbers, n)
	}
	if d := numbers / n; dimension > 0 && d != dimension {
		return fmt.Errorf("%s:%d: %q has %d numbers: want %d, as before", path, rows.Line, rows.Words[0], d, dimension)
	}
	return nil
}
