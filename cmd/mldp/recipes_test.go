package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// usersCache is the user's setting, read before the tests get a cache of their
// own.
var usersCache = os.Getenv("XDG_CACHE_HOME")

// TestRecipes follows CONTRIBUTING.md: it builds the program with the additions
// and runs it.
func TestRecipes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a copy of the program")
	}
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := followRecipes(t, root, dir)
	mldp := filepath.Join(dir, "mldp")
	do := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cache := usersCache // where compiled packages are; with an empty cache all of Go is compiled
		if name == mldp {   // a different program from the one under test learns its own vectors
			cache = filepath.Join(dir, ".cache")
		}
		cmd.Env = append(cmd.Environ(), "XDG_CACHE_HOME="+cache)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	// Laid over the repository, packages that the recipes leave alone are those of the tests.
	do("go", "build", "-C", root, "-overlay", overlay, "-buildvcs=false", "-ldflags=-s -w", "-o", mldp, "./cmd/mldp")
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

// followRecipes writes the blocks of CONTRIBUTING.md that name a file into dir,
// and returns the file that lays them over the repository for the go command.
func followRecipes(t *testing.T, root, dir string) string {
	t.Helper()
	replace := map[string]string{}
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
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
			source := filepath.Join(root, name)
			if _, again := replace[source]; again {
				source = path
			}
			old, err := os.ReadFile(source)
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
		replace[filepath.Join(root, name)] = path
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
	}
	if blocks < 15 {
		t.Fatalf("%d blocks name a file", blocks)
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	writeFile(t, overlay, string(data))
	return overlay
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
