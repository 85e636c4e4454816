package results

import "testing"

// A mechanism takes 10 s for its tables and 0.1 s per text of 100,000 words.
// One call for five repetitions reports a fifth of its time for each; the
// throughput must not be five times as high for it.
func TestThroughputDoesNotGrowWithRepetitions(t *testing.T) {
	study := func(repetitions int, recorded bool) Cells {
		var c Cells
		for i := range repetitions {
			r := cellRecord(i, i+1, 800)
			took := (10 + 0.1*float64(repetitions)) / float64(repetitions)
			r.PrivatizeSeconds, r.WordsPerSecond = Float(took), Float(1e5/took)
			if recorded {
				r.PrivatizeTexts = repetitions
			}
			c.Records = append(c.Records, r)
		}
		return c
	}
	for _, recorded := range []bool{false, true} {
		one, five := study(1, recorded).Throughput(), study(5, recorded).Throughput()
		near(t, "one repetition", one[0], 1e5/10.1, 1e-6)
		for _, v := range five {
			near(t, "of five", v, 1e5/10.5, 1e-6)
		}
	}
	// Repetitions privatised one by one each took their own time.
	var alone Cells
	for i := range 3 {
		r := cellRecord(i, i+1, 800)
		r.PrivatizeSeconds, r.WordsPerSecond = Float(2+float64(i)/10), 1000
		alone.Records = append(alone.Records, r)
	}
	for _, v := range alone.Throughput() {
		near(t, "alone", v, 1000, 0)
	}
	if x := (Cells{Records: []Record{cellRecord(0, 1, 800)}}).Throughput(); len(x) != 0 {
		t.Errorf("throughput %v of no time", x)
	}
}

// The table of seconds per million words measures the same.
func TestSecondsPerMillionWordsDoNotFallWithRepetitions(t *testing.T) {
	says := func(repetitions int) string {
		var records []Record
		for i := range repetitions {
			r := cellRecord(i, i+1, 800)
			took := 10 / float64(repetitions)
			r.PrivatizeSeconds, r.WordsPerSecond, r.PrivatizeTexts = Float(took), Float(1e5/took), repetitions
			records = append(records, r)
		}
		for _, table := range Tables(TableInputs{Records: records}) {
			if table.Name == "cost-per-million-words" {
				return table.Rows[0][1].Text
			}
		}
		t.Fatal("no such table")
		return ""
	}
	if one, five := says(1), says(5); one != "100" || five[:3] != one {
		t.Errorf("a million words take %s seconds once, %s five times", one, five)
	}
}
