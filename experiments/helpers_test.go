package experiments_test

import (
	"fmt"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

// cells are what a run measured, one a place and repetition.
func cells(t testing.TB, s *engine.Summary) []results.Cell {
	t.Helper()
	p, err := results.Prepare(results.Run{Name: "test", Rows: s.Rows})
	if err != nil {
		t.Fatal(err)
	}
	return p.Cells
}

// at is a number with its counts.
func at(c results.Cell, quantity string) results.Measured {
	m, _ := c.At(quantity)
	return m
}

// unitKeys are the keys of the units of a study.
func unitKeys(t testing.TB, s *study.Study) []string {
	t.Helper()
	l := lab.New("")
	defer l.Close()
	p, err := planned(s, l)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, u := range p.Units {
		data, err := u.Data(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, fmt.Sprint(u.ID, data))
	}
	return keys
}

// planned divides a study into units. It opens nothing.
func planned(s *study.Study, l *lab.Lab) (*engine.Plan, error) {
	p, err := plan.New(s)
	if err != nil {
		return nil, err
	}
	return p.Engine(l)
}
