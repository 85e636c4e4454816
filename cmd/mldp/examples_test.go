package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"mldpbench/embeddings"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
)

// needsMore marks example lines that need real data, a cluster, the network or
// minutes; a command must have at least one line without them.
var needsMore = regexp.MustCompile(`run mini$|node1|comparative|glove|imdb|product-reviews|results/reference|--submit|fetch|verify|--grid|shard|my-.*\.csv`)

// TestReadmeAndExamples runs every command of README.md and the examples in
// the help of every command, in one folder and in order, as a reader would.
func TestReadmeAndExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a study")
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := shellLines(string(readme))
	if len(lines) < 10 {
		t.Fatalf("README.md has %d commands: the blocks marked sh were not found", len(lines))
	}
	var missing []string
	walk(newRoot(), func(c *cobra.Command) {
		runnable := 0
		for line := range strings.SplitSeq(c.Example, "\n") {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
			if line == "" || needsMore.MatchString(line) {
				continue
			}
			if _, err := exec.LookPath("python3"); err != nil && strings.Contains(line, "python3") {
				continue // EXTERNAL.md's test says so
			}
			runnable++
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
		if c.Runnable() && runnable == 0 && !needsMore.MatchString(c.Example) {
			missing = append(missing, c.CommandPath())
		}
	})
	if len(missing) > 0 {
		t.Errorf("commands without an example that can be run: %q", missing)
	}
	var script strings.Builder
	for _, line := range lines {
		// The shell does redirections; ' is not used in examples.
		fmt.Fprintf(&script, "exec sh -c '%s'\n", line)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "examples.txtar")
	if err := os.WriteFile(file, []byte(script.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Files: []string{file}, Setup: func(env *testscript.Env) error {
		env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/.cache")
		return writeExampleFiles(env.WorkDir)
	}})
}

// shellLines are the commands in the blocks marked sh.
func shellLines(markdown string) []string {
	var lines []string
	inside := false
	for line := range strings.SplitSeq(markdown, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh"
		case inside && strings.TrimSpace(line) != "":
			lines = append(lines, line)
		}
	}
	return lines
}

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	for _, sub := range c.Commands() {
		if sub.Name() != "help" && sub.Name() != "completion" {
			visit(sub)
			walk(sub, visit)
		}
	}
}

// writeExampleFiles makes the files that README.md and the examples name.
func writeExampleFiles(dir string) error {
	space, err := lab.OpenSpace(context.Background(), study.GeneratedEmbedding, 50, "", nil)
	if err != nil {
		return err
	}
	var vectors strings.Builder
	for id, word := range space.Vocabulary.Words() {
		vectors.WriteString(word)
		for _, x := range space.Vector(embeddings.WordID(id)) {
			fmt.Fprintf(&vectors, " %g", x)
		}
		vectors.WriteByte('\n')
	}
	reviews := "title,body,stars\n"
	for i := range 30 {
		reviews += fmt.Sprintf("visit %d,the food was superb,5\nvisit %d,the service was awful,1\n", i, i)
	}
	for name, text := range map[string]string{
		"reviews.csv":    reviews,
		"vectors.txt":    vectors.String(),
		"in.txt":         "the food was superb\n\nand the service was awful\n",
		"words.txt":      "superb\nawful\n",
		"requests.jsonl": `{"id":1,"epsilon":5,"seeds":["` + strings.Repeat("0", 64) + `"],"documents":[["superb"]]}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	// The clients of EXTERNAL.md.
	return os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "external")))
}
