package experiments_test

import (
	"os"
	"path/filepath"
	"testing"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/results"
	"mldpbench/results/compare"
)

// Aligning adds ε only where a level lies between measured points that are far
// apart, each once, until they are near, however steep the line; the study with them
// is a study of its own whose units are all finished.
func TestRunAligned(t *testing.T) {
	t.Parallel()
	s := own(t, "  - {name: cmp, epsilons: [0.2]}\n  - {name: k-rr, epsilons: [1, 6]}\n"+
		"  - {name: tem, epsilons: [0.1, 8]}")
	s = withText(t, s, "    samples: 10", "    samples: 40")
	const level = 0.4
	out := t.TempDir()
	sum, err := experiments.RunAligned(t.Context(), s, "", engine.Options{Out: out},
		results.Levels{Quantity: results.EM, At: []float64{level}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := results.Prepare(results.Run{Rows: sum.Rows})
	if err != nil {
		t.Fatal(err)
	}
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
	again := parsed(t, string(data))
	if second := mustRun(t, again, engine.Options{Out: out}); second.Ran != 0 || second.Total != sum.Total {
		t.Errorf("%d of %d units run again, %d before", second.Ran, second.Total, sum.Total)
	}
}
