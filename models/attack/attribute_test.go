package attack

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/internal/stats"
)

// Answers that are all right have an interval of their share, in package results; F1
// and advantages of them say why they have none.
func TestScoresWithoutSpread(t *testing.T) {
	s := situation(t)
	if err := s.ready(); err != nil {
		t.Fatal(err)
	}
	labels := privates(s.Test)
	wrong := slices.Clone(labels)
	wrong[0] = 1 - wrong[0]
	for i, found := range [][]int{labels, wrong} {
		outcomes, err := s.attributeOutcomes("x", []answers{{labels: found}}, labels, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes[1:] {
			unknown := math.IsNaN(o.Value.Low) && math.IsNaN(o.Value.High)
			if why := strings.Contains(o.Note, "no interval"); unknown != (i == 0) || why != unknown ||
				math.IsNaN(o.Value.Estimate) {
				t.Errorf("%s, %d wrong: %+v, %q", o.Column, i, o.Value, o.Note)
			}
		}
		if o := outcomes[0]; o.Value == stats.Unknown() {
			t.Errorf("%+v", o)
		}
	}
}
