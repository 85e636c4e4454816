package main

import (
	"errors"
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
		follow(t, string(page), strings.NewReplacer("agnews-agency", "generated-styles", "glove.6B.100d", "generated",
			"glove.6B", "generated", "[100]", "[50]", "em=0.6,0.7,0.8", "em=0.6,0.7,0.9"), "") // that study has fewer words
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

var (
	calibratedTo = regexp.MustCompile(`em=0\.7: 0\.7([01]\d*)? at epsilon`)
	epsilonsOf   = regexp.MustCompile(`epsilons: (\[.*\])`)
)

// follow runs the commands of the page. The ε that calibrate prints take the
// place of those in its study; data, a folder of real ones, must give those of the page.
func follow(t *testing.T, page string, change *strings.Replacer, data string) {
	dir := t.TempDir()
	linkSource(t, dir)
	for language, name := range map[string][]string{"python": {"krr.py", "bayes.py"}, "yaml": {"first.yaml"}} {
		for i, part := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllStringSubmatch(page, -1) {
			writeFile(t, filepath.Join(dir, name[i]), change.Replace(part[1]))
		}
	}
	study := filepath.Join(dir, "first.yaml")
	written, err := os.ReadFile(study)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "venv", "bin") + ":" + os.Getenv("PATH")
	var printed, compared string
	var took time.Duration
	for _, line := range blocks(change.Replace(page), "sh") {
		if strings.HasPrefix(line, ". ") {
			continue // the path below does the same
		}
		if strings.Contains(line, " run ") { // each is printed once
			found := epsilonsOf.FindAllString(printed, -1)
			if n := len(calibratedTo.FindAllString(printed, -1)); n != 3 || len(found) != 3 {
				t.Fatalf("calibrated:\n%s", printed)
			}
			next := -1
			text := epsilonsOf.ReplaceAllStringFunc(string(written), func(string) string { next++; return found[next] })
			if data != "" && text != string(written) {
				t.Errorf("the study of the page has other ε than calibrate prints:\n%s", text)
			}
			writeFile(t, study, text)
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
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+path, "MLDP=", "PYTHONPATH=")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("the package's tests: %v\n%s", err, out)
			}
		case strings.Contains(line, " calibrate "):
			printed += string(out)
		case strings.Contains(line, " audit "):
			if !strings.Contains(string(out), "my-krr") || strings.Contains(string(out), "violated") {
				t.Errorf("%s:\n%s", line, out)
			}
		case strings.Contains(line, " compare "):
			compared = string(out)
		}
	}
	for _, pair := range []string{"CMP +Rank fix", "CMP +my-krr", "Rank fix +my-krr"} {
		if !regexp.MustCompile(pair + ` +[-+0-9.]+ ± .*told apart`).MatchString(compared) {
			t.Errorf("no verdict on %s in\n%s", pair, compared)
		}
	}
	tables, err := filepath.Glob(filepath.Join(dir, "tables", "attackers-*.md"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables of attackers %q, %v", tables, err)
	}
	text, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bayes", "adaptive SVM", "Rank fix", "my-krr"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	t.Logf("the commands took %v\n%s%s", took.Round(time.Second), compared, text)
}
