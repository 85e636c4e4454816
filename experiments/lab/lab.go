// Package lab opens the resources of experiments: data sets, vector spaces,
// thesaurus, word list, sentence encoder.
//
// Everything that is read is part of the key of the results. This package is
// therefore the only place that opens resources, and each has a fingerprint.
// Everything is opened once, on first use, and never changed.
package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Lab holds the resources that the units of one run share.
type Lab struct {
	root   string    // data folder; "" finds it as every command does
	Log    io.Writer // takes warnings, each once; nil for none
	warned sync.Map  // of what
	parts  sync.Map  // of part: embeddings of which only a part is here
	unseen sync.Map  // see Unseen: names of commands by their keys
	// Where documents are drawn anew, each repetition has a corpus and a space of
	// its own, about 100 MB on IMDb: only the last ones are kept.
	corpora memo.Memo
	spaces  memo.Memo
	opened  sync.Map  // description of every corpus, kept or not, by the sample's key
	Shared  memo.Memo // everything else
}

// textsKept is the number of corpora and of spaces that stay open.
const textsKept = 8

// New returns a lab over a data folder.
func New(root string) *Lab {
	l := &Lab{root: root}
	l.corpora.Keep = textsKept
	l.spaces.Keep = textsKept
	return l
}

// Close closes sentence encoders and ends commands.
func (l *Lab) Close() error {
	var failed error
	for _, value := range l.Shared.Values() {
		if c, ok := value.(io.Closer); ok {
			failed = errors.Join(failed, c.Close())
		}
	}
	return failed
}

// Sample is a data set as a study requests it, and a draw of its documents.
type Sample struct {
	Dataset study.DatasetSpec
	Seed    stream.Seed // of the draw
}

func (s Sample) key() string { return engine.MakeID(s.Dataset, s.Dataset.File, s.Seed) }

// Corpus loads a data set.
func (l *Lab) Corpus(ctx context.Context, s Sample) (*Corpus, error) {
	return memo.Once(&l.corpora, s.key(), func() (*Corpus, error) {
		d, err := datasets.Load(ctx, s.Dataset.Request(l.root, s.Seed))
		if err != nil {
			return nil, err
		}
		if len(d.Train) == 0 || len(d.Test) == 0 {
			return nil, fmt.Errorf("data set %s: %d training and %d test documents: both must be there", d.Name,
				len(d.Train), len(d.Test))
		}
		c := NewCorpus(d)
		description := datasets.Describe(c.Dataset)
		of := "data set " + d.Name
		l.warn(of, list.Map(description.Warnings, func(w string) string {
			return of + ": " + w
		})...)
		l.opened.Store(s.key(), description)
		return c, nil
	})
}

// Descriptions returns those of the data sets opened so far, by name.
func (l *Lab) Descriptions() []datasets.Description {
	var all []datasets.Description
	for _, t := range l.opened.Range {
		d := t.(datasets.Description)
		for w := range l.parts.Range {
			d.Parts = append(slices.Clip(d.Parts), w.(part).Name)
			d.Warnings = append(slices.Clip(d.Warnings), w.(part).Warning)
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b datasets.Description) int {
		return strings.Compare(a.Name+a.Fingerprint, b.Name+b.Fingerprint)
	})
	return all
}

// Words opens an embedding of one dimension, or those of its words that are kept; nil keeps all.
func (l *Lab) Words(ctx context.Context, e study.EmbeddingSpec, dimension int, keep func(word string) bool) (
	*embeddings.Space, error) {
	return OpenSpace(ctx, e.Ref(), dimension, l.root, keep, nil)
}

// Space opens an embedding restricted to the words of a data set; where a
// thesaurus is needed, the table holds its synonyms too.
func (l *Lab) Space(ctx context.Context, s Sample, e study.EmbeddingSpec, dimension int,
	needs mechanisms.Needs) (*Space, error) {
	key := engine.MakeID(s.key(), e.Name, e.File, dimension, needs.Thesaurus)
	return memo.Once(&l.spaces, key, func() (*Space, error) {
		c, err := l.Corpus(ctx, s)
		if err != nil {
			return nil, err
		}
		if e.IsNone() {
			return wordsOnly(c)
		}
		keep := c.Has
		if needs.Thesaurus {
			keep, err = l.withSynonyms(c)
			if err != nil {
				return nil, err
			}
		}
		return l.openSpace(ctx, c, e, dimension, keep)
	})
}

// withSynonyms keeps the words of a data set and their synonyms.
func (l *Lab) withSynonyms(c *Corpus) (keep func(word string) bool, err error) {
	t, err := l.Thesaurus(c.Generated)
	if err != nil {
		return nil, err
	}
	more := map[string]bool{}
	for word := range c.Counts {
		for _, lemma := range t.Lemmas(word) {
			more[lemma] = true
		}
	}
	return func(word string) bool { return c.Has(word) || more[word] }, nil
}

// openSpace opens an embedding restricted to the words of a data set, with a table of those
// that are kept.
func (l *Lab) openSpace(ctx context.Context, c *Corpus, e study.EmbeddingSpec, dimension int,
	keep func(word string) bool) (*Space, error) {
	wide, err := OpenSpace(ctx, e.Ref(), dimension, l.root, keep, nil)
	if err != nil {
		return nil, err
	}
	narrow, err := wide.Restrict(c.Has)
	if err != nil {
		return nil, err
	}
	narrow.Name = e.Name
	space := WholeSpace(wide)
	space.Space = narrow
	l.warnPart(e, dimension)
	if space.Len() == 1 {
		l.warn("one word", oneWord)
	}
	return space, nil
}

// warnPart says once that the file of an embedding has only a part of its words.
func (l *Lab) warnPart(e study.EmbeddingSpec, dimension int) {
	path, _, err := locateEmbedding(e.Ref(), dimension, l.root)
	if name := filepath.Base(path); err == nil && strings.Contains(name, ".subset.") {
		w := part{e.Name, fmt.Sprintf("embedding %s of dimension %d: only a part of its words is here, those of %s",
			e.Name, dimension, name)}
		l.parts.Store(w, true)
		l.warn(w.Warning, w.Warning)
	}
}

// warn prints warnings of something, once.
func (l *Lab) warn(of string, texts ...string) {
	if _, said := l.warned.LoadOrStore(of, true); !said && l.Log != nil {
		for _, t := range texts {
			fmt.Fprintln(l.Log, "warning:", t)
		}
	}
}

// part is an embedding of which only some words are here, and what is said of it.
type part struct{ Name, Warning string }

// Thesaurus opens the synonyms for generated or for real data.
func (l *Lab) Thesaurus(generated bool) (mechanisms.Thesaurus, error) {
	return memo.Once(&l.Shared, fmt.Sprint("thesaurus ", generated), func() (mechanisms.Thesaurus, error) {
		return ThesaurusRef{Generated: generated, Root: l.root}.Open()
	})
}

// English opens the word list of the share of English tokens.
func (l *Lab) English(ref string) (*datasets.WordList, error) {
	return memo.Once(&l.Shared, "words "+ref, func() (*datasets.WordList, error) {
		return datasets.OpenWordList(ref, l.root)
	})
}

// Fingerprints of the resources of a unit, by name.
type Fingerprints map[string]string

// OfText returns those of a data set and its space for a mechanism with the
// given needs. The map is the caller's.
func (l *Lab) OfText(ctx context.Context, s Sample, e study.EmbeddingSpec, dimension int,
	needs mechanisms.Needs) (Fingerprints, error) {
	key := engine.MakeID("fingerprints", s.key(), e.Name, e.File, dimension, needs.Thesaurus)
	f, err := memo.Once(&l.Shared, key, func() (Fingerprints, error) {
		c, err := l.Corpus(ctx, s)
		if err != nil {
			return nil, err
		}
		space, err := l.Space(ctx, s, e, dimension, needs)
		if err != nil {
			return nil, err
		}
		f := Fingerprints{"dataset": c.Fingerprint, "embedding": space.Fingerprint()}
		if needs.Thesaurus {
			f["vectors"] = space.Wide.Fingerprint() // of synonyms outside the data set too
			f["thesaurus"], err = l.thesaurusFingerprint(c.Generated, c.Fingerprint, slices.Sorted(maps.Keys(c.Counts)))
		}
		return f, err
	})
	return maps.Clone(f), err
}

// OfWords returns those of a whole embedding.
func (l *Lab) OfWords(ctx context.Context, e study.EmbeddingSpec, dimension int, needs mechanisms.Needs) (Fingerprints,
	error) {
	space, err := l.Words(ctx, e, dimension, nil)
	if err != nil {
		return nil, err
	}
	f := Fingerprints{"embedding": space.Fingerprint()}
	if needs.Thesaurus {
		f["thesaurus"], err = l.thesaurusFingerprint(space.Generated, space.Fingerprint(), space.Vocabulary.Words())
	}
	return f, err
}

// thesaurusFingerprint identifies the entries of a thesaurus for words; of
// names the set of words.
func (l *Lab) thesaurusFingerprint(generated bool, of string, words []string) (string, error) {
	t, err := l.Thesaurus(generated)
	if err != nil {
		return "", err
	}
	return memo.Once(&l.Shared, "digest of thesaurus "+of, func() (string, error) {
		return hashed(func(h io.Writer) error {
			for _, word := range words {
				fmt.Fprintf(h, "%s\t%s\n", word, strings.Join(t.Lemmas(word), " "))
			}
			return nil
		})
	})
}

// ofEnglish returns the fingerprint of the file of a word list.
func (l *Lab) ofEnglish(ref string) (string, error) {
	list, err := l.English(ref)
	if err != nil {
		return "", err
	}
	return memo.Once(&l.Shared, "digest of english "+ref, func() (string, error) {
		return hashed(func(h io.Writer) (err error) {
			for _, file := range list.Files {
				data, wrong := os.ReadFile(file)
				_, _ = h.Write(data) // a hash never fails
				err = errors.Join(err, wrong)
			}
			return err
		})
	})
}

// hashed is the digest of what is written.
func hashed(write func(io.Writer) error) (string, error) {
	h := sha256.New()
	err := write(h)
	return hex.EncodeToString(h.Sum(nil)), err
}
