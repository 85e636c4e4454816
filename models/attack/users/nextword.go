package users

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

// user is one whose texts an auditor has: the originals, with which he
// queries the model, and the same as they are used for training a model.
type user struct {
	own, published [][]int32
	member         int // 1: a model is trained on his texts
}

// Models are small enough to train two of them for each ε in a minute, and to remember
// what they read.
const (
	auditedUsers    = 100  // most members, and most others: the 100 + 100 of the paper
	auditVocabulary = 1000 // models predict so many words, the most frequent ones,
	auditWindow     = 4    // from so many previous ones
	auditEpochs     = 12
)

// predictor is the model that is audited: an LSTM that predicts the next word. Those of one
// audit have this in common.
type predictor struct {
	embedding models.Embedding
	classes   map[int32]int // of the words that can be predicted
}

// frequent numbers the most frequent words of users, ties by the smaller id.
func frequent(users []user, most int) map[int32]int {
	counts := map[int32]int{}
	for _, u := range users {
		for _, w := range slices.Concat(slices.Concat(u.own, u.published)...) {
			counts[w]++
		}
	}
	words := slices.SortedFunc(maps.Keys(counts), func(a, b int32) int {
		if counts[a] != counts[b] {
			return cmp.Compare(counts[b], counts[a])
		}
		return cmp.Compare(a, b)
	})
	classes := map[int32]int{}
	for i, w := range words[:min(most, len(words))] {
		classes[w] = i
	}
	return classes
}

// nextWords adds the queries for texts: the words before, with the next word as the answer.
func (p predictor) nextWords(x models.Examples, texts [][]int32) models.Examples {
	for _, text := range texts {
		for i := 1; i < len(text); i++ {
			if class, known := p.classes[text[i]]; known {
				x.Sequences = append(x.Sequences, text[max(0, i-auditWindow):i])
				x.Labels = append(x.Labels, class)
			}
		}
	}
	return x
}

// ask trains a model on the members and returns, of each user, whether he is one and the
// histogram of the ranks of his true words.
func (p predictor) ask(ctx context.Context, users []user, seed stream.Seed) (models.Examples, error) {
	var read, asked models.Examples
	for _, u := range users {
		if u.member == 1 {
			read = p.nextWords(read, u.published)
		}
	}
	model, err := p.train(ctx, read, seed)
	if err != nil {
		return asked, err
	}
	for _, u := range users {
		h, err := p.histogram(ctx, model, u)
		if err != nil {
			return asked, err
		}
		asked.Vectors = append(asked.Vectors, h)
		asked.Labels = append(asked.Labels, u.member)
	}
	return asked, nil
}

// train trains a model on queries with answers.
func (p predictor) train(ctx context.Context, read models.Examples, seed stream.Seed) (models.Classifier, error) {
	if read.Len() == 0 {
		return nil, fmt.Errorf("no text of two words to learn from")
	}
	model, err := models.New("lstm", models.Options{
		Classes:   len(p.classes),
		Embedding: p.embedding,
		Seed:      seed.Derive("model"),
		Parameters: map[string]any{"hidden": 32, "epochs": auditEpochs, "patience": auditEpochs, "batch": 32,
			"learning_rate": 0.01},
	})
	if err != nil {
		return nil, err
	}
	// A model keeps the weights with the lowest loss on the validation set. That set is a
	// part of the training set, so the model keeps what it has memorised.
	var validation models.Examples
	for i := 0; i < read.Len(); i += max(1, read.Len()/1000) {
		validation.Sequences = append(validation.Sequences, read.Sequences[i])
		validation.Labels = append(validation.Labels, read.Labels[i])
	}
	_, err = model.Fit(ctx, read, validation)
	return model, err
}

// histogram is the share of a user's queries whose true word the model ranks 1st, 2nd,
// 3rd–4th, 5th–8th, …, one bin for each power of two.
func (p predictor) histogram(ctx context.Context, model models.Classifier, u user) ([]float32, error) {
	h := make([]float32, bits.Len(uint(len(p.classes)))+1)
	x := p.nextWords(models.Examples{}, u.own)
	if x.Len() == 0 {
		return h, nil
	}
	scores, err := model.Score(ctx, x)
	if err != nil {
		return nil, err
	}
	for i, s := range scores {
		h[bits.Len(uint(metrics.RankOf(s, x.Labels[i]).Above))]++
	}
	for i := range h {
		h[i] /= float32(x.Len())
	}
	return h, nil
}
