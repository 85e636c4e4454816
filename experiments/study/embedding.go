package study

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/embeddings"
)

// VectorFile finds a file at its path or else in the data folder.
func VectorFile(ref, root string) (string, error) {
	_, err := os.Stat(ref)
	if err == nil {
		return ref, nil
	}
	inside := filepath.Join(root, ref)
	if _, there := os.Stat(inside); there != nil || filepath.IsAbs(ref) {
		return "", fmt.Errorf("embedding: %w", err)
	}
	return inside, nil
}

// PortableFile names a vector file of the data folder relative to it ("" finds the
// folder as every command does), so the name is valid on another machine; any
// other is returned unchanged.
func PortableFile(path, root string) string {
	folder, err := filepath.Abs(datasets.Root(root))
	if err != nil {
		return path
	}
	file, err := filepath.Abs(path)
	if err != nil || !IsVectorFile(path) {
		return path
	}
	if inside, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(inside) {
		return inside
	}
	return path
}

// IsVectorFile reports whether a reference is a path and not a name: it has a
// path separator or the suffix of a vector file.
func IsVectorFile(ref string) bool {
	if strings.ContainsRune(ref, filepath.Separator) {
		return true
	}
	return slices.Contains(vectorSuffixes, filepath.Ext(strings.TrimSuffix(ref, ".gz")))
}

var vectorSuffixes = []string{".txt", ".vec", ".bin"}

// NamesFile reports whether a reference on a command line is a path: IsVectorFile,
// or a file of that name is here.
func NamesFile(ref string) bool {
	info, err := os.Stat(ref)
	return IsVectorFile(ref) || err == nil && info.Mode().IsRegular() && ref != GeneratedEmbedding && ref != NoVectors
}

// splitName returns the name of the embedding in a file, which is the file's name
// without suffixes, dimension and the mark of a subset, and the dimension, 0
// where the name has none: glove.6B and 100 for glove.6B.100d.subset.txt.gz. The
// dimensions of one embedding thus share a name.
func splitName(path string) (name string, dimension int) {
	name = strings.TrimSuffix(filepath.Base(path), ".gz")
	for _, suffix := range vectorSuffixes {
		name = strings.TrimSuffix(name, suffix)
	}
	name = strings.TrimSuffix(name, ".subset")
	at, dimension := DimensionSuffix(name)
	if at > 0 {
		name = name[:at]
	}
	return name, dimension
}

// EmbeddingName returns the name of the embedding in a file.
func EmbeddingName(path string) string {
	name, _ := splitName(path)
	return name
}

// DimensionSuffix finds a final ".100d", also before the mark of a subset, and
// returns its position and the number.
func DimensionSuffix(name string) (at, dimension int) {
	name = strings.TrimSuffix(name, ".subset")
	i := strings.LastIndexByte(name, '.')
	if i <= 0 {
		return 0, 0
	}
	digits, ok := strings.CutSuffix(name[i+1:], "d")
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil || n == 0 {
		return 0, 0
	}
	return i, int(n)
}

// FileSpec describes a vector file. Its dimension is taken from its name or
// else from the file.
func FileSpec(ref, root string) (EmbeddingSpec, error) {
	name, dimension := splitName(ref)
	e := EmbeddingSpec{Name: name, File: ref, Dimensions: []int{dimension}}
	if dimension > 0 {
		return e, nil
	}
	path, err := VectorFile(ref, datasets.Root(root))
	if err != nil {
		return e, err
	}
	s, err := embeddings.Load(context.Background(), path,
		embeddings.LoadOptions{CacheDir: embeddings.DefaultCacheDir()})
	if err != nil {
		return e, err
	}
	e.Dimensions = []int{s.Dimension}
	return e, nil
}
