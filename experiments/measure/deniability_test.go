package measure

import (
	"context"
	"slices"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/stream"
)

// A listed word that the mechanism does not have stays, and counts.
func TestKeptWordsCount(t *testing.T) {
	space := spacetest.Gaussian(t, 2, 3, 1, 1)
	known := space.Vocabulary.Words()
	o := deniabilityOptions{Words: 3, Listed: []string{known[0], known[1], "absent"}}
	words, kept := o.list(1, space.Vocabulary) // the same at each time
	if len(words) != 2 || !slices.Equal(kept, []string{"absent"}) {
		t.Fatalf("%v, %v", words, kept)
	}
	o.Words = 1
	if words, kept := o.list(2, space.Vocabulary); len(words) != 0 || len(kept) != 1 {
		t.Errorf("the third word alone: %v, %v", words, kept)
	}
	m, err := mechanisms.New(mechanisms.Environment{Space: space}, mechanisms.Settings{Mechanism: "uniform", Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	const runs = 50
	rows, err := deniabilityRows(context.Background(), results.Row{}, m,
		sending{words, kept, runs, stream.FromUint64(1)})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, r := range rows {
		got[r.Quantity] = r.Value.Float()
	}
	alone, err := deniabilityRows(context.Background(), results.Row{}, m,
		sending{words, nil, runs, stream.FromUint64(1)})
	if err != nil {
		t.Fatal(err)
	}
	// The same draws of two words, and one that stays in all runs.
	if want := (2*alone[0].Value.Float() + 100) / 3; got["n_w"] != want {
		t.Errorf("%v, want N_w %v", got, want)
	}
}
