package models

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"mldpbench/stream"
)

// spelled are documents over made-up words whose class shows in one way only:
// "words" (two words are frequent in a class), "pairs" (their order),
// "characters" (the end of words that occur once), "vectors" (the side on which
// word vectors lie).
func spelled(rng *rand.Rand, n int, way string) (x Examples, spelling func(int32) string, e Embedding) {
	const words = 60_000
	e = Embedding{Dimension: 4}
	for w := range words {
		for j := range e.Dimension {
			v := rng.NormFloat64()
			if j == 0 {
				v += 2 * float64(w%2*2-1)
			}
			e.Vectors = append(e.Vectors, float32(v))
		}
	}
	spelling = func(w int32) string {
		stem := []byte("aaaa")
		for i, r := 0, w/2; i < len(stem); i, r = i+1, r/26 {
			stem[i] = byte('a' + r%26)
		}
		return string(stem) + []string{"ing", "ess"}[w%2]
	}
	for i := range n {
		y := i % 2
		var d []int32
		for range 12 {
			w := int32(rng.IntN(words))
			if way == "characters" || way == "vectors" {
				if rng.Float64() < 0.8 { // of the side of the class
					w = w/2*2 + int32(y)
				}
			}
			d = append(d, w)
		}
		switch {
		case way == "words":
			d = append(d, int32(10+y))
		case way == "pairs" && y == 0:
			d = append(d, 10, 11)
		case way == "pairs":
			d = append(d, 11, 10)
		}
		x.Sequences, x.Labels = append(x.Sequences, d), append(x.Labels, y)
	}
	return x, spelling, e
}

// Every part is needed somewhere: what shows in one way only is found by it.
func TestNGramsFindEachTrait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		way                 string
		characters, vectors bool
		least, most         float64
	}{
		{"words", false, false, 0.98, 1}, {"pairs", false, false, 0.98, 1},
		{"characters", false, false, 0, 0.85}, {"characters", true, false, 0.95, 1},
		{"vectors", false, true, 0.95, 1}, {"characters", true, true, 0.95, 1},
	} {
		train, spelling, e := spelled(stream.FromUint64(1).Rand(), 300, c.way)
		rng := stream.FromUint64(2).Rand()
		validation, _, _ := spelled(rng, 100, c.way)
		test, _, _ := spelled(rng, 400, c.way)
		o := NGramOptions{Classes: 2}
		if c.characters {
			o.Spelling = spelling
		}
		if c.vectors {
			o.Embedding = e
		}
		m, h, err := FitNGrams(t.Context(), o, train, validation)
		if err != nil {
			t.Fatal(err)
		}
		if a := accuracy(scores(t, m, test), test.Labels); a < c.least || a > c.most {
			t.Errorf("%s, characters %v, vectors %v: %.3f, want %v to %v; %s", c.way, c.characters, c.vectors, a, c.least,
				c.most, h.Chosen)
		}
		again, _, err := FitNGrams(t.Context(), o, train, validation)
		if err != nil || !reflect.DeepEqual(scores(t, again, test), scores(t, m, test)) {
			t.Errorf("%s: another fit differs: %v", c.way, err)
		}
	}
	good := Examples{Sequences: [][]int32{{1}, {2}}, Labels: []int{0, 1}}
	for want, o := range map[string]NGramOptions{
		"classes = 1: must be >= 2":                                   {Classes: 1},
		"train: example 0: token 1: must be in [0, 1)":                {Classes: 2, Embedding: Embedding{1, []float32{1}}},
		"validation: model ngrams reads token sequences, not vectors": {Classes: 2},
	} {
		if _, _, err := FitNGrams(t.Context(), o, good, Examples{Vectors: [][]float32{{1}}, Labels: []int{0}}); err == nil ||
			err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The products by word are those of rows written out.
func TestBagsAreSumsOfWords(t *testing.T) {
	x, spelling, e := spelled(stream.FromUint64(3).Rand(), 40, "words")
	x.Sequences = append(x.Sequences, nil, []int32{5, 5, 5})
	for name, d := range map[string]design{
		"characters": learnCharacterGrams(x.Sequences, spelling).matrix(x),
		"vectors":    (&means{learnDense(e, x)}).matrix(x),
	} {
		// Rows: the product with each unit vector of the examples.
		rows := make([][]float64, d.len())
		for i := range rows {
			unit := make([]float64, d.len())
			unit[i] = 1
			rows[i] = make([]float64, d.width())
			d.transposed(unit, rows[i])
		}
		w, a := random[float64](4, d.width()), random[float64](5, d.len())
		got, into := make([]float64, d.len()), make([]float64, d.width())
		d.times(w, got)
		d.transposed(a, into)
		want := make([]float64, d.width())
		for i, row := range rows {
			dot, square := 0.0, 0.0
			for j, v := range row {
				dot += v * w[j]
				square += v * v
				want[j] += a[i] * v
			}
			if math.Abs(dot-got[i]) > 1e-5 {
				t.Errorf("%s, row %d: %v, want %v", name, i, got[i], dot)
			}
			if name == "characters" && len(x.Sequences[i]) > 0 && math.Abs(square-1) > 1e-5 {
				t.Errorf("row %d has squared length %v", i, square)
			}
		}
		for j := range want {
			if math.Abs(want[j]-into[j]) > 1e-5 {
				t.Fatalf("%s, column %d: %v, want %v", name, j, into[j], want[j])
			}
		}
	}
	// A mean of scaled vectors is the scaled mean.
	w := random[float64](6, e.Dimension)
	got, want := make([]float64, x.Len()), make([]float64, x.Len())
	(&means{learnDense(e, x)}).matrix(x).times(w, got)
	learnDense(e, x).matrix(x).times(w, want)
	for i, s := range x.Sequences {
		if len(s) > 0 && math.Abs(got[i]-want[i]) > 1e-5 {
			t.Errorf("mean %d: %v, want %v", i, got[i], want[i])
		}
	}
}
