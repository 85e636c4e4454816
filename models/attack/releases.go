package attack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/stream"
)

// Releases are what a mechanism makes of texts.
type Releases struct {
	// Words privatises documents with noise from the given seed. The number
	// of documents stays the same and so do their lengths, except for attackers
	// that do not need it.
	Words func(ctx context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error)
	// Texts privatises whole texts, with punctuation and case, as `mldp
	// privatize` does; see Write. nil where that is not possible.
	Texts func(ctx context.Context, texts []string, seed stream.Seed) ([]string, error)
	// Single means that Words returns the same text for every seed: text from
	// files, of which there is one release.
	Single bool
	Noise  stream.Seed // of all releases
	// Cache keeps releases, draws, and who learned from releases, so it is for targets of
	// the same corpus and options.
	Cache memo.Memo
}

// releaseKey is that of a release in the cache.
type releaseKey struct {
	split   Split
	number  int
	written bool
}

// seed is that of the noise of a release: its own for each split, number and form.
func (k releaseKey) seed(noise stream.Seed) stream.Seed {
	var labels []string
	if k.written {
		labels = append(labels, "written")
	}
	labels = append(labels, "release", string(k.split))
	if k.number > 0 {
		labels = append(labels, strconv.Itoa(k.number))
	}
	return noise.Derive(labels...)
}

// Release returns a release of a split as words, by number; number 0 is the one that all
// attackers see. It is the same for all attackers and for measures of utility, so all are
// compared on one text.
func (t *Target) Release(ctx context.Context, split Split, number int) ([][]int32, error) {
	key := releaseKey{split: split, number: number}
	return memo.Once(&t.Releases.Cache, key, func() ([][]int32, error) {
		documents := WordsOf(t.Corpus.Documents(split))
		out, err := t.Releases.Words(ctx, documents, key.seed(t.Releases.Noise))
		if err == nil && len(out) != len(documents) {
			err = wrongNumber(len(documents), len(out))
		}
		return out, err
	})
}

// Written returns a release of a split as text, by number.
func (t *Target) Written(ctx context.Context, split Split, number int) ([]string, error) {
	key := releaseKey{
		split:   split,
		number:  number,
		written: true,
	}
	return memo.Once(&t.Releases.Cache, key, func() ([]string, error) {
		texts := TextsOf(t.Corpus.Documents(split))
		out, err := t.Releases.Texts(ctx, texts, key.seed(t.Releases.Noise))
		if err == nil && len(out) != len(texts) {
			err = wrongNumber(len(texts), len(out))
		}
		return out, err
	})
}

// ReleaseAll makes the releases of the splits that all attackers see.
func (t *Target) ReleaseAll(ctx context.Context) error {
	for _, split := range []Split{Train, Validation, Test} {
		if _, err := t.Release(ctx, split, 0); err != nil {
			return err
		}
	}
	return nil
}

// Draws returns n independent outputs of every one of some words.
func (t *Target) Draws(ctx context.Context, words []int32, n int, seed stream.Seed) ([][]int32, error) {
	copies := list.Map(words, func(w int32) []int32 { return slices.Repeat([]int32{w}, n) })
	out, err := t.Releases.Words(ctx, copies, seed)
	if err == nil {
		err = InPlace(copies, out)
	}
	return out, err
}

// errPlaces means that a release dropped or added words, so that attackers who
// compare words at their places cannot read it.
var errPlaces = errors.New("words must keep their places, so use a policy for unknown words that does not drop them")

func wrongNumber(documents, released int) error {
	return fmt.Errorf("%d documents were released as %d", documents, released)
}

// InPlace returns an error where documents changed their number or length. An attacker
// who returns it has no value on this release, with the error as the reason.
func InPlace(before, after [][]int32) error {
	if len(before) != len(after) {
		return wrongNumber(len(before), len(after))
	}
	for i := range after {
		if len(after[i]) != len(before[i]) {
			return fmt.Errorf("document %d: %d words were released as %d: %w", i, len(before[i]), len(after[i]),
				errPlaces)
		}
	}
	return nil
}
