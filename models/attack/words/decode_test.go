package words

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"mldpbench/models/attack"
	"mldpbench/models/ngram"
	"mldpbench/stream"
)

// bruteForce sums over all sequences of candidates.
func bruteForce(model *ngram.Model, w weights, positions [][]candidate) [][]float64 {
	out := make([][]float64, len(positions))
	for i := range out {
		out[i] = make([]float64, len(positions[i]))
	}
	total := 0.0
	chosen := make([]int, len(positions))
	words := make([]int32, len(positions))
	var visit func(i int, p float64)
	visit = func(i int, p float64) {
		if i == len(positions) {
			total += p
			for j, c := range chosen {
				out[j][c] += p
			}
			return
		}
		for c, candidate := range positions[i] {
			chosen[i], words[i] = c, candidate.word
			visit(i+1, p*math.Exp(w.channel*candidate.emission)*math.Pow(math.Exp(candidate.prior), 1-w.pairs)*
				math.Pow(model.AfterStart(words[:i]).Probability(candidate.word), w.pairs)*
				math.Exp(w.topic*candidate.topic))
		}
	}
	visit(0, 1)
	for i := range out {
		for c := range out[i] {
			out[i][c] /= total
		}
	}
	return out
}

func randomTexts(rng *rand.Rand, n, words int) [][]int32 {
	out := make([][]int32, n)
	for i := range out {
		w := int32(rng.IntN(words))
		for range 1 + rng.IntN(9) {
			if rng.IntN(3) == 0 {
				w = int32(rng.IntN(words))
			} else {
				w = (w*3 + 1) % int32(words)
			}
			out[i] = append(out[i], w)
		}
	}
	return out
}

func TestPosteriorAgainstBruteForce(t *testing.T) {
	rng := stream.FromUint64(1).Derive("decode").Rand()
	const words = 6
	texts := randomTexts(rng, 200, words)
	model, err := ngram.Train(texts, words, contextOrder)
	if err != nil {
		t.Fatal(err)
	}
	for _, weight := range []weights{{0, 0, 1}, {0.5, 0, 1}, {1, 0, 1}, {0.7, 0.8, 1.25}, {1.3, 0.5, 1}} {
		for range 30 {
			positions := make([][]candidate, 1+rng.IntN(6))
			for i := range positions {
				for _, w := range rng.Perm(words)[:1+rng.IntN(4)] {
					positions[i] = append(positions[i], candidate{word: int32(w), emission: -3 * rng.ExpFloat64(),
						prior: -rng.ExpFloat64(), topic: rng.NormFloat64()})
				}
			}
			got, err := posteriors(model, weight, positions)
			if err != nil {
				t.Fatal(err)
			}
			want := bruteForce(model, weight, positions)
			for i := range want {
				for c := range want[i] {
					if math.Abs(got[i][c]-want[i][c]) > 1e-9 {
						t.Fatalf("weight %v, position %d of %d, candidate %d: %v, want %v", weight, i, len(positions), c,
							got[i][c], want[i][c])
					}
				}
			}
		}
	}
}

// A text of a thousand words must not underflow.
func TestPosteriorOfALongText(t *testing.T) {
	rng := stream.FromUint64(2).Derive("decode").Rand()
	model, err := ngram.Train(randomTexts(rng, 50, 6), 6, 2)
	if err != nil {
		t.Fatal(err)
	}
	positions := make([][]candidate, 1000)
	for i := range positions {
		for w := range int32(6) {
			positions[i] = append(positions[i], candidate{word: w, emission: -50 * rng.ExpFloat64(), prior: -rng.ExpFloat64()})
		}
	}
	got, err := posteriors(model, weights{1, 0, 1}, positions)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range got {
		sum := 0.0
		for _, v := range p {
			sum += v
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("position %d: probabilities sum to %v", i, sum)
		}
	}
	if _, err := posteriors(model, weights{1, 0, 1}, [][]candidate{{}}); err == nil {
		t.Error("a position without a candidate must be an error")
	}
}

// posteriors are those of one text.
func posteriors(model *ngram.Model, w weights, positions [][]candidate) ([][]float64, error) {
	c, err := newChain(model, positions)
	if err != nil {
		return nil, err
	}
	return c.posteriors(w)
}

// A chain of other candidates takes over what is known of the language, and computes the rest: as if it were new.
func TestChainOfOtherCandidates(t *testing.T) {
	rng := stream.FromUint64(3).Derive("decode").Rand()
	const words = 9
	model, err := ngram.Train(randomTexts(rng, 200, words), words, contextOrder)
	if err != nil {
		t.Fatal(err)
	}
	candidates := func(positions int) [][]candidate {
		out := make([][]candidate, positions)
		for i := range out {
			for _, w := range rng.Perm(words + 1)[:1+rng.IntN(5)] { // the last one is no word of the model
				out[i] = append(out[i], candidate{word: int32(w)})
			}
		}
		return out
	}
	for range 50 {
		n := 1 + rng.IntN(6)
		given := candidates(n)
		first, err := newChain(model, given)
		if err != nil {
			t.Fatal(err)
		}
		other := candidates(n)
		if rng.IntN(2) == 0 { // the same in another order
			other = given
			for _, c := range other {
				slices.Reverse(c)
			}
		}
		got, err := first.of(model, other)
		if err != nil {
			t.Fatal(err)
		}
		want, err := newChain(model, other)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("after candidates %v: language %v, want that of a new chain, %v", first.positions, got.language,
				want.language)
		}
	}
}

// A text about one of two topics makes the words of that topic likelier, those of the
// other less likely.
func TestTopicIsThatOfSimilarTexts(t *testing.T) {
	s := &attack.Target{Corpus: &attack.Corpus{}, Words: attack.Words{Count: 8}}
	for i := range int32(100) {
		first := i % 2 * 4
		s.Corpus.Shadow = append(s.Corpus.Shadow, []int32{first, first + 1, first + 2, first + 3, 8})
	}
	c := chain{positions: [][]candidate{
		{{word: 0}, {word: 4}}, {{word: 1}, {word: 5}}, {{word: 2}, {word: 6}}, {{word: 9}}}}
	topicsOf(s).adapt(c, [][]float64{{0.9, 0.1}, {0.9, 0.1}, {0.5, 0.5}, {1}}, c.positions)
	if of := c.positions[2]; of[0].topic < 0.05 || of[1].topic > -0.05 || c.positions[3][0].topic != 0 {
		t.Errorf("topics %v, and %v of a word outside", of, c.positions[3])
	}
}

// Training text is known, but not what would tell the words of an attacked document.
func TestRepeatedTrainingTextIsNotKnown(t *testing.T) {
	s := &attack.Target{Corpus: &attack.Corpus{
		Shadow: [][]int32{{9}},
		Train: []attack.Document{{Words: []int32{1, 2, 3}}, {Words: []int32{4, 5, 6}}, {Words: []int32{6, 7, 8}},
			{Words: []int32{10, 11}}},
		Validation: []attack.Document{{Words: []int32{1, 2, 3, 3}}},
		Test:       []attack.Document{{Words: []int32{4, 5, 6, 7}}},
	}}
	if got, want := known(s), [][]int32{{9}, {10, 11}}; !reflect.DeepEqual(got, want) {
		t.Errorf("known %v, want %v", got, want)
	}
}
