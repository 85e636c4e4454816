package embeddings

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
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
	if s, ok, err := fromCache(ctx, path, from, path, LoadOptions{Name: name, Dimension: dimension}); ok && err == nil {
		return s, nil
	}
	s, err := learn()
	if err != nil {
		return nil, err
	}
	_ = writeCache(path, from, func(add func(block)) error {
		add(block{words: s.Vocabulary.Words(), vectors: s.Vectors})
		return nil
	})
	return s, nil
}

// program returns the source of this program's file. A file newer than the
// process is a different program that was built to the same path.
func program(ctx context.Context) (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.ModTime().After(started) {
		return "", fmt.Errorf("%s: was replaced", path)
	}
	return sourceOf(ctx, path)
}
