package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/experiments/lab"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
)

// TestMemoryOfModels checks that a unit of a language model counts its weights,
// and one of the masked model with the channel the probabilities that it keeps.
func TestMemoryOfModels(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "model.onnx"), make([]byte, 50<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "tokenizer.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	memory := map[string]int64{}
	for _, attackers := range []string{"[map, masked]", "[map, masked, masked-channel]"} {
		s, err := study.Parse("m.yaml", []byte("schema: 1\nname: m\nprotocol: attacks\nlanguage_model: "+folder+
			"\ncausal_model: "+folder+"\ndatasets: [{name: generated-styles}]\nembeddings: [{name: generated, "+
			"dimensions: [20]}]\nattackers: "+attackers+
			"\nshadow: 5\nmechanisms: [{name: k-rr, epsilons: [1]}]\nmetrics: {bleu: {}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		units, err := plan.Units(s, lab.New(""))
		if err != nil {
			t.Fatal(err)
		}
		for i, u := range units {
			if i == 0 {
				if _, err := u.Data(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			memory[attackers+u.Name[strings.LastIndex(u.Name, ":"):]] = u.Memory()
		}
	}
	plain := memory["[map, masked]: bleu"]
	for _, c := range []struct {
		unit        string
		least, most int64 // MiB more than text without a model
	}{
		{"[map, masked]: map", 0, 0},
		{"[map, masked]: masked", 100, 1000},
		{"[map, masked]: causal_perplexity", 100, 1000},
	} {
		if more := (memory[c.unit] - plain) >> 20; plain == 0 || more < c.least || more > c.most {
			t.Errorf("%s: %d MiB more than %d", c.unit, more, plain>>20)
		}
	}
	if all, some := memory["[map, masked, masked-channel]: map"], memory["[map, masked]: map"]; all <= some {
		t.Errorf("%d bytes with the masked model and the channel, %d without", all, some)
	}
}
