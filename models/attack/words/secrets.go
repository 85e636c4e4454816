package words

import (
	"cmp"
	"context"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/models/attack"
)

// place is the position of a word.
type place struct{ document, position int }

func (p place) in(documents [][]int32) int32 { return documents[p.document][p.position] }

// places returns the positions of words of the mechanism in documents, in text
// order.
func places(t *attack.Target, documents [][]int32) []place {
	var all []place
	for i, d := range documents {
		for j, w := range d {
			if t.Words.Known(w) {
				all = append(all, place{i, j})
			}
		}
	}
	return all
}

// sample are at most so many of the places, drawn from the seed of the data.
func sample(t *attack.Target, all []place, most int, label string) []place {
	if len(all) <= most {
		return all
	}
	rng := t.Corpus.Seed.Derive("places", label).Rand()
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:most]
	slices.SortFunc(all, func(a, b place) int {
		if a.document != b.document {
			return cmp.Compare(a.document, b.document)
		}
		return cmp.Compare(a.position, b.position)
	})
	return all
}

// secrets are words to be found: those of the mechanism in documents of which
// every word kept its place.
type secrets struct {
	plain, noisy [][]int32 // documents before and after
	places       []place
}

// newSecrets are the words whose document kept its length.
func newSecrets(t *attack.Target, plain, noisy [][]int32) secrets {
	kept := slices.DeleteFunc(places(t, plain), func(p place) bool {
		return len(plain[p.document]) != len(noisy[p.document])
	})
	return secrets{plain, noisy, kept}
}

// seek are the words of the first documents of a split that together have at most so
// many words, but at least one document.
func seek(ctx context.Context, t *attack.Target, split attack.Split, most int) (secrets, error) {
	noisy, err := t.Release(ctx, split, 0)
	if err != nil {
		return secrets{}, err
	}
	plain := attack.WordsOf(t.Corpus.Documents(split))
	n := firstDocuments(plain, most)
	return newSecrets(t, plain[:n], noisy[:n]), nil
}

// firstDocuments is the number of the first documents that together have at most so many
// words, but at least one where there is one.
func firstDocuments(documents [][]int32, most int) int {
	remaining := most
	for i, d := range documents {
		remaining -= len(d)
		if remaining < 0 {
			return max(1, i)
		}
	}
	return len(documents)
}

// seekInPlace is seek for who needs all documents in place: it is an error if some words did
// not keep theirs.
func seekInPlace(ctx context.Context, t *attack.Target, split attack.Split, most int) (secrets, error) {
	s, err := seek(ctx, t, split, most)
	if err == nil {
		err = attack.InPlace(s.plain, s.noisy)
	}
	return s, err
}

// heldAndTest are secrets of the validation and of the test split.
func heldAndTest(ctx context.Context, t *attack.Target, most, mostOfTest int) (held, test secrets, err error) {
	held, err = seekInPlace(ctx, t, attack.Validation, most)
	if err == nil {
		test, err = seekInPlace(ctx, t, attack.Test, mostOfTest)
	}
	return held, test, err
}

// each picks the words at the places from documents.
func (s secrets) each(documents [][]int32) []int32 {
	return list.Map(s.places, func(p place) int32 { return p.in(documents) })
}

// hits counts the words found. There is one guess per place.
func (s secrets) hits(guesses []int32) int {
	n := 0
	for i, p := range s.places {
		if guesses[i] == p.in(s.plain) {
			n++
		}
	}
	return n
}

// share of the words that is found.
func (s secrets) share(guesses []int32) float64 {
	return float64(s.hits(guesses)) / float64(len(s.places))
}
