package datasets_test

import (
	"slices"
	"testing"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/stream"
)

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
	corpus, err := datasets.GeneratedCorpus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := embeddings.LearnPPMI("generated", corpus, 50)
	if err != nil {
		t.Fatal(err)
	}
	noise, err := mechanisms.New(mechanisms.Environment{Space: s}, mechanisms.Settings{Mechanism: "cmp", Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"generated-reviews", "generated-news", "generated-words"} {
		d := load(t, datasets.Request{Name: name, Seed: stream.FromUint64(1)})
		plain := svmAccuracy(t, d, s, nil)
		noisy := svmAccuracy(t, d, s, func(docs [][]string) [][]string {
			out, err := mechanisms.Text(t.Context(), noise, mechanisms.Keep, docs, stream.FromUint64(2), 2)
			if err != nil {
				t.Fatal(err)
			}
			return out
		})
		t.Logf("%s: plain %.3f, CMP at ε=1 %.3f", name, plain, noisy)
		if plain < 0.85 || plain > 0.95 || noisy > plain-0.2 {
			t.Errorf("%s: accuracy %.3f, want 0.85 to 0.95, and %.3f at ε=1, want 0.2 less", name, plain, noisy)
		}
	}
}
