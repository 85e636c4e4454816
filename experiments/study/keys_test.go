package study_test

import (
	"strings"
	"testing"

	_ "mldpbench/experiments/measure" // registers metrics
	"mldpbench/experiments/study"
)

// Every key has a meaning, and every meaning a key.
func TestKeysHaveMeanings(t *testing.T) {
	t.Parallel()
	kinds := map[string]string{}
	for _, k := range study.Keys() {
		kinds[k.Path] = k.Kind()
		option := strings.HasPrefix(k.Path, "metrics.") && strings.Count(k.Path, ".") > 1
		if k.Doc == "" && !option && !strings.HasPrefix(k.Path, "public.") {
			t.Errorf("%s has no meaning in keys.txt", k.Path)
		}
	}
	for path, want := range map[string]string{"schema": "integer", "datasets[].delimiter": "text",
		"datasets[].text": "text, or list of texts", "mechanisms[].command": "list of texts",
		"repetitions": "integer, 1 to 10000", "metrics.cs.encoder": "text", "scenes": "list of entries",
		"epsilons": "list of numbers", "attackers": "list of entries"} {
		if kinds[path] != want {
			t.Errorf("%s is %q, want %q", path, kinds[path], want)
		}
	}
	for _, path := range study.Meanings() {
		if kinds[path] == "" {
			t.Errorf("keys.txt has %s, which is no key", path)
		}
	}
}
