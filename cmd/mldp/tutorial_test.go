package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mldpbench/internal/realdata"
)

// TestLongTutorial follows docs/tutorial.md in a folder of the source, with the
// wheel in a virtual environment: on real data where they are, else, or with
// MLDP_LONG=all, on generated ones.
func TestLongTutorial(t *testing.T) {
	all := realdata.Long(t)
	if runtime.GOOS == "windows" {
		t.Skip("the page is for a shell")
	}
	if err := exec.Command("python3", "-c", "import venv, ensurepip").Run(); err != nil {
		t.Skipf("no python3 with venv here: %v", err)
	}
	page, err := os.ReadFile(filepath.Join(source, "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("generated", func(t *testing.T) {
		if _, err := os.Stat(filepath.Join(source, "..", "shared", "data")); err == nil && !all {
			t.Skip("real data are here: MLDP_LONG=all runs both")
		}
		t.Parallel()
		follow(t, string(page), strings.NewReplacer("agnews@1", "generated-styles@1", "glove.6B.100d", "generated"), "")
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		data, err := filepath.Abs(realdata.Dir(t))
		if err != nil {
			t.Fatal(err)
		}
		follow(t, string(page), strings.NewReplacer(), data)
	})
}

// linkSource makes dir look like the folder of the source, without what was built there.
func linkSource(t *testing.T, dir string) {
	entries, err := os.ReadDir(source)
	for _, e := range entries {
		if built := []string{"bin", "dist", "runs", "venv"}; !slices.Contains(built, e.Name()) {
			err = errors.Join(err, os.Symlink(filepath.Join(source, e.Name()), filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// follow runs the commands of the page over a folder of data, "" for generated ones.
func follow(t *testing.T, page string, change *strings.Replacer, data string) {
	dir := t.TempDir()
	linkSource(t, dir)
	code := regexp.MustCompile("(?s)\n```python\n(.*?)```\n").FindStringSubmatch(page)
	writeFile(t, filepath.Join(dir, "krr.py"), code[1])
	path := filepath.Join(dir, "venv", "bin") + ":" + os.Getenv("PATH")
	var ranked string
	var took time.Duration
	for _, line := range blocks(change.Replace(page), "sh") {
		if strings.HasPrefix(line, ". ") {
			continue // the path below does the same
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+path, "MLDP=", "PYTHONPATH=", "MLDP_DATA="+data)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		start := time.Now()
		out, err := cmd.Output()
		if err != nil && strings.Contains(stderr.String(), "No matching distribution found for hatchling") {
			t.Skip("pip reaches no registry here")
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", line, err, out, stderr.String())
		}
		took += time.Since(start)
		switch {
		case strings.Contains(line, "pip install"): // the package's own tests, with what is installed
			cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "venv", "bin", "python3"), "-B", "-m", "unittest",
				"discover", "-s", "python/tests")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+path, "MLDP=", "PYTHONPATH=", "MLDP_LONG=") // see python_test.go
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("the package's tests: %v\n%s", err, out)
			}
		case strings.Contains(line, " audit "):
			if !strings.Contains(string(out), "my-krr") || strings.Contains(string(out), "violated") {
				t.Errorf("%s:\n%s", line, out)
			}
		case strings.Contains(line, " run "):
			ranked = string(out)
		}
	}
	for _, name := range []string{"CMP", "Rank fix", `krr \(yours\)`} {
		row := regexp.MustCompile("(?m)^" + name + ` +([0-9.]+) ± [0-9.]+ [*~]? +([0-9.]+) +\S.*`).FindStringSubmatch(ranked)
		if row == nil {
			t.Errorf("no line of %s in\n%s", name, ranked)
		} else if said := fmt.Sprintf("| %s ± ", row[1]); data != "" && !strings.Contains(page, said) {
			t.Errorf("the page does not have %q", row[0])
		}
	}
	for file, want := range map[string]string{"ranking*.tex": "krr", "frontier.svg": ">krr<", "report.html": "krr"} {
		paths, err := filepath.Glob(filepath.Join(dir, "first", file))
		if err != nil || len(paths) != 1 {
			t.Fatalf("%s: %q, %v", file, paths, err)
		}
		if text, err := os.ReadFile(paths[0]); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has no %s: %v", file, want, err)
		}
	}
	t.Logf("the commands took %v\n%s", took.Round(time.Second), ranked)
}
