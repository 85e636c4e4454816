package experiments_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	s = withText(t, s, "    samples: 10", "    samples: 10\n    full: true")
	levels, err := results.ParseLevels("em=0.4")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	sum, err := experiments.RunAligned(t.Context(), s, "", engine.Options{Out: out}, experiments.Targets{Levels: levels},
		func(file, key string) string { return file + ":" + key })
	if err != nil {
		t.Fatal(err)
	}
	p, err := results.Prepare(results.Run{Rows: sum.Rows})
	if err != nil {
		t.Fatal(err)
	}
	if gaps := compare.Gaps(compare.Align(p, compare.Question{Privacy: results.EM}, 0.4), 0.1); len(gaps) > 0 {
		t.Errorf("still far apart: %+v", gaps)
	}
	epsilons := map[string]int{}
	for _, g := range results.GroupCells(results.Texts(p.Private())) {
		epsilons[g.Mechanism]++
	}
	if epsilons["k-rr"] < 4 || epsilons["k-rr"] > 8 || epsilons["cmp"] != 1 {
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
	for _, r := range sum.Rows {
		if r.Command != "" && !strings.HasPrefix(r.Command, file+":") {
			t.Errorf("command %q", r.Command)
		}
	}
}

// Points are added where 10 points of accuracy are lost, until measured ones are
// near each other (36 points at first); a study
// without accuracy says so.
func TestRunAtLoss(t *testing.T) {
	t.Parallel()
	s, err := study.Parse("lost.yaml", []byte("schema: 1\nname: lost\nseed: 4\nepsilons: [1, 12]\nrepetitions: 1\n"+
		"embeddings: [{name: generated, dimensions: [20]}]\nmechanisms: [{name: k-rr}]\nprotocol: attacks\n"+
		"scenes:\n  - datasets: [{name: generated-reviews, train: 400, validation: 50, test: 400}]\n"+
		"    utility: {name: svm}\n    mechanisms: [{name: k-rr}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	at := experiments.Targets{Lost: []float64{10}}
	rerun := func(file, key string) string { return "" }
	sum, err := experiments.RunAligned(t.Context(), s, "", engine.Options{Out: t.TempDir()}, at, rerun)
	if err != nil {
		t.Fatal(err)
	}
	p, err := results.Prepare(results.Run{Rows: sum.Rows})
	if err != nil {
		t.Fatal(err)
	}
	epsilons := map[results.Float]bool{}
	for _, c := range p.Private() {
		epsilons[c.Epsilon] = true
	}
	if len(epsilons) < 4 {
		t.Errorf("ε %v", epsilons)
	}
	if gaps := compare.Gaps(compare.AtLoss(p, compare.Question{Privacy: "accuracy"}, 10), 9); len(gaps) > 0 {
		t.Errorf("still far apart: %+v", gaps)
	}
	tem, err := experiments.Builtin.Open(smallFile("tem"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = experiments.RunAligned(t.Context(), tem, "", engine.Options{Out: t.TempDir()}, at, rerun)
	if err == nil || !strings.Contains(err.Error(), "lost = [10]: the study measures no accuracy") {
		t.Errorf("%v", err)
	}
}

// On a steep line a tenth of E_M is a few percent of ε: points are added however
// near they are to a measured one.
func TestRunAlignedOnASteepLine(t *testing.T) {
	t.Parallel()
	s, err := study.Parse("steep.yaml", []byte("schema: 1\nname: steep\nseed: 4\nrepetitions: 1\nsettings: [local]\n"+
		"protocol: grid\nmetrics: {inference_error: {full: true, samples: 10}}\nmodels: [{name: svm}]\n"+
		"embeddings: [{name: generated, dimensions: [20]}]\nmechanisms: [{name: k-rr, epsilons: [6, 6.45]}]\n"+
		"datasets: [{name: generated-reviews, train: 100, validation: 20, test: 40}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	const level = 0.58
	gaps := func(sum *engine.Summary) []compare.Gap {
		p, err := results.Prepare(results.Run{Rows: sum.Rows})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range p.Private() {
			if m, ok := c.At(results.EM); ok {
				t.Logf("ε = %v: E_M %.3f", c.Epsilon, float64(m.Value))
			}
		}
		return compare.Gaps(compare.Align(p, compare.Question{Privacy: results.EM}, level), 0.1)
	}
	o := engine.Options{Out: t.TempDir()}
	if g := gaps(mustRun(t, s, o)); len(g) != 1 {
		t.Fatalf("%d gaps to begin with", len(g))
	}
	levels, err := results.ParseLevels(fmt.Sprintf("em=%v", level))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := experiments.RunAligned(t.Context(), s, "", o, experiments.Targets{Levels: levels},
		func(string, string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if g := gaps(sum); len(g) > 0 {
		t.Errorf("still far apart: %+v", g)
	}
}
