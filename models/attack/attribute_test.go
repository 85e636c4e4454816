package attack

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/metrics"
)

// Attackers of a private label say of each document how clear the answer was: above
// 0 where it was right, and of each document another. Of several releases there are
// several answers, and no score.
func TestAnswersHaveScores(t *testing.T) {
	base := situation(t)
	base.Options = Options{Resamples: 20, OwnReleases: 1, TestReleases: 1, Words: 50,
		Model: map[string]any{"hidden": 12, "epochs": 1}}
	base.Train, base.Memo = base.Train[:400], &Memo{}
	attacked := response(base, 0.7)
	several := attacked
	several.Options.TestReleases = 2
	for _, name := range Names() {
		d, _ := Find(name)
		if !strings.HasSuffix(d.Columns[0].Name, "-accuracy") || d.Columns[0].Panel != Label {
			continue
		}
		t.Run(name, func(t *testing.T) {
			o := run(t, name, attacked)[name+"-accuracy"]
			if len(o.Margins) != len(o.Items) || len(o.Items) != len(base.Test) {
				t.Fatalf("%d scores of %d items, %d documents", len(o.Margins), len(o.Items), len(base.Test))
			}
			different := map[float64]bool{}
			for i, item := range o.Items {
				if different[o.Margins[i]] = true; item.Right == 1 && o.Margins[i] < 0 || item.Right == 0 && o.Margins[i] > 0 {
					t.Fatalf("document %d: right %v, score %v", i, item.Right, o.Margins[i])
				}
			}
			if len(different) < 10 {
				t.Errorf("%d different scores: they are labels", len(different))
			}
		})
	}
	if o := run(t, "attribute-static-svm", several)["attribute-static-svm-accuracy"]; o.Margins != nil {
		t.Error("a score of two answers")
	}
}

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
		if o := outcomes[0]; o.Margins != nil || o.Value == metrics.Unknown() {
			t.Errorf("%+v", o)
		}
	}
}
