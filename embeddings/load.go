package embeddings

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"mldpbench/internal/check"
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
// .vec, and those of Register, each plain or gzipped. A first line of exactly two whole numbers is a
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
		return l.space(l.file(ctx, func(Rows) {}))
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
	_ = writeCache(cache, source, func(add func(Rows)) error {
		started = true
		err = l.file(ctx, add)
		return err
	})
	if !started { // the folder cannot be written
		err = l.file(ctx, func(Rows) {})
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

// take counts rows, checks that their words are new and adds those that are wanted.
func (l *loader) take(ctx context.Context, rows Rows) error {
	err := ctx.Err()
	if err != nil {
		return err
	}
	d := len(rows.Vectors) / len(rows.Words)
	if l.Dimension > 0 && d != l.Dimension {
		return fmt.Errorf("%s: has %d numbers per word, want dimension %d", l.path, d, l.Dimension)
	}
	if l.Keep == nil && l.vectors == nil && rows.Bytes > 0 {
		// Growing step by step would take more than twice the memory.
		parts := 1.03 * float64(l.size) / float64(rows.Bytes)
		expected := int(parts*float64(len(rows.Words))) + 1
		l.words = make([]string, 0, expected)
		l.vectors = make([]float32, 0, expected*d)
	}
	l.dimension = d
	l.total += len(rows.Words)
	for i, w := range rows.Words {
		if l.lines != nil {
			if first, dup := l.lines[w]; dup {
				return fmt.Errorf("%s:%d: %q is there twice, first at %d", l.path, rows.Line+i, w, first)
			}
			l.lines[w] = rows.Line + i
		}
		if l.Keep != nil && !l.Keep(w) {
			continue
		}
		if l.Keep != nil {
			w = strings.Clone(w) // words of one chunk may share memory
		}
		l.words = append(l.words, w)
		l.vectors = append(l.vectors, rows.Vectors[i*d:(i+1)*d]...)
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

// file takes all rows of the file and passes them on.
func (l *loader) file(ctx context.Context, pass func(Rows)) error {
	return withFile(ctx, l.path, func(f *File, format Format, size int64) error {
		l.size = size
		return l.read(ctx, f, format, pass)
	})
}

// read takes all rows of an open file and passes them on.
func (l *loader) read(ctx context.Context, f *File, format Format, pass func(Rows)) error {
	return format.Read(f, func(rows Rows) error {
		err := checkedRows(l.path, rows, l.dimension)
		if err != nil {
			return err
		}
		err = l.take(ctx, rows)
		if err != nil {
			return err
		}
		pass(rows)
		return nil
	})
}
