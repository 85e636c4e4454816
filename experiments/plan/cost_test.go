package plan_test

import (
	"strings"
	"testing"

	"mldpbench/experiments/lab"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/task"
)

// TestCostOfAttackers checks that the work of all attackers is charged once for
// each release, and grows with what a draw costs.
func TestCostOfAttackers(t *testing.T) {
	task, size, err := task.Open("generated-styles/lite")
	if err != nil {
		t.Fatal(err)
	}
	s, err := task.Study(size)
	if err != nil {
		t.Fatal(err)
	}
	units, err := plan.Units(s, lab.New(""), nil)
	if err != nil {
		t.Fatal(err)
	}
	releases, charged, attacks := map[string]bool{}, 0, map[string]float64{}
	for i, u := range units {
		if i == 0 {
			if _, err := u.Data(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if u.Place.Mechanism == "none" {
			continue
		}
		releases[u.Group] = true
		attacker := !strings.HasSuffix(u.Name, ": accuracy")
		if c := u.Cost(); attacker && c.Seconds > 0.05 {
			charged++
			attacks[u.Place.Mechanism] = c.Seconds
		}
	}
	if len(releases) < 40 || charged != len(releases) {
		t.Errorf("%d of %d releases have one unit that is charged for their attackers", charged, len(releases))
	}
	if rows, noise, weighed := attacks["k-rr"], attacks["cmp"], attacks["rantext"]; !(rows < noise && noise < weighed) {
		t.Errorf("attacks take %v s by rows, %v by noise, %v by weighing all words", rows, noise, weighed)
	}
}
