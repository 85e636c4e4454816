package plots

import (
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
)

// A guarantee between some words only is marked wherever the curve is named.
func TestScopedCurvesAreMarked(t *testing.T) {
	records := syntheticRecords(2)
	marked := ""
	for i, r := range records {
		if !r.IsBaseline() && r.GuaranteeMetric != "" && (marked == "" || r.Mechanism == marked) {
			marked, records[i].GuaranteeScope = r.Mechanism, "between words of one group"
		}
	}
	if marked == "" {
		t.Fatal("no mechanism with a guarantee")
	}
	s := newStudy(records)
	for _, id := range s.curves {
		if got := strings.HasSuffix(s.labels[id], results.ScopeMark); got != (id.Mechanism == marked && !s.styles[id].Hollow) {
			t.Errorf("label %q", s.labels[id])
		}
	}
	says := func(note string) bool { return strings.Contains(note, "only between some words") }
	if notes := s.warnings(records); !slices.ContainsFunc(notes, says) {
		t.Errorf("notes %q", notes)
	}
	if notes := newStudy(syntheticRecords(2)).warnings(syntheticRecords(2)); slices.ContainsFunc(notes, says) {
		t.Errorf("notes %q without any scope", notes)
	}
}
