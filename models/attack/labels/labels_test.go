package labels

import (
	"context"
	"strings"
	"testing"

	"mldpbench/models/attack"
)

// Scores are of every document and not empty; others are an error that says so.
func TestScoresAreOfAllDocuments(t *testing.T) {
	documents := make([]attack.Document, 2)
	for want, scores := range map[string][][]float64{
		"of 0 documents, not of 2": nil,
		"of 1 documents, not of 2": {{1, 0}},
		"of 3 documents, not of 2": {{1, 0}, {0, 1}, {0, 1}},
		"document 1: no scores":    {{1, 0}, {}},
	} {
		l := Learned{Score: func(context.Context, []attack.Document) ([][]float64, error) { return scores, nil }}
		if _, err := l.labels(t.Context(), documents); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %s", err, want)
		}
	}
}
