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
	"mldpbench/internal/mapped"
)

// LoadOptions are the options of Load. The zero value loads the whole file,
// without a cache.
type LoadOptions struct {
	// Name of the space; "" means the file's name without .gz, .txt, .vec, .bin.
	Name string
	// Keep restricts the space to a data set's vocabulary; nil keeps every word.
	Keep func(word string) bool
	// Only restricts it by a rule that the cache knows; nil keeps every word.
	Only *Restriction
	// CacheDir holds copies of the vectors as they lie in memory, which are used where
	// they are: a load takes as long as what is used of them, and programs share it. ""
	// means no cache. A copy is one of the file's path and of its content, by its SHA-256,
	// which is computed again where device, inode, size or times of the file have changed.
	// A copy that is damaged, or of other vectors, is made anew, with a note to the display
	// of the context; one that cannot be written is not an error.
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
		return loadInMemory(ctx, path, opts)
	}
	return loadCached(ctx, path, opts)
}

// loadInMemory is Load without a cache.
func loadInMemory(ctx context.Context, path string, opts LoadOptions) (*Space, error) {
	l := &loader{
		LoadOptions: opts,
		path:        path,
		seen:        new(seenWords),
	}
	l.pass = l.append
	return l.space(l.file(ctx))
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
// and passes those on that are wanted.
type loader struct {
	LoadOptions
	path      string
	pass      func(Rows) error // at least one row
	size      int64            // of the file
	seen      *seenWords       // every word of the file; nil for a copy, which was checked
	total     int              // words seen
	left      LeftOut          // by Only, of those that Keep keeps
	dimension int
	identity  mapped.Identity // of the file as it was read; zero if it changed meanwhile
	digest    string          // SHA-256 of the file as it was read

	// What append collects.
	words   []string
	vectors []float32
}

// append keeps rows in memory.
func (l *loader) append(rows Rows) error {
	if l.vectors == nil && rows.Bytes > 0 {
		// Growing step by step would take more than twice the memory.
		parts := 1.03 * float64(l.size) / float64(rows.Bytes)
		expected := int(parts*float64(len(rows.Words))) + 1
		l.words = make([]string, 0, expected)
		l.vectors = make([]float32, 0, expected*l.dimension)
	}
	l.words = append(l.words, rows.Words...)
	l.vectors = append(l.vectors, rows.Vectors...)
	recycle(rows)
	return nil
}

// space is what was loaded.
func (l *loader) space(err error) (*Space, error) {
	if err != nil {
		return nil, err
	}
	if len(l.words) == 0 {
		return nil, l.none()
	}
	v, err := NewVocabulary(l.words)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.path, err)
	}
	s, err := NewSpace(l.Name, v, l.dimension, l.vectors)
	if err != nil {
		return nil, err
	}
	s.LeftOut = l.left
	return s, nil
}

// none says that no word is left.
func (l *loader) none() error {
	return fmt.Errorf("%s: none of its %d words is in the data set", l.path, l.total)
}

func wrongDimension(path string, has, want int) error {
	return fmt.Errorf("%s: has %d numbers per word, want dimension %d", path, has, want)
}

// take counts rows, checks that their words are new and passes those on that are wanted.
func (l *loader) take(ctx context.Context, rows Rows) error {
	err := ctx.Err()
	if err != nil {
		return err
	}
	d := len(rows.Vectors) / len(rows.Words)
	if l.Dimension > 0 && d != l.Dimension {
		return wrongDimension(l.path, d, l.Dimension)
	}
	l.dimension = d
	l.total += len(rows.Words)
	if l.seen != nil {
		err = l.seen.see(l.path, rows)
		if err != nil {
			return err
		}
	}
	rows = l.wanted(rows)
	if len(rows.Words) == 0 {
		return nil
	}
	return l.pass(rows)
}

// seenWords are the words of a file so far.
type seenWords struct {
	words wordTable
	lines []int // by id
}

// see adds words, which must be new.
func (s *seenWords) see(path string, rows Rows) error {
	for i, w := range rows.Words {
		line := rows.Line + i
		id, added := s.words.add(w)
		if !added {
			return fmt.Errorf("%s:%d: %q is there twice, first at %d", path, line, w, s.lines[id])
		}
		s.lines = append(s.lines, line)
	}
	return nil
}

// wanted returns the rows that are wanted, copied if those are not all.
func (l *loader) wanted(rows Rows) Rows {
	if l.Keep == nil && l.Only == nil {
		return rows
	}
	var places []int
	for i, w := range rows.Words {
		if (l.Keep == nil || l.Keep(w)) && l.left.look(l.Only, w) {
			places = append(places, i)
		}
	}
	if l.Keep == nil && len(places) == len(rows.Words) {
		return rows
	}
	var kept Rows
	d := l.dimension
	for _, i := range places {
		kept.Words = append(kept.Words, strings.Clone(rows.Words[i])) // words of one chunk may share memory
		kept.Vectors = append(kept.Vectors, rows.Vectors[i*d:(i+1)*d]...)
	}
	return kept
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

// file takes all rows of the file.
func (l *loader) file(ctx context.Context) error {
	return withFile(ctx, l.path, func(f *File, format Format, size int64) error {
		l.size = size
		err := l.read(ctx, f, format)
		if err != nil {
			return err
		}
		l.digest, err = f.end()
		if err == nil && f.identity == mapped.IdentityOf(f.opened) {
			l.identity = f.identity
		}
		return err
	})
}

// read takes all rows of an open file.
func (l *loader) read(ctx context.Context, f *File, format Format) error {
	return format.Read(f, func(rows Rows) error {
		err := checkedRows(l.path, rows, l.dimension)
		if err != nil {
			return err
		}
		return l.take(ctx, rows)
	})
}
