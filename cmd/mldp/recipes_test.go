package main

import (
	"encoding/csv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRecipes follows CONTRIBUTING.md in a scratch copy of the tracked files
// and runs the program with the additions.
func TestRecipes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a copy of the program")
	}
	t.Parallel()
	dir := scratchCopy(t)
	followRecipes(t, dir)
	mldp := filepath.Join(dir, "mldp")
	do := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = cmd.Environ()
		if name == mldp { // a different program from the one under test learns its own vectors
			cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+filepath.Join(dir, ".cache"))
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	do("go", "build", "-trimpath", "-buildvcs=false", "-o", "mldp", "./cmd/mldp")
	do(mldp, "run", "recipes.yaml", "--out", "out")
	do(mldp, "audit", "--mechanism", "coin", "--epsilon", "2", "--embedding", "generated", "--dimension", "50",
		"--vocabulary", "30")
	// Records of a program without the metric are compared with records that
	// have it.
	do(mldp, "check", "--baseline", without(t, dir, "distinct", "distinct_words", "distinct_tokens"), "out/results.csv")
	do(mldp, "tables", "out", "-o", "tables")
	do(mldp, "report", "out", "-o", "report.html")
	do(mldp, "figures", "out", "-o", "figures")
	do(mldp, "run", "recipes-attack.yaml", "--out", "attack")
	do(mldp, "plan", "recipes-paper.yaml")
	do(mldp, "run", "recipes-paper.yaml", "--out", "paper")
	do(mldp, "tables", "paper", "-o", "paper-tables")
	do(mldp, "report", "paper", "-o", "paper.html")
	for files, wants := range map[string][]string{
		"tables/*": {"coin", "distinct", "different words"}, "report.html": {"coin", "distinct", "different words"},
		"out/results.csv": {"coin", "distinct"}, "figures/*.svg": {"different words"},
		"attack/results.csv": {"unchanged", "coin"},
		"paper/results.csv":  {"coin", "n_w"}, "paper-tables/*": {"coin"}, "paper.html": {"coin"},
	} {
		var text strings.Builder
		found, _ := filepath.Glob(filepath.Join(dir, files))
		for _, f := range found {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(data)
		}
		for _, want := range wants {
			if !strings.Contains(strings.ToLower(text.String()), want) {
				t.Errorf("%s: no %s", files, want)
			}
		}
	}
}

// scratchCopy copies the tracked files as in the working folder.
func scratchCopy(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
	cmd.Dir = root
	list, err := cmd.Output()
	if err != nil {
		t.Skip("needs a clone with git: ", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		from, err := os.Open(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		w, err := os.Create(to)
		if err == nil {
			_, err = io.Copy(w, from)
		}
		if err == nil {
			err = w.Close()
		}
		_ = from.Close() // only read
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// followRecipes writes the blocks of CONTRIBUTING.md that name a file.
func followRecipes(t *testing.T, dir string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(dir, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for rest := string(page); ; {
		_, after, found := strings.Cut(rest, "\n```")
		if !found {
			break
		}
		header, body, _ := strings.Cut(after, "\n")
		body, rest, found = strings.Cut(body, "\n```\n")
		if !found {
			t.Fatalf("%q: the block has no end", header)
		}
		_, place, named := strings.Cut(header, " ")
		if !named {
			continue
		}
		blocks++
		name, anchor, inside := strings.Cut(place, " after ")
		path, text := filepath.Join(dir, name), body+"\n"
		if inside {
			old, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(old), anchor) != 1 {
				t.Fatalf("%s: %d lines with %q", name, strings.Count(string(old), anchor), anchor)
			}
			i := strings.Index(string(old), anchor)
			i += strings.IndexByte(string(old[i:]), '\n') + 1
			text = string(old[:i]) + text + string(old[i:])
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if blocks < 15 {
		t.Fatalf("%d blocks name a file", blocks)
	}
}

// without writes the records of out as the earlier program would have: without
// such columns.
func without(t *testing.T, dir string, columns ...string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "out", "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	dropped := map[int]bool{}
	for i, c := range rows[0] {
		dropped[i] = slices.Contains(columns, c)
	}
	for i, row := range rows {
		var kept []string
		for j, v := range row {
			if !dropped[j] {
				kept = append(kept, v)
			}
		}
		if len(kept) != len(row)-len(columns) {
			t.Fatalf("row %d lacks one of %q", i, columns)
		}
		rows[i] = kept
	}
	name := filepath.Join(dir, "before.csv")
	w, err := os.Create(name)
	if err == nil {
		err = csv.NewWriter(w).WriteAll(rows)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}
