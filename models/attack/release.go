package attack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"mldpbench/internal/list"
	"mldpbench/stream"
)

// Splits of a situation; public stands for the public text among them.
const (
	Train, Validation, Test, public = "train", "validation", "test", "public"
)

// Made is what attackers of one situation share; its zero value is ready to use, by
// one goroutine at a time.
type Made struct {
	Memo                           // releases, draws, who learned from own releases
	masked map[string]maskedAnswer // the last one, by split and document
}

// release is a release of a split by number; number 0 is the one that all attackers
// see.
type release struct {
	split  string
	number int
}

func (s *Situation) documents(split string) []Document {
	return map[string][]Document{Train: s.Train, Validation: s.Validation, Test: s.Test, public: s.Public}[split]
}

// made returns what make_ releases of the documents once; kinds tell its noise apart.
func made[D any](s *Situation, r release, make_ func(all []Document, seed stream.Seed) ([]D, error), kinds ...string) (
	[]D, error) {
	documents, labels := s.documents(r.split), append(kinds, "release", r.split)
	if r.number > 0 {
		labels = append(labels, strconv.Itoa(r.number))
	}
	return once(&s.Made.Memo, fmt.Sprint(labels), func() ([]D, error) {
		d, err := make_(documents, s.Noise.Derive(labels...))
		if err == nil && len(d) != len(documents) {
			err = fmt.Errorf("%d documents were released as %d", len(documents), len(d))
		}
		return d, err
	})
}

// release returns a release as words. It is the same for all attackers and for
// measures of utility, so all are compared on one text.
func (s *Situation) release(ctx context.Context, r release) ([][]int32, error) {
	return made(s, r, func(all []Document, seed stream.Seed) ([][]int32, error) { return s.Release(ctx, wordsOf(all), seed) })
}

// written returns a release as text.
func (s *Situation) written(ctx context.Context, r release) ([]string, error) {
	return made(s, r, func(all []Document, seed stream.Seed) ([]string, error) {
		return s.Write(ctx, textsOf(all), seed)
	}, "written")
}

// ReleaseAll makes the releases of the splits that all attackers see.
func (s *Situation) ReleaseAll(ctx context.Context) error {
	for _, split := range []string{Train, Validation, Test} {
		if _, err := s.release(ctx, release{split, 0}); err != nil {
			return err
		}
	}
	return nil
}

// wordsOf returns the words of documents, without copying.
func wordsOf(documents []Document) [][]int32 {
	return list.Map(documents, func(d Document) []int32 { return d.Words })
}

func textsOf(documents []Document) []string {
	return list.Map(documents, func(d Document) string { return d.Text })
}

// errPlaces means that a release dropped or added words, so that attackers who
// compare words at their places cannot read it.
var errPlaces = errors.New("words must keep their places, so use a policy for unknown words that does not drop them")

// inPlace returns errPlaces where documents changed their length.
func inPlace(before, after [][]int32) error {
	if len(before) != len(after) {
		return fmt.Errorf("%d documents were released as %d", len(before), len(after))
	}
	for i := range after {
		if len(after[i]) != len(before[i]) {
			return fmt.Errorf("document %d: %d words were released as %d: %w", i, len(before[i]), len(after[i]), errPlaces)
		}
	}
	return nil
}

// draws returns n independent outputs of every one of some words.
func (s *Situation) draws(ctx context.Context, words []int32, n int, seed stream.Seed) ([][]int32, error) {
	copies := list.Map(words, func(w int32) []int32 { return slices.Repeat([]int32{w}, n) })
	out, err := s.Release(ctx, copies, seed)
	if err == nil {
		err = inPlace(copies, out)
	}
	return out, err
}

// knows reports whether an id is a word of the mechanism.
func (s *Situation) knows(w int32) bool { return w >= 0 && int(w) < s.Words }

// vector is that of any id of the documents.
func (s *Situation) vector(w int32) []float32 {
	d := s.Embedding.Dimension
	return s.Embedding.Vectors[int(w)*d : (int(w)+1)*d]
}
