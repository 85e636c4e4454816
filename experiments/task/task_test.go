package task

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestContentIsPinned fails when a task changes without another version: rows of
// two contents would carry one name. Raise the version and put the new hash here.
func TestContentIsPinned(t *testing.T) {
	for _, name := range Names() {
		x, _, err := Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if x.Name != name {
			t.Errorf("%s.yaml is of task %q", name, x.Name)
		}
		if want := pinned[x.String()]; want != x.Hash()[:12] {
			t.Errorf("%q: %q,", x, x.Hash()[:12])
		}
		data, err := x.Croissant()
		var back map[string]any
		if err != nil || json.Unmarshal(data, &back) != nil || back["@type"] != "sc:Dataset" {
			t.Errorf("%s: croissant: %v %s", x, err, data)
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

var pinned = map[string]string{
	"agnews-agency@1":    "42a7fe62c5d7",
	"agnews@1":           "9c620044fb77",
	"blog-authorship@1":  "0410b677a95e",
	"cr@1":               "c695a9d7ba96",
	"enron-authors@1":    "e2b0a04c1900",
	"generated-styles@1": "de44756d9f11",
	"imdb@1":             "e0cf116bcfe3",
	"imdb62@1":           "f5ade567c763",
	"mr@1":               "b0c41a24df7d",
	"product-reviews@1":  "b2674928d86e",
	"spooky-authors@1":   "c79787af7b9c",
	"sst2@1":             "64ee6d8f9e9e",
	"tab@1":              "7fe73644b653",
	"trec@1":             "7f384ec0f21d",
	"trustpilot@1":       "03bdac725183",
	"yelp-authors@1":     "089bf8271992",
}
