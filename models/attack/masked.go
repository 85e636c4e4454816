package attack

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/internal/list"
)

// MaskedWords is a masked language model over whole words. It returns, for each
// position of a text, ln p of every word of the mechanism as the word there, given
// all other words; the word at the position is not looked at. Logarithms need not be
// those of a distribution over the words; a word that the model cannot spell has
// −Inf.
type MaskedWords func(ctx context.Context, words []string, positions []int) ([][]float32, error)

// leastLog is ln p of a word that a model cannot spell: it is never ruled out.
const leastLog = -30

func init() {
	// Masks the words of the released text one by one and names the word that the
	// model finds most probable there. The ceiling is what it finds in plain text.
	Register(Definition{
		Name:       "masked",
		Needs:      []Need{NeedsModel, NeedsShadow},
		Columns:    []Column{{Name: "masked-accuracy", Title: "words found by a masked model", Panel: OneWord}},
		OneRelease: true,
		Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
			return s.guessed(ctx, "masked-accuracy", s.Options.Masked, func(t target, text [][]int32) ([]int32, error) {
				guesses := make([]int32, len(t.places))
				err := s.eachMasked(ctx, Test, t.places, text, func(i int, logs []float64) {
					guesses[i] = int32(floats.MaxIdx(logs))
				})
				return guesses, err
			})
		},
	})
}

// maskedAnswer is what the model says of the places of a document, in the context of
// its other words.
type maskedAnswer struct {
	asked string
	logs  [][]float32
}

// eachMasked calls take with the model's logarithms for every place of a split in its
// context, in order. The last answer on each document is kept: attackers and rounds ask
// for the same.
func (s *Situation) eachMasked(ctx context.Context, split string, at []place, text [][]int32,
	take func(i int, logs []float64)) error {
	for from, to := 0, 0; from < len(at); from = to {
		var positions []int
		document := at[from].document
		for ; to < len(at) && at[to].document == document; to++ {
			positions = append(positions, at[to].position)
		}
		key, asked := fmt.Sprint(split, document), fmt.Sprint(text[document], positions)
		answer := s.Made.masked[key]
		if answer.asked != asked {
			logs, err := s.Masked(ctx, list.Map(text[document], s.Spelling), positions)
			if err != nil {
				return err
			}
			if len(logs) != len(positions) || slices.ContainsFunc(logs, func(l []float32) bool { return len(l) != s.Words }) {
				return fmt.Errorf("the language model has no %d numbers for each of %d masks", s.Words, len(positions))
			}
			if answer = (maskedAnswer{asked, logs}); s.Made.masked == nil {
				s.Made.masked = map[string]maskedAnswer{}
			}
			s.Made.masked[key] = answer
		}
		for i, l := range answer.logs {
			take(from+i, list.Map(l, func(v float32) float64 { return max(leastLog, float64(v)) }))
		}
	}
	return nil
}
