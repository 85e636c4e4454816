package metrics

import (
	"math"
	"slices"
	"testing"
)

func TestMeasureDeniabilityCounts(t *testing.T) {
	next := 0
	// Word 7 comes back as 7, 1, 2, 3, 7, 1, …
	cycle := []int{7, 1, 2, 3}
	got, err := MeasureDeniability([]int{7, 9}, 6, func(dst, src []int) error {
		for i := range src {
			dst[i] = cycle[next%len(cycle)]
			next++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Deniability[int]{{Word: 7, Runs: 6, Unchanged: 2, Distinct: 4},
		{Word: 9, Runs: 6, Unchanged: 0, Distinct: 4}}
	if !slices.Equal(got, want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	total := TotalDeniability(got)
	near(t, "Nw", total.Nw(), 100*2./12, 1e-12)
	near(t, "Sw", total.Sw(), 4, 0)
	if _, err := MeasureDeniability([]int{1}, 0, nil); err == nil {
		t.Error("no runs must be an error")
	}
}

func TestMeasureDeniabilityIsOneBlockForTheStudy(t *testing.T) {
	calls := 0
	words := make([]int, 25)
	if _, err := MeasureDeniability(words, 100, func(dst, src []int) error { calls++; return nil }); err != nil {
		t.Fatal(err)
	}
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
	words = make([]int, 1000)
	got, err := MeasureDeniability(words, 100, func(dst, src []int) error { return nil })
	if err != nil || len(got) != 1000 || got[999].Runs != 100 || got[999].Unchanged != 100 {
		t.Errorf("blocks lose words: %d outcomes, %v", len(got), err)
	}
}

// False alarm < 1e-6: both estimates within 5 standard errors (two-sided
// normal tail 5.7e-7 together with a fixed seed).
func TestSampledDeniabilityMeetsExact(t *testing.T) {
	const n, runs, repeats = 30, 100, 400
	row := make([]float64, n)
	for y := range row {
		row[y] = math.Exp(-0.2 * float64(y))
	}
	sum := 0.0
	for _, p := range row {
		sum += p
	}
	for y := range row {
		row[y] /= sum
	}
	rng := testRand("deniability")
	got, err := MeasureDeniability(make([]int32, repeats), runs, func(dst, src []int32) error {
		for i := range dst {
			u := rng.Float64()
			for dst[i] = 0; u >= row[dst[i]] && dst[i] < n-1; dst[i]++ {
				u -= row[dst[i]]
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total := TotalDeniability(got)
	p := row[0]
	near(t, "Nw", total.Nw(), 100*p, 100*5*math.Sqrt(p*(1-p)/(runs*repeats)))
	// Negative correlation between outputs: the variance of the number of
	// distinct ones is below that of independent indicators, n/4.
	expected := 0.0
	for _, p := range row {
		expected += 1 - math.Pow(1-p, runs)
	}
	near(t, "Sw", total.Sw(), expected, 5*math.Sqrt(n/4./repeats))
}

func TestSampleWords(t *testing.T) {
	words := make([]int, 50)
	for i := range words {
		words[i] = i
	}
	a, b := SampleWords(words, 25, testRand("s")), SampleWords(words, 25, testRand("s"))
	if !slices.Equal(a, b) {
		t.Error("the same generator must give the same words")
	}
	if slices.Sort(a); len(slices.Compact(a)) != 25 {
		t.Error("words repeat")
	}
	if words[0] != 0 || words[49] != 49 {
		t.Error("the input was changed")
	}
	if got := SampleWords(words, 60, testRand("s")); !slices.Equal(got, words) {
		t.Error("fewer words than asked for must be returned as they are")
	}
}

// The word itself is no other output, where it came back.
func TestOthersLeaveOutTheWordItself(t *testing.T) {
	for _, c := range []struct {
		outcome Deniability[string]
		want    int
	}{
		{Deniability[string]{Runs: 10, Unchanged: 3, Distinct: 4}, 3},
		{Deniability[string]{Runs: 10, Unchanged: 10, Distinct: 1}, 0},
		{Deniability[string]{Runs: 10, Unchanged: 0, Distinct: 4}, 4},
	} {
		if got := c.outcome.Others(); got != c.want {
			t.Errorf("of %d distinct outputs, with the word itself in %d runs, %d are other words, want %d",
				c.outcome.Distinct, c.outcome.Unchanged, got, c.want)
		}
	}
}
