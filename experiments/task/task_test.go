package task

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/datasets/fetch"
	"mldpbench/internal/realdata"
)

var update = flag.Bool("update", false, "write tasks/hashes.txt")

// TestContentIsPinned fails when a task changes without another version: rows of
// two contents would carry one name. Raise the version, and make the list of
// hashes again with -update; it refuses a version that has another hash there.
func TestContentIsPinned(t *testing.T) {
	const list = "tasks/hashes.txt"
	data, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	pinned := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		pinned[name] = hash
	}
	var now strings.Builder
	for _, name := range Names() {
		x, _, err := Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if x.Name != name {
			t.Errorf("%s.yaml is of task %q", name, x.Name)
		}
		hash := x.Hash()[:12]
		fmt.Fprintln(&now, x, hash)
		switch want, there := pinned[x.String()]; {
		case there && want != hash:
			t.Errorf("%s is another task than before: raise its version", x)
		case !there && !*update:
			t.Errorf("%s is not in %s: go test ./experiments/task -run TestContentIsPinned -update", x, list)
		}
		data, err := x.Croissant()
		var back map[string]any
		if err != nil || json.Unmarshal(data, &back) != nil || back["@type"] != "sc:Dataset" {
			t.Errorf("%s: croissant: %v %s", x, err, data)
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(list, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFilesToGet checks the tasks whose file the user brings against a made-up
// file of its format, and that two homes get the same splits from it.
func TestFilesToGet(t *testing.T) {
	t.Chdir(t.TempDir())
	checked := 0
	for _, name := range Names() {
		x, _, err := Open(name)
		if err != nil || x.Data.File == "" {
			continue
		}
		checked++
		if _, err := x.Splits(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), x.Data.File) ||
			!strings.Contains(err.Error(), strings.Fields(x.Get)[0]) {
			t.Errorf("%s: without its file: %v", x, err)
		}
		comma := ","
		if strings.HasSuffix(x.Data.File, ".tsv") {
			comma = "\t"
		}
		columns := append([]string{}, x.Data.Text...)
		for _, c := range []string{x.Data.Label, x.Data.Private} {
			if c != "" {
				columns = append(columns, c)
			}
		}
		var text strings.Builder
		fmt.Fprintln(&text, strings.Join(columns, comma))
		for i := range 1200 {
			fields := []string{fmt.Sprintf("a text number%d about word%d", i, i%50), fmt.Sprint("use", i%2), fmt.Sprint("who",
				i%3)}
			fmt.Fprintln(&text, strings.Join(fields[:len(columns)], comma))
		}
		var homes [2][]Split
		for i := range homes {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, x.Data.File), []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			if homes[i], err = x.Splits(t.Context(), home); err != nil {
				t.Errorf("%s: %v", x, err)
			}
		}
		if a, b := fmt.Sprint(homes[0]), fmt.Sprint(homes[1]); a != b || len(homes[0]) != 6 || homes[0][2].Documents != 120 {
			t.Errorf("%s: two homes have\n%s and\n%s", x, a, b)
		}
	}
	if checked != 6 {
		t.Errorf("%d tasks with a file to get, want 6", checked)
	}
}

// TestDataAtHand gets the same splits from two homes, each with its own data folder
// and cache, of the ten tasks whose data are generated or fetched without asking;
// those whose data are not here are skipped.
func TestDataAtHand(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all data sets twice")
	}
	t.Setenv("MLDP_DATA", realdata.Dir(t))
	source, err := filepath.Abs(realdata.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, name := range Names() {
		x, _, err := Open(name)
		if err != nil || x.Data.File != "" {
			continue
		}
		checked++
		t.Run(name, func(t *testing.T) {
			var homes [2][]Split
			for i := range homes {
				home := t.TempDir()
				t.Chdir(home)
				t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
				root := filepath.Join(home, "data")
				t.Setenv("MLDP_DATA", root)
				entries, err := os.ReadDir(source)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					link := filepath.Join(root, e.Name())
					if err := cmp.Or(os.MkdirAll(root, 0o755), os.Symlink(filepath.Join(source, e.Name()), link)); err != nil {
						t.Fatal(err)
					}
				}
				homes[i], err = x.Splits(t.Context(), root)
				if missing := (*fetch.MissingError)(nil); errors.As(err, &missing) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			different := map[string]bool{}
			for i, a := range homes[0] {
				if b := homes[1][i]; a != b || a.Documents == 0 {
					t.Errorf("one home has %+v, the other %+v", a, b)
				}
				different[a.SHA256] = true
			}
			if len(homes[0]) != 6 || len(homes[1]) != 6 || len(different) != 6 {
				t.Errorf("training, validation and test of two sizes: %+v", homes[0])
			}
		})
	}
	if checked != 10 {
		t.Errorf("%d tasks with data at hand, want 10", checked)
	}
}

// TestWrongTasks checks what is said of a task that is none.
func TestWrongTasks(t *testing.T) {
	right, err := files.ReadFile("tasks/generated-styles.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"task: 1", "task: 2", "x.yaml: task = 2: this version of mldp reads tasks of schema 1"},
		{"unit: document", "unit: planet", `unit = "planet": must be`},
		{"version: 1", "version: 0", "version = 0: must be in [1, 1000000]"},
		{"about:", "abuot:", `x.yaml:5:1: unknown field "abuot"`},
		{"{name: generated-styles}", "{name: generated-styles, split: hash}", "the split is by hash"},
		{"{name: generated-styles}", "{name: nothing}", `data set = "nothing"`},
		{"measure:\n", "measure:\n  epsilons: [1]\n", "measure: data sets, mechanisms and epsilons are not"},
		{"privacy: strongest-label", "privacy: nothing", `compare: `},
		{"levels: [0.6, 0.7]", "levels: []", "levels: must not be empty"},
		{"train: 400", "train: 0", "must be in [1,"},
		{"[map, ", "[maps, ", "maps"},
	} {
		text := strings.Replace(string(right), c.old, c.new, 1)
		if text == string(right) {
			t.Fatalf("%q is not in the task", c.old)
		}
		if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.new, err, c.want)
		}
	}
	if _, _, err := Open("generated-styles@9"); err == nil || !strings.Contains(err.Error(),
		"this mldp has generated-styles@1") {
		t.Errorf("another version: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		data, _ := files.ReadFile("tasks/" + name + ".yaml")
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if x, err := Parse("x.yaml", data); err == nil && x.Ref(Lite) == "" {
			t.Error("a task without a reference")
		}
	})
}
