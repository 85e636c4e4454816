package models

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"mldpbench/internal/kernel"
	"mldpbench/stream"
)

// bits is a short hash of numbers as they are stored.
func bits(numbers ...any) string {
	h := sha256.New()
	for _, x := range numbers {
		_ = binary.Write(h, binary.LittleEndian, x) // a hash takes everything
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// splits are documents to train on, to validate and to score.
type splits struct{ train, validation, test Examples }

// bitsOfModel are those of the losses, of what validation chose and of the scores of a model of the registry.
func bitsOfModel(t *testing.T, name string, o Options, x splits) string {
	t.Helper()
	m, h, _ := fitted(t, name, o, x.train, x.validation)
	return bits(h.Losses, h.Accuracy, []byte(h.Chosen), slices.Concat(scores(t, m, x.test)...))
}

func bitsOfNGrams(t *testing.T, o Options, x splits) string {
	t.Helper()
	spelling := func(token int32) string { return fmt.Sprintf("w%do", token*7) }
	n := NGramOptions{Classes: o.Classes, Spelling: spelling, Embedding: o.Embedding}
	m, h, err := FitNGrams(t.Context(), n, x.train, x.validation)
	if err != nil {
		t.Fatal(err)
	}
	return bits([]byte(h.Chosen), slices.Concat(scores(t, m, x.test)...))
}

func bitsOfMembership(t *testing.T, o Options, x splits) string {
	t.Helper()
	m, _, _ := fitted(t, "svm", o, x.train, x.validation)
	known := Membership{Model: m, Members: x.train, Others: x.test}
	found, _, err := MembershipInference(t.Context(), known, known, stream.FromUint64(42))
	if err != nil {
		t.Fatal(err)
	}
	return bits(found)
}

// Rearranging code must not change a number: these are hashes of what the code of 28 November 2026 computed. Another
// hash is a changed result, as CONTRIBUTING says. They are of one instruction set, because others may differ in the
// last bits.
func TestModelsKeepTheirBits(t *testing.T) {
	if runtime.GOARCH != "amd64" || !slices.Contains(kernel.Paths(), "avx2") {
		t.Skip("the hashes are those of AVX2")
	}
	kernel.OnPaths(func(path string) {
		if path == "avx2" {
			checkBits(t)
		}
	})
}

// checkBits compares the hashes.
func checkBits(t *testing.T) {
	t.Helper()
	short := map[string]any{"epochs": 3, "learning_rate": 0.02}
	for _, c := range []struct {
		model      string
		classes    int
		common     map[string]any
		parameters map[string]any
		want       string
	}{
		{"lstm", 3, short, map[string]any{"hidden": 16}, "171b5afbfb53887c"},
		{"lstm", 2, short, map[string]any{"hidden": 13, "dropout": 0.0, "clip": 0.0}, "354c91df5052b9ed"},
		{"bilstm", 2, short, map[string]any{"hidden": 8, "batch": 16}, "15468c44a5b063bd"},
		{"lstm-2024", 3, short, map[string]any{"hidden": 16, "length": 30}, "a3f40706794d4559"},
		{"lstm-2024", 2, short, map[string]any{"hidden": 16, "length": 9, "weights": "best"}, "db2e75cc0ae2f8f7"},
		{"averaged", 3, short, nil, "f0950fc2d2932338"},
		{"svm", 2, nil, nil, "f11cb005bd26ea33"},
		{"svm", 3, nil, map[string]any{"features": "tfidf"}, "391f5d14c65a9ec8"},
		{"logistic", 2, nil, map[string]any{"features": "tfidf"}, "55dde8f791c51315"},
		{"logistic", 3, nil, nil, "054293b10280ea82"},
		{"ngrams", 2, nil, nil, "b111493e901896c1"},
		{"ngrams", 3, nil, nil, "b7c4f7ab1674ac10"},
		{"membership", 2, nil, nil, "e10c0997017f4362"},
	} {
		embedding, draw := topics(40, c.classes, 20, 10)
		x := splits{train: draw(150, 20), validation: draw(40, 20), test: draw(50, 20)}
		x.test.Sequences[3] = nil
		o := Options{Classes: c.classes, Embedding: embedding, Seed: stream.FromUint64(41),
			Parameters: map[string]any{}}
		maps.Copy(o.Parameters, c.common)
		maps.Copy(o.Parameters, c.parameters)
		var got string
		switch c.model {
		case "ngrams":
			got = bitsOfNGrams(t, o, x)
		case "membership":
			got = bitsOfMembership(t, o, x)
		default:
			got = bitsOfModel(t, c.model, o, x)
		}
		if got != c.want {
			t.Errorf("%s of %d classes, %v: bits %s, want %s", c.model, c.classes, c.parameters, got, c.want)
		}
	}
}
