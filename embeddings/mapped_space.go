package embeddings

import (
	"fmt"
	"math"
	"sync"

	"mldpbench/internal/mapped"
)

// vectorsKind is that of files of spaces; its number is raised with the layout of their parts
// and with the rules of the readers of this package.
const vectorsKind = "mldp vectors 5"

// vectorsMeta is what a file of a space knows beside its parts, which are vectors (Len ×
// Dimension), words, ends and slots; see wordTable.
type vectorsMeta struct {
	Dimension   int
	Total       int // words of the source
	LeftOut     LeftOut
	Fingerprint string
	Longest     float64
}

// spaceWriter writes the file of a space.
type spaceWriter struct {
	*mapped.Writer
	dimension int
	words     wordTable
}

// newSpaceWriter begins with the vectors, as they come first.
func newSpaceWriter(w *mapped.Writer) *spaceWriter {
	w.Begin("vectors")
	return &spaceWriter{Writer: w}
}

// add adds rows, and returns the first error of writing.
func (s *spaceWriter) add(rows Rows) error {
	s.dimension = len(rows.Vectors) / len(rows.Words)
	mapped.Append(s.Writer, rows.Vectors)
	for _, w := range rows.Words {
		s.words.add(w)
	}
	recycle(rows)
	return s.Err()
}

// end writes what follows the vectors, of a space of that name.
func (s *spaceWriter) end(name string, total int, left LeftOut) error {
	meta := vectorsMeta{
		Dimension: s.dimension,
		Total:     total,
		LeftOut:   left,
	}
	words := len(s.words.ends)
	var infinite error
	err := mapped.View(s.Writer, func(vectors []float32) {
		var g sync.WaitGroup
		g.Go(func() {
			meta.Fingerprint = fingerprint(words, s.dimension, s.words.word, vectors)
		})
		meta.Longest = longest(vectors, s.dimension)
		if math.IsNaN(meta.Longest) || math.IsInf(meta.Longest, 0) {
			infinite = checkFinite(name, s.dimension, s.words.word, vectors)
		}
		g.Wait()
	})
	if err != nil {
		return err
	}
	s.Begin("words")
	mapped.Append(s.Writer, s.words.text)
	s.Begin("ends")
	mapped.Append(s.Writer, s.words.ends)
	s.Begin("slots")
	mapped.Append(s.Writer, s.words.slots)
	s.Meta = meta
	return infinite
}

// spaceFile is an open file of a space.
type spaceFile struct {
	*mapped.File
	path string
	meta vectorsMeta
}

// newSpaceFile reads what an open file knows beside its parts.
func newSpaceFile(f *mapped.File, path string) (*spaceFile, error) {
	s := &spaceFile{File: f, path: path}
	err := f.Meta(&s.meta)
	if err != nil {
		return nil, fmt.Errorf("%w: damaged", mapped.ErrUnusable)
	}
	return s, nil
}

// space is the space of the file, in its memory.
func (f *spaceFile) space(name string) (*Space, error) {
	words, ok := newMappedWords(wordTable{
		text:  mapped.Part[byte](f.File, "words"),
		ends:  mapped.Part[uint64](f.File, "ends"),
		slots: mapped.Part[uint32](f.File, "slots"),
	})
	if !ok {
		return nil, fmt.Errorf("%w: damaged", mapped.ErrUnusable)
	}
	s, err := newSpace(name, &Vocabulary{mapped: words}, f.meta.Dimension, mapped.Part[float32](f.File, "vectors"))
	if err != nil {
		return nil, err
	}
	s.LeftOut = f.meta.LeftOut
	s.file = f.path
	s.fingerprint = func() string { return f.meta.Fingerprint }
	s.longest = func() float64 { return f.meta.Longest }
	return s, nil
}
