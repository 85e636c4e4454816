package datasets_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"

	"mldpbench/datasets"
	"mldpbench/datasets/generated"
	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/stream"
)

// learned are the spaces of the generated corpus, each learned once.
var learned = map[int]func() (*embeddings.Space, error){50: learnedOnce(50), 100: learnedOnce(100)}

func learnedOnce(dimension int) func() (*embeddings.Space, error) {
	return sync.OnceValues(func() (*embeddings.Space, error) {
		corpus, err := datasets.GeneratedCorpus(context.Background())
		if err != nil {
			return nil, err
		}
		return embeddings.LearnPPMI("generated", corpus, dimension)
	})
}

func generatedSpace(t testing.TB, dimension int) *embeddings.Space {
	t.Helper()
	s, err := learned[dimension]()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func loadGenerated(t testing.TB, name string) *datasets.Dataset {
	t.Helper()
	d, err := datasets.Load(t.Context(), datasets.Request{Name: name, Seed: stream.FromUint64(1)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// svmAccuracy trains the linear SVM on mean vectors. privatize, if not nil,
// is applied to all three splits.
func svmAccuracy(t testing.TB, d *datasets.Dataset, s *embeddings.Space,
	privatize func([][]string) [][]string) float64 {
	t.Helper()
	examples := func(docs []datasets.Document) models.Examples {
		tokens := datasets.Tokens(docs)
		if privatize != nil {
			tokens = privatize(tokens)
		}
		x := models.Examples{Labels: datasets.Labels(docs)}
		for _, doc := range tokens {
			mean := make([]float32, s.Dimension)
			for _, w := range doc {
				if id := s.Vocabulary.ID(w); id != embeddings.Unknown {
					for j, v := range s.Vector(id) {
						mean[j] += v / float32(len(doc))
					}
				}
			}
			x.Vectors = append(x.Vectors, mean)
		}
		return x
	}
	m, err := models.New("svm", models.Options{Classes: len(d.Classes), Seed: stream.FromUint64(1)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fit(t.Context(), examples(d.Train), examples(d.Validation)); err != nil {
		t.Fatal(err)
	}
	test := examples(d.Test)
	got, err := m.Score(t.Context(), test)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i := range got {
		if slices.Index(got[i], slices.Max(got[i])) == test.Labels[i] {
			right++
		}
	}
	return float64(right) / float64(len(got))
}

// The corpus is fixed and everything is seeded, so nothing here depends on
// chance: the bounds state the purpose of the corpus.
func TestGeneratedTasksAreLearnableNotTrivialAndDegradeWithNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("learns vectors and trains classifiers")
	}
	for _, dimension := range []int{50, 100} {
		s := generatedSpace(t, dimension)
		noise, err := mechanisms.New(mechanisms.Environment{Space: s},
			mechanisms.Settings{Mechanism: "cmp", Epsilon: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"generated-reviews", "generated-news", "generated-words"} {
			d := loadGenerated(t, name)
			plain := svmAccuracy(t, d, s, nil)
			t.Logf("%s, %d dimensions: plain %.3f", name, dimension, plain)
			if plain < 0.85 || plain > 0.95 {
				t.Errorf("%s, %d dimensions: accuracy %.3f, want 0.85 to 0.95", name, dimension, plain)
			}
			if dimension > 50 {
				continue // the noise is as telling, and slower
			}
			noisy := svmAccuracy(t, d, s, func(docs [][]string) [][]string {
				out, err := mechanisms.Text(t.Context(), noise, mechanisms.Keep, docs, stream.FromUint64(2), 2)
				if err != nil {
					t.Fatal(err)
				}
				return out
			})
			t.Logf("%s, %d dimensions, CMP at ε=1: %.3f", name, dimension, noisy)
			if noisy > plain-0.2 {
				t.Errorf("%s, %d dimensions: accuracy %.3f without noise, %.3f at ε=1: the noise does not show", name,
					dimension, plain, noisy)
			}
		}
	}
}

// Words of one slot are used alike, so their vectors must be neighbours.
func TestWordsOfASlotAreNeighbours(t *testing.T) {
	if testing.Short() {
		t.Skip("learns vectors")
	}
	for _, dimension := range []int{50, 100} {
		s := generatedSpace(t, dimension)
		hits, possible, first, words := 0, 0, 0, 0
		for _, slot := range generated.Slots() {
			k := len(slot.Words) - 1
			for _, w := range slot.Words {
				id := s.Vocabulary.ID(w)
				if id == embeddings.Unknown {
					t.Errorf("%q (%s) does not occur", w, slot.Name)
					continue
				}
				near := nearestByCosine(s, id, k)
				for _, n := range near {
					if slices.Contains(slot.Words, s.Vocabulary.Word(n)) {
						hits++
					}
				}
				if slices.Contains(slot.Words, s.Vocabulary.Word(near[0])) {
					first++
				}
				possible += k
				words++
			}
		}
		nearest, share := float64(first)/float64(words), float64(hits)/float64(possible)
		t.Logf("%d dimensions: vocabulary %d; nearest word in the slot %.3f; share of the slot among the nearest %.3f",
			dimension, s.Len(), nearest, share)
		if nearest < 0.8 || share < 0.7 { // by chance: 0.003
			t.Errorf("%d dimensions: the nearest word is of the same slot for %.3f of the words (want 0.8), the "+
				"slot's share among the nearest is %.3f (want 0.7)",
				dimension, nearest, share)
		}
	}
}

// nearestByCosine returns the k nearest words, nearest first.
func nearestByCosine(s *embeddings.Space, id embeddings.WordID, k int) []embeddings.WordID {
	cosine := make([]float64, s.Len())
	vector := s.Vector(id)
	near := make([]embeddings.WordID, 0, k+1)
	for i := range s.Len() {
		var dot, a, b float64
		row := s.Vector(embeddings.WordID(i))
		for j, x := range vector {
			y := row[j]
			dot, a, b = dot+float64(x)*float64(y), a+float64(x)*float64(x), b+float64(y)*float64(y)
		}
		cosine[i] = dot / math.Sqrt(a*b)
		if embeddings.WordID(i) == id {
			continue
		}
		at := len(near)
		for at > 0 && cosine[near[at-1]] < cosine[i] {
			at--
		}
		if at < k {
			near = slices.Insert(near, at, embeddings.WordID(i))
			near = near[:min(k, len(near))]
		}
	}
	return near
}

// Frequencies must fall off roughly as in real text: Zipf's law with an
// exponent near one, over the first thousand ranks.
func TestGeneratedFrequenciesFollowZipf(t *testing.T) {
	corpus, err := datasets.GeneratedCorpus(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	tokens := 0
	for _, sentence := range corpus {
		tokens += len(sentence)
		for _, w := range sentence {
			counts[w]++
		}
	}
	var sorted []int
	for _, n := range counts {
		sorted = append(sorted, n)
	}
	slices.SortFunc(sorted, func(a, b int) int { return b - a })
	var sx, sy, sxx, sxy float64
	n := 1000
	for r := range n {
		x, y := math.Log(float64(r+1)), math.Log(float64(sorted[r]))
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	slope := (float64(n)*sxy - sx*sy) / (float64(n)*sxx - sx*sx)
	t.Logf("%d sentences, %d tokens, %d words, rarest %d, most frequent %d, slope %.2f", len(corpus), tokens,
		len(counts), sorted[len(sorted)-1], sorted[0], slope)
	if slope > -0.6 || slope < -1.4 {
		t.Errorf("slope %.2f of log frequency against log rank, want -1.4 to -0.6", slope)
	}
	if len(counts) < 1800 || len(counts) > 2200 {
		t.Errorf("%d words, want about 2,000", len(counts))
	}
}
