package experiments_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/results"
	"mldpbench/results/compare"
)

// Aligning adds ε only where a level lies between measured points that are far
// apart, each once, until they are near; the study with them is a study of its
// own whose units are all finished.
func TestRunAligned(t *testing.T) {
	t.Parallel()
	s := own(t, "  - {name: cmp, epsilons: [0.2]}\n  - {name: k-rr, epsilons: [1, 6]}\n  - {name: tem, epsilons: [0.1, 8]}")
	s = withText(t, s, "    samples: 10", "    samples: 40")
	levels, err := results.ParseLevels("em=0.4")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	sum, err := experiments.RunAligned(t.Context(), s, "", engine.Options{Out: out}, levels)
	if err != nil {
		t.Fatal(err)
	}
	p, err := results.Prepare(results.Run{Rows: sum.Rows})
	if err != nil {
		t.Fatal(err)
	}
	apart(t, p, 0.4)
	epsilons := map[string]int{}
	for _, g := range results.GroupCells(results.Texts(p.Private())) {
		epsilons[g.Mechanism]++
	}
	// k-RR at ε = 1 and 6 is on either side; CMP at 0.2 is beyond the end that it needs.
	if epsilons["k-rr"] < 4 || epsilons["k-rr"] > 9 || epsilons["cmp"] < 3 {
		t.Errorf("ε by mechanism: %v", epsilons)
	}
	file := filepath.Join(out, experiments.AlignedFile)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := study.Parse(file, data)
	if err != nil {
		t.Fatal(err)
	}
	if second := mustRun(t, again, engine.Options{Out: out}); second.Ran != 0 || second.Total != sum.Total {
		t.Errorf("%d of %d units run again, %d before", second.Ran, second.Total, sum.Total)
	}
}

// apart fails where a line has no measured points near a level, on either side.
func apart(t *testing.T, p *results.Prepared, level float64) {
	t.Helper()
	for _, a := range compare.Align(p, compare.Question{Privacy: results.EM}, level) {
		for _, l := range a.Lines {
			below, above := 0.0, 1.0
			for _, x := range l.Points {
				if x.Privacy <= level {
					below = max(below, x.Privacy)
				}
				if x.Privacy >= level {
					above = min(above, x.Privacy)
				}
			}
			if above-below > 0.1 {
				t.Errorf("%s: nothing measured between E_M %.3f and %.3f", l.Mechanism, below, above)
			}
		}
	}
}

// On a steep line a tenth of E_M is a few percent of ε: points are added however
// near they are to a measured one.
func TestRunAlignedOnASteepLine(t *testing.T) {
	t.Parallel()
	s, err := study.Parse("steep.yaml", []byte("schema: 1\nname: steep\nseed: 4\nrepetitions: 1\nsettings: [local]\n"+
		"metrics: {inference_error: {samples: 10}}\nmodels: [{name: svm}]\n"+
		"embeddings: [{name: generated, dimensions: [20]}]\nmechanisms: [{name: k-rr, epsilons: [6, 6.45]}]\n"+
		"datasets: [{name: generated-reviews, train: 100, validation: 20, test: 40}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	const level = 0.58
	o := engine.Options{Out: t.TempDir()}
	levels, err := results.ParseLevels(fmt.Sprintf("em=%v", level))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := experiments.RunAligned(t.Context(), s, "", o, levels)
	if err != nil {
		t.Fatal(err)
	}
	p, err := results.Prepare(results.Run{Rows: sum.Rows})
	if err != nil {
		t.Fatal(err)
	}
	apart(t, p, level)
}
