package experiments_test

import (
	"fmt"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

// parsed is a study of a text.
func parsed(t testing.TB, text string) *study.Study {
	t.Helper()
	s, err := study.Parse("x.yaml", []byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refused fails where a study is not refused with one line that names the place and
// says what is wanted.
func refused(t testing.TB, text, want string) {
	t.Helper()
	_, err := study.Parse("x.yaml", []byte(text), "")
	if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "x.yaml:") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v\nwant %q", err, want)
	}
}

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
func unitKeys(t testing.TB, s *study.Study, root string) []string {
	t.Helper()
	l := lab.New(root)
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

// runUnits runs the unfinished units of a study, and writes no page.
func runUnits(t testing.TB, s *study.Study, root string, o engine.Options) (*engine.Summary, error) {
	t.Helper()
	p, err := plan.New(s)
	if err != nil {
		return nil, err
	}
	return p.Run(t.Context(), root, o)
}

// planned divides a study into units. It opens nothing.
func planned(s *study.Study, l *lab.Lab) (*engine.Plan, error) {
	p, err := plan.New(s)
	if err != nil {
		return nil, err
	}
	return p.Engine(l)
}
