// Package words has the attackers who name the words that a release stands for. An attacker
// who reads no more than the release is a Scorer; Register makes floor, ceiling, items and
// interval of what he names. Others start from secrets: the words of the mechanism in
// documents that kept their places.
package words

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/memo"
	"mldpbench/internal/stats"
	"mldpbench/models/attack"
)

// Scorer names the words that those of a release stand for, each in its place:
// of 27,000 candidates for each word only the best is kept.
type Scorer func(ctx context.Context, t *attack.Target, release [][]int32) ([][]int32, error)

// Attacker names words from one release alone. His one column is NAME-words.
type Attacker struct {
	Name, Title string
	Version     int // raised whenever his numbers change; 0 means 1
	Needs       []attack.Need
	Score       Scorer
}

// Register adds an attacker. It is called from init functions only.
func Register(a Attacker) {
	guess := func(ctx context.Context, t *attack.Target, s secrets, text [][]int32) ([]int32, error) {
		named, err := a.Score(ctx, t, text)
		if err != nil {
			return nil, err
		}
		if err := attack.InPlace(text, named); err != nil {
			return nil, err
		}
		return s.each(named), nil
	}
	registerReader(a, attack.Column{Name: a.Name + "-words", Title: a.Title}, reader{tokens, guess})
}

// reader guesses from text alone.
type reader struct {
	most func(attack.Options) int // words that are attacked
	// guess names the secret words of a text, one for each place.
	guess func(ctx context.Context, t *attack.Target, s secrets, text [][]int32) ([]int32, error)
}

func tokens(o attack.Options) int { return o.Tokens }

// registerReader adds an attacker whose ceiling is what he finds in plain text.
func registerReader(a Attacker, column attack.Column, r reader) {
	attack.Register(attack.Definition{
		Name:       a.Name,
		Version:    a.Version,
		Needs:      a.Needs,
		OneRelease: true,
		Columns:    []attack.Column{column},
		Start: attack.AtOnce(func(ctx context.Context, t *attack.Target) ([]attack.Outcome, error) {
			return r.attack(ctx, t, column.Name)
		}),
	})
}

// plainKey is that of the share of words that a reader finds in plain text.
type plainKey struct {
	column    string
	documents int
}

// attack is the outcome.
func (r reader) attack(ctx context.Context, t *attack.Target, column string) ([]attack.Outcome, error) {
	s, err := seek(ctx, t, attack.Test, r.most(t.Options))
	if err != nil {
		return nil, err
	}
	if len(s.places) == 0 {
		return nil, attack.ErrNoPlace
	}
	ceiling, err := memo.Once(&t.Corpus.Cache, plainKey{column, len(s.plain)}, func() (float64, error) {
		unchanged := newSecrets(t, s.plain, s.plain)
		guesses, err := r.guess(ctx, t, unchanged, s.plain)
		if err != nil {
			return math.NaN(), err
		}
		return unchanged.share(guesses), nil
	})
	if err != nil {
		return nil, err
	}
	guesses, err := r.guess(ctx, t, s, s.noisy)
	if err != nil {
		return nil, err
	}
	o := s.outcome(t, column, guesses)
	o.Ceiling = ceiling
	return []attack.Outcome{o}, nil
}

// outcome is that of one guess per place. The floor is who
// always guesses the most frequent word of the shadow text. The interval is the
// wider of the one over documents and the exact one over words, because the first
// is too narrow where nothing varies.
func (s secrets) outcome(t *attack.Target, column string, guesses []int32) attack.Outcome {
	o := attack.Outcome{
		Column:  column,
		Ceiling: 1,
		Count:   len(s.places),
	}
	hits := make([]int, len(s.plain))
	trials := make([]int, len(s.plain))
	for i, p := range s.places {
		item := attack.Item{Document: p.document, Position: p.position}
		trials[p.document]++
		if guesses[i] == p.in(s.plain) {
			item.Right = 1
			hits[p.document]++
		}
		o.Items = append(o.Items, item)
	}
	overDocuments := stats.RatioInterval(hits, trials, t.Options.Level)
	overWords := stats.ClopperPearson(s.hits(guesses), len(s.places), t.Options.Level)
	o.Value = stats.Interval{
		Estimate: overWords.Estimate,
		Low:      min(overWords.Low, max(0, overDocuments.Low)),
		High:     max(overWords.High, min(1, overDocuments.High)),
	}
	prior := t.Prior()
	mostFrequent := int32(slices.Index(prior, slices.Max(prior)))
	o.Floor = s.share(slices.Repeat([]int32{mostFrequent}, len(s.places)))
	return o
}

// form is one way to attack words: what it names of the validation words, and of the
// test words if it is chosen.
type form struct {
	name string
	held []int32
	test func() ([]int32, error)
}

// found are guesses that are known already.
func found(guesses []int32) func() ([]int32, error) {
	return func() ([]int32, error) { return guesses, nil }
}

// best is the form that finds most of the validation words; ties go to the first.
func (s secrets) best(forms []form) form {
	return slices.MaxFunc(forms, func(a, b form) int {
		return s.hits(a.held) - s.hits(b.held)
	})
}

// bestForm is the outcome on test words of the form that is best on held-out ones.
func bestForm(t *attack.Target, column string, forms []form, held, test secrets) (attack.Outcome, error) {
	best := held.best(forms)
	guesses, err := best.test()
	if err != nil {
		return attack.Outcome{}, err
	}
	o := test.outcome(t, column, guesses)
	o.Note = fmt.Sprintf("%s, chosen on %d validation words", best.name, len(held.places))
	return o, nil
}
