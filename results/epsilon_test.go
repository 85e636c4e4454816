package results

import (
	"strings"
	"testing"
)

// TestTablesWithoutEpsilon shows versions that state no ε in a separate column.
func TestTablesWithoutEpsilon(t *testing.T) {
	record := func(mechanism string, epsilon Float, accuracy Float) Record {
		r := NewRecord()
		r.Key, r.Dataset, r.Mechanism, r.Epsilon, r.Accuracy = mechanism, "own", mechanism, epsilon, accuracy
		r.Model, r.Setting, r.Status, r.Repetition = "svm", "local", StatusOK, 1
		r.GuaranteeReason = "none"
		return r
	}
	plain := record(BaselineMechanism, Missing, 91)
	for _, c := range []struct {
		records []Record
		want    []string
	}{
		{[]Record{plain}, []string{"own"}}, // no panic: there is nothing to compare
		{[]Record{plain, record("paraphrase", Missing, 71)}, []string{"no ε", "91.00", "71.00"}},
		{[]Record{plain, record("paraphrase", Missing, 71), record("cmp", 5, 61)},
			[]string{"ε=5", "no ε", "91.00", "71.00", "61.00"}},
	} {
		records, err := Derive(c.records)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, table := range Tables(TableInputs{Records: records}) {
			if err := table.WriteMarkdown(&text); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range c.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%d records: the tables do not show %q:\n%s", len(records), want, text.String())
			}
		}
	}
}
