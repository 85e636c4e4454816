package lab

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/datasets/generated"
	"mldpbench/datasets/wordnet"
	"mldpbench/embeddings"
	"mldpbench/embeddings/sentence"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/memo"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/models/transformer"
)

// WarnOneWord says that a vocabulary protects nothing, because it has one word.
func WarnOneWord(to io.Writer, s *embeddings.Space) {
	if to != nil && s.Len() == 1 {
		fmt.Fprintln(to, "warning:", oneWord)
	}
}

// oneWord is the warning of a vocabulary of one word.
const oneWord = "the vocabulary has one word: every known word is published as it is"

// OpenSpace opens an embedding: a vector file by its path, also one relative to
// the data folder root ("" finds it as every command does), "generated", or the
// name of an embedding in the data folder such as "glove.6B". keep restricts it
// to a vocabulary, and only by a rule; nil keeps every word. dimension is required for a name and
// checked for a file; 0 accepts any dimension of a file.
func OpenSpace(ctx context.Context, ref string, dimension int, root string,
	keep func(word string) bool, only *embeddings.Restriction) (*embeddings.Space, error) {
	if name, d := embeddings.SplitName(ref); name == study.GeneratedEmbedding && !study.NamesFile(ref) {
		s, err := generatedSpace(ctx, cmp.Or(d, dimension, 50), keep)
		if err != nil || only == nil {
			return s, err
		}
		return s.RestrictTo(only)
	}
	path, name, err := locateEmbedding(ref, dimension, root)
	if err != nil {
		return nil, err
	}
	return embeddings.Load(ctx, path, embeddings.LoadOptions{
		Name:      name,
		Keep:      keep,
		Only:      only,
		CacheDir:  embeddings.DefaultCacheDir(),
		Dimension: dimension,
	})
}

// vectors keeps those of the generated corpus for the life of the
// process, because learning them takes a moment.
var vectors memo.Memo

// generatedSpace are those of the words that are kept; nil keeps all.
func generatedSpace(ctx context.Context, dimension int, keep func(string) bool) (*embeddings.Space, error) {
	s, err := memo.Once(&vectors, strconv.Itoa(dimension), func() (*embeddings.Space, error) {
		sentences, err := datasets.GeneratedCorpus()
		if err != nil {
			return nil, err
		}
		s, err := embeddings.LearnPPMI(study.GeneratedEmbedding, sentences, dimension)
		if err == nil {
			s.Generated = true
		}
		return s, err
	})
	if err != nil || keep == nil {
		return s, err
	}
	return s.Restrict(keep)
}

// locateEmbedding finds the file of a reference and the name of its space: a path,
// or a name at a dimension, whose file is one of the catalogue or has them both as
// its own name in the data folder.
func locateEmbedding(ref string, dimension int, root string) (path, name string, err error) {
	folder := fetch.Root(root)
	if study.NamesFile(ref) {
		name, _ = embeddings.SplitName(ref)
		path, err = study.VectorFile(ref, folder)
		return path, name, err
	}
	name = ref
	if base, d := embeddings.SplitName(ref); d > 0 && (dimension == 0 || dimension == d) {
		name = base // glove.6B.100d is glove.6B at 100
		dimension = d
	}
	stem := fmt.Sprintf("%s.%dd", name, dimension)
	var missing error = fmt.Errorf("embedding %s of dimension %d: no %s.txt, .vec or .bin (or .gz of them) in %s, "+
		"and the catalogue does not have it: put its file there, or name the file instead", name, dimension, stem,
		folder)
	if dimension == 0 {
		missing = fmt.Errorf("embedding %s: is no file here or in %s, and as a name it needs a dimension, as in "+
			"%s.100d%s", ref, folder, ref, check.Meant(ref, []string{study.GeneratedEmbedding}))
	}
	for _, file := range []string{stem, name} {
		if _, err := fetch.Find(file); err == nil && dimension > 0 {
			if path, err = fetch.Locate(root, file, "vectors"); err == nil {
				return path, name, nil
			}
			missing = err
		}
		for _, suffix := range []string{".txt", ".txt.gz", ".vec", ".vec.gz", ".bin"} {
			path = filepath.Join(folder, file+suffix)
			if _, err := os.Stat(path); err == nil {
				name, _ = embeddings.SplitName(path)
				return path, name, nil
			}
		}
	}
	return "", "", missing
}

// ThesaurusRef says where the synonyms for SynTF come from: WordNet in the data folder, or
// the generated corpus.
type ThesaurusRef struct {
	Generated bool
	Root      string
}

// Open opens the synonyms.
func (t ThesaurusRef) Open() (mechanisms.Thesaurus, error) {
	if t.Generated {
		return generated.Thesaurus{}, nil
	}
	dir, err := fetch.Locate(t.Root, "wordnet", "database")
	if err != nil {
		return nil, err
	}
	return wordnet.OpenThesaurus(dir)
}

// ModelRef is a model that a study names: a folder with model.onnx and
// tokenizer.json, by its path or by its name in the data folder, or the name of
// a model that Python's libraries know.
type ModelRef struct {
	Key  string // of the study
	Name string
	Task transformer.Task
}

// folder returns the folder of a model, which may lie in the data folder; "" for none.
func (l *Lab) folder(ref string) string {
	for _, dir := range []string{ref, filepath.Join(fetch.Root(l.root), ref)} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && (dir == ref || filepath.IsLocal(ref)) {
			return dir
		}
	}
	return ""
}

// Model starts a model, once per run.
func (l *Lab) Model(ctx context.Context, ref ModelRef) (*transformer.Model, error) {
	dir := l.folder(ref.Name)
	if dir == "" && (filepath.IsAbs(ref.Name) || strings.HasPrefix(ref.Name, ".")) {
		return nil, check.Wrong("%s = %q: no such folder", ref.Key, ref.Name)
	}
	digest := ""
	if dir != "" {
		var err error
		digest, err = l.hashFolder(dir)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", ref.Key, dir, err)
		}
	}
	return memo.Once(&l.Shared, engine.MakeID("model", ref.Task, ref.Name), func() (*transformer.Model, error) {
		return transformer.Open(ctx, ref.Task, ref.Name, dir, digest)
	})
}

// ofModel returns the fingerprint of a model: of all files of its folder, or of
// the weights and libraries of a name.
func (l *Lab) ofModel(ctx context.Context, ref ModelRef) (string, error) {
	if dir := l.folder(ref.Name); dir != "" {
		return l.hashFolder(dir)
	}
	m, err := l.Model(ctx, ref)
	if err != nil {
		return "", err
	}
	return ref.Name + " " + m.Hello.Version, nil
}

// SIF is the encoder that needs no model: the weighted mean of the text's
// own word vectors.
const SIF = "sif"

func encoderRef(name string) ModelRef { return ModelRef{"encoder", name, transformer.Encode} }

// hashFolder is the fingerprint of all files of a folder.
func (l *Lab) hashFolder(dir string) (string, error) {
	return memo.Once(&l.Shared, "digest of folder "+dir, func() (string, error) {
		return external.Digest(dir)
	})
}

// Encoder opens a sentence encoder, once per run; SIF is fitted to each data
// set and space.
func (l *Lab) Encoder(ctx context.Context, encoder string, corpus *Corpus, space *Space) (sentence.Encoder, error) {
	if encoder != SIF {
		return l.Model(ctx, encoderRef(encoder))
	}
	return memo.Once(&l.Shared, "encoder "+corpus.Fingerprint+space.Fingerprint(), func() (sentence.Encoder, error) {
		return sentence.NewSIF(space.Space, corpus.Documents)
	})
}
