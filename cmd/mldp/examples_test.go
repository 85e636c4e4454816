package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mldpbench/embeddings"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms/external"
	"mldpbench/mechanisms/privatize"
)

// notHere holds reasons why a command of README.md or of a help text is not run
// by a test; a command must have at least one example that is run.
var notHere = []struct {
	pattern *regexp.Regexp
	reason  string
}{
	{regexp.MustCompile(`glove|imdb|product-reviews|comparative|tickets|reproduce (2024|cmp) |agnews@1`), "needs real data"},
	{regexp.MustCompile(`data fetch|--fetch`), "needs the network"},
	{regexp.MustCompile(`node1|--submit|shard`), "needs a cluster, or another part of a run"},
	{regexp.MustCompile(`run mini$|--grid`), "takes minutes; smaller runs are scripts of their own"},
	{regexp.MustCompile(`results/reference|my-.*\.csv`), "needs files of the repository or of the reader"},
}

// skipped returns the reason why a command is not run, or "".
func skipped(line string) string {
	for _, n := range notHere {
		if n.pattern.MatchString(line) {
			return n.reason
		}
	}
	return ""
}

// exampleLines returns the commands of README.md and of the help of every
// command, each once, with its location.
func exampleLines(t *testing.T) (lines []string, where map[string]string) {
	t.Helper()
	where = map[string]string{}
	add := func(line, place string) {
		line, _, _ = strings.Cut(line, " #")
		if line = strings.TrimSpace(line); line != "" && where[line] == "" {
			lines, where[line] = append(lines, line), place
		}
	}
	for page, text := range pages(t) {
		for _, line := range blocks(text, "sh") {
			add(line, page)
		}
	}
	walk(newRoot(nil), func(c *cobra.Command) {
		for line := range strings.SplitSeq(c.Example, "\n") {
			add(line, c.CommandPath())
		}
	})
	return lines, where
}

// TestExamples runs every command of README.md, docs and of the help texts, each in a
// separate folder with the files it names.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a study")
	}
	cache := os.Getenv("XDG_CACHE_HOME") // calls change it
	t.Parallel()                         // what is no call of this program does not wait for the scripts
	lines, _ := exampleLines(t)
	files := exampleFolder(t)
	for _, line := range lines {
		if skipped(line) != "" {
			continue
		}
		name := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(line), "-"), "-")
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := copyExampleFiles(dir, files, name); err != nil {
				t.Fatal(err)
			}
			runLine(t, line, dir, map[string]string{"XDG_CACHE_HOME": cache, "MLDP_DATA": ""})
		})
	}
}

// runLine runs a line that a reader types: the program in this process, with redirections, and
// with a shell what has a pipe.
func runLine(t *testing.T, line, dir string, env map[string]string) {
	t.Helper()
	if !strings.HasPrefix(line, "mldp ") || strings.Contains(line, "|") {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir, cmd.Env = dir, os.Environ()
		for name, value := range env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
		return
	}
	var stdout, stderr bytes.Buffer
	c := call{dir: dir, env: env, stdout: &stdout, stderr: &stderr}
	command, to, _ := strings.Cut(line, " > ")
	command, from, piped := strings.Cut(command, " < ")
	args, err := external.Split(command)
	if piped && err == nil {
		var data []byte
		data, err = os.ReadFile(filepath.Join(dir, from))
		c.stdin = bytes.NewReader(data)
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if code := c.run(args[1:]...); code != exitOK {
		t.Fatalf("%s: exit code %d: %s", line, code, stderr.String())
	}
	if to != "" {
		writeFile(t, filepath.Join(dir, to), stdout.String())
	}
}

// copyExampleFiles copies what the command of a name may need; folders only where it names them.
func copyExampleFiles(dir, files, name string) error {
	entries, err := os.ReadDir(files)
	for _, e := range entries {
		from, to := filepath.Join(files, e.Name()), filepath.Join(dir, e.Name())
		switch {
		case e.Name() == "release.key" && strings.HasPrefix(name, "mldp-key"): // which makes it
		case e.IsDir() && !regexp.MustCompile(e.Name()+`|run-(my|first)-yaml`).MatchString(name):
		case e.IsDir():
			err = errors.Join(err, linkFolder(to, from))
		case e.Name() == "vectors.txt": // large, and no command writes to it
			err = errors.Join(err, os.Link(from, to))
		default:
			info, statErr := e.Info()
			data, readErr := os.ReadFile(from)
			if err = errors.Join(err, statErr, readErr); err == nil {
				err = os.WriteFile(to, data, info.Mode())
			}
		}
	}
	return err
}

// linkFolder copies a folder; the many files of its units, which no command writes to, are linked.
func linkFolder(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		relative, rerr := filepath.Rel(from, path)
		if err = errors.Join(err, rerr); err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case filepath.Base(filepath.Dir(path)) == "units":
			return os.Link(path, target)
		}
		data, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(target, data, 0o644))
	})
}

// TestExamplesAreCovered fails for a command that no test runs without a
// reason, for a reason that no command needs, and for a command of README.md in
// a block that TestExamples does not read.
func TestExamplesAreCovered(t *testing.T) {
	lines, where := exampleLines(t)
	if len(lines) < 30 {
		t.Fatalf("%d commands: the blocks marked sh were not found", len(lines))
	}
	run := map[string]bool{}
	for _, line := range lines {
		run[where[line]] = run[where[line]] || skipped(line) == ""
		if !strings.Contains(line, "mldp ") {
			t.Errorf("%s: %q is no command of mldp", where[line], line)
		}
	}
	walk(newRoot(nil), func(c *cobra.Command) {
		if c.Runnable() && !run[c.CommandPath()] && !slices.ContainsFunc(lines, func(l string) bool {
			return skipped(l) == "" && (l == c.CommandPath() || strings.HasPrefix(l, c.CommandPath()+" "))
		}) {
			if why := skipped(c.Example); why == "" {
				t.Errorf("%s: no example that is run", c.CommandPath())
			}
		}
	})
	for _, n := range notHere {
		if !slices.ContainsFunc(lines, n.pattern.MatchString) {
			t.Errorf("no command matches %s (%s)", n.pattern, n.reason)
		}
	}
	for page, text := range pages(t) {
		inside := blocks(text, "sh")
		for line := range strings.SplitSeq(text, "\n") {
			if command := strings.TrimSpace(line); strings.HasPrefix(command, "mldp ") && !slices.Contains(inside, line) {
				t.Errorf("%s: %q is in no block marked sh", page, command)
			}
		}
	}
}

// pages are the texts of README.md and of docs, but for those whose commands
// other tests run.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(source, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range append(files, filepath.Join(source, "README.md")) {
		if name := filepath.Base(file); slices.Contains([]string{"external.md", "cluster.md", "tutorial.md"}, name) {
			continue // TestExternalPage, the test on a real Slurm, TestLongTutorial
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(file)] = string(text)
	}
	return out
}

// blocks are the lines in the blocks of a language.
func blocks(markdown, language string) []string {
	var lines []string
	inside := false
	for line := range strings.SplitSeq(markdown, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```"+language
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

// exampleStudy is a study that a reader could quickly derive from mini.
const exampleStudy = `schema: 1
name: mini
seed: 7
datasets: [{name: generated-words}]
embeddings: [{name: generated, dimensions: [50]}]
mechanisms: [{name: cmp}, {name: tem}]
epsilons: [0.1, 1, 3, 5, 10]
models: [{name: svm}]
repetitions: 2
metrics:
  deniability: {words: 5, runs: 10}
  inference_error: {samples: 10}
`

// exampleFolder has the files that README.md and the examples name, and the
// results of exampleStudy.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := writeExampleFiles(dir); err != nil {
		t.Fatal(err)
	}
	for _, text := range pages(t) { // a block of YAML says its file
		for _, m := range regexp.MustCompile("(?s)```yaml (\\S+)\n(.*?)```").FindAllStringSubmatch(text, -1) {
			writeFile(t, filepath.Join(dir, m[1]), m[2])
		}
	}
	for study, out := range map[string]string{"my": "mini", "first": "first"} { // not run again by what names them
		if code, said := mldp(t, "run", filepath.Join(dir, study+".yaml"), "--out", filepath.Join(dir, "runs", out)); code !=
			exitOK {
			t.Fatalf("%s: exit code %d: %s", study, code, said)
		}
	}
	for _, day := range []string{"yesterday", "today"} { // unchanged
		if err := os.CopyFS(filepath.Join(dir, "runs", day),
			os.DirFS(filepath.Join(dir, "runs", "mini"))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// writeExampleFiles makes the files that README.md, docs and the
// examples name.
func writeExampleFiles(dir string) error {
	space, err := lab.OpenSpace(context.Background(), study.GeneratedEmbedding, 50, "", nil, nil)
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
	if err := privatize.CreateKey(filepath.Join(dir, "release.key")); err != nil {
		return err
	}
	reviews := "title,body,stars\n"
	for i := range 30 {
		reviews += fmt.Sprintf("visit %d,the food was superb,5\nvisit %d,the service was awful,1\n", 2*i, 2*i+1)
	}
	for name, text := range map[string]string{
		"reviews.csv": reviews,
		"vectors.txt": vectors.String(),
		"in.txt":      "the food was superb\n\nand the service was awful\n",
		"words.txt":   "superb\nawful\n",
		"requests.jsonl": `{"id":1,"epsilon":5,"seeds":["` + strings.Repeat("0", 64) + `"],"documents":[["superb"]]}` +
			"\n",
		"my.yaml":          exampleStudy,
		"parts/part-0.csv": reviews,
		"parts/part-1.csv": reviews,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	// The clients of docs/external.md.
	return os.CopyFS(dir, os.DirFS(filepath.Join(source, "examples", "external")))
}
