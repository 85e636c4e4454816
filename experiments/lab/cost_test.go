package lab

import (
	"math"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/results"
)

func TestEstimatesComeFromSpeeds(t *testing.T) {
	speeds := []Speed{
		{"cmp", 50, 1000, 1, 2000}, {"cmp", 50, 1000, 1, 1000}, // two epsilons of one size
		{"cmp", 300, 9000, 1, 1}, {"cmp", 50, 1000, 2, 9e9}, {"tem", 50, 1000, 1, 0},
	}
	// The mean of 1/2000 and 1/1000 seconds, for twice the size.
	if got, ok := secondsPerToken(speeds, "cmp", 2*50*1000); !ok || math.Abs(got-2*0.00075) > 1e-12 {
		t.Errorf("%v, %v", got, ok)
	}
	for _, name := range []string{"tem", "vickrey"} { // undefined, and not measured
		if got, ok := secondsPerToken(speeds, name, 1); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCostComesFromTheClosestRecords(t *testing.T) {
	row := results.NewRecord()
	row.Dataset, row.Mechanism, row.Model, row.Dimension, row.Epsilon = "d", "cmp", "svm", 50, 1
	l := New("")
	if c := l.Cost(row, Work{Tokens: 1e6, Trainings: 1}); c.Source != engine.FromDefaults || !(c.Seconds > 1) {
		t.Errorf("%+v", c)
	}
	like, unlike := row, row
	like.TotalSeconds, unlike.TotalSeconds, unlike.Epsilon = 10, 20, 5
	like.PrivatizeSeconds = 4
	l = New("")
	l.Records = []results.Record{like, unlike}
	if c := l.Cost(row, Work{Private: 1}); c.Source != engine.FromRecords || c.Seconds != 10 {
		t.Errorf("%+v", c)
	}
	if c := l.Cost(row, Work{}); c.Seconds != 6 { // another unit has the same text
		t.Errorf("%+v", c)
	}
	row.Epsilon = 3 // no record of it: the mean over those of its dimension
	if c := l.Cost(row, Work{Private: 1}); c.Seconds != 15 {
		t.Errorf("%+v", c)
	}
}

// A text costs a word with a row of probabilities once, any other every time.
func TestCostOfRows(t *testing.T) {
	row := results.NewRecord()
	row.Mechanism, row.Dimension = "cmp", 100
	l, w := New(""), Work{Private: 1e6, Size: 100 * 1000}
	searched := l.Cost(row, w).Seconds
	row.Mechanism = "tem"
	prepared := l.Cost(row, w).Seconds
	if w.Private *= 2; l.Cost(row, w).Seconds >= 2*prepared-costPerCell || prepared > searched+2 {
		t.Errorf("%v s for a million words, %v s by search", prepared, searched)
	}
	with := w
	with.Draws = 20
	if l.Cost(row, with).Seconds <= l.Cost(row, w).Seconds {
		t.Error("E_M over all words costs nothing")
	}
}
