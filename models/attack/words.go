package attack

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
)

// place is the position of a word.
type place struct{ document, position int }

func (p place) in(documents [][]int32) int32 { return documents[p.document][p.position] }

// places returns at most so many positions of words of the mechanism in
// documents, drawn from the seed of the data, in text order.
func (s *Situation) places(documents [][]int32, most int, label string) []place {
	var all []place
	for i, d := range documents {
		for j, w := range d {
			if s.knows(w) {
				all = append(all, place{i, j})
			}
		}
	}
	if len(all) > most {
		rng := s.DataSeed.Derive("places", label).Rand()
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:most]
		slices.SortFunc(all, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.document, b.document), cmp.Compare(a.position, b.position))
		})
	}
	return all
}

// upTo returns the first documents that together have at most so many words,
// but at least one document.
func upTo(documents [][]int32, tokens int) [][]int32 {
	for i, d := range documents {
		if tokens -= len(d); tokens < 0 && i > 0 {
			return documents[:i]
		}
	}
	return documents
}

// sought are words to be found: those of the mechanism in documents of which
// every word kept its place.
type sought struct {
	plain, noisy [][]int32
	places       []place
}

func (s *Situation) seek(plain, noisy [][]int32) sought {
	return sought{plain, noisy, slices.DeleteFunc(s.places(plain, math.MaxInt, ""), func(p place) bool {
		return len(plain[p.document]) != len(noisy[p.document])
	})}
}

// sought are the words of the first documents of a split; it is an error if some
// did not keep their places.
func (s *Situation) sought(ctx context.Context, split string, documents []Document, words int) (sought, error) {
	plain := upTo(wordsOf(documents), words)
	noisy, err := s.prefix(ctx, split, plain)
	if err != nil {
		return sought{}, err
	}
	return s.seek(plain, noisy), nil
}

// outputs are the distinct words of the mechanism in releases, sorted.
func (s *Situation) outputs(releases ...[][]int32) []int32 {
	all := slices.Concat(slices.Concat(releases...)...)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(y int32) bool { return !s.knows(y) })
}

// each picks the words at the places from documents.
func (t sought) each(documents [][]int32) []int32 {
	return list.Map(t.places, func(p place) int32 { return p.in(documents) })
}

// right counts, by document, the words found and all words, of those that in
// selects (nil: all). There is one guess per place.
func (t sought) right(guesses []int32, in func(w int32) bool) (hits, trials []int) {
	hits, trials = make([]int, len(t.plain)), make([]int, len(t.plain))
	for i, p := range t.places {
		w := p.in(t.plain)
		if in != nil && !in(w) {
			continue
		}
		trials[p.document]++
		if guesses[i] == w {
			hits[p.document]++
		}
	}
	return hits, trials
}

// found is the outcome of guesses for the words that in selects (nil: all). The
// floor is who always guesses the most frequent word of the shadow text.
func (s *Situation) found(column string, t sought, guesses []int32, in func(w int32) bool) (Outcome, error) {
	hits, trials := t.right(guesses, in)
	v, err := grouped(hits, trials, s.Options.Level)
	counts := s.shadowCounts()
	top := int32(slices.Index(counts, slices.Max(counts)))
	blind, _ := t.right(slices.Repeat([]int32{top}, len(t.places)), in)
	return Outcome{Column: column, Value: v, Floor: float64(sum(blind)) / float64(sum(trials)), Ceiling: 1,
		Count: sum(trials), Items: wordItems(t.places, func(i int) bool {
			return guesses[i] == t.places[i].in(t.plain)
		})}, err
}

// guessed is the outcome of Definition.Guess on the release; its ceiling is what
// it finds in plain text.
func (s *Situation) guessed(ctx context.Context, d Definition) ([]Outcome, error) {
	t, err := s.sought(ctx, Test, s.Test, s.Options.Tokens)
	if err != nil {
		return nil, err
	}
	var guesses [2][]int32 // in the release and in plain text
	for i, text := range [][][]int32{t.noisy, t.plain} {
		words, err := d.Guess(ctx, s, text)
		if err == nil && len(words) != len(text) {
			err = fmt.Errorf("guesses for %d documents of %d", len(words), len(text))
		}
		if err == nil {
			err = inPlace(text, words)
		}
		if err != nil {
			return nil, err
		}
		guesses[i] = t.each(words)
	}
	hits, trials := t.right(guesses[1], nil)
	o, err := s.found(d.Columns[0].Name, t, guesses[0], nil)
	o.Ceiling = float64(sum(hits)) / float64(sum(trials))
	return []Outcome{o}, err
}

// chosen is the outcome that states what was chosen on so many validation words.
func chosen(column string, v float64, words int) Outcome {
	return Outcome{Column: column, Value: stats.Exactly(v), Floor: math.NaN(), Ceiling: math.NaN(), Count: words}
}

// wordItems are the right and wrong answers at places.
func wordItems(at []place, right func(i int) bool) []Item {
	items := make([]Item, len(at))
	for i, p := range at {
		items[i] = Item{Document: p.document, Position: p.position}
		if right(i) {
			items[i].Right = 1
		}
	}
	return items
}

func sum(x []int) int { return list.Sum(x, func(v int) int { return v }) }
