package dataset

import (
	"testing"

	"mldpbench/datasets"
)

func TestOpinions(t *testing.T) {
	// These need no WordNet.
	for _, c := range []datasets.Cleaning{datasets.CleanWords, datasets.CleanContent, datasets.CleanNone} {
		d, err := datasets.Load(t.Context(), datasets.Request{Name: "opinions", Cleaning: c})
		if err != nil || len(d.Train) != 40 {
			t.Errorf("cleaning %q: %+v, %v; want 40 documents to train on", c, d, err)
		}
	}
}
