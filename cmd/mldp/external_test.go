package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/mechanisms/external"
)

// TestExternalPage runs every command of docs/external.md: those of "sh" must
// succeed, that of "sh fails" must exit with 6; the block marked yaml is
// outside.yaml. Lines whose language is not installed are skipped and listed.
func TestExternalPage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts interpreters")
	}
	page, err := os.ReadFile(filepath.Join(source, "docs", "external.md"))
	if err != nil {
		t.Fatal(err)
	}
	if absent("python3 ") != "" {
		t.Skip("no python3 here")
	}
	dir := t.TempDir()
	study := strings.Join(blocks(string(page), "yaml"), "\n") + "\n"
	writeFile(t, filepath.Join(dir, "outside.yaml"), study)
	if err := writeExampleFiles(dir); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"EXTERNAL": filepath.Join(source, "examples", "external")}
	counts := map[string]int{}
	for _, kind := range []string{"sh", "sh fails"} {
		for _, line := range blocks(string(page), kind) {
			counts[kind]++
			if program := absent(line); program != "" {
				t.Logf("not run, no %s here: %s", program, line)
				continue
			}
			line = strings.ReplaceAll(line, "$EXTERNAL", env["EXTERNAL"])
			if kind == "sh" {
				runLine(t, line, dir, env)
				continue
			}
			args, err := external.Split(line)
			if err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			if code := (call{dir: dir, env: env, stdout: &stdout, stderr: &stderr}).run(args[1:]...); code != exitViolated ||
				!strings.Contains(stderr.String(), "claimed guarantees are violated") {
				t.Errorf("%s: exit code %d: %s", line, code, stderr.String())
			}
		}
	}
	if counts["sh"] < 5 || counts["sh fails"] != 1 {
		t.Fatalf("docs/external.md has %v commands: its blocks were not found", counts)
	}
	for _, name := range []string{"out.txt", "evaluation/report.html", "study/report.html"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// absent returns the interpreter that a line needs and that is not installed.
func absent(line string) string {
	for _, program := range []string{"python3", "node"} {
		if strings.Contains(line, program+" ") {
			if _, err := exec.LookPath(program); err != nil {
				return program
			}
		}
	}
	return ""
}
