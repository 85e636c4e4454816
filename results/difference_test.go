package results

import (
	"testing"

	"mldpbench/stream"
)

func watched() []Column {
	var columns []Column
	for _, c := range Registry() {
		if c.Threshold > 0 {
			columns = append(columns, c)
		}
	}
	return columns
}

// TestCompareRunsFindsWhatWasPlanted lowers the accuracy of one mechanism by
// ten points: a change is reported for it alone.
func TestCompareRunsFindsWhatWasPlanted(t *testing.T) {
	a, b := syntheticStudy(1, 5, 0), syntheticStudy(2, 5, 0)
	lower := syntheticStudy(2, 5, 10)
	for i := range b {
		b[i].Study = "another name"
		if b[i].Mechanism == "vickrey" {
			b[i] = lower[i]
		}
	}
	c, err := CompareRuns(a, b, watched(), 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if c.Changed == 0 {
		t.Error("ten points were not found")
	}
	for _, d := range c.Differences {
		if d.Changed && (d.Mechanism != "Vickrey, printed" || d.Metric != "accuracy") {
			t.Errorf("changed without cause: %+v", d)
		}
	}
	if len(c.Apart) != 1 || c.Apart[0] != "seed: [1] against [2]" {
		t.Errorf("apart: %v", c.Apart)
	}
}

// Of 200 pairs that differ in noise only, each alarms with probability at most
// 5%: 28 or more come by chance less than once in a million.
func TestCompareRunsKeepsItsLevel(t *testing.T) {
	t.Parallel()
	alarms := 0
	for pair := range uint64(200) {
		c, err := CompareRuns(syntheticStudy(1000+2*pair, 2, 0), syntheticStudy(1001+2*pair, 2, 0), watched(), 0.05)
		if err != nil {
			t.Fatal(err)
		}
		if c.Changed > 0 {
			alarms++
		}
	}
	t.Logf("%d of 200 pairs of equal runs differ", alarms)
	if alarms >= 28 {
		t.Errorf("%d of 200 pairs of equal runs differ", alarms)
	}
}

// Runs of two embeddings, one in each, are compared cell by cell; runs that
// share one of two are not.
func TestCompareRunsAcrossEmbeddings(t *testing.T) {
	a, b := everything(0), everything(50)
	for i := range b {
		b[i].Embedding, b[i].Dimension = "another", 7
	}
	c, err := CompareRuns(a, b, watched(), 0.05)
	if err != nil || c.OnlyA+c.OnlyB != 0 || len(c.Apart) != 2 || c.Changed != len(c.Differences) || c.Changed == 0 {
		t.Errorf("%d of %d changed, %d and %d alone, apart %v, %v", c.Changed, len(c.Differences), c.OnlyA, c.OnlyB,
			c.Apart, err)
	}
	b[0].Embedding = "made"
	if c, err = CompareRuns(a, b, watched(), 0.05); err != nil || c.OnlyA == 0 {
		t.Errorf("%d cells alone, %v", c.OnlyA, err)
	}
	if _, err := CompareRuns(a, nil, watched(), 0.05); err == nil {
		t.Error("no records: no error")
	}
}

// One repetition each on the same ten documents: nine that A alone has right.
func TestCompareRunsPairsDocuments(t *testing.T) {
	one := func(correct func(i int) bool) []Record {
		r := cellRecord(0, 1, 0)
		r.DatasetFingerprint, r.TestTotal = "f", 10
		bits := make([]bool, 10)
		for i := range bits {
			if bits[i] = correct(i); bits[i] {
				r.TestCorrect++
			}
		}
		r.Correct, r.Accuracy = NewOutcomes(bits), Float(10*r.TestCorrect)
		return []Record{r}
	}
	c, err := CompareRuns(one(func(int) bool { return true }), one(func(i int) bool { return i == 0 }),
		[]Column{column("accuracy")}, 0.05)
	if err != nil || len(c.Differences) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	d := c.Differences[0]
	near(t, "p", float64(d.P), 2./512, 1e-12)
	near(t, "change", float64(d.Change), -90, 1e-12)
	if !d.Changed || d.Test != "McNemar, paired by document" || !(d.Low < -90 && d.High > -90) {
		t.Errorf("%+v", d)
	}
}

// In rows of one quantity, as in a paper study, each panel, curve and x is a
// cell for the comparison and for the gate.
func TestRowsOfOneQuantityAreCompared(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, lift float64) []Record {
		rng := stream.FromUint64(seed).Rand()
		var records []Record
		for _, panel := range []string{"words", "reviews"} {
			for _, x := range []Float{1, 5} {
				for repetition := range 5 {
					r := NewRecord()
					r.Study, r.Panel, r.Series, r.XName, r.X, r.Epsilon = "paper", panel, "M2", "epsilon", x, x
					r.Mechanism, r.Variant, r.Quantity, r.Repetition, r.Status = "cmp", "proved", "loss", repetition+1,
						StatusOK
					r.Value = Float(0.5 + 0.01*rng.NormFloat64())
					if panel == "reviews" && x == 5 {
						r.Value += Float(lift)
					}
					records = append(records, r)
				}
			}
		}
		return records
	}
	for _, lift := range []float64{0, 0.5} {
		a, b := run(1, 0), run(2, lift)
		c, err := CompareRuns(a, b, []Column{column("loss")}, 1e-6)
		if err != nil || len(c.Differences) != 4 {
			t.Fatalf("%d differences, %v", len(c.Differences), err)
		}
		g, err := Gate(a, b, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if c.Changed != map[float64]int{0: 0, 0.5: 1}[lift] || g.Failed() != (lift > 0) {
			t.Errorf("a change of %v: %d reported, gate failed: %v", lift, c.Changed, g.Failed())
		}
		for _, d := range c.Differences {
			if d.Changed && d.Place != "reviews, M2 at epsilon = 5" {
				t.Errorf("changed: %q", d.Place)
			}
		}
	}
}
