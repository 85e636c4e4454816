package measure

import (
	"context"
	"slices"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/stream"
)

// A drawn word that the mechanism does not have stays, and counts.
func TestKeptWordsCount(t *testing.T) {
	space := spacetest.Gaussian(t, 2, 3, 1, 1)
	known := space.Vocabulary.Words()
	words, kept, err := pythonWords([]string{known[0], known[1], "absent"}, 3, 19, space.Vocabulary)
	if err != nil || len(words) != 2 || !slices.Equal(kept, []string{"absent"}) {
		t.Fatalf("%v, %v, %v", words, kept, err)
	}
	if _, _, err := pythonWords([]string{"one"}, 3, 19, &embeddings.Vocabulary{}); err == nil {
		t.Error("three of one word: no error")
	}
	m, err := mechanisms.New(mechanisms.Environment{Space: space}, mechanisms.Settings{Mechanism: "uniform", Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	const runs = 50
	rows, err := deniabilityRows(context.Background(), results.Row{}, m, words, kept, runs, stream.FromUint64(1), true)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, r := range rows {
		got[r.Quantity] = r.Value.Float()
	}
	alone, err := deniabilityRows(context.Background(), results.Row{}, m, words, nil, runs, stream.FromUint64(1), false)
	if err != nil {
		t.Fatal(err)
	}
	// The same draws of two words, and one that stays in all runs.
	if want := (2*alone[0].Value.Float() + 100) / 3; got["n_w"] != want || got["n_w_worst"] != 100 {
		t.Errorf("%v, want N_w %v", got, want)
	}
	if _, exact := got["n_w_exact"]; exact {
		t.Error("a closed form of the other words only")
	}
}
