package embeddings

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"mldpbench/internal/atomicfile"
)

// started is when this process began, nearly.
var started = time.Now()

// Learned returns the space of a name and dimension that learn makes from
// nothing but the program: from a copy in the folder dir if the same program
// has made it before. A copy belongs to the SHA-256 of the program's file.
// Without a folder, or where that file cannot be read, the space is made each
// time; a copy that cannot be written costs time and is no error, a damaged one
// is replaced.
func Learned(ctx context.Context, dir, name string, dimension int, learn func() (*Space, error)) (*Space, error) {
	from, err := program(ctx)
	if dir == "" || err != nil {
		return learn()
	}
	path := filepath.Join(dir, fmt.Sprintf("%s.%dd.learned.cache", name, dimension))
	if s := readLearned(path, name, dimension, from); s != nil {
		return s, nil
	}
	s, err := learn()
	if err != nil {
		return nil, err
	}
	_ = atomicfile.Write(path, 0o644, func(w io.Writer) error {
		copier := newCacheWriter(w)
		copier.add(block{words: s.Vocabulary.Words(), vectors: s.Vectors})
		return copier.finish(dimension, from)
	})
	return s, nil
}

// program is the content of this program's file. A file that is younger than
// the process is another program's, built in its place.
func program(ctx context.Context) (source, error) {
	path, err := os.Executable()
	if err != nil {
		return source{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return source{}, err
	}
	if info.ModTime().After(started) {
		return source{}, fmt.Errorf("%s: was replaced", path)
	}
	return sourceOf(ctx, path)
}

// readLearned returns nil for a copy that is absent, damaged, or of another
// program.
func readLearned(path, name string, dimension int, from source) *Space {
	cached, ok := openCache(path, from.Size)
	if !ok {
		return nil
	}
	defer cached.Close()
	if cached.source != from || cached.dimension != dimension {
		return nil
	}
	words, vectors, ok := cached.read(nil)
	if !ok {
		return nil
	}
	s, err := assemble(path, LoadOptions{Name: name}, cached.words, words, dimension, vectors)
	if err != nil {
		return nil
	}
	return s
}
