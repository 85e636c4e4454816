package experiments_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mldpbench/experiments/study"
)

// What the program writes it reads: each number of a study, of any size, comes back.
func TestNumbersOfAStudyComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	numbers := []float64{1e-5, 1e-4, 0.0001234, 1e21, 1e-320, 123456789, 5e-324, math.MaxFloat64, 1e5, 2.5e-7}
	for range 20 {
		numbers = append(numbers, math.Pow(10, 600*rng.Float64()-300)) // 1e-300 to 1e300
	}
	for _, x := range numbers {
		share := max(1e-9, math.Mod(x, 1)) // of parameters with limits
		text := fmt.Sprintf("schema: 1\nname: numbers\nseed: %d\ndatasets: [{name: generated-words}]\n"+
			"embeddings: [{name: generated, dimensions: [50]}]\nepsilons: [%g, 1]\nmechanisms:\n"+
			"  - {name: vickrey, parameters: {t: [%g, 0.5]}, epsilons: [%g]}\n"+
			"  - {name: own, command: [go, \"{x}\", \"{y}\"], parameters: {x: %g, y: [%g, 2]}}\n"+
			"models: [{name: svm, parameters: {tolerance: %g}}]\n"+
			"", rng.Uint64(), x, share, x, x, x, x)
		s := parsed(t, text)
		p, err := s.Models[0].Resolve()
		if err != nil || p["tolerance"] != x || s.Epsilons[0] != x || s.Mechanisms[0].Epsilons[0] != x {
			t.Fatalf("%g: tolerance %v, epsilons %v, %v", x, p["tolerance"], s.Epsilons, err)
		}
		roundTrip(t, s)
		set, err := s.Override(study.Overrides{Set: []string{"title=same"}})
		if err != nil || set.Epsilons[0] != x {
			t.Fatalf("%g: after --set %v, %v", x, set.Epsilons, err)
		}
	}
}

// A number is one however it is written: as by hand (1e-5), by Python's json (1e-05) and
// by its yaml.safe_dump (1.0e-05, as PyYAML reads 1e-5 as text); the units are the same.
func TestNumbersInEveryForm(t *testing.T) {
	var first []string
	for _, form := range []string{"0.00001", "1e-5", "1e-05", "1.0e-05", "1.0e-5", "1E-5", "1.0E-05", "+1e-5"} {
		s := parsed(t, "schema: 1\nname: forms\nseed: 1\ndatasets: [{name: generated-words}]\n"+
			"embeddings: [{name: generated, dimensions: [50]}]\nepsilons: ["+form+", 1]\nmechanisms:\n"+
			"  - {name: vickrey, parameters: {t: ["+form+"]}, epsilons: ["+form+"]}\n"+
			"  - {name: own, command: [go, \"{x}\"], parameters: {x: "+form+"}}\n"+
			"models: [{name: svm, parameters: {tolerance: "+form+"}}]\n")
		if s.Epsilons[0] != 1e-5 || s.Mechanisms[0].Epsilons[0] != 1e-5 {
			t.Errorf("%s: epsilons %v and %v, want 1e-05", form, s.Epsilons, s.Mechanisms[0].Epsilons)
		}
		p, err := s.Models[0].Resolve()
		if err != nil || p["tolerance"] != 1e-5 {
			t.Errorf("%s: tolerance %v, error %v, want 1e-05", form, p["tolerance"], err)
		}
		set, err := s.Override(study.Overrides{Set: []string{"epsilons=[" + form + "]"}})
		if err != nil || set.Epsilons[0] != 1e-5 {
			t.Errorf("%s: after --set %v, error %v, want 1e-05", form, set.Epsilons, err)
		}
		roundTrip(t, s)
		var ids []string
		for _, u := range units(t, s) {
			ids = append(ids, fmt.Sprint(u.ID))
		}
		if first == nil {
			first = ids
		}
		if !slices.Equal(ids, first) {
			t.Errorf("%s: the units are\n%v\nwant those of 0.00001,\n%v", form, ids, first)
		}
	}
}
