package results

import (
	"encoding/xml"
	"errors"
	"slices"
	"strings"
	"testing"
)

func gate(t *testing.T, baseline, current []Record) GateReport {
	t.Helper()
	report, err := Gate(baseline, current, DefaultGateLevel)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func failedScopes(g GateReport) []string {
	var scopes []string
	for _, t := range g.Tests {
		if t.Failed {
			scopes = append(scopes, t.Metric+": "+t.Scope)
		}
	}
	return scopes
}

func TestGateSameResultsPass(t *testing.T) {
	records := syntheticStudy(1, 2, 0)
	if g := gate(t, records, records); g.Failed() || g.Cells == 0 || g.New != 0 || g.Resampled {
		t.Errorf("%+v", g)
	}
}

// Eight reseeded pairs with a level of 1e-3 each; the seeds are fixed, so the
// test itself cannot fail by chance.
func TestGateReseedingPasses(t *testing.T) {
	for _, repetitions := range []int{2, 5} {
		base := syntheticStudy(1, repetitions, 0)
		for seed := range uint64(4) {
			if g := gate(t, base, makeSynthetic(100+seed, repetitions, 0)); g.Failed() {
				t.Errorf("seed %d, %d repetitions: %v %v", seed, repetitions, failedScopes(g), g.Broken)
			}
		}
	}
}

// The test set has 400 documents, so one cell of two repetitions has a
// standard error of 3.3 points; a drop of 5 shows over the cells together.
func TestGateFivePointDropFails(t *testing.T) {
	base := syntheticStudy(1, 2, 0)
	reseeded := gate(t, base, syntheticStudy(9, 2, 5))
	if !reseeded.Failed() || !slices.Contains(failedScopes(reseeded), "accuracy: imdb, all cells") {
		t.Errorf("a drop of 5 points under new noise passed: %v", failedScopes(reseeded))
	}
	for _, s := range failedScopes(reseeded) {
		if !strings.HasPrefix(s, "accuracy: ") {
			t.Errorf("only accuracy dropped, yet %s", s)
		}
	}
	// One mechanism on one data set changes, everything else is bit for bit the
	// same.
	base = syntheticStudy(1, 5, 0)
	one := slices.Clone(base)
	for i := range one {
		if one[i].Mechanism == "cmp" && one[i].Dataset == "imdb" {
			one[i].Accuracy -= 5
		}
	}
	if g := gate(t, base, one); !slices.Contains(failedScopes(g), "accuracy: imdb, CMP") {
		t.Errorf("a drop of one mechanism passed: %v", failedScopes(g))
	}
	// An improvement is as suspicious: the mechanism may have stopped adding
	// noise.
	for i := range one {
		one[i].Accuracy = base[i].Accuracy + 5
	}
	if g := gate(t, base, one); !g.Failed() {
		t.Error("a rise of 5 points passed")
	}
	// A change below the threshold raises no alarm, however certain it is.
	for i := range one {
		one[i].Accuracy = base[i].Accuracy - 0.9
	}
	if g := gate(t, base, one); g.Failed() {
		t.Errorf("0.9 points are below the threshold: %v", failedScopes(g))
	}
}

func TestGateOtherSampleWidens(t *testing.T) {
	base, other := syntheticStudy(1, 2, 0), syntheticStudy(3, 2, 2)
	for i := range other {
		other[i].DatasetFingerprint = "another"
	}
	g := gate(t, base, other)
	if !g.Resampled || g.Failed() {
		t.Errorf("another sample, 2 points: resampled %v, failed %v", g.Resampled, failedScopes(g))
	}
	for i := range other {
		other[i].Accuracy -= 28
	}
	if g := gate(t, base, other); !g.Failed() {
		t.Error("30 points on another sample passed")
	}
}

func TestGateBroken(t *testing.T) {
	base := syntheticStudy(1, 2, 0)
	lost := slices.DeleteFunc(slices.Clone(base), func(r Record) bool {
		return r.Mechanism == "vickrey" && r.Epsilon == 5 && r.Dimension == 50
	})
	if g := gate(t, base, lost); !g.Failed() || len(g.Broken) != 2 ||
		!strings.Contains(g.Broken[0], "not in the results") {
		t.Errorf("lost cells: %v", g.Broken)
	}
	if g := gate(t, lost, base); g.Failed() || g.New != 2 {
		t.Errorf("new cells are no regression: %+v", g.Broken)
	}
	unpromised := slices.Clone(base)
	for i := range unpromised {
		if unpromised[i].Mechanism == "cmp" {
			unpromised[i].GuaranteeMetric = ""
		}
	}
	if g := gate(t, base, unpromised); !g.Failed() || !strings.Contains(g.Broken[0],
		`guarantee "euclidean" in the baseline`) {
		t.Errorf("a lost promise: %v", g.Broken)
	}
	undefined := slices.Clone(base)
	for i := range undefined {
		if undefined[i].Mechanism == "cmp" {
			undefined[i].Status = StatusUndefined
		}
	}
	if g := gate(t, base, undefined); !g.Failed() {
		t.Error("a cell that is no longer defined passed")
	}
}

func TestGateIncomparableAndNothing(t *testing.T) {
	base := syntheticStudy(1, 2, 0)
	for name, change := range map[string]func(*Record){
		"study": func(r *Record) { r.Study = "other" },
		"test":  func(r *Record) { r.TestTotal = 100 },
	} {
		other := slices.Clone(base)
		for i := range other {
			change(&other[i])
		}
		var e *GateError
		if _, err := Gate(base, other, DefaultGateLevel); !errors.As(err, &e) {
			t.Errorf("%s: %v, want a GateError", name, err)
		}
	}
	var e *GateError
	if _, err := Gate(nil, base, DefaultGateLevel); !errors.As(err, &e) {
		t.Errorf("empty baseline: %v", err)
	}
	if g := gate(t, base, nil); g.Cells != 0 || g.Failed() {
		t.Errorf("no results: %+v", g)
	}
	elsewhere := slices.Clone(base)
	for i := range elsewhere {
		elsewhere[i].Embedding = "another"
	}
	if g := gate(t, base, elsewhere); g.Cells != 0 {
		t.Errorf("no common cell: %+v", g)
	}
}

func TestGateJUnit(t *testing.T) {
	g := gate(t, syntheticStudy(1, 2, 0), syntheticStudy(9, 2, 5))
	g.Broken = append(g.Broken, `a <cell> & "more"`)
	var b strings.Builder
	if err := g.WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != len(g.Tests)+1 || got.Failures != len(failedScopes(g))+1 {
		t.Errorf("%d tests, %d failures; the report has %d and %d", got.Tests, got.Failures, len(g.Tests)+1,
			len(failedScopes(g))+1)
	}
	if last := got.Suites[len(got.Suites)-1]; last.Cases[0].Failure == nil ||
		last.Cases[0].Name != `a <cell> & "more"` {
		t.Errorf("last suite %+v", last)
	}
}
