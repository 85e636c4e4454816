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

// WordScorer names the words that those of a release stand for, each in its place:
// of 27,000 candidates for each word only the best is kept.
type WordScorer func(ctx context.Context, s *Situation, release [][]int32) ([][]int32, error)

// RegisterWords adds an attacker of words, whose one column is NAME-words. Floor,
// ceiling, items and interval follow from what he names in a release and in plain
// text. It is called from init functions only.
func RegisterWords(name, title string, score WordScorer, needs ...Need) {
	column := Column{Name: name + "-words", Title: title}
	Register(Definition{Name: name, Needs: needs, OneRelease: true, Columns: []Column{column},
		Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
			return s.guessed(ctx, column.Name, s.Options.Tokens, func(t target, text [][]int32) ([]int32, error) {
				words, err := score(ctx, s, text)
				if err == nil {
					err = inPlace(text, words)
				}
				if err != nil {
					return nil, err
				}
				return t.each(words), nil
			})
		}})
}

// place is the position of a word.
type place struct{ document, position int }

func (p place) in(documents [][]int32) int32 { return documents[p.document][p.position] }

// places returns the positions of words of the mechanism in documents, in text
// order.
func (s *Situation) places(documents [][]int32) (all []place) {
	for i, d := range documents {
		for j, w := range d {
			if s.knows(w) {
				all = append(all, place{i, j})
			}
		}
	}
	return all
}

// sample are at most so many of the places, drawn from the seed of the data.
func (s *Situation) sample(all []place, most int, label string) []place {
	if len(all) > most {
		rng := s.Seed.Derive("places", label).Rand()
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:most]
		slices.SortFunc(all, func(a, b place) int {
			return cmp.Or(cmp.Compare(a.document, b.document), cmp.Compare(a.position, b.position))
		})
	}
	return all
}

// target are words to be found: those of the mechanism in documents of which
// every word kept its place.
type target struct {
	plain, noisy [][]int32
	places       []place
}

// seek are the words of the first documents of a split that together have at most so
// many words, but at least one document.
func (s *Situation) seek(ctx context.Context, split string, words int) (target, error) {
	noisy, err := s.release(ctx, release{split, 0})
	plain := wordsOf(s.documents(split))
	n := slices.IndexFunc(plain, func(d []int32) bool {
		words -= len(d)
		return words < 0
	})
	if n = max(1, n); words >= 0 {
		n = len(plain)
	}
	n = min(n, len(noisy))
	return s.sought(plain[:n], noisy[:n]), err
}

// sought are the words whose document kept its length.
func (s *Situation) sought(plain, noisy [][]int32) target {
	return target{plain, noisy, slices.DeleteFunc(s.places(plain), func(p place) bool {
		return len(plain[p.document]) != len(noisy[p.document])
	})}
}

// target is seek for who needs all documents in place: it is an error if some words did
// not keep theirs.
func (s *Situation) target(ctx context.Context, split string, words int) (target, error) {
	t, err := s.seek(ctx, split, words)
	if err == nil {
		err = inPlace(t.plain, t.noisy)
	}
	return t, err
}

// heldAndTest are targets of the validation and of the test split.
func (s *Situation) heldAndTest(ctx context.Context, held, test int) (h, t target, err error) {
	if h, err = s.target(ctx, Validation, held); err == nil {
		t, err = s.target(ctx, Test, test)
	}
	return h, t, err
}

// outputs are the distinct words of the mechanism in releases, sorted.
func (s *Situation) outputs(releases ...[][]int32) []int32 {
	all := slices.Concat(slices.Concat(releases...)...)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(y int32) bool { return !s.knows(y) })
}

// each picks the words at the places from documents.
func (t target) each(documents [][]int32) []int32 {
	return list.Map(t.places, func(p place) int32 { return p.in(documents) })
}

// hits counts the words found. There is one guess per place.
func (t target) hits(guesses []int32) (n int) {
	for i, p := range t.places {
		if guesses[i] == p.in(t.plain) {
			n++
		}
	}
	return n
}

// share of the words that is found.
func (t target) share(guesses []int32) float64 {
	return float64(t.hits(guesses)) / float64(len(t.places))
}

// foundWords is the outcome of one guess per place. The floor is who
// always guesses the most frequent word of the shadow text. The interval is the
// wider of the one over documents and the exact one over words, because the first
// is too narrow where nothing varies.
func (s *Situation) foundWords(column string, t target, guesses []int32) Outcome {
	o := Outcome{Column: column, Ceiling: 1, Count: len(t.places)}
	hits, trials := make([]int, len(t.plain)), make([]int, len(t.plain))
	for i, p := range t.places {
		item := Item{Document: p.document, Position: p.position}
		if trials[p.document]++; guesses[i] == p.in(t.plain) {
			item.Right = 1
			hits[p.document]++
		}
		o.Items = append(o.Items, item)
	}
	over := stats.RatioInterval(hits, trials, s.Options.Level)
	prior := s.prior()
	top := int32(slices.Index(prior, slices.Max(prior)))
	o.Floor = t.share(slices.Repeat([]int32{top}, len(t.places)))
	words := stats.ClopperPearson(t.hits(guesses), len(t.places), s.Options.Level)
	o.Value = stats.Interval{Estimate: words.Estimate, Low: min(words.Low, max(0, over.Low)),
		High: max(words.High, min(1, over.High))}
	return o
}

// guessed is the outcome of who guesses from text alone; his ceiling is what he
// finds in plain text.
func (s *Situation) guessed(ctx context.Context, column string, words int,
	guess func(t target, text [][]int32) ([]int32, error)) ([]Outcome, error) {
	t, err := s.seek(ctx, Test, words)
	if err != nil {
		return nil, err
	}
	if len(t.places) == 0 {
		return nil, fmt.Errorf("no word of the mechanism in the test split kept its place")
	}
	ceiling, err := once(s.Plain, fmt.Sprint(column, len(t.plain)), func() (float64, error) {
		unchanged := s.sought(t.plain, t.plain)
		guesses, err := guess(unchanged, t.plain)
		if err != nil {
			return math.NaN(), err
		}
		return unchanged.share(guesses), nil
	})
	if err != nil {
		return nil, err
	}
	guesses, err := guess(t, t.noisy)
	if err != nil {
		return nil, err
	}
	o := s.foundWords(column, t, guesses)
	o.Ceiling = ceiling
	return []Outcome{o}, nil
}

// form is one way to attack words: what it names of the validation words, and of the
// test words if it is chosen.
type form struct {
	name string
	held []int32
	test func() ([]int32, error)
}

func known(guesses []int32) func() ([]int32, error) {
	return func() ([]int32, error) { return guesses, nil }
}

// best is the form that finds most of the validation words; ties go to the first.
func (t target) best(forms []form) form {
	return slices.MaxFunc(forms, func(a, b form) int { return t.hits(a.held) - t.hits(b.held) })
}

// bestForm is the outcome of the best form.
func (s *Situation) bestForm(column string, forms []form, held, test target) (Outcome, error) {
	best := held.best(forms)
	guesses, err := best.test()
	if err != nil {
		return Outcome{}, err
	}
	o := s.foundWords(column, test, guesses)
	o.Note = fmt.Sprintf("%s, chosen on %d validation words", best.name, len(held.places))
	return o, nil
}
