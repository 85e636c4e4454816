package experiments

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/embeddings"
	"mldpbench/mechanisms"
)

// GeneratedEmbedding is the name of the vectors learned from the generated
// corpus.
const GeneratedEmbedding = "generated"

// OpenSpace opens an embedding: a vector file by its path, also one relative to
// the data folder root ("" finds it as every command does), "generated", or the
// name of an embedding in the data folder such as "glove.6B". keep restricts it to a vocabulary; nil keeps every
// word. dimension is required for a name and checked for a file; 0 accepts
// what a file has.
func OpenSpace(ctx context.Context, ref string, dimension int, root string, keep func(word string) bool) (*embeddings.Space, error) {
	if ref == GeneratedEmbedding {
		return generatedSpace(ctx, dimension, keep)
	}
	path, name, err := locateEmbedding(ref, dimension, root)
	if err != nil {
		return nil, err
	}
	return embeddings.Load(ctx, path, embeddings.LoadOptions{
		Name: name, Keep: keep, CacheDir: embeddings.DefaultCacheDir(), Dimension: dimension,
	})
}

// generated keeps the vectors of the generated corpus, which take a moment to
// learn, for the life of the process.
var generated struct {
	sync.Mutex
	spaces map[int]*embeddings.Space
}

func generatedSpace(ctx context.Context, dimension int, keep func(string) bool) (*embeddings.Space, error) {
	if dimension == 0 {
		dimension = 50
	}
	generated.Lock()
	defer generated.Unlock()
	s, ok := generated.spaces[dimension]
	if !ok {
		sentences, err := datasets.GeneratedCorpus(ctx)
		if err != nil {
			return nil, err
		}
		s, err = embeddings.LearnPPMI(GeneratedEmbedding, sentences, embeddings.LearnOptions{Dimension: dimension})
		if err != nil {
			return nil, err
		}
		s.Generated = true
		if generated.spaces == nil {
			generated.spaces = map[int]*embeddings.Space{}
		}
		generated.spaces[dimension] = s
	}
	if keep == nil {
		return s, nil
	}
	return s.Restrict(keep)
}

// locateEmbedding finds the file of a reference and the name of its space. A
// reference with a path separator or a suffix of a vector file is a path.
func locateEmbedding(ref string, dimension int, root string) (path, name string, err error) {
	folder := fetch.Root(root)
	if isVectorFile(ref) {
		path, err := vectorFile(ref, folder)
		return path, EmbeddingName(ref), err
	}
	if i, d := dimensionSuffix(ref); i > 0 && (dimension == 0 || dimension == d) {
		ref, dimension = ref[:i], d // glove.6B.100d is glove.6B at 100
	}
	if dimension == 0 {
		return "", "", fmt.Errorf("embedding %s: needs a dimension", ref)
	}
	stem := fmt.Sprintf("%s.%dd", ref, dimension)
	var missing error = fmt.Errorf("embedding %s of dimension %d: no %s.txt, .vec or .bin (or .gz of them) in %s, and the catalogue does not have it: put its file there, or name the file instead", ref, dimension, stem, folder)
	for _, entry := range []string{stem, ref} {
		if _, err := fetch.Find(entry); err != nil {
			continue // a name that only the user's folder knows
		}
		path, err := fetch.Locate(root, entry, "vectors")
		if err == nil {
			return path, ref, nil
		}
		missing = err
	}
	for _, file := range []string{stem + ".txt", stem + ".txt.gz", stem + ".vec", stem + ".vec.gz", stem + ".bin"} {
		p := filepath.Join(folder, file)
		if _, err := os.Stat(p); err == nil {
			return p, ref, nil
		}
	}
	return "", "", missing
}

// vectorFile finds a file where it is, or else in the data folder.
func vectorFile(ref, root string) (string, error) {
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
// folder as every command does), so that the name holds on another machine;
// any other is returned as it is.
func PortableFile(path, root string) string {
	folder, err := filepath.Abs(datasets.Root(root))
	if err != nil {
		return path
	}
	file, err := filepath.Abs(path)
	if err != nil || !isVectorFile(path) {
		return path
	}
	if inside, err := filepath.Rel(folder, file); err == nil && filepath.IsLocal(inside) {
		return inside
	}
	return path
}

func isVectorFile(ref string) bool {
	if strings.ContainsRune(ref, filepath.Separator) {
		return true
	}
	switch filepath.Ext(strings.TrimSuffix(ref, ".gz")) {
	case ".txt", ".vec", ".bin":
		return true
	}
	return false
}

// EmbeddingName is the name of the embedding in a file: the file's name
// without suffixes, dimension and the mark of a subset, so that the dimensions
// of one embedding share a name: glove.6B for glove.6B.100d.subset.txt.gz.
func EmbeddingName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	for _, suffix := range []string{".txt", ".vec", ".bin"} {
		name = strings.TrimSuffix(name, suffix)
	}
	name = strings.TrimSuffix(name, ".subset")
	if i, _ := dimensionSuffix(name); i > 0 {
		name = name[:i]
	}
	return name
}

// dimensionOf reads the dimension in a file's name, as in glove.6B.100d.txt.
func dimensionOf(path string) (int, bool) {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	name = strings.TrimSuffix(name, filepath.Ext(name))
	_, d := dimensionSuffix(strings.TrimSuffix(name, ".subset"))
	return d, d > 0
}

// dimensionSuffix finds a final ".100d": where it begins, and the number.
func dimensionSuffix(name string) (at, dimension int) {
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

// OpenThesaurus opens the synonyms that SynTF chooses among: WordNet in the
// data folder, or those of the generated corpus.
func OpenThesaurus(generated bool, root string) (mechanisms.Thesaurus, error) {
	if generated {
		return datasets.GeneratedThesaurus(), nil
	}
	return datasets.OpenWordNet(root)
}

// catalogueWords is the word list of the catalogue.
const catalogueWords = "words"

// OpenEnglish opens the word list of the share of English tokens: "words", the
// list of the data folder, or a file.
func OpenEnglish(ref, root string) (*datasets.WordList, error) {
	if ref == catalogueWords {
		ref = ""
	}
	return datasets.OpenWordList(ref, root)
}
