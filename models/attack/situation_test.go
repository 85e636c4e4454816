package attack

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"mldpbench/datasets"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/models/ngram"
	"mldpbench/stream"
)

// generated is the corpus whose private label is known to be learnable, as ids
// over its own words.
var generated = sync.OnceValues(func() (*Situation, error) {
	d, err := datasets.Load(context.Background(), datasets.Request{Name: "generated-styles",
		Seed: stream.FromUint64(1)})
	if err != nil {
		return nil, err
	}
	s := &Situation{Known: Known{Privates: len(d.Privates), Seed: stream.FromUint64(2), Plain: &Memo{}},
		Noise: stream.FromUint64(1), Workers: 2, Options: sizes(nil)}
	ids := map[string]int32{}
	convert := func(documents []datasets.Document) []Document {
		var out []Document
		for _, doc := range documents {
			c := Document{Private: doc.Private}
			for _, w := range doc.Tokens {
				id, known := ids[w]
				if !known {
					id = int32(len(ids))
					ids[w] = id
				}
				c.Words = append(c.Words, id)
			}
			out = append(out, c)
		}
		return out
	}
	s.Train, s.Validation, s.Test = convert(d.Train), convert(d.Validation), convert(d.Test)
	shadow, err := datasets.Load(context.Background(), datasets.Request{Name: "generated-news",
		Seed: stream.FromUint64(1)})
	if err != nil {
		return nil, err
	}
	s.Shadow = wordsOf(convert(shadow.Train))
	s.Words = len(ids)
	names := make([]string, len(ids))
	for w, id := range ids {
		names[id] = w
	}
	s.Spelling = func(id int32) string { return names[id] }
	more, err := datasets.Load(context.Background(), datasets.Request{Name: "generated-styles",
		Seed: stream.FromUint64(9)})
	if err != nil {
		return nil, err
	}
	for _, d := range convert(more.Train)[:300] {
		if !slices.ContainsFunc(d.Words, func(w int32) bool { return int(w) >= s.Words }) {
			s.Public = append(s.Public, d)
		}
	}
	// As written: those of label 1 mostly end with an exclamation.
	for _, split := range [][]Document{s.Train, s.Validation, s.Test, s.Public} {
		for i := range split {
			end := "."
			if split[i].Private == 1 && i%10 != 0 {
				end = "!"
			}
			for _, w := range split[i].Words {
				split[i].Text += names[w] + " "
			}
			split[i].Text = strings.TrimSpace(split[i].Text) + end
		}
	}
	language, err := ngram.Train(s.Shadow, s.Words, 2)
	if err != nil {
		return nil, err
	}
	s.Masked = neighbours(language, ids, names)
	s.Embedding = models.Embedding{Dimension: 20}
	rng := stream.FromUint64(3).Rand()
	for range s.Words * s.Embedding.Dimension {
		s.Embedding.Vectors = append(s.Embedding.Vectors, float32(rng.NormFloat64()))
	}
	return s, nil
})

// neighbours is a masked model that knows pairs of words.
func neighbours(pairs *ngram.Model, ids map[string]int32, words []string) MaskedWords {
	return func(_ context.Context, text []string, positions []int) ([][]float32, error) {
		var out [][]float32
		for _, j := range positions {
			row := make([]float32, len(words))
			var before []int32
			if j > 0 {
				before = []int32{ids[text[j-1]]}
			}
			after := pairs.After(before, j == 0)
			for i := range words {
				row[i] = float32(math.Log(after.Probability(int32(i))))
				if j+1 < len(text) {
					row[i] += float32(math.Log(pairs.After([]int32{int32(i)}, false).Probability(ids[text[j+1]])))
				}
			}
			out = append(out, row)
		}
		return out, nil
	}
}

func situation(t testing.TB) Situation {
	t.Helper()
	s, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

// releasing makes a mechanism out of what becomes of one word.
func releasing(word func(w int32, rng interface{ Float64() float64 }) int32) func(context.Context, [][]int32,
	stream.Seed) ([][]int32, error) {
	return func(_ context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error) {
		out := make([][]int32, len(documents))
		for i, d := range documents {
			rng := seed.At(uint64(i)).Rand()
			for _, w := range d {
				out[i] = append(out[i], word(w, rng))
			}
		}
		return out, nil
	}
}

// response keeps a word with probability keep and else draws any word.
func response(s Situation, keep float64) Situation {
	n := s.Words
	s.Release = releasing(func(w int32, rng interface{ Float64() float64 }) int32 {
		if rng.Float64() < keep {
			return w
		}
		return int32(rng.Float64() * float64(n))
	})
	release := s.Release
	ids := map[string]int32{}
	for id := range int32(n) {
		if s.Spelling != nil {
			ids[s.Spelling(id)] = id
		}
	}
	s.Write = func(ctx context.Context, texts []string, seed stream.Seed) ([]string, error) {
		documents := make([][]int32, len(texts))
		for i, t := range texts {
			for _, w := range strings.Fields(t[:len(t)-1]) {
				documents[i] = append(documents[i], ids[w])
			}
		}
		noisy, err := release(ctx, documents, seed)
		out := make([]string, len(texts))
		for i, d := range noisy {
			for _, w := range d {
				out[i] += s.Spelling(w) + " "
			}
			out[i] = strings.TrimSpace(out[i]) + texts[i][len(texts[i])-1:]
		}
		return out, err
	}
	s.Channel = &metrics.Channel{Inputs: n, Outputs: n, Row: func(row []float64, x int) ([]float64, error) {
		for y := range row {
			row[y] = (1 - keep) / float64(n)
		}
		row[x] += keep
		return row, nil
	}}
	return s
}

func run(t *testing.T, name string, s Situation) map[string]Outcome {
	t.Helper()
	list, err := RunAll(t.Context(), []string{name}, s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	d, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(d.Columns) {
		t.Errorf("%s: %d outcomes, %d columns", name, len(list), len(d.Columns))
	}
	out := map[string]Outcome{}
	for _, o := range list {
		if o.Value.Low > o.Value.Estimate || o.Value.High < o.Value.Estimate {
			t.Errorf("%s: %v is outside its own interval", o.Column, o.Value)
		}
		out[o.Column] = o
	}
	return out
}
