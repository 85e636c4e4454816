package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestExternalPage runs every command of docs/external.md: those of "sh" must
// succeed, those of "sh fails" must exit with 6; the block marked yaml is
// outside.yaml. Lines whose language is not installed are skipped and listed.
func TestExternalPage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts interpreters")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "external.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script, study strings.Builder
	counts := map[string]int{}
	kind := ""
	for line := range strings.SplitSeq(string(page), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			kind = strings.TrimPrefix(line, "```")
		case kind == "yaml":
			fmt.Fprintln(&study, line)
		case kind != "sh" && kind != "sh fails" || line == "":
		default:
			counts[kind]++
			if program := absent(line); program != "" {
				t.Logf("not run, no %s here: %s", program, line)
				continue
			}
			if kind == "sh" {
				fmt.Fprintf(&script, "exec sh -c '%s'\n", line)
			} else {
				fmt.Fprintf(&script, "code 6 %s\nstderr 'declared promises are violated'\n",
					strings.ReplaceAll(line, `"`, "'"))
			}
		}
	}
	if counts["sh"] < 6 || study.Len() == 0 || counts["sh fails"] != 3 {
		t.Fatalf("docs/external.md has %v commands: its blocks were not found", counts)
	}
	script.WriteString("exec test -s out.txt\nexec test -s evaluation/report.html\nexec test -s study/report.html\n")
	if absent("python3 ") != "" {
		t.Skip("no python3 here")
	}
	file := filepath.Join(t.TempDir(), "external.txtar")
	if err := os.WriteFile(file, []byte(script.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: []string{file},
		Cmds:  map[string]func(*testscript.TestScript, bool, []string){"code": exitCode},
		Setup: func(env *testscript.Env) error {
			if err := ownCache(env); err != nil {
				return err
			}
			if err := writeExampleFiles(env.WorkDir); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "outside.yaml"), []byte(study.String()), 0o644)
		},
	})
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
