package papers

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/stream"
)

// TestUtilityUnitsStayWithOtherEpsilons: an ε added to a panel must not cost
// the ones that are finished.
func TestUtilityUnitsStayWithOtherEpsilons(t *testing.T) {
	keys := func(s Study) map[string]string {
		units, err := s.plan(t.Context(), &Lab{})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, u := range units {
			if out[u.String()], err = u.key(s.header()); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	all := keys(open(t, "tem-generated"))
	data, err := Builtin.Source("tem-generated")
	if err != nil {
		t.Fatal(err)
	}
	fewer, err := Parse("fewer.yaml", []byte(strings.Replace(string(data), "epsilons: [1, 4, 20]", "epsilons: [4]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	some := keys(fewer)
	if len(all) != 7 || len(some) != 3 { // the baseline, and two curves over each ε
		t.Fatalf("%d and %d units, want 7 and 3", len(all), len(some))
	}
	for unit, key := range some {
		if all[unit] != key {
			t.Errorf("%s: key %s among all ε, %s among fewer", unit, all[unit], key)
		}
	}
}

// TestUtilityPrivatizesWhatIsMeant: per placement, which texts of which trial
// the mechanism has had.
func TestUtilityPrivatizesWhatIsMeant(t *testing.T) {
	s := open(t, "tem-generated").(*temStudy)
	panel := s.Panels[0]
	lab := &Lab{}
	d, err := panel.Dataset.open(t.Context(), lab, s.seed())
	if err != nil {
		t.Fatal(err)
	}
	space, err := panel.Embedding.open(t.Context(), lab, inSet(counts(d)))
	if err != nil {
		t.Fatal(err)
	}
	task := &utilityTask{panel: panel, table: newTable(space)}
	task.target, task.shadow = halve(d)
	plain := texts{task.encode(task.target), task.encode(task.shadow)}
	task.read = plain
	m, err := mechanisms.New(mechanisms.Environment{Space: space}, mechanisms.Settings{Mechanism: "cmp", Epsilon: 10})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]struct{ train, test bool }{
		atTraining: {train: true}, atTest: {test: true}, atBoth: {true, true},
	} {
		private, err := task.privatize(t.Context(), m, at, stream.FromUint64(1))
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range private {
			for _, c := range []struct {
				what    string
				meant   bool
				is, was models.Examples
			}{
				{"training", want.train, p.target.train, plain.target.train},
				{"validation", want.train, p.target.validation, plain.target.validation},
				{"test", want.test, p.target.test, plain.target.test},
				{"shadow training", want.train, p.shadow.train, plain.shadow.train},
				{"shadow validation", want.train, p.shadow.validation, plain.shadow.validation},
				{"shadow test", false, p.shadow.test, plain.shadow.test},
			} {
				if !slices.Equal(lengths(c.is), lengths(c.was)) || !slices.Equal(c.is.Labels, c.was.Labels) {
					t.Errorf("privatize: %s, trial %d: the %s texts are not the same documents", at, i, c.what)
				}
				if changed := !reflect.DeepEqual(c.is, c.was); changed != c.meant {
					t.Errorf("privatize: %s, trial %d, %s texts changed: %v, want %v", at, i, c.what, changed, c.meant)
				}
			}
		}
		if reflect.DeepEqual(private[0], private[1]) {
			t.Errorf("privatize: %s: two trials have the same noise", at)
		}
	}
}

func lengths(x models.Examples) []int {
	out := make([]int, len(x.Sequences))
	for i, s := range x.Sequences {
		out[i] = len(s)
	}
	return out
}
