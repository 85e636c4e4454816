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

// started is approximately when this process began.
var started = time.Now()

// Learned returns the space with the given name and dimension that learn makes
// from the program alone, or a copy of it in the folder dir that the same
// program made before. A copy is identified by the SHA-256 of the program's
// file. Without a folder, or where that file cannot be read, the space is made
// each time. A copy that cannot be written is not an error; a damaged one is
// replaced.
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

// program returns the source of this program's file. A file newer than the
// process is a different program that was built to the same path.
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
