package experiments

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/embeddings/sentence"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
)

// workspace holds what cells of one run share. Everything in it is made once,
// on first use, and never changed.
type workspace struct {
	study *Study
	root  string // data folder
	// encoderRef is the folder of the sentence encoder, or sifEncoder.
	encoderRef func() (string, error)

	corpora    once[string, *corpus]
	spaces     once[spaceKey, *space]
	thesauri   once[bool, mechanisms.Thesaurus]
	words      once[string, *datasets.WordList]
	digests    once[string, string]
	encoders   once[string, sentence.Encoder]
	originals  once[string, [][]float32] // sentence vectors of plain documents
	classifier once[string, *trained]
}

func newWorkspace(s *Study, root string) *workspace {
	w := &workspace{study: s, root: root}
	w.encoderRef = sync.OnceValues(w.chooseEncoder)
	return w
}

// close releases what does not end with the process's memory.
func (w *workspace) close() error {
	var failed error
	for _, e := range w.encoders.values() {
		if c, ok := e.(io.Closer); ok {
			failed = errors.Join(failed, c.Close())
		}
	}
	return failed
}

// once makes each value on first use; concurrent users of one key wait for it.
// A failure is not kept, so that a cancelled attempt can be repeated.
type once[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]*onceEntry[V]
}

type onceEntry[V any] struct {
	mu    sync.Mutex
	done  bool
	value V
}

func (o *once[K, V]) get(key K, make_ func() (V, error)) (V, error) {
	o.mu.Lock()
	if o.m == nil {
		o.m = map[K]*onceEntry[V]{}
	}
	e, ok := o.m[key]
	if !ok {
		e = &onceEntry[V]{}
		o.m[key] = e
	}
	o.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done {
		return e.value, nil
	}
	v, err := make_()
	if err == nil {
		e.value, e.done = v, true
	}
	return v, err
}

// values returns what is made already.
func (o *once[K, V]) values() []V {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []V
	for _, e := range o.m {
		e.mu.Lock()
		if e.done {
			all = append(all, e.value)
		}
		e.mu.Unlock()
	}
	return all
}

// peek returns a value that is made already.
func (o *once[K, V]) peek(key K) (v V, ok bool) {
	o.mu.Lock()
	e := o.m[key]
	o.mu.Unlock()
	if e == nil {
		return v, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.value, e.done
}

// corpus is a prepared data set with what is derived from it once.
type corpus struct {
	*datasets.Dataset
	splits    [3][][]string // tokens of train, validation, test
	documents [][]string    // all of them, in this order
	types     map[string]struct{}
	rare      func() []string // the words that LOW follows
	polarity  map[string]int  // of word-level data sets: class of each word
}

var splitNames = [3]string{"train", "validation", "test"}

func (w *workspace) corpus(ctx context.Context, spec DatasetSpec) (*corpus, error) {
	return w.corpora.get(spec.Name, func() (*corpus, error) {
		root := Cell{Seed: w.study.Seed}.root()
		d, err := datasets.Load(ctx, spec.request(w.root, root.Derive("dataset")))
		if err != nil {
			return nil, err
		}
		if len(d.Train) == 0 || len(d.Test) == 0 {
			return nil, fmt.Errorf("data set %s: %d training and %d test documents: both must be there", d.Name, len(d.Train), len(d.Test))
		}
		c := &corpus{Dataset: d, types: map[string]struct{}{}}
		for i, split := range d.Splits() {
			c.splits[i] = datasets.Tokens(split.Documents)
			c.documents = append(c.documents, c.splits[i]...)
			if d.WordLevel && c.polarity == nil {
				c.polarity = map[string]int{}
			}
			for _, doc := range split.Documents {
				for _, t := range doc.Tokens {
					c.types[t] = struct{}{}
				}
				if d.WordLevel && len(doc.Tokens) == 1 {
					c.polarity[doc.Tokens[0]] = doc.Label
				}
			}
		}
		c.rare = sync.OnceValue(func() []string {
			return metrics.LeastFrequent(c.documents, w.study.Metrics.Low, root.Derive("low", d.Name))
		})
		return c, nil
	})
}

// traits answers Grid without loading anything.
func traits(spec DatasetSpec) (Traits, error) {
	if spec.File != "" && spec.Label != "" {
		return Traits{WordLevel: spec.WordLevel}, nil
	}
	d, err := datasets.Find(spec.Name)
	if err != nil {
		return Traits{}, err
	}
	return Traits{Generated: d.Generated, WordLevel: d.WordLevel}, nil
}

type spaceKey struct {
	dataset, embedding string
	dimension          int
}

// space is an embedding restricted to the vocabulary of a data set, as the
// study does, and the table that models read: it adds the synonyms which a
// thesaurus may put in place of words, because they have vectors too.
type space struct {
	*embeddings.Space
	table models.Embedding // one zero row after the last word, for tokens without a vector
	ids   *embeddings.Vocabulary
}

// vectors gives every single-word document the vector of its word.
func (s *space) vectors(documents [][]string) ([][]float32, error) {
	out := make([][]float32, len(documents))
	for i, ids := range s.ids.Rows(documents) {
		switch len(ids) {
		case 1:
			d := s.table.Dimension
			out[i] = s.table.Vectors[int(ids[0])*d : (int(ids[0])+1)*d]
		case 0: // dropped by the policy
			out[i] = make([]float32, s.table.Dimension)
		default:
			return nil, fmt.Errorf("document %d of a word-level data set has %d tokens", i, len(ids))
		}
	}
	return out, nil
}

func (w *workspace) space(ctx context.Context, c *corpus, cell Cell) (*space, error) {
	key := spaceKey{cell.Dataset.Name, cell.Embedding, cell.Dimension}
	return w.spaces.get(key, func() (*space, error) {
		synonyms, err := w.synonyms(c)
		if err != nil {
			return nil, err
		}
		inCorpus := func(word string) bool { _, ok := c.types[word]; return ok }
		wide, err := OpenSpace(ctx, w.embeddingRef(cell), cell.Dimension, w.root, func(word string) bool {
			if inCorpus(word) {
				return true
			}
			_, ok := synonyms[word]
			return ok
		})
		if err != nil {
			return nil, err
		}
		narrow, err := wide.Restrict(inCorpus)
		if err != nil {
			return nil, err
		}
		narrow.Name = cell.Embedding
		table := models.Embedding{Dimension: wide.Dimension, Vectors: wide.Table()}
		return &space{Space: narrow, table: table, ids: wide.Vocabulary}, nil
	})
}

// embeddingRef is what OpenSpace calls the embedding of a cell.
func (w *workspace) embeddingRef(c Cell) string {
	for _, e := range w.study.Embeddings {
		if e.Name == c.Embedding && slices.Contains(e.Dimensions, c.Dimension) && e.File != "" {
			return e.File
		}
	}
	return c.Embedding
}

// thesaurus opens the synonyms for a data set.
func (w *workspace) thesaurus(c *corpus) (mechanisms.Thesaurus, error) {
	return w.thesauri.get(c.Generated, func() (mechanisms.Thesaurus, error) { return OpenThesaurus(c.Generated, w.root) })
}

func (w *workspace) needsThesaurus() bool {
	for _, m := range w.study.Mechanisms {
		if m.Name == All || m.Name == "syntf" {
			return true
		}
	}
	return false
}

// synonyms are all words that a thesaurus may put in place of those of the
// data set.
func (w *workspace) synonyms(c *corpus) (map[string]struct{}, error) {
	words := map[string]struct{}{}
	if !w.needsThesaurus() {
		return words, nil
	}
	t, err := w.thesaurus(c)
	if err != nil {
		return nil, err
	}
	for word := range c.types {
		for _, lemma := range t.Lemmas(word) {
			words[lemma] = struct{}{}
		}
	}
	return words, nil
}

func (w *workspace) english() (*datasets.WordList, error) {
	ref := w.study.Metrics.English
	return w.words.get(ref, func() (*datasets.WordList, error) { return OpenEnglish(ref, w.root) })
}

// fingerprints identifies the data of a cell.
func (w *workspace) fingerprints(ctx context.Context, cell Cell) (Fingerprints, error) {
	c, err := w.corpus(ctx, cell.Dataset)
	if err != nil {
		return Fingerprints{}, err
	}
	s, err := w.space(ctx, c, cell)
	if err != nil {
		return Fingerprints{}, err
	}
	f := Fingerprints{Dataset: c.Fingerprint, Embedding: s.Fingerprint()}
	if cell.Mechanism.Mechanism == "syntf" {
		if f.Thesaurus, err = w.thesaurusFingerprint(c); err != nil {
			return f, err
		}
	}
	if cell.measuresCS() {
		if f.Encoder, err = w.encoderFingerprint(); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (w *workspace) thesaurusFingerprint(c *corpus) (string, error) {
	t, err := w.thesaurus(c)
	if err != nil {
		return "", err
	}
	return w.digests.get(c.Name, func() (string, error) {
		h := sha256.New()
		for _, word := range sortedKeys(c.types) {
			_, _ = io.WriteString(h, word+"\t"+strings.Join(t.Lemmas(word), " ")+"\n") // a hash never fails
		}
		return hex.EncodeToString(h.Sum(nil)), nil
	})
}

func sortedKeys(m map[string]struct{}) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
