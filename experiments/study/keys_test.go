package study_test

import (
	"strings"
	"testing"

	_ "mldpbench/experiments/measure" // registers metrics
	"mldpbench/experiments/study"
	"mldpbench/models/attack"
)

// Every key has a meaning, and there are no more of them than a user can know.
func TestKeys(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{}
	options := ""
	for _, k := range study.Keys() {
		kinds[k.Path] = k.Kind()
		if k.Doc == "" {
			t.Errorf("%s has no meaning in keys.txt", k.Path)
		}
		if k.Path == "options" {
			options = k.Doc
		}
	}
	if len(kinds) > 105 {
		t.Errorf("%d keys, at most 105", len(kinds))
	}
	for _, p := range attack.Parameters {
		if p.Doc == "" || !strings.Contains(options, p.Name) || !strings.Contains(options, p.Doc) {
			t.Errorf("options are %q, want %s with its meaning", options, p.Name)
		}
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
