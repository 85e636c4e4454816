package experiments_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/experiments"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
)

// commandWords is the size of the vocabulary of the command below.
const commandWords = 40

// calibration asks for the ε of a command, which has a kind and knows the words, and of k-RR.
func calibration(t *testing.T, kind, target string) experiments.Calibration {
	t.Helper()
	space, err := lab.OpenSpace(t.Context(), study.GeneratedEmbedding, 50, "", embeddings.First(commandWords, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	return experiments.Calibration{
		Vectors:    experiments.Vectors{Embedding: study.GeneratedEmbedding, Words: commandWords},
		Target:     target,
		Program:    fmt.Sprintf("'%s' client %s '%s'", selfName(t), kind, strings.Join(space.Vocabulary.Words(), " ")),
		Mechanisms: []string{"k-rr"},
		Drawn:      20,
		Runs:       60,
		Tolerance:  0.005,
		Seed:       1,
		Threads:    2,
	}
}

// A command is calibrated like a built-in mechanism: randomised response has
// E_M = 1 − e^ε/(e^ε+n−1) and N_w the rest, so both need the same ε.
func TestCalibrateCommand(t *testing.T) {
	t.Parallel()
	rows := map[string][]experiments.Calibrated{} // by mechanism: two levels of N_w, and one of E_M
	var text string
	for _, target := range []string{"nw=0.5,0.004", "em=0.5"} {
		outcome, err := experiments.Calibrate(t.Context(), calibration(t, "k-rr", target))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range outcome.Records["mechanisms"].([]experiments.Calibrated) {
			rows[r.Mechanism] = append(rows[r.Mechanism], r)
		}
		text = ""
		for _, entry := range outcome.Parts {
			text += entry.Text + "\n"
		}
	}
	own := rows["command"]
	builtin := rows["k-rr"]
	want := math.Log(commandWords - 1)
	if len(own) != 3 || len(builtin) != 3 {
		t.Fatalf("%+v", rows)
	}
	for _, i := range []int{0, 2} {
		// Sampled from 40 words × 60 runs, with fixed seeds: the error of E_M is within 0.05, that is 0.2 of ε.
		if r := own[i]; r.Exact || r.Runs != 60 || math.Abs(r.Achieved.Float()-0.5) > 0.02 ||
			math.Abs(r.Epsilon.Float()-want) > 0.3 {
			t.Errorf("%+v, want ε = %v", r, want)
		}
		if b := builtin[i]; !b.Exact || math.Abs(b.Epsilon.Float()-want) > 0.13 {
			t.Errorf("built in: %+v, want ε = %v", b, want)
		}
	}
	if own[1].Epsilon.Known() || !strings.Contains(own[1].Reason, "does not reach") {
		t.Errorf("%+v is out of reach", own[1])
	}
	// What is printed can stand in a study.
	x, err := study.Parse("x.yaml", []byte("schema: 1\nname: x\nseed: 1\ndatasets: [{name: generated-reviews}]\n"+
		"embeddings: [{name: generated, dimensions: [50]}]\nmodels: [{name: svm}]\nmechanisms:\n"+text), "")
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if m := x.Mechanisms; len(m) != 2 || m[0].Name != "command" || len(m[0].Command) != 4 || m[1].Name != "k-rr" ||
		!slices.Equal(m[0].Epsilons, []float64{own[2].Epsilon.Float()}) || !strings.Contains(text, "# em=0.5: ") {
		t.Errorf("%+v of\n%s", m, text)
	}
}

// A command that fails ends the calibration; it is no reason in a row.
func TestCalibrateBrokenCommand(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{"em=0.5": "exit status 1", "0.5": "must be one of",
		"em=x": `level = "x": must be a number`, "em=0.1,y": `level = "y": must be a number`,
		"nw=1": `level = "1": must be a number > 0 and < 1`, "nw": `level = "": must be a number`} {
		_, err := experiments.Calibrate(t.Context(), calibration(t, "dies", target))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", target, err)
		}
	}
}
