package main

import (
	"archive/zip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
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

// TestBoardWorkflow runs the commands of the workflow of examples/board, as GitHub
// does, on a clone with pull requests: of an honest package, and of one with a
// better number and a name that Git would write in quotes.
func TestBoardWorkflow(t *testing.T) {
	if testing.Short() {
		t.Skip("computes a task again")
	}
	for _, program := range []string{"git", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	t.Parallel()
	board, err := filepath.Abs(filepath.Join("..", "..", "examples", "board"))
	if err != nil {
		t.Fatal(err)
	}
	honest := filepath.Join(board, "packages", "built-in.zip")
	work := t.TempDir()
	origin := filepath.Join(work, "origin")
	if err := os.CopyFS(origin, os.DirFS(board)); err != nil {
		t.Fatal(err)
	}
	do := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=me", "-c", "user.email=me@example.org"},
			args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	do(origin, "init", "-q", "-b", "main")
	do(origin, "add", "-A")
	do(origin, "commit", "-qm", "the board")
	for _, c := range []struct {
		name    string
		place   func(dir string) error
		refused string // what the step that fails says; "" where all pass
	}{
		{"honest", func(dir string) error {
			data, err := os.ReadFile(honest)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "packages", "honest.zip"), data, 0o644)
		}, ""},
		{"hostile", func(dir string) error {
			z, err := zip.OpenReader(honest)
			if err != nil {
				return err
			}
			defer z.Close()
			to := filepath.Join(dir, "packages", "größer")
			if err := os.CopyFS(to, z); err != nil {
				return err
			}
			return forge(to)
		}, " is not what the texts give"},
	} {
		dir := filepath.Join(work, c.name)
		do(work, "clone", "-q", origin, dir)
		do(dir, "checkout", "-qb", "new")
		if err := c.place(dir); err != nil {
			t.Fatal(err)
		}
		do(dir, "add", "-A")
		do(dir, "commit", "-qm", "a package")
		out, err := workflow(t, dir)
		if err != nil == (c.refused == "") || !strings.Contains(out, c.refused) {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
		_, err = os.Stat(filepath.Join(dir, "site", "packages", "honest", "report.html"))
		if c.refused == "" && (err != nil || !strings.Contains(out, "packages/honest.zip: recomputed: ")) {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
	// Where the main branch is not found, nothing is new: that is no success.
	do(filepath.Join(work, "hostile"), "remote", "rename", "origin", "other")
	if out, err := workflow(t, filepath.Join(work, "hostile")); err == nil {
		t.Errorf("without the main branch all is well: %s", out)
	}
}

// forge raises a number of an unpacked package and lists the changed file again.
func forge(dir string) error {
	rows, list := filepath.Join(dir, "results.csv"), filepath.Join(dir, "package.json")
	data, err := os.ReadFile(rows)
	if err != nil {
		return err
	}
	forged := regexp.MustCompile(`,overlap-jaccard,0\.[0-8]`).ReplaceAllString(string(data), ",overlap-jaccard,0.9")
	said, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	sum := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	said = []byte(strings.ReplaceAll(string(said), sum(string(data)), sum(forged)))
	return errors.Join(os.WriteFile(rows, []byte(forged), 0o644), os.WriteFile(list, said, 0o644))
}

// workflow runs the steps of the workflow of a board in a clone of it, for a pull
// request to main, and returns what the first that fails, or all of them, printed.
// The step that builds mldp is left out: it is that of the tests.
func workflow(t *testing.T, dir string) (string, error) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ".github", "workflows", "verify.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Jobs struct {
			Verify struct{ Steps []struct{ Run, Uses string } }
		}
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	mldp, err := exec.LookPath("mldp")
	if err == nil {
		err = os.Symlink(mldp, filepath.Join(temp, "mldp"))
	}
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	ran := 0
	for _, step := range file.Jobs.Verify.Steps {
		if step.Uses != "" || strings.Contains(step.Run, "go build") {
			continue
		}
		ran++
		cmd := exec.Command("bash", "-e", "-c", strings.ReplaceAll(step.Run, "${{ github.base_ref }}", "main"))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "RUNNER_TEMP="+temp)
		out, err := cmd.CombinedOutput()
		all.Write(out)
		if err != nil {
			return string(out), err
		}
	}
	if ran != 2 {
		t.Fatalf("%d steps ran, want the one that verifies and the one that makes the pages", ran)
	}
	return all.String(), nil
}
