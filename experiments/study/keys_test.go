package study_test

import (
	"testing"

	_ "mldpbench/experiments/measure" // registers metrics
	"mldpbench/experiments/study"
)

// Every key has a meaning, and there are no more of them than a user can know.
func TestKeys(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{}
	for _, k := range study.Keys() {
		kinds[k.Path] = k.Kind()
		if k.Doc == "" {
			t.Errorf("the key %s has no meaning, want one in experiments/study/keys.txt or, of a metric, where it is "+
				"registered",
				k.Path)
		}
	}
	if len(kinds) > 105 {
		t.Errorf("%d keys, at most 105", len(kinds))
	}
	for path, want := range map[string]string{"schema": "integer", "datasets[].delimiter": "text",
		"datasets[].text": "text, or list of texts", "mechanisms[].command": "list of texts",
		"repetitions": "integer, 1 to 10000", "metrics.cs.encoder": "text", "scenes": "list of entries",
		"epsilons": "list of numbers, > 0", "attackers": "list of entries", "policy": "text, random, keep, drop"} {
		if kinds[path] != want {
			t.Errorf("%s is %q, want %q", path, kinds[path], want)
		}
	}
}

// Every parameter of a model or of attackers says what it means and which values it takes, its default among them.
func TestParametersHaveMeaningAndRange(t *testing.T) {
	t.Parallel()
	owners := map[string]int{}
	for _, p := range study.Parameters() {
		owners[p.Of]++
		if p.Doc == "" || p.Legal == "" {
			t.Errorf("%s of %s has the meaning %q and the values %q, want both", p.Name, p.Of, p.Doc, p.Legal)
		}
		if _, err := p.Value(p.Default); err != nil {
			t.Errorf("the default of %s is refused: %v", p.Of, err)
		}
	}
	for _, owner := range []string{"lstm", "bilstm", "lstm-2024", "averaged", "svm", "logistic", "encoder",
		"attackers"} {
		if owners[owner] == 0 {
			t.Errorf("no parameters of %s are listed", owner)
		}
	}
}
