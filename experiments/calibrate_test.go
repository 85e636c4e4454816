package experiments_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/experiments"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/stream"
)

// commandWords is the size of the vocabulary of the command below.
const commandWords = 40

// This binary, called with "k-rr" and a list of words, is a mechanism from
// outside: randomised response over them. "broken" does not answer.
func init() {
	if len(os.Args) < 3 || os.Args[1] != "k-rr" && os.Args[1] != "broken" {
		return
	}
	words := strings.Fields(os.Args[2])
	handle := func(_ context.Context, epsilon float64, documents [][]string, seeds []stream.Seed) ([][]string, error) {
		if os.Args[1] == "broken" {
			os.Exit(1)
		}
		stay := math.Exp(epsilon) / (math.Exp(epsilon) + float64(len(words)-1))
		for i, d := range documents {
			rng := seeds[i].Rand()
			for j, w := range d {
				if at := slices.Index(words, w); rng.Float64() >= stay {
					if k := rng.IntN(len(words) - 1); k < at {
						d[j] = words[k]
					} else {
						d[j] = words[k+1]
					}
				}
			}
		}
		return documents, nil
	}
	hello := external.Hello{Name: "response", Version: "1", Repeatable: true}
	handler := external.Handler{Documents: handle}
	if err := external.Serve(context.Background(), os.Stdin, os.Stdout, hello, handler); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func calibration(t *testing.T, kind string) experiments.CalibrateRequest {
	t.Helper()
	e := study.EmbeddingSpec{Name: study.GeneratedEmbedding, Dimensions: []int{50}}
	space, err := lab.New("").Words(t.Context(), e, 50)
	if err == nil {
		space, err = space.Restrict(embeddings.First(commandWords, nil))
	}
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return experiments.CalibrateRequest{
		Embedding: e, Vocabulary: commandWords, Words: 20, Runs: 60, Tolerance: 0.02, Seed: 1,
		Mechanisms: []mechanisms.Settings{{Mechanism: "own", Outside: &mechanisms.Outside{
			Command: []string{self, kind, strings.Join(space.Vocabulary.Words(), " ")}}}, {Mechanism: "k-rr"}},
		Targets: []experiments.Target{{Quantity: "em", Value: 0.5}, {Quantity: "nw", Value: 0.5},
			{Quantity: "nw", Value: 0.004}},
	}
}

// A command is calibrated like a built-in mechanism: randomised response has
// E_M = 1 − e^ε/(e^ε+n−1) and N_w the rest, so both need the same ε.
func TestCalibrateCommand(t *testing.T) {
	var rows []experiments.CalibratedMechanism
	var text bytes.Buffer
	if err := experiments.Calibrate(t.Context(), calibration(t, "k-rr"), func(r []experiments.CalibratedMechanism,
		entry string) error {
		rows = append(rows, r...)
		text.WriteString(entry)
		return nil
	}); err != nil || len(rows) != 6 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	want := math.Log(commandWords - 1)
	for i, r := range rows[:2] {
		// Sampled from 40 words × 60 runs, with fixed seeds: the error of E_M is within 0.05, that is 0.2 of ε.
		if r.Exact || r.Runs != 60 || math.Abs(r.Achieved.Float()-0.5) > 0.02 || math.Abs(r.Epsilon.Float()-want) > 0.3 {
			t.Errorf("%+v, want ε = %v", r, want)
		}
		if b := rows[3+i]; !b.Exact || math.Abs(b.Epsilon.Float()-want) > 0.13 {
			t.Errorf("built in: %+v, want ε = %v", b, want)
		}
	}
	if rows[2].Epsilon.Known() || !strings.Contains(rows[2].Reason, "does not reach") {
		t.Errorf("%+v is out of reach", rows[2])
	}
	// What is printed for a study can stand in one.
	x, err := study.Parse("x.yaml", []byte("schema: 1\nname: x\nseed: 1\ndatasets: [{name: generated-reviews}]\n"+
		"embeddings: [{name: generated, dimensions: [50]}]\nmodels: [{name: svm}]\nmechanisms:\n"+text.String()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	if m := x.Mechanisms; len(m) != 2 || m[0].Name != "own" || len(m[0].Command) != 3 || m[1].Name != "k-rr" ||
		len(m[1].Epsilons) != 2 || !slices.Contains(m[0].Epsilons, rows[0].Epsilon.Float()) ||
		!strings.Contains(text.String(), "# em=0.5: ") {
		t.Errorf("%+v of\n%s", m, text.String())
	}
}

// A command that fails ends the calibration; it is no reason in a row.
func TestCalibrateBrokenCommand(t *testing.T) {
	err := experiments.Calibrate(t.Context(), calibration(t, "broken"),
		func([]experiments.CalibratedMechanism, string) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("%v", err)
	}
}

func TestParseTargets(t *testing.T) {
	got, err := experiments.ParseTargets([]string{"em=0.1", "0.5", "nw=0.2"})
	if want := []experiments.Target{{Quantity: "em", Value: 0.1}, {Quantity: "em", Value: 0.5}, {Quantity: "nw", Value: 0.2}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range [][]string{{"0.5"}, {"em=x"}, {"x=1"}, {"em=0.1", "y"}} {
		if _, err := experiments.ParseTargets(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
