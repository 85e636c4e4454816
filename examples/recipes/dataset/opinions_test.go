package dataset

import (
	"testing"

	"mldpbench/datasets"
)

func TestOpinions(t *testing.T) {
	d, err := datasets.Load(t.Context(), datasets.Request{Name: "opinions", Cleaning: datasets.CleanWords})
	if err != nil || len(d.Train) != 40 {
		t.Errorf("%+v, %v", d, err)
	}
}
