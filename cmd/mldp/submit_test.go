package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestSubmitPage follows docs/submit.md: its Python file, and every command in
// the order of the page, in one folder.
func TestSubmitPage(t *testing.T) {
	if testing.Short() {
		t.Skip("computes a task twice")
	}
	if absent("python3 ") != "" {
		t.Skip("no python3 here")
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "submit.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines, system := blocks(string(data), "sh"), blocks(string(data), "python")
	if len(lines) < 10 || len(system) < 5 {
		t.Fatalf("%d commands and %d lines of Python: the blocks were not found", len(lines), len(system))
	}
	var script strings.Builder
	for _, line := range lines {
		if strings.HasSuffix(line, "> card.yaml") { // and it is filled in
			const fill = "| sed -e s/First.Author,.Second.Author/Me/ -e s,example.org/paper,example.org, >"
			line = strings.Replace(line, ">", fill, 1)
		}
		script.WriteString("exec sh -c '" + line + "'\n")
		if strings.HasPrefix(line, "mldp verify") {
			script.WriteString("stdout 'recomputed: generated-styles-1-lite'\n")
		}
	}
	const page = "site/generated-styles-1-lite.html\n"
	script.WriteString("grep 'My system' " + page + "grep 'recomputed: with mldp' " + page +
		"exists site/index.html site/packages/my-system/report.html\n")
	script.WriteString("-- system.py --\n" + strings.Join(system, "\n") + "\n")
	file := filepath.Join(t.TempDir(), "submit.txtar")
	if err := os.WriteFile(file, []byte(script.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Files: []string{file}, Setup: ownCache})
}
