package main

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"mldpbench/results"
)

const killedGrid = `schema: 1
name: killed
seed: 7
datasets: [{name: generated-words}]
embeddings: [{name: generated, dimensions: [50]}]
mechanisms: [{name: cmp}, {name: tem}]
epsilons: [1, 10]
models: [{name: svm}]
repetitions: 2
metrics: {deniability: {words: 5, runs: 10}, inference_error: {samples: 10}}
`

const killedPaper = `schema: 1
name: killed-paper
seed: 1
mechanisms: [{name: cmp}]
epsilons: [5]
scenes:
  - name: generated
    embeddings: [{name: generated, dimensions: [50]}]
    metrics: {neighbours: {}}
`

// TestKilled kills runs of a grid and of a paper's study, and commands that
// write files, at random moments. After resuming, the files must equal those of
// an undisturbed run, with nothing left over. MLDP_KILLS is the number of kills
// of each command.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs studies")
	}
	t.Parallel()
	kills := 2
	if s := os.Getenv("MLDP_KILLS"); s != "" {
		var err error
		if kills, err = strconv.Atoi(s); err != nil {
			t.Fatal("MLDP_KILLS: ", err)
		}
	}
	for name, text := range map[string]string{"grid": killedGrid, "paper": killedPaper} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := killer{t: t, dir: t.TempDir(), rng: rand.New(rand.NewPCG(17, uint64(len(name)))), kills: kills}
			if err := os.WriteFile(filepath.Join(k.dir, "s.yaml"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			k.finish("run", "s.yaml", "--out", "whole") // it fills the cache, which takes longer
			took := k.finish("run", "s.yaml", "--out", "killed")
			if err := os.RemoveAll(filepath.Join(k.dir, "killed")); err != nil {
				t.Fatal(err)
			}
			k.disturb(took, "run", "s.yaml", "--out", "killed")
			k.equalRecords()
			// Few kills of two, or as many of every command that writes a file.
			outputs := [][]string{{"report", "killed", "-o", "report.html", "--force"}, {"tables", "killed", "-o", "tables"}}
			if os.Getenv("MLDP_KILLS") != "" {
				k.writeTexts()
				outputs = append(outputs, []string{"merge", "killed", "-o", "merged"},
					[]string{"privatize", "--mechanism", "cmp", "--epsilon", "5", "--embedding", "generated", "--seed",
						"1",
						"--report", "said.json", "--column", "text", "texts.csv", "-o", "private.csv", "--force"},
					[]string{"evaluate", "--original", "texts.csv", "--privatised", "texts.csv", "--text", "text",
						"--label", "label",
						"-o", "evaluated", "--force"})
				if name == "grid" {
					outputs = append(outputs, []string{"check", "--baseline", "whole/results.csv", "killed"}, []string{"figures", "killed", "-o", "figures"})
				}
			}
			for _, args := range outputs {
				took := k.finish(args...)
				want := k.files()
				k.disturb(took, args...)
				k.equalFiles(want)
			}
		})
	}
}

type killer struct {
	t     *testing.T
	dir   string
	rng   *rand.Rand
	kills int
}

func (k *killer) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(k.t.Context(), "mldp", args...)
	cmd.Dir = k.dir
	return cmd
}

// writeTexts writes a table of labelled texts.
func (k *killer) writeTexts() {
	k.t.Helper()
	var b strings.Builder
	b.WriteString("text,label\n")
	for i := range 60 {
		b.WriteString([]string{"a superb film and a great team,yes\n", "a dull film and a weak team,no\n"}[i%2])
	}
	if err := os.WriteFile(filepath.Join(k.dir, "texts.csv"), []byte(b.String()), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

// finish runs a command to its end and returns how long it took. The moments of
// kills are drawn from that; no verdict depends on it.
func (k *killer) finish(args ...string) time.Duration {
	k.t.Helper()
	start := time.Now()
	if out, err := k.command(args...).CombinedOutput(); err != nil {
		k.t.Fatalf("mldp %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return time.Since(start)
}

// disturb kills a command repeatedly, then lets it finish.
func (k *killer) disturb(took time.Duration, args ...string) {
	k.t.Helper()
	landed := 0
	for range k.kills {
		cmd := k.command(args...)
		if err := cmd.Start(); err != nil {
			k.t.Fatal(err)
		}
		time.Sleep(time.Duration(k.rng.Int64N(int64(took))))
		_ = cmd.Process.Kill() // it may have ended
		if err := cmd.Wait(); err != nil {
			landed++
		} else if args[0] == "run" { // it has nothing left to do: from the start again
			if err := os.RemoveAll(filepath.Join(k.dir, "killed")); err != nil {
				k.t.Fatal(err)
			}
		}
	}
	k.t.Logf("mldp %s: %d of %d kills came before the end", args[0], landed, k.kills)
	k.finish(args...)
	for name := range k.files() {
		if strings.Contains(filepath.Base(name), ".tmp-") {
			k.t.Errorf("mldp %s left %s", args[0], name)
		}
	}
}

// files returns the contents of all files below dir.
func (k *killer) files() map[string][]byte {
	k.t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(k.dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(k.dir, path))
		all[path] = data
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return all
}

// moment matches the time of a measurement, because evaluate measures each
// time.
var moment = regexp.MustCompile(`\d+ [A-Z][a-z]+ 20\d\d, \d\d:\d\d UTC|"started": "[^"]*"`)

func (k *killer) equalFiles(want map[string][]byte) {
	k.t.Helper()
	got := k.files()
	for name, data := range want {
		if !bytes.Equal(moment.ReplaceAll(got[name], nil), moment.ReplaceAll(data, nil)) {
			k.t.Errorf("%s differs", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			k.t.Errorf("%s is left over", name)
		}
	}
}

// equalRecords compares the killed run with the whole one: records, and names
// of files.
func (k *killer) equalRecords() {
	k.t.Helper()
	k.equalRows()
	for name := range k.files() {
		for a, b := range map[string]string{"whole": "killed", "killed": "whole"} {
			if rest, ok := strings.CutPrefix(name, a+string(filepath.Separator)); ok {
				if _, err := os.Stat(filepath.Join(k.dir, b, rest)); err != nil {
					k.t.Errorf("%s is in %s only", rest, a)
				}
			}
		}
	}
}

// equalRows compares the records alone.
func (k *killer) equalRows() {
	k.t.Helper()
	read := func(run string) []results.Row {
		records, err := results.Read(filepath.Join(k.dir, run, "results.csv"))
		if err != nil || len(records) == 0 {
			k.t.Fatalf("%s: %d records, %v", run, len(records), err)
		}
		return records
	}
	want, got := read("whole"), read("killed")
	if len(want) != len(got) {
		k.t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range want {
		if column := results.FirstDifference(want[i], got[i]); column != "" {
			k.t.Errorf("record %d: %s differs", i, column)
		}
	}
}
