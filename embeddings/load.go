package embeddings

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	size, err := sizeOf(path)
	if err != nil {
		return nil, err
	}
	cache, source := "", ""
	if opts.CacheDir != "" {
		if source, err = sourceOf(ctx, path); err != nil {
			return nil, err
		}
		cache = cachePath(opts.CacheDir, path)
		if s, ok, err := fromCache(ctx, cache, source, path, opts); ok {
			return s, err
		}
	}
	c := &collector{path: path, keep: opts.Keep, lines: map[string]int{}, size: size}
	if err := c.parse(ctx, opts, cache, source); err != nil {
		return nil, err
	}
	return c.space(opts)
}

// fromCache reports false where there is no sound cache of the source.
func fromCache(ctx context.Context, cache, source, path string, opts LoadOptions) (s *Space, ok bool, err error) {
	size, err := sizeOf(cache)
	if err != nil {
		return nil, false, nil
	}
	c := &collector{path: path, keep: opts.Keep, size: size}
	ok, err = readCache(cache, source, func(b block) error {
		c.dimension = len(b.vectors) / len(b.words)
		if err := checkDimension(path, c.dimension, opts.Dimension); err != nil {
			return err
		}
		return c.take(ctx, b, 0)
	})
	if !ok || err != nil {
		return nil, ok, err
	}
	s, err = c.space(opts)
	return s, true, err
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

// space is what was collected.
func (c *collector) space(opts LoadOptions) (*Space, error) {
	if len(c.words) == 0 {
		return nil, fmt.Errorf("%s: none of its %d words is in the data set", c.path, c.total)
	}
	v, err := NewVocabulary(c.words)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	return NewSpace(opts.Name, v, c.dimension, c.vectors)
}

func baseName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	for _, ext := range []string{".txt", ".vec", ".bin"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

func checkDimension(path string, got, want int) error {
	if want > 0 && got != want {
		return fmt.Errorf("%s: has %d numbers per word, want dimension %d", path, got, want)
	}
	return nil
}

// block is a run of consecutive rows, as passed on by a reader.
type block struct {
	line    int      // of the first row, counted from 1; of the first word in binary files
	words   []string // one per line
	vectors []float32
	bytes   int64 // of the file, in text
}

// collector takes the rows of a file in order, checks that words are distinct
// and keeps those that are wanted.
type collector struct {
	path      string
	keep      func(string) bool
	unit      string         // what lines counts: "line", or "word" in binary files
	lines     map[string]int // of every word of the file; nil for a cache, which was checked
	total     int            // words seen
	dimension int
	words     []string
	vectors   []float32
	size      int64 // of the file or cache
	packed    bool  // gzipped
}

// take adds a block after reserving memory for a file with so many words in its
// header.
func (c *collector) take(ctx context.Context, b block, promised int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.reserve(promised, b)
	return c.add(b)
}

// reserve allocates memory for all rows at once, where all are kept: growing
// step by step would take more than twice the memory. rows is the number in the
// header, 0 without one; the number is then estimated from the length of rows
// in the first block.
func (c *collector) reserve(rows int, b block) {
	if c.keep != nil || c.vectors != nil || len(b.words) == 0 {
		return
	}
	shortest := int64(2*c.dimension + 2) // of a row, in text or not
	if b.bytes > 0 && rows == 0 && !c.packed {
		rows = int(float64(c.size)/float64(b.bytes)*float64(len(b.words))*1.03) + 1
	}
	if !c.packed {
		rows = int(min(int64(rows), c.size/shortest+1))
	}
	if c.packed {
		rows = min(rows, 1<<20) // cannot be checked against the length of a packed file
	}
	c.words = make([]string, 0, rows)
	c.vectors = make([]float32, 0, rows*c.dimension)
}

func (c *collector) add(b block) error {
	d := c.dimension
	c.total += len(b.words)
	for i, w := range b.words {
		if c.lines != nil {
			if first, dup := c.lines[w]; dup {
				return fmt.Errorf("%s: %q repeats %s %d", at(c.path, c.unit, b.line+i), w, c.unit, first)
			}
			c.lines[w] = b.line + i
		}
		if c.keep == nil || c.keep(w) {
			if c.keep != nil {
				w = strings.Clone(w) // a block's words may share memory
			}
			c.words = append(c.words, w)
			c.vectors = append(c.vectors, b.vectors[i*d:(i+1)*d]...)
		}
	}
	return nil
}

// at returns a position for messages: "file:12" in text, "file: word 12" in
// binary files.
func at(path, unit string, n int) string {
	if unit == "word" {
		return fmt.Sprintf("%s: word %d", path, n)
	}
	return fmt.Sprintf("%s:%d", path, n)
}

// parse reads the file and, unless cache is "", writes a binary copy there.
func (c *collector) parse(ctx context.Context, opts LoadOptions, cache, source string) error {
	if cache == "" {
		return c.read(ctx, opts, func(block) {})
	}
	var err error
	started := false
	_ = writeCache(cache, source, func(add func(block)) error {
		started = true
		err = c.read(ctx, opts, add)
		return err
	})
	if !started { // the folder cannot be written
		err = c.read(ctx, opts, func(block) {})
	}
	return err
}

// read passes every block to the collector and then to also.
func (c *collector) read(ctx context.Context, opts LoadOptions, also func(block)) error {
	f, err := os.Open(c.path)
	if err != nil {
		return err
	}
	defer f.Close()
	watched, done := progress.File(ctx, f)
	defer done()
	return c.readFrom(ctx, watched, opts.Dimension, also)
}

func (c *collector) readFrom(ctx context.Context, f io.Reader, dimension int, also func(block)) error {
	r, packed, err := gunzip.Open(f, c.path, sniffLength)
	if err != nil {
		return err
	}
	c.packed = packed
	gunzip.SkipMark(r)
	l, err := sniff(r, c.path)
	if err != nil {
		return err
	}
	if err := checkDimension(c.path, l.dimension, dimension); err != nil {
		return err
	}
	c.dimension, c.unit = l.dimension, "line"
	emit := func(b block) error {
		if err := c.take(ctx, b, l.count); err != nil {
			return err
		}
		also(b)
		return nil
	}
	if l.binary {
		c.unit = "word"
		return readBinary(r, c.path, l, emit)
	}
	if err := readText(r, c.path, l, emit); err != nil {
		return err
	}
	if n := c.total; l.header && n != l.count {
		return fmt.Errorf("%s: header promises %d words, file has %d", c.path, l.count, n)
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

func sniff(r *bufio.Reader, path string) (layout, error) {
	head, err := r.Peek(sniffLength)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return layout{}, fmt.Errorf("%s: %w", path, err)
	}
	switch {
	case len(head) == 0:
		return layout{}, fmt.Errorf("%s: empty file", path)
	case strings.HasPrefix(string(head), "PK\x03\x04"):
		return layout{}, fmt.Errorf("%s: is a zip archive: unpack it and name one of its files", path)
	case strings.HasPrefix(string(head), "\xba\x16\x4f\x2f"):
		return layout{}, fmt.Errorf("%s: is a fastText model: load the .vec file of the same name", path)
	}
	first, rest, ended := strings.Cut(string(head), "\n")
	if !ended && err == nil {
		return layout{}, fmt.Errorf("%s:1: line longer than %d bytes", path, sniffLength)
	}
	l := layout{separator: ' '}
	binaryName := strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".bin")
	if l.count, l.dimension, l.header = parseHeader(first); l.header {
		if l.dimension > maxDimension {
			return layout{}, fmt.Errorf("%s:1: dimension %d: must be <= %d", path, l.dimension, maxDimension)
		}
		if l.count == 0 {
			return layout{}, fmt.Errorf("%s:1: header promises no words", path)
		}
		textName := strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".txt") ||
			strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".vec")
		l.binary = binaryName || !textName && hasControl(rest)
		if row, _, _ := strings.Cut(rest, "\n"); !strings.Contains(trimLine(row), " ") {
			l.separator = '\t'
		}
		_, err := r.Discard(len(first) + 1)
		if err != nil {
			return layout{}, fmt.Errorf("%s: header promises %d words, file has 0", path, l.count)
		}
		return l, nil
	}
	if binaryName {
		return layout{}, fmt.Errorf("%s:1: no word2vec header (number of words, dimension)", path)
	}
	first = trimLine(first)
	if !strings.Contains(first, " ") {
		l.separator = '\t'
	}
	l.dimension = len(strings.FieldsFunc(first, func(r rune) bool { return r == rune(l.separator) })) - 1
	if l.dimension < 1 {
		return layout{}, fmt.Errorf("%s:1: %.40q: want a word and its vector", path, first)
	}
	if l.dimension > maxDimension {
		return layout{}, fmt.Errorf("%s:1: %d numbers: dimension must be <= %d", path, l.dimension, maxDimension)
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
