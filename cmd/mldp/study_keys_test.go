package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStudyKeysPage: the page is what the program prints, and has keys of every
// kind.
func TestStudyKeysPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "study-keys.md"))
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != studyKeysPage() {
		t.Error("docs/study-keys.md is not current: mldp study keys > docs/study-keys.md")
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasSuffix(line, "|  |\n") {
			t.Errorf("no meaning: its field has no comment: %s", line)
		}
	}
	for _, row := range []string{"| `schema` |", "| `datasets[].delimiter` | text |", "| `metrics.cs.encoder` |",
		"| `mechanisms[].command` | list of texts |", "| `attackers[].name` |", "| `repetitions` | integer, 1 to 10000 |"} {
		if !strings.Contains(string(data), row) {
			t.Errorf("no row %s", row)
		}
	}
}
