package words

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/models/attack"
)

// leastLog is ln p of a word that a model cannot spell: it is never ruled out.
const leastLog = -30

// masked masks the words of the released text one by one and names the word that the
// model finds most probable there. The ceiling is what it finds in plain text.
func init() {
	registerReader(
		Attacker{Name: "masked", Needs: []attack.Need{attack.NeedsModel, attack.NeedsShadow}},
		attack.Column{
			Name:  "masked-accuracy",
			Title: "words found by a masked model",
			Panel: attack.OneWord,
		},
		reader{maskedWords, guessMasked})
}

func maskedWords(o attack.Options) int { return o.Masked }

// guessMasked names the most probable word of each place.
func guessMasked(ctx context.Context, t *attack.Target, s secrets, text [][]int32) ([]int32, error) {
	guesses := make([]int32, len(s.places))
	err := eachMasked(ctx, t, attack.Test, s.places, text, func(i int, logs []float64) {
		guesses[i] = int32(floats.MaxIdx(logs))
	})
	return guesses, err
}

// answersKey is that of the answers of the masked model about one target.
type answersKey struct{}

// documentKey is that of a document of a split.
type documentKey struct {
	split    attack.Split
	document int
}

// maskedAnswers are the last ones, by document: attackers and rounds ask for the same. They
// are used by one goroutine at a time, as attackers are.
type maskedAnswers map[documentKey]maskedAnswer

// maskedAnswer is what the model says of positions of a document, in the context of
// its other words.
type maskedAnswer struct {
	words     []int32
	positions []int
	logs      [][]float32
}

func (a maskedAnswer) isOf(words []int32, positions []int) bool {
	return slices.Equal(a.words, words) && slices.Equal(a.positions, positions)
}

// eachMasked calls take with the model's logarithms for every place of a split in its
// context, in order.
func eachMasked(ctx context.Context, t *attack.Target, split attack.Split, all []place, text [][]int32,
	take func(i int, logs []float64)) error {
	answers, _ := memo.Once(&t.Releases.Cache, answersKey{}, func() (maskedAnswers, error) {
		return maskedAnswers{}, nil
	})
	i := 0
	for _, places := range list.Group(all, func(p place) int { return p.document }) {
		document := places[0].document
		positions := list.Map(places, func(p place) int { return p.position })
		key := documentKey{split, document}
		answer := answers[key]
		if !answer.isOf(text[document], positions) {
			var err error
			answer, err = askMasked(ctx, t, text[document], positions)
			if err != nil {
				return err
			}
			answers[key] = answer
		}
		for _, l := range answer.logs {
			take(i, list.Map(l, func(v float32) float64 { return max(leastLog, float64(v)) }))
			i++
		}
	}
	return nil
}

// askMasked asks the model.
func askMasked(ctx context.Context, t *attack.Target, words []int32, positions []int) (maskedAnswer, error) {
	logs, err := t.Masked(ctx, list.Map(words, t.Words.Spelling), positions)
	if err != nil {
		return maskedAnswer{}, err
	}
	n := t.Words.Count
	if len(logs) != len(positions) ||
		slices.ContainsFunc(logs, func(l []float32) bool {
			return len(l) != n
		}) {
		return maskedAnswer{}, fmt.Errorf("the language model has no %d numbers for each of %d masks", n,
			len(positions))
	}
	return maskedAnswer{slices.Clone(words), positions, logs}, nil
}
