package attack

import (
	"math"
	"testing"

	"mldpbench/stream"
)

// attempt is right on each of n documents with probability p.
func attempt(name string, n int, p float64, seed uint64) Attempt {
	rng := stream.FromUint64(seed).Rand()
	a := Attempt{Name: name}
	for i := range n {
		item := Item{Document: i, Position: Whole}
		if rng.Float64() < p {
			item.Right = 1
		}
		a.Outcome.Items = append(a.Outcome.Items, item)
	}
	return a
}

// No document is reported by an attacker that it helped to choose: of twenty who
// all guess, the reported ones are not flattered. The standard deviation of 200
// fair coins is .035; halves that chose each other's worst would make it larger,
// so that of 100 coins is granted: five of .05/20 are off with p < 1e-6.
func TestStrongestIsNotFlattered(t *testing.T) {
	t.Parallel()
	total, covered := 0.0, 0
	const runs = 400
	for r := range uint64(runs) {
		var panel []Attempt
		for a := range uint64(20) {
			panel = append(panel, attempt("guess", 200, 0.5, 1000*r+a))
		}
		s, err := FindStrongest(panel, 200, 0.95, stream.FromUint64(r))
		if err != nil {
			t.Fatal(err)
		}
		total += s.Outcome.Value.Estimate
		if s.Outcome.Value.Low <= 0.5 && 0.5 <= s.Outcome.Value.High {
			covered++
		}
		if s.Outcome.Count != 200 {
			t.Fatalf("%d items", s.Outcome.Count)
		}
	}
	if off := math.Abs(total/runs - 0.5); off > 5*0.05/math.Sqrt(runs) {
		t.Errorf("twenty guessers: the strongest is off by %.4f on average", off)
	}
	// Of 400 intervals of 95% (a little less by the bootstrap), fewer than 350 cover with p < 1e-6 at 93%.
	if covered < 345 {
		t.Errorf("%d of %d intervals cover", covered, runs)
	}
}

func TestStrongest(t *testing.T) {
	s, err := FindStrongest([]Attempt{attempt("poor", 1000, 0.5, 1), attempt("good", 1000, 0.8, 2)}, 300, 0.95,
		stream.FromUint64(1))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "good" {
		t.Errorf("the strongest is %q, want good", s.Name)
	}
	if s.Outcome.Count != 1000 {
		t.Errorf("it rests on %d items, want 1000", s.Outcome.Count)
	}
	// 1,000 documents: 5.5 standard deviations are .07.
	value := s.Outcome.Value
	if math.Abs(value.Estimate-0.8) > 0.07 {
		t.Errorf("it finds %.3f, want 0.8 ± 0.07", value.Estimate)
	}
	if !(value.Low < value.Estimate && value.Estimate < value.High) {
		t.Errorf("the interval of %.3f is %.3f to %.3f, want one around it", value.Estimate, value.Low, value.High)
	}
	// One is right on the documents where the other is wrong: the halves choose, and
	// the value stays that of a choice, not of the better of both on each document.
	low, high := attempt("low", 400, 0.5, 4), attempt("high", 400, 0.5, 4)
	for i := range high.Outcome.Items {
		high.Outcome.Items[i].Right = 1 - low.Outcome.Items[i].Right
	}
	low.Outcome.Floor, high.Outcome.Floor = 0.2, 0.4
	s, err = FindStrongest([]Attempt{low, high}, 300, 0.95, stream.FromUint64(1))
	if err != nil {
		t.Fatal(err)
	}
	if s.Outcome.Value.Estimate > 0.6 {
		t.Errorf("of two who guess it finds %.3f, want at most 0.6", s.Outcome.Value.Estimate)
	}
	if s.Outcome.Floor < 0.2 || s.Outcome.Floor > 0.4 {
		t.Errorf("its floor is %.3f, want one between those of both, 0.2 and 0.4", s.Outcome.Floor)
	}
	if _, err := FindStrongest([]Attempt{{Name: "none"}}, 300, 0.95, stream.FromUint64(1)); err == nil {
		t.Error("an attempt without items must be an error")
	}
}

// Words of one document are right and wrong together: the interval is over documents,
// 2·1.96·√(.25/40) = .31 wide.
func TestStrongestOfClusters(t *testing.T) {
	a := Attempt{Name: "one"}
	for i := range 40 * 50 {
		a.Outcome.Items = append(a.Outcome.Items, Item{Document: i / 50, Position: i % 50, Right: float64(i / 50 % 2)})
	}
	s, err := FindStrongest([]Attempt{a}, 2000, 0.95, stream.FromUint64(1))
	if err != nil {
		t.Fatal(err)
	}
	if s.Outcome.Value.Estimate != 0.5 {
		t.Errorf("it finds %v, want 0.5", s.Outcome.Value.Estimate)
	}
	if width := s.Outcome.Value.High - s.Outcome.Value.Low; width < 0.25 || width > 0.37 {
		t.Errorf("its interval is %.3f wide, want 0.31 ± 0.06", width)
	}
}

// Where few documents have items, a resample may have none of them: it does not
// make the interval unknown.
func TestStrongestOfFewDocuments(t *testing.T) {
	a := Attempt{Name: "one"}
	for _, d := range []int{0, 40, 199} { // of 200
		a.Outcome.Items = append(a.Outcome.Items, Item{Document: d, Right: float64(d % 2)})
	}
	s, err := FindStrongest([]Attempt{a}, 500, 0.95, stream.FromUint64(1))
	if err != nil {
		t.Fatal(err)
	}
	if s.Outcome.Count != 3 {
		t.Errorf("it rests on %d items, want 3", s.Outcome.Count)
	}
	if v := s.Outcome.Value; !(v.Low >= 0 && v.Low < v.Estimate && v.Estimate < v.High && v.High <= 1) {
		t.Errorf("the interval of %v is %v to %v, want one around it in 0 to 1", v.Estimate, v.Low, v.High)
	}
	// Each answered on its own half only: nothing is known, and nothing is found.
	b := a
	a.Outcome.Items, b.Outcome.Items = []Item{{Document: 0, Right: 1}}, []Item{{Document: 1, Right: 1}}
	s, err = FindStrongest([]Attempt{a, b}, 500, 0.95, stream.FromUint64(1))
	if err != nil {
		t.Fatal(err)
	}
	if s.Outcome.Count != 0 {
		t.Errorf("with answers on one half each it rests on %d items, want none", s.Outcome.Count)
	}
	for name, v := range map[string]float64{"value": s.Outcome.Value.Estimate, "low": s.Outcome.Value.Low,
		"high": s.Outcome.Value.High} {
		if !math.IsNaN(v) {
			t.Errorf("with answers on one half each its %s is %v, want NaN", name, v)
		}
	}
}
