package attack

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/stream"
)

// auditedUser is a user whose texts an auditor has: the originals, with which he
// queries the model, and the same as they are used for training a model.
type auditedUser struct {
	own, published [][]int32
	member         int // 1: a model is trained on his texts
}

// auditedUsers is the largest number of members, and of others: the 100 + 100 of the
// paper. Models predict the auditVocabulary most frequent words from auditWindow previous
// ones; they are small enough to train two of them for each ε in a minute, and to remember
// what they read.
const auditedUsers, auditVocabulary, auditWindow, auditEpochs = 100, 1000, 4, 12

// completer is the model that is audited: an LSTM that predicts the next word. Those of one
// audit have this in common.
type completer struct {
	embedding models.Embedding
	classes   map[int32]int // of the words that can be predicted
}

// frequent numbers the most frequent words of users, ties by the smaller id.
func frequent(users []auditedUser, most int) map[int32]int {
	counts := map[int32]int{}
	for _, u := range users {
		for _, w := range slices.Concat(slices.Concat(u.own, u.published)...) {
			counts[w]++
		}
	}
	words := slices.SortedFunc(maps.Keys(counts), func(a, b int32) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	classes := map[int32]int{}
	for i, w := range words[:min(most, len(words))] {
		classes[w] = i
	}
	return classes
}

// nextWords adds the queries for texts: the words before, with the next word as the answer.
func (c completer) nextWords(x models.Examples, texts [][]int32) models.Examples {
	for _, text := range texts {
		for i := 1; i < len(text); i++ {
			if class, known := c.classes[text[i]]; known {
				x.Sequences = append(x.Sequences, text[max(0, i-auditWindow):i])
				x.Labels = append(x.Labels, class)
			}
		}
	}
	return x
}

// ask trains a model on the members and returns, of each user, whether he is one and the
// histogram: the share of his queries whose true word the model ranks 1st, 2nd, 3rd–4th,
// 5th–8th, …, one bin for each power of two.
func (c completer) ask(ctx context.Context, users []auditedUser, seed stream.Seed) (asked models.Examples, err error) {
	var read, validation models.Examples
	for _, u := range users {
		if u.member == 1 {
			read = c.nextWords(read, u.published)
		}
	}
	if read.Len() == 0 {
		return asked, fmt.Errorf("no text of two words to learn from")
	}
	model, err := models.New("lstm", models.Options{
		Classes: len(c.classes), Embedding: c.embedding, Seed: seed.Derive("model"),
		Parameters: map[string]any{"hidden": 32, "epochs": auditEpochs, "patience": auditEpochs, "batch": 32,
			"learning_rate": 0.01},
	})
	if err != nil {
		return asked, err
	}
	// A model keeps the weights with the lowest loss on the validation set. That set is a
	// part of the training set, so the model keeps what it has memorised.
	for i := 0; i < read.Len(); i += max(1, read.Len()/1000) {
		validation.Sequences = append(validation.Sequences, read.Sequences[i])
		validation.Labels = append(validation.Labels, read.Labels[i])
	}
	if _, err := model.Fit(ctx, read, validation); err != nil {
		return asked, err
	}
	for _, u := range users {
		h, x := make([]float32, bits.Len(uint(len(c.classes)))+1), c.nextWords(models.Examples{}, u.own)
		if x.Len() > 0 {
			scores, err := model.Score(ctx, x)
			if err != nil {
				return asked, err
			}
			for i, s := range scores {
				h[bits.Len(uint(metrics.RankOf(s, x.Labels[i]).Above))]++
			}
		}
		for i := range h {
			h[i] /= float32(max(1, x.Len()))
		}
		asked.Vectors, asked.Labels = append(asked.Vectors, h), append(asked.Labels, u.member)
	}
	return asked, nil
}
