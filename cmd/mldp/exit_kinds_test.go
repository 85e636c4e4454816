package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// One kind of error has one exit code in every command that can meet it, and one
// line of text.
func TestSameErrorSameCode(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("superb food\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	absent, below := filepath.Join(dir, "absent"), filepath.Join(file, "out")
	results := filepath.Join(source, "results", "reference", "refuted.csv.gz")
	cmp := " --embedding generated --mechanism cmp"
	kinds := []struct {
		kind  string
		code  int
		lines []string
	}{
		{"a file of the command line that is not there", exitUsage, []string{
			"privatize --epsilon 1" + cmp + " " + absent, "privatize --epsilon 1 --mechanism cmp --embedding " + absent + ".txt",
			"explain --words a --epsilon 1 --mechanism cmp --embedding " + absent + ".txt",
			"mechanisms --embedding " + absent + ".txt",
			"audit --mechanism cmp --epsilon 1 --embedding " + absent + ".txt",
			"calibrate --target nw=0.5 --mechanism cmp --embedding " + absent + ".txt",
			"serve --mechanism cmp --embedding " + absent + ".txt",
			"run " + absent + ".yaml", "slurm --shards 2 " + absent + ".yaml", "study check " + absent + ".yaml",
			"evaluate --original " + absent + ".csv --privatised " + absent + ".csv --text a -o " + dir + "/e",
			"compare " + absent + " " + results, "check --baseline " + absent + " " + results,
			"tables " + absent, "figures " + absent, "report " + absent, "merge " + absent,
			"status " + absent,
			"data describe mine --text a --file " + absent + ".csv",
		}},
		{"an epsilon that is none", exitUsage, []string{
			"privatize --epsilon -1" + cmp + " " + file, "privatize --document-epsilon 0" + cmp + " " + file,
			"explain --epsilon -1 --words superb" + cmp, "audit --epsilon -1" + cmp, "serve --epsilon -1" + cmp,
			"mechanisms --epsilon -1", "run mini --epsilons -1", "slurm mini --shards 2 --epsilons -1",
			"explain --epsilon NaN --words superb" + cmp, "audit --epsilon +Inf" + cmp,
			"privatize --epsilon 0 --command true " + file,
		}},
		{"a mechanism that is none", exitUsage, []string{
			"privatize --epsilon 1 --mechanism nothing --embedding generated " + file,
			"explain --epsilon 1 --words superb --embedding generated --mechanism nothing",
			"audit --epsilon 1 --embedding generated --mechanism nothing", "serve --embedding generated --mechanism nothing",
			"calibrate --target nw=0.5 --embedding generated --mechanism nothing", "run mini --mechanism nothing",
			"slurm mini --shards 2 --mechanism nothing",
		}},
		{"an output that cannot be written", exitFailure, []string{
			"privatize --epsilon 1" + cmp + " -o " + below + " " + file,
			"privatize --epsilon 1" + cmp + " --report " + below + " " + file,
			"run mini -o " + below,
			"report " + results + " -o " + below, "tables " + results + " -o " + below,
			"figures " + results + " -o " + below,
		}},
	}
	for _, k := range kinds {
		for _, line := range k.lines {
			var stderr strings.Builder
			code := run(context.Background(), strings.Fields(line), strings.NewReader(""), new(strings.Builder), &stderr)
			last := stderr.String()[strings.LastIndex("\n"+strings.TrimRight(stderr.String(), "\n"), "\n"):]
			if code != k.code || !strings.HasPrefix(last, "mldp: ") {
				t.Errorf("%s: mldp %s: exit code %d, want %d: %s", k.kind, line, code, k.code, stderr.String())
			}
		}
	}
	walkCommands(newRoot(nil), func(c *cobra.Command) {
		args := append(strings.Fields(c.CommandPath())[1:], "--none")
		if code := run(context.Background(), args, strings.NewReader(""), new(strings.Builder),
			new(strings.Builder)); code != exitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
	})
}
