package metrics

import (
	"math"
	"testing"

	"mldpbench/internal/stats"
	"mldpbench/stream"
)

func TestAttributeFloorAndCeiling(t *testing.T) {
	rng := testRand("attribute")
	labels := make([]int, 4000)
	plain := make([]int, 4000)
	coin := make([]int, 4000)
	for i := range labels {
		labels[i] = min(1, i%3)
		plain[i] = labels[i]
		if rng.Float64() < 0.2 {
			plain[i] = 1 - plain[i]
		}
		coin[i] = rng.IntN(2)
	}
	a := MeasureAttribute(Inferred{Predicted: [][]int{coin}, Plain: plain, Labels: labels, Classes: 2},
		Bootstrap{Resamples: 200, Level: 0.95, Seed: stream.FromUint64(1)})
	// A coin is right with standard deviation .5/√4000 = .0079; five of them are
	// exceeded with probability 6e-7.
	near(t, "accuracy of a coin", a.Accuracy.Estimate, 0.5, 5*0.0079)
	near(t, "plain text", a.Plain, 0.8, 5*0.0064)
	near(t, "most frequent label", a.Majority, 2.0/3, 1e-3)
	if !(a.Accuracy.Low < a.Accuracy.Estimate && a.Accuracy.Estimate < a.Accuracy.High) {
		t.Errorf("interval %v", a.Accuracy)
	}
}

func TestJaccard(t *testing.T) {
	for _, c := range []struct {
		a, b []string
		want float64
	}{{[]string{"a", "b", "c"}, []string{"a", "b", "c"}, 1}, {[]string{"the"}, []string{"he"}, 0},
		{[]string{"a", "b", "c", "d"}, []string{"x", "b", "c", "a"}, 3.0 / 5}, {[]string{"a", "a", "a"}, []string{"a", "b"}, 0.5}} {
		near(t, "Jaccard", Jaccard(c.a, c.b), c.want, 1e-15)
	}
}

func TestRanks(t *testing.T) {
	r := RankOf([]float64{3, 1, 3, 5, math.NaN()}, 0)
	if r != (Rank{1, 2}) {
		t.Errorf("rank %v", r)
	}
	near(t, "third", r.First(), 0, 0)
	near(t, "one of four", RankOf([]float64{2, 2, 1, 2, 2}, 1).First(), 0.25, 1e-15)
}

func TestMedianInterval(t *testing.T) {
	i := MedianInterval([]float64{5, 1, 3, 2, 4, 6}, 0.95)
	// With n = 6, Pr[all on one side] = 2/64 = .031: the interval is the range.
	if i != (stats.Interval{Estimate: 3.5, Low: 1, High: 6}) {
		t.Errorf("median %v", i)
	}
	if i := MedianInterval([]float64{1, 2}, 0.95); !math.IsInf(i.Low, -1) {
		t.Errorf("two values cannot bound a median: %v", i)
	}
	// Coverage: 1,000 samples of 40; at least 95% must cover. Fewer than 910
	// would have probability below 1e-6 (binomial tail).
	rng := testRand("median")
	covered := 0
	for range 1000 {
		x := make([]float64, 40)
		for j := range x {
			x[j] = rng.ExpFloat64()
		}
		if i := MedianInterval(x, 0.95); i.Low <= math.Ln2 && math.Ln2 <= i.High {
			covered++
		}
	}
	if covered < 910 {
		t.Errorf("%d of 1000 intervals cover the median", covered)
	}
}

// The noise of releases is in the interval: an attacker who is right on all of
// some releases and on none of others is known less well than one who is right
// on half of the documents of each.
func TestAttributeOverReleases(t *testing.T) {
	const n = 400
	labels := make([]int, n)
	right := make([]int, n)
	wrong := make([]int, n)
	half := make([]int, n)
	for i := range labels {
		labels[i] = i % 2
		right[i] = labels[i]
		wrong[i] = 1 - labels[i]
		half[i] = labels[i]
		if i/2%2 == 0 {
			half[i] = wrong[i]
		}
	}
	resampling := Bootstrap{Resamples: 400, Level: 0.95, Seed: stream.FromUint64(1)}
	accuracy := func(predicted ...[]int) stats.Interval {
		x := Inferred{Predicted: predicted, Plain: right, Labels: labels, Classes: 2}
		return MeasureAttribute(x, resampling).Accuracy
	}
	steady := accuracy(half, half, half, half)
	if steady.Estimate != 0.5 || steady.High-steady.Low > 0.15 {
		t.Errorf("steady %+v, want 0.5 within 0.15", steady)
	}
	lucky := accuracy(right, wrong, right, wrong)
	if lucky.Estimate != 0.5 || lucky.High-lucky.Low < 0.5 {
		t.Errorf("lucky %+v, want 0.5 with an interval of 0.5 at least", lucky)
	}
}
