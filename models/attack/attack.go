// Package attack measures what an attacker learns from privatised text. Each
// attacker is one file and one registry line.
//
// The result of an attack means nothing by itself, so every outcome has an
// interval, the floor that an attacker reaches without seeing the text, and the
// ceiling on text that was not privatised. An attack that does not reach its
// ceiling on unchanged text, or exceeds its floor on random text, is visibly
// broken. Words are compared whole and at their own positions. The package
// sees a mechanism only through its channel and its releases; documents are word
// ids, except for attackers of whole texts as they are written.
//
// An attacker with several forms chooses among them on the validation split, so
// it is not below its own simpler form but by chance. Which attacker of a panel
// is the strongest is chosen on each half of the test documents and reported on
// the other: FindStrongest.
package attack

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/models/ngram"
	"mldpbench/stream"
)

// Document is one text as ids: those in [0, Situation.Words) are words of the
// mechanism, others are words outside its vocabulary.
type Document struct {
	Words   []int32
	Private int    // the private label
	User    string // "" if unknown
	Text    string // as in the source, for attackers of what is written; "" if unknown
}

// Situation is the target of an attack and the attacker's resources, for one
// mechanism and one epsilon. An attacker's Definition lists the fields it
// needs.
type Situation struct {
	Words                   int // of the mechanism's vocabulary
	Train, Validation, Test []Document
	Privates                int // number of private labels
	// Shadow is public text of the same kind that is in no split: the
	// attacker's knowledge of the language. The more the better; leave out what
	// nearly repeats a document of a split, see Unrelated.
	Shadow [][]int32
	// Public is such text with private labels, for attackers who train on it.
	Public []Document
	// Release privatises documents with noise from the given seed. The number
	// of documents stays the same and so do their lengths, except for attackers
	// that do not need it.
	Release func(ctx context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error)
	// Single means that Release returns the same text for every seed: text from
	// files, of which there is one release.
	Single bool
	// Write privatises whole texts, with punctuation and case, as `mldp
	// privatize` does; see Written.
	Write func(ctx context.Context, texts []string, seed stream.Seed) ([]string, error)
	// Spelling returns the word of any id.
	Spelling func(id int32) string
	// Model is a masked language model, nil for none.
	Model WordModel
	// Channel is the exact channel of the mechanism over its vocabulary, inputs
	// and outputs; nil where there is none. Attackers then learn it from
	// Options.LearnDraws draws of every word.
	Channel *metrics.Channel
	// Embedding has a vector for every id of the documents; see models.Options.
	Embedding models.Embedding
	// Nearest returns the k words nearest to each word, the nearest first; a
	// word is its own nearest.
	Nearest func(ctx context.Context, words []int32, k int) ([][]int32, error)
	// Encode gives a vector to each document.
	Encode  func(ctx context.Context, documents [][]int32) ([][]float32, error)
	Options Options
	Seed    stream.Seed // of this situation
	// DataSeed determines everything that does not depend on the mechanism:
	// attackers trained on plain text, and which documents are linked.
	// Situations that share a Memo must share a DataSeed.
	DataSeed stream.Seed
	Workers  int // 0 means one
	// Releases caches the releases of the splits, which are the same for all
	// attackers of this situation; nil caches them for one RunAll only.
	Releases *Memo
	// Memo caches what does not depend on the mechanism, such as an attacker
	// trained on plain text, for other situations over the same documents,
	// shadow and DataSeed; nil caches nothing.
	Memo *Memo

	own stream.Seed // of the attacker: derived from Seed
}

// Memo caches values by name; its zero value is ready to use. It is safe for
// concurrent use.
type Memo struct{ entries sync.Map }

// entry is one value; a failure is not kept.
type entry struct {
	mu    sync.Mutex
	value any // nil until it is made
}

// once returns the value that make returned when it first succeeded. What fails,
// or panics, fails for its caller alone: whoever asks next tries again.
func once[T any](m *Memo, name string, make func() (T, error)) (T, error) {
	if m == nil {
		return make()
	}
	found, _ := m.entries.LoadOrStore(name, &entry{})
	e := found.(*entry)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.value == nil {
		v, err := make()
		if err != nil {
			return v, err
		}
		e.value = v
	}
	return e.value.(T), nil
}

// wordsOf returns the words of documents, without copying.
func wordsOf(documents []Document) [][]int32 {
	return list.Map(documents, func(d Document) []int32 { return d.Words })
}

// aligned releases documents and checks that every word keeps its position.
func (s *Situation) aligned(ctx context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error) {
	out, err := s.Release(ctx, documents, seed)
	if err != nil {
		return nil, err
	}
	if len(out) != len(documents) {
		return nil, fmt.Errorf("%d documents were released as %d", len(documents), len(out))
	}
	return out, inPlace(documents, out)
}

// placesError means that a release dropped or added words, so that attackers who
// compare words at their places cannot read it.
type placesError struct{ document, before, after int }

func (e *placesError) Error() string {
	return fmt.Sprintf("document %d: %d words were released as %d: words must keep their places, so use a "+
		"policy for unknown words that does not drop them", e.document, e.before, e.after)
}

// inPlace returns a placesError where documents changed their length.
func inPlace(before, after [][]int32) error {
	for i := range after {
		if len(after[i]) != len(before[i]) {
			return &placesError{i, len(before[i]), len(after[i])}
		}
	}
	return nil
}

// Splits of a situation.
const (
	Train      = "train"
	Validation = "validation"
	Test       = "test"
)

// Released is one release of a split. It is the same for all attackers and for
// measures of utility, so all are compared on one text.
func (s *Situation) Released(ctx context.Context, split string) ([][]int32, error) {
	return s.release(ctx, split, 0)
}

// release is a release of a split by number; number 0 is the one that all
// attackers see.
func (s *Situation) release(ctx context.Context, split string, number int) ([][]int32, error) {
	documents, ok := map[string][]Document{Train: s.Train, Validation: s.Validation, Test: s.Test,
		public: s.Public}[split]
	if !ok {
		return nil, fmt.Errorf("split = %q: must be %q, %q or %q", split, Train, Validation, Test)
	}
	labels := releaseLabels(split, number)
	return once(s.Releases, strings.Join(labels, " "), func() ([][]int32, error) {
		plain := wordsOf(documents)
		noisy, err := s.Release(ctx, plain, s.Seed.Derive(labels...))
		if err == nil && len(noisy) != len(plain) {
			err = fmt.Errorf("%d documents were released as %d", len(plain), len(noisy))
		}
		return noisy, err
	})
}

// releaseLabels name a release and its noise.
func releaseLabels(split string, number int) []string {
	if number == 0 {
		return []string{"release", split}
	}
	return []string{"release", split, strconv.Itoa(number)}
}

// public stands for the public text among splits.
const public = "public"

// prefix returns the release of the first n documents of a split, every word in
// its place.
func (s *Situation) prefix(ctx context.Context, split string, plain [][]int32) ([][]int32, error) {
	noisy, err := s.Released(ctx, split)
	if err != nil {
		return nil, err
	}
	return noisy[:len(plain)], inPlace(plain, noisy[:len(plain)])
}

// learn draws the sample from which a channel is learned, once for all
// attackers.
func (s *Situation) learn(ctx context.Context) (metrics.Draws, error) {
	return once(s.Releases, "learn", func() (metrics.Draws, error) {
		return s.draws(ctx, s.Options.LearnDraws, s.Seed.Derive("learn"))
	})
}

// draws returns n independent outputs of every word of the mechanism.
func (s *Situation) draws(ctx context.Context, n int, seed stream.Seed) (metrics.Draws, error) {
	documents := make([][]int32, s.Words)
	for w := range documents {
		documents[w] = slices.Repeat([]int32{int32(w)}, n)
	}
	out, err := s.aligned(ctx, documents, seed)
	if err != nil {
		return metrics.Draws{}, err
	}
	return metrics.Draws{PerInput: n, Outputs: slices.Concat(out...)}, nil
}

// Language is an n-gram model of the shadow text: what an attacker, and whoever
// judges a release, knows of the language.
func (s *Situation) Language() (*ngram.Model, error) {
	order := s.Options.withDefaults().Order
	return once(s.Memo, fmt.Sprintf("language model %d", order), func() (*ngram.Model, error) {
		return ngram.Train(s.Shadow, s.Words, order)
	})
}

// prior returns the word frequencies of the shadow text with one added to every
// count; uniform without a shadow.
func (s *Situation) prior() ([]float64, error) {
	return metrics.EmpiricalPrior(s.shadowCounts())
}

func (s *Situation) shadowCounts() []int {
	counts := make([]int, s.Words)
	for _, document := range s.Shadow {
		for _, w := range document {
			if s.knows(w) {
				counts[w]++
			}
		}
	}
	return counts
}

// knows reports whether an id is a word of the mechanism.
func (s *Situation) knows(w int32) bool { return w >= 0 && int(w) < s.Words }

// vector is that of any id of the documents.
func (s *Situation) vector(w int32) []float32 {
	d := s.Embedding.Dimension
	return s.Embedding.Vectors[int(w)*d : (int(w)+1)*d]
}

// proportion returns the exact interval for k successes in n independent
// trials.
func proportion(k, n int, level float64) (stats.Interval, error) {
	if n == 0 {
		return stats.Unknown(), nil
	}
	return stats.ClopperPearson(k, n, level)
}

// grouped returns the share of hits among trials that are grouped in documents.
// Its interval is the wider of the one over documents and the exact one over
// trials, because the first is too narrow where nothing varies.
func grouped(hits, trials []int, level float64) (stats.Interval, error) {
	over, err := stats.RatioInterval(hits, trials, level)
	if err != nil {
		return over, err
	}
	k, n := 0, 0
	for i := range hits {
		k, n = k+hits[i], n+trials[i]
	}
	exact, err := proportion(k, n, level)
	exact.Low, exact.High = min(exact.Low, max(0, over.Low)), max(exact.High, min(1, over.High))
	return exact, err
}
