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
	if s.Name != "good" || s.Outcome.Count != 1000 {
		t.Errorf("%+v", s)
	}
	// 1,000 documents: 5.5 standard deviations are .07.
	if math.Abs(s.Outcome.Value.Estimate-0.8) > 0.07 || s.Outcome.Value.Low >= s.Outcome.Value.Estimate ||
		s.Outcome.Value.High <= s.Outcome.Value.Estimate {
		t.Errorf("%+v", s.Outcome.Value)
	}
	// One is right on the documents where the other is wrong: the halves choose, and
	// the value stays that of a choice, not of the better of both on each document.
	low, high := attempt("low", 400, 0.5, 4), attempt("high", 400, 0.5, 4)
	for i := range high.Outcome.Items {
		high.Outcome.Items[i].Right = 1 - low.Outcome.Items[i].Right
	}
	low.Outcome.Floor, high.Outcome.Floor = 0.2, 0.4
	if s, err = FindStrongest([]Attempt{low, high}, 300, 0.95, stream.FromUint64(1)); err != nil ||
		s.Outcome.Value.Estimate > 0.6 ||
		s.Outcome.Floor < 0.2 || s.Outcome.Floor > 0.4 {
		t.Errorf("%+v, %v", s, err)
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
	if w := s.Outcome.Value.High - s.Outcome.Value.Low; err != nil || s.Outcome.Value.Estimate != 0.5 ||
		w < 0.25 || w > 0.37 {
		t.Errorf("%+v, %v", s, err)
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
	if err != nil || s.Outcome.Count != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	if v := s.Outcome.Value; !(v.Low >= 0 && v.Low < v.Estimate && v.Estimate < v.High && v.High <= 1) {
		t.Errorf("%+v", v)
	}
	// Each answered on its own half only: nothing is known, and nothing is found.
	b := a
	a.Outcome.Items, b.Outcome.Items = []Item{{Document: 0, Right: 1}}, []Item{{Document: 1, Right: 1}}
	if s, err = FindStrongest([]Attempt{a, b}, 500, 0.95, stream.FromUint64(1)); err != nil || s.Outcome.Count != 0 ||
		!math.IsNaN(s.Outcome.Value.Estimate) || !math.IsNaN(s.Outcome.Value.Low) || !math.IsNaN(s.Outcome.Value.High) {
		t.Errorf("%+v, %v", s, err)
	}
}
