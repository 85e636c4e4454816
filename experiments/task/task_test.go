package task

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/datasets"
	"mldpbench/internal/realdata"
	"mldpbench/stream"
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
	for _, name := range library.Names() {
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
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(list, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// splits are the splits of both sizes: name, documents, SHA-256 of row numbers,
// labels and texts in order.
func splits(t *testing.T, x *Task, root string) (all []string, err error) {
	t.Helper()
	for _, size := range []string{Lite, Full} {
		s, err := x.Study(size)
		if err := errors.Join(err, x.Present(root)); err != nil {
			return nil, err
		}
		d, err := datasets.Load(t.Context(), s.Datasets[0].Request(root, stream.Seed{}))
		if err != nil {
			return nil, err
		}
		for _, part := range d.Splits() {
			h := sha256.New()
			for _, x := range part.Documents {
				fmt.Fprintf(h, "%d %d %d %s %d:%s\n", x.ID, x.Label, x.Private, x.User, len(x.Text), x.Text)
			}
			all = append(all, fmt.Sprintf("%s %d %x", part.Name, len(part.Documents), h.Sum(nil)))
		}
	}
	return all, nil
}

// TestFilesToGet checks the tasks whose file the user brings against a made-up
// file of its format, and that two homes get the same splits from it.
func TestFilesToGet(t *testing.T) {
	t.Chdir(t.TempDir())
	checked := 0
	for _, name := range library.Names() {
		x, _, err := Open(name)
		if err != nil || x.Data.File == "" {
			continue
		}
		checked++
		if _, err := splits(t, x, t.TempDir()); err == nil || !strings.Contains(err.Error(), x.Data.File) ||
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
		var homes [2][]string
		for i := range homes {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, x.Data.File), []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			if homes[i], err = splits(t, x, home); err != nil {
				t.Errorf("%s: %v", x, err)
			}
		}
		if a, b := fmt.Sprint(homes[0]), fmt.Sprint(homes[1]); a != b || len(homes[0]) != 6 || !strings.HasPrefix(homes[0][2], "test 120 ") {
			t.Errorf("%s: two homes have\n%s and\n%s", x, a, b)
		}
	}
	if checked != 6 {
		t.Errorf("%d tasks with a file to get, want 6", checked)
	}
}

// TestLongTwoHomes: two homes get the same splits of every task whose data is at
// hand: one with the data folder as it is, one with its files alone, and a cache of
// its own.
func TestLongTwoHomes(t *testing.T) {
	realdata.Long(t)
	from := realdata.Dir(t)
	flat := t.TempDir()
	if err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		within, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(flat, within)
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Symlink(path, to))
	}); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, name := range library.Names() {
		x, _, err := Open(name)
		if err != nil || x.Data.File != "" {
			continue
		}
		var homes [2][]string
		for i, root := range []string{from, flat} {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			if homes[i], err = splits(t, x, root); err != nil {
				t.Errorf("%s: %v", x, err)
			}
		}
		if a, b := fmt.Sprint(homes[0]), fmt.Sprint(homes[1]); a != b || len(homes[0]) != 6 || strings.HasPrefix(homes[0][0], "train 0 ") {
			t.Errorf("%s: two homes have\n%s and\n%s", x, a, b)
		}
		checked++
	}
	if t.Logf("%d tasks", checked); checked < 10 {
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
	for _, name := range library.Names() {
		data, _ := files.ReadFile("tasks/" + name + ".yaml")
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if x, err := Parse("x.yaml", data); err == nil && x.Ref(Lite) == "" {
			t.Error("a task without a reference")
		}
	})
}
