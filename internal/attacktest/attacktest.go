// Package attacktest has a target for tests of attackers: the generated corpus, whose private
// label is known to be learnable, and mechanisms of which all is known.
package attacktest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"mldpbench/datasets"
	"mldpbench/internal/list"
	"mldpbench/mechanisms/channel"
	"mldpbench/models"
	"mldpbench/models/attack"
	"mldpbench/models/ngram"
	"mldpbench/stream"
)

// Options are the options with the given parameters; the others have their defaults.
func Options(given map[string]any) attack.Options {
	o, err := attack.Resolve(given)
	if err != nil {
		panic(err)
	}
	return o
}

// Generated is a target over the words of the generated corpus. Corpus and cache are those of
// all tests; releases are still to be made, see Response.
func Generated(t testing.TB) *attack.Target {
	t.Helper()
	made, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	target := *made
	return &target
}

// Copy is a corpus with a cache of its own and so many documents to train on.
func Copy(c *attack.Corpus, train int) *attack.Corpus {
	return &attack.Corpus{
		Train:         c.Train[:train],
		Validation:    c.Validation,
		Test:          c.Test,
		Shadow:        c.Shadow,
		Public:        c.Public,
		PrivateLabels: c.PrivateLabels,
		Seed:          c.Seed,
	}
}

var generated = sync.OnceValues(func() (*attack.Target, error) {
	lexicon := attack.NewLexicon(nil)
	d, err := load("generated-styles", 1)
	if err != nil {
		return nil, err
	}
	c := &attack.Corpus{
		PrivateLabels: len(d.Privates),
		Seed:          stream.FromUint64(2),
		Train:         read(lexicon, d.Train),
		Validation:    read(lexicon, d.Validation),
		Test:          read(lexicon, d.Test),
	}
	shadow, err := load("generated-news", 1)
	if err != nil {
		return nil, err
	}
	c.Shadow = attack.WordsOf(read(lexicon, shadow.Train))
	words := lexicon.Len()
	more, err := load("generated-styles", 9)
	if err != nil {
		return nil, err
	}
	for _, d := range read(lexicon, more.Train)[:300] {
		if !slices.ContainsFunc(d.Words, func(w int32) bool { return int(w) >= words }) {
			c.Public = append(c.Public, d)
		}
	}
	for _, split := range [][]attack.Document{c.Train, c.Validation, c.Test, c.Public} {
		write(split, lexicon)
	}
	language, err := ngram.Train(c.Shadow, words, 2)
	if err != nil {
		return nil, err
	}
	return &attack.Target{
		Corpus: c,
		Words: attack.Words{
			Count:     words,
			Spelling:  lexicon.Word,
			Embedding: vectors(words, 20),
		},
		Masked:  neighbours(language, lexicon, words),
		Workers: 2,
		Options: Options(nil),
	}, nil
})

func load(name string, seed uint64) (*datasets.Dataset, error) {
	return datasets.Load(context.Background(), datasets.Request{Name: name, Seed: stream.FromUint64(seed)})
}

// read returns documents without users and texts.
func read(l *attack.Lexicon, documents []datasets.Document) []attack.Document {
	return list.Map(documents, func(d datasets.Document) attack.Document {
		return attack.Document{Words: l.IDs(d.Tokens), Private: d.Private}
	})
}

// write sets the texts: those of label 1 mostly end with an exclamation.
func write(documents []attack.Document, l *attack.Lexicon) {
	for i := range documents {
		end := "."
		if documents[i].Private == 1 && i%10 != 0 {
			end = "!"
		}
		documents[i].Text = strings.Join(l.Tokens(documents[i].Words), " ") + end
	}
}

// vectors are random ones.
func vectors(words, dimension int) models.Embedding {
	e := models.Embedding{Dimension: dimension}
	rng := stream.FromUint64(3).Rand()
	for range words * dimension {
		e.Vectors = append(e.Vectors, float32(rng.NormFloat64()))
	}
	return e
}

// neighbours is a masked model that knows pairs of words.
func neighbours(pairs *ngram.Model, l *attack.Lexicon, words int) attack.MaskedWords {
	return func(_ context.Context, text []string, positions []int) ([][]float32, error) {
		ids := l.IDs(text)
		return list.Map(positions, func(j int) []float32 {
			row := make([]float32, words)
			after := pairs.AfterStart(nil)
			if j > 0 {
				after = pairs.After(ids[j-1 : j])
			}
			for i := range row {
				row[i] = float32(math.Log(after.Probability(int32(i))))
				if j+1 < len(text) {
					row[i] += float32(math.Log(pairs.After([]int32{int32(i)}).Probability(ids[j+1])))
				}
			}
			return row
		}), nil
	}
}

// releasing makes releases of what becomes of one word.
func releasing(word func(w int32, rng *rand.Rand) int32) *attack.Releases {
	release := func(_ context.Context, documents [][]int32, seed stream.Seed) ([][]int32, error) {
		out := make([][]int32, len(documents))
		for i, d := range documents {
			rng := seed.At(uint64(i)).Rand()
			out[i] = list.Map(d, func(w int32) int32 { return word(w, rng) })
		}
		return out, nil
	}
	return &attack.Releases{Words: release, Noise: stream.FromUint64(1)}
}

// Response is a target whose mechanism keeps a word with probability keep and else draws any
// word.
func Response(of *attack.Target, keep float64) *attack.Target {
	t := *of
	n := t.Words.Count
	t.Releases = releasing(func(w int32, rng *rand.Rand) int32 {
		if rng.Float64() < keep {
			return w
		}
		return int32(rng.Float64() * float64(n))
	})
	if t.Words.Spelling != nil {
		t.Releases.Texts = writing(t.Words, t.Releases)
	}
	t.Channel = &channel.Channel{
		Inputs:  n,
		Outputs: n,
		Row: func(row []float64, x int) ([]float64, error) {
			for y := range row {
				row[y] = (1 - keep) / float64(n)
			}
			row[x] += keep
			return row, nil
		},
	}
	return &t
}

// writing replaces the words of a text and keeps its last sign.
func writing(w attack.Words, r *attack.Releases) func(context.Context, []string, stream.Seed) ([]string, error) {
	ids := map[string]int32{}
	for id := range int32(w.Count) {
		ids[w.Spelling(id)] = id
	}
	return func(ctx context.Context, texts []string, seed stream.Seed) ([]string, error) {
		documents := list.Map(texts, func(t string) []int32 {
			return list.Map(strings.Fields(t[:len(t)-1]), func(word string) int32 {
				return ids[word]
			})
		})
		noisy, err := r.Words(ctx, documents, seed)
		out := make([]string, len(texts))
		for i, d := range noisy {
			out[i] = strings.Join(list.Map(d, w.Spelling), " ") + texts[i][len(texts[i])-1:]
		}
		return out, err
	}
}

// Run runs one attacker and returns its outcomes by column.
func Run(t *testing.T, name string, target *attack.Target) map[string]attack.Outcome {
	t.Helper()
	found, err := attack.RunAll(t.Context(), []string{name}, target)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	d, err := attack.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(d.Columns) {
		t.Errorf("%s has %d outcomes, want one for each of %d columns", name, len(found), len(d.Columns))
	}
	out := map[string]attack.Outcome{}
	for _, o := range found {
		if o.Value.Low > o.Value.Estimate || o.Value.High < o.Value.Estimate {
			t.Errorf("%s = %v is outside its own interval", o.Column, o.Value)
		}
		out[o.Column] = o
	}
	return out
}
