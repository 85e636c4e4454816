package results

import (
	"math"
	"testing"
)

// One repetition has the binomial variance of 1600 of 2000 right; of several,
// the variance of their mean.
func TestSampleOf(t *testing.T) {
	r := NewRecord()
	r.Accuracy, r.TestCorrect, r.TestTotal = 80, 1600, 2000
	one := SampleOf([]Record{r})
	near(t, "variance", one.Variance, 100*100*.8*.2/2000, 1e-12)
	if !math.IsInf(one.DF, 1) {
		t.Errorf("degrees of freedom %v", one.DF)
	}
	s := r
	s.Accuracy, s.TestCorrect = 77.5, 1550
	two := SampleOf([]Record{r, s})
	near(t, "mean of two", two.Mean, 78.75, 1e-12)
	near(t, "variance of two", two.Variance, 2.5*2.5/2/2, 1e-12)
	near(t, "degrees of freedom of two", two.DF, 1, 0)
}
