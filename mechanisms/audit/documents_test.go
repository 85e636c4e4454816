package audit

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// publicTexts is an environment with public texts of the words of a space.
func publicTexts(t *testing.T) mechanisms.Environment {
	t.Helper()
	env := environment(spacetest.Gaussian(t, 60, 5, 1, 9))
	env.Pool = func(string) (texts []string, err error) {
		for i := range 50 {
			texts = append(texts, fmt.Sprintf("w%d w%d", i, i+7))
		}
		return texts, nil
	}
	return env
}

// Exact audits of mechanisms of documents: sound ones are not refuted, and would be at 1% more
// than they claim where all of ε is used; what guarantees nothing is.
func TestDocuments(t *testing.T) {
	env := publicTexts(t)
	for name, wants := range map[string]string{
		"proved":         "not refuted",
		"similarity":     "not refuted",
		"random":         "not refuted",
		"always-nearest": "violated (exact)",
	} {
		s := mechanisms.Settings{Mechanism: "select", Variant: mechanisms.Variant(name), Epsilon: 3}
		if name == "proved" {
			s.Parameters = mechanisms.Parameters{"k": 5}
		}
		r, err := Run(t.Context(), env, s, Options{Words: 100, Seed: stream.FromUint64(1)})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict() != wants || r.Method != Exact || r.Words != 100 {
			t.Errorf("%s: %s by %q of %d texts, want %s (exact, 100)", name, r.Verdict(), r.Method, r.Words, wants)
		}
		if name == "proved" && !strings.Contains(r.DetectsText(), "1 times the claimed epsilon") {
			t.Errorf("%s: %q, want that 1 times the claimed ε would have been found", name, r.DetectsText())
		}
	}
	m, err := mechanisms.New(env, mechanisms.Settings{Mechanism: "select", Epsilon: 3.03,
		Parameters: mechanisms.Parameters{"k": 5}})
	if err != nil {
		t.Fatal(err)
	}
	r := judged(t, m.Promising(mechanisms.BetweenDocuments(3, "claimed")), env.Space, Options{})
	if !r.Violated || r.Worst.A == "" {
		t.Errorf("ε = 3.03 that claims 3: %s, %+v, want that it is violated", r.Verdict(), r.Worst)
	}
}

// A number of near texts that depends on the private one breaks ε, as the normaliser then does:
// e^ε on the first text for a short one, on all but the first for a long one.
func TestDocumentsWithoutOneNormaliser(t *testing.T) {
	const n, epsilon = 50, 2.0
	env := publicTexts(t)
	texts, _ := env.Pool("")
	logRows := func(_ context.Context, read []string) ([][]float64, error) {
		rows := make([][]float64, len(read))
		for i, text := range read {
			short := len(strings.Fields(text)) < 3
			near := n - 1
			if short {
				near = 1
			}
			normaliser := math.Log(float64(near)*math.Exp(epsilon) + float64(n-near))
			rows[i] = make([]float64, n)
			for y := range rows[i] {
				rows[i][y] = -normaliser
				if (y == 0) == short {
					rows[i][y] += epsilon
				}
			}
		}
		return rows, nil
	}
	s := mechanisms.Settings{Mechanism: "mine", Epsilon: epsilon}
	m, err := mechanisms.ByDocuments(env, s, mechanisms.BetweenDocuments(epsilon, "claimed"),
		mechanisms.Documents{Outputs: texts, LogRows: logRows})
	if err != nil {
		t.Fatal(err)
	}
	r := judged(t, m, env.Space, Options{})
	if !r.Violated {
		t.Errorf("%s, %+v, want that it is violated", r.Verdict(), r.Worst)
	}
	drawn := func(_ context.Context, texts []string, _ []stream.Seed) ([]string, error) { return texts, nil }
	m, err = mechanisms.ByDocuments(env, s, mechanisms.BetweenDocuments(epsilon, "claimed"),
		mechanisms.Documents{Draw: drawn})
	if err != nil {
		t.Fatal(err)
	}
	if r := judged(t, m, env.Space, Options{}); r.Method != NoAudit {
		t.Errorf("without rows: %s, want that nothing is audited", r.Verdict())
	}
}
