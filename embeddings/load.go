package embeddings

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/internal/gunzip"
	"mldpbench/internal/progress"
)

// LoadOptions are the options of Load. The zero value loads the whole file,
// without a cache.
type LoadOptions struct {
	// Name of the space; "" means the file's name without .gz, .txt, .vec, .bin.
	Name string
	// Keep restricts the space to a data set's vocabulary; nil keeps every word.
	Keep func(word string) bool
	// CacheDir holds binary copies that load in a fraction of the time; "" means
	// no cache. A copy is identified by the path and the SHA-256 of the file's
	// content, which is computed at each load. A cache that cannot be written is
	// not an error; a damaged one is rebuilt.
	CacheDir string
	// Dimension that the file must have; 0 accepts any.
	Dimension int
}

// Load reads word vectors: GloVe text, word2vec text or binary, fastText
// .vec, each plain or gzipped. A first line of exactly two whole numbers is a
// header (word2vec, fastText); a file with one is binary when it is called
// *.bin or when control characters follow, text otherwise.
//
// In text, one space separates fields and the vector is the last Dimension
// fields of a line; Dimension is the header's, or one less than the fields of
// the first line. Everything before is the word, byte for byte: the public
// files have words with spaces in them (". . ." in GloVe 840B), a tab,
// non-breaking spaces and exotic line breaks, which cause readers that split at
// any Unicode white space to report duplicates and ragged rows. A file without
// spaces in its first row is read with tabs as separators. A row of one word may
// have several separators between its fields, and the last line may be empty.
//
// Every row is checked, kept or not, so the validity of a file does not depend
// on the data set. Ragged rows, numbers that are not finite, repeated words and
// a count that differs from the header's are errors that name the line. No
// public file repeats a word when it is split as above.
func Load(ctx context.Context, path string, opts LoadOptions) (*Space, error) {
	if err := check.AtLeast("dimension", opts.Dimension, 0); err != nil {
		return nil, err
	}
	if opts.Name == "" {
		opts.Name = baseName(path)
	}
	if opts.CacheDir == "" {
		l := &loader{LoadOptions: opts, path: path, lines: map[string]int{}}
		return l.space(l.file(ctx, func(block) {}))
	}
	source, err := sourceOf(ctx, path)
	if err != nil {
		return nil, err
	}
	cache := cachePath(opts.CacheDir, path)
	l := &loader{LoadOptions: opts, path: path}
	if ok, err := l.fromCache(ctx, cache, source); ok {
		return l.space(err)
	}
	l = &loader{LoadOptions: opts, path: path, lines: map[string]int{}}
	started := false
	_ = writeCache(cache, source, func(add func(block)) error {
		started = true
		err = l.file(ctx, add)
		return err
	})
	if !started { // the folder cannot be written
		err = l.file(ctx, func(block) {})
	}
	return l.space(err)
}

// First returns a keep function for LoadOptions that accepts the first n words
// of those that keep accepts (all, if it is nil); vector files are ordered by
// frequency. n = 0 sets no limit. An accepted word is accepted again, so a file
// can be read twice. The function must not be used by two goroutines.
func First(n int, keep func(word string) bool) func(word string) bool {
	if n <= 0 {
		return keep
	}
	taken := map[string]bool{}
	return func(word string) bool {
		if taken[word] {
			return true
		}
		if len(taken) == n || keep != nil && !keep(word) {
			return false
		}
		taken[strings.Clone(word)] = true
		return true
	}
}

// DefaultCacheDir is the folder of the user's cache for LoadOptions.CacheDir,
// or "" where the system has none.
func DefaultCacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "mldpbench", "embeddings")
}

// block is a run of consecutive rows, as passed on by a reader.
type block struct {
	line    int      // of the first row, from 1; of binary files its number
	words   []string // one a row
	vectors []float32
	bytes   int // of the file or cache
}

// loader takes the rows of a file in order, checks that words are distinct
// and keeps those that are wanted.
type loader struct {
	LoadOptions
	path      string
	size      int64          // of the file or cache
	lines     map[string]int // of every word of the file; nil for a cache, which was checked
	total     int            // words seen
	dimension int
	words     []string
	vectors   []float32
}

// space is what was loaded.
func (l *loader) space(err error) (*Space, error) {
	if err != nil {
		return nil, err
	}
	if len(l.words) == 0 {
		return nil, fmt.Errorf("%s: none of its %d words is in the data set", l.path, l.total)
	}
	v, err := NewVocabulary(l.words)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.path, err)
	}
	return NewSpace(l.Name, v, l.dimension, l.vectors)
}

func (l *loader) take(ctx context.Context, b block) error {
	if err := ctx.Err(); err != nil || len(b.words) == 0 {
		return err
	}
	d := len(b.vectors) / len(b.words)
	if l.Dimension > 0 && d != l.Dimension {
		return fmt.Errorf("%s: has %d numbers per word, want dimension %d", l.path, d, l.Dimension)
	}
	if l.Keep == nil && l.vectors == nil {
		// Growing step by step would take more than twice the memory.
		rows := int(1.03*float64(l.size)/float64(b.bytes)*float64(len(b.words))) + 1
		l.words, l.vectors = make([]string, 0, rows), make([]float32, 0, rows*d)
	}
	l.dimension, l.total = d, l.total+len(b.words)
	for i, w := range b.words {
		if l.lines != nil {
			if first, dup := l.lines[w]; dup {
				return fmt.Errorf("%s:%d: %q is there twice, first at %d", l.path, b.line+i, w, first)
			}
			l.lines[w] = b.line + i
		}
		if l.Keep == nil || l.Keep(w) {
			if l.Keep != nil {
				w = strings.Clone(w) // a block's words may share memory
			}
			l.words = append(l.words, w)
			l.vectors = append(l.vectors, b.vectors[i*d:(i+1)*d]...)
		}
	}
	return nil
}

func baseName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	for _, ext := range []string{".txt", ".vec", ".bin"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

var dimensions = regexp.MustCompile(`^(.+)\.([1-9][0-9]{0,4})d(\.subset)?$`)

// SplitName returns the name of an embedding, which is that of its file without
// suffixes, dimension and the mark of a subset, and the dimension, 0 where the name has
// none: glove.6B and 100 for glove.6B.100d.subset.txt.gz. The dimensions of one
// embedding thus share a name.
func SplitName(path string) (name string, dimension int) {
	name = baseName(path)
	if m := dimensions.FindStringSubmatch(name); m != nil {
		dimension, _ = strconv.Atoi(m[2]) // digits
		return m[1], dimension
	}
	return strings.TrimSuffix(name, ".subset"), 0
}

// file takes every block of the file and passes it on.
func (l *loader) file(ctx context.Context, pass func(block)) error {
	f, err := os.Open(l.path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: is not a regular file", l.path)
	}
	if err != nil {
		return err
	}
	l.size = info.Size()
	watched, done := progress.File(ctx, f)
	defer done()
	return l.read(watched, func(b block) error {
		err := l.take(ctx, b)
		if err == nil {
			pass(b)
		}
		return err
	})
}

func (l *loader) read(f io.Reader, emit func(block) error) error {
	r, err := gunzip.Open(f, l.path, sniffLength)
	if err != nil {
		return err
	}
	gunzip.SkipMark(r)
	found, err := sniff(r, l.path)
	switch {
	case err != nil:
		return err
	case found.binary:
		return readBinary(r, l.path, found, emit)
	}
	if err := readText(r, l.path, found, emit); err != nil {
		return err
	}
	if found.header && l.total != found.count {
		return fmt.Errorf("%s: header promises %d words, file has %d", l.path, found.count, l.total)
	}
	return nil
}

const sniffLength = 1 << 20

// layout is the file's layout as found from its beginning.
type layout struct {
	header    bool // consumed by sniff
	count     int  // of words, if header
	dimension int
	binary    bool
	separator byte
}

func sniff(r *bufio.Reader, path string) (l layout, err error) {
	head, err := r.Peek(sniffLength)
	if len(head) == 0 {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: empty file", path)
		}
		return l, err
	}
	if err := otherFile(path, head); err != nil {
		return l, err
	}
	row, rest, ended := strings.Cut(string(head), "\n")
	if !ended && err == nil {
		return l, fmt.Errorf("%s:1: line longer than %d bytes", path, sniffLength)
	}
	name := strings.TrimSuffix(path, ".gz")
	l.binary = strings.HasSuffix(name, ".bin")
	if l.count, l.dimension, l.header = parseHeader(row); l.header {
		if _, err := r.Discard(len(row) + 1); err != nil || l.count == 0 {
			return l, fmt.Errorf("%s: header promises %d words, file has 0", path, l.count)
		}
		l.binary = l.binary || !strings.HasSuffix(name, ".txt") && !strings.HasSuffix(name, ".vec") && hasControl(rest)
		row, _, _ = strings.Cut(rest, "\n")
	} else if l.binary {
		return l, fmt.Errorf("%s:1: no word2vec header (number of words, dimension)", path)
	}
	row = strings.TrimRight(row, " \t\r")
	if l.separator = ' '; !strings.Contains(row, " ") {
		l.separator = '\t'
	}
	if !l.header {
		l.dimension = len(strings.FieldsFunc(row, func(r rune) bool { return r == rune(l.separator) })) - 1
	}
	if l.dimension < 1 {
		return l, fmt.Errorf("%s:1: %.40q: want a word and its vector", path, row)
	}
	if l.dimension > maxDimension {
		return l, fmt.Errorf("%s:1: dimension %d: must be <= %d", path, l.dimension, maxDimension)
	}
	return l, nil
}

// maxDimension bounds the memory that a damaged header can cause to be
// allocated.
const maxDimension = 1 << 16

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' })
}

func parseHeader(line string) (count, dimension int, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != 2 {
		return 0, 0, false
	}
	n, errCount := strconv.ParseUint(fields[0], 10, 40)
	d, errDimension := strconv.ParseUint(fields[1], 10, 40)
	return int(n), int(d), errCount == nil && errDimension == nil && d > 0
}
