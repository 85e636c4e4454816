package published

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/results"
)

// TestStudyPageFollowsItsRecords: each row of the tables in the page's section
// on protocols is a row that `mldp compare --published` makes from the
// committed records, and all accuracies are there.
func TestStudyPageFollowsItsRecords(t *testing.T) {
	t.Parallel()
	records, err := results.Read(filepath.Join("..", "reference", "protocols.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if records, err = results.Derive(records); err != nil {
		t.Fatal(err)
	}
	comparisons, err := Compare(records, DefaultMargin)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "STUDY.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## What the published tables measured\n")
	if !found {
		t.Fatal("the page has no such section")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	on := map[string]bool{}
	for line := range strings.Lines(section) {
		if line = rowOf(line); strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|-") {
			on[line] = true
		}
	}
	rows := func(t results.Table) (lines []string) {
		var b bytes.Buffer
		_ = t.Write(&b, "md") // a buffer takes everything
		for line := range strings.Lines(b.String()) {
			if line = rowOf(line); strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|-") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	made := map[string]bool{}
	for _, line := range rows(ProtocolTable(comparisons)) {
		made[line] = true
	}
	for _, table := range CellTables(comparisons) {
		for _, line := range rows(table) {
			made[line] = true
			if table.Name == "protocols-accuracy" && !on[line] {
				t.Errorf("the page lacks %s", line)
			}
		}
	}
	for line := range on {
		if !made[line] {
			t.Errorf("on the page, not of the records: %s", line)
		}
	}
	if len(on) < 50 {
		t.Errorf("%d rows on the page", len(on))
	}
}

// rowOf is a line of a Markdown table without the spaces that align it.
func rowOf(line string) string {
	cells := strings.Split(strings.TrimSpace(line), "|")
	for i, c := range cells {
		cells[i] = strings.TrimSpace(c)
	}
	return strings.Join(cells, "|")
}
