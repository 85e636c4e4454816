package experiments_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// A level is looked for beyond the ε of a study too, until two near each other are
// around it, however steep the line, and what is not known of the line is less than
// half of all else; the study with them is a study of its own whose units are all
// finished.
func TestRunAligned(t *testing.T) {
	t.Parallel()
	s := own(t, "  - {name: cmp, epsilons: [0.2]}\n  - {name: k-rr, epsilons: [1, 6]}\n"+
		"  - {name: tem, epsilons: [0.1, 8]}")
	s = withText(t, s, "    samples: 10", "    samples: 40")
	const level = 0.4
	out := t.TempDir()
	outcome, err := experiments.Run(t.Context(), experiments.Running{Parsed: s, Out: out,
		Levels: quantity.Levels{Quantity: "em", At: []float64{level}}})
	if err != nil {
		t.Fatal(err)
	}
	p := outcome.Analysis
	for _, a := range p.Alignments("", level) {
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
			rest := math.Sqrt(l.Error*l.Error - l.Interpolation*l.Interpolation)
			if above-below > 0.05 || l.Interpolation > rest/2 {
				t.Errorf("%s: nothing measured between E_M %.3f and %.3f: ± %g beside ± %g", l.Mechanism, below, above,
					l.Interpolation, rest)
			}
		}
	}
	epsilons := map[string]int{}
	for _, g := range results.GroupCells(results.Texts(p.Private())) {
		epsilons[g.Mechanism]++
	}
	// CMP at 0.2 is beyond the end that it needs; all is measured around the level only.
	for _, name := range []string{"cmp", "k-rr", "tem"} {
		if n := epsilons[name]; n < 2 || n > 4 {
			t.Errorf("ε by mechanism: %v", epsilons)
		}
	}
	file := filepath.Join(out, experiments.AlignedFile)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := parsed(t, string(data))
	if second := mustRun(t, again, engine.Options{Out: out}); second.Ran != 0 || len(second.Rows) != len(p.Rows) {
		t.Errorf("%d of %d units run again, want none; %d rows, want %d as before", second.Ran, second.Total,
			len(second.Rows), len(p.Rows))
	}
}

// A line that comes no nearer, here of texts made at two ε, ends the run with a sentence;
// the folder then has all that was measured, not only what the last search asked for.
func TestRunAlignedStops(t *testing.T) {
	t.Parallel()
	s := own(t, "  - {name: cmp, epsilons: [1, 4]}\n"+
		"  - {name: rewritten, text: \"DIR/{epsilon}.csv\", columns: [text], epsilons: [1, 9]}")
	plain, err := os.ReadFile(s.Datasets[0].File)
	if err != nil {
		t.Fatal(err)
	}
	dir, lines := t.TempDir(), strings.Split(string(plain), "\n")
	for epsilon, changed := range map[int]int{1: 11, 9: 1} {
		made := lines[0]
		for _, line := range lines[1 : len(lines)-1] {
			words := strings.Fields(line)
			for i := range changed {
				words[i] = "alien"
			}
			made += "\n" + strings.Join(words, " ")
		}
		put(t, dir, fmt.Sprintf("%d.csv", epsilon), made+"\n")
	}
	s = withText(t, s, "DIR/{epsilon}.csv", filepath.Join(dir, "{epsilon}.csv"))
	var log bytes.Buffer
	out := t.TempDir()
	outcome, err := experiments.Run(t.Context(), experiments.Running{Call: experiments.Call{Log: &log}, Parsed: s,
		Out: out, Levels: quantity.Levels{Quantity: "pp", At: []float64{50}}})
	if err != nil {
		t.Fatal(err)
	}
	const sentence = "more than half of all else: CMP on mine, rewritten on mine\n"
	if !strings.Contains(log.String(), sentence) {
		t.Errorf("no %q in %s", sentence, &log)
	}
	if rows, err := results.Read(filepath.Join(out, "results.csv")); err != nil ||
		len(rows) != len(outcome.Analysis.Rows) {
		t.Errorf("%d rows in the folder, want the %d measured: %v", len(rows), len(outcome.Analysis.Rows), err)
	}
}
