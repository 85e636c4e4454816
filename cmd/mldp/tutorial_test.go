package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"mldpbench/internal/realdata"
)

// TestLongTutorial follows docs/tutorial.md in an empty folder with the wheel alone,
// in a virtual environment: on generated data and, where they are, on real ones.
func TestLongTutorial(t *testing.T) {
	realdata.Long(t)
	if runtime.GOOS == "windows" {
		t.Skip("the page is for a shell")
	}
	if err := exec.Command("python3", "-c", "import venv, ensurepip").Run(); err != nil {
		t.Skipf("no python3 with venv here: %v", err)
	}
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	dist := t.TempDir()
	r := &recipes{root: root, dir: dist}
	r.do(t, "go", "build", "-C", root, "-buildvcs=false", "-ldflags=-s -w", "-o",
		filepath.Join(dist, "mldp-1.0-"+runtime.GOOS+"-"+runtime.GOARCH), "./cmd/mldp")
	r.do(t, "python3", "-B", filepath.Join(root, "python", "wheels.py"), "1.0", dist)
	wheel, err := filepath.Glob(filepath.Join(dist, "*_*.whl")) // the other is that of any platform
	if err != nil || len(wheel) != 1 {
		t.Fatalf("wheels %q, %v", wheel, err)
	}
	t.Run("generated", func(t *testing.T) {
		follow(t, string(page), wheel[0], strings.NewReplacer("agnews-agency", "generated-styles", "glove.6B", "generated",
			"--dimension 100", "--dimension 50", "[100]", "[50]"), "")
	})
	t.Run("real", func(t *testing.T) {
		data, err := filepath.Abs(realdata.Dir(t))
		if err != nil {
			t.Fatal(err)
		}
		follow(t, string(page), wheel[0], strings.NewReplacer(), data)
	})
}

var (
	calibratedTo = regexp.MustCompile(`em=0\.7: 0\.(69|70|71)\d* at epsilon`)
	epsilonsOf   = regexp.MustCompile(`epsilons: (\[.*\])`)
)

// follow runs the commands of the page. The ε that calibrate prints take the
// place of those in its study; data, a folder of real ones, must give those of the page.
func follow(t *testing.T, page, wheel string, change *strings.Replacer, data string) {
	dir := t.TempDir()
	for language, name := range map[string][]string{"python": {"krr.py", "bayes.py"}, "yaml": {"first.yaml"}} {
		for i, part := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllStringSubmatch(page, -1) {
			writeFile(t, filepath.Join(dir, name[i]), change.Replace(part[1]))
		}
	}
	if err := os.Link(wheel, filepath.Join(dir, filepath.Base(wheel))); err != nil {
		t.Fatal(err)
	}
	study := filepath.Join(dir, "first.yaml")
	written, err := os.ReadFile(study)
	if err != nil {
		t.Fatal(err)
	}
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
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "venv", "bin")+":"+os.Getenv("PATH"), "MLDP=",
			"PYTHONPATH=", "MLDP_DATA="+data)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		start := time.Now()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", line, err, out, stderr.String())
		}
		took += time.Since(start)
		switch {
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
	for _, pair := range []string{"CMP +\\| Rank fix", "CMP +\\| my-krr, external", "Rank fix +\\| my-krr, external"} {
		if !regexp.MustCompile(pair + ` +\| [-+−0-9.]+ ± .*told apart`).MatchString(compared) {
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
	for _, want := range []string{"bayes", "adaptive SVM", "Rank fix", "my-krr, external"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	t.Logf("the commands took %v\n%s%s", took.Round(time.Second), compared, text)
}
