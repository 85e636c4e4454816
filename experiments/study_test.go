package experiments

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// edit returns the tiny study with one piece of text replaced.
func edit(t *testing.T, old, new string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "tiny.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("tiny.yaml has no %q", old)
	}
	return []byte(strings.Replace(string(data), old, new, 1))
}

func tiny(t testing.TB) *Study {
	t.Helper()
	s, err := OpenStudy(filepath.Join("testdata", "tiny.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStudyErrorsNameThePlace(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"seed: 7", "sed: 7", `tiny.yaml:4:1: unknown field "sed"`},
		{"train: 60", "train: many", "tiny.yaml:7:12: "},
		{"train: 60", "train: -1", "tiny.yaml:7:12: train = -1: must be >= 0"},
		{"schema: 1", "schema: 99", "tiny.yaml:2:9: schema = 99: this version of mldp reads schema 1"},
		{"name: tiny", "name: ../tiny", `tiny.yaml:3:7: name = "../tiny": must consist of`},
		{"seed: 7", "seed: 7\nseed: 8", "tiny.yaml:5:1: "},
		{"seed: 7", "seed: -7", "tiny.yaml:4:7: "},
		{"name: cmp", "name: cpm", `tiny.yaml:15:11: mechanism = "cpm": must be one of`},
		{"variants: [proved, printed]", "variants: [prooved]", `vickrey: variant = "prooved": must be one of`},
		{"variants: [proved, printed]", "variant: proved\n    variants: [proved]", "give variant or variants, not both"},
		{"{t: [0, 0.5]}", "{s: 0.5}", `vickrey: unknown parameter "s"`},
		{"{t: [0, 0.5]}", "{t: []}", "vickrey: parameter t: the list is empty"},
		{"epsilons: [1, 10]", "epsilons: [1, -1]", "tiny.yaml:21:15: epsilon = -1: must be > 0 and finite"},
		{"epsilons: [1, 10]", "epsilons: [1, .nan]", "epsilon = NaN: must be > 0 and finite"},
		{"epsilons: [1, 10]", "epsilons: []", "no epsilons, neither here nor in the study"},
		{"name: svm", "name: svn", `tiny.yaml:23:11: model = "svn": must be one of`},
		{"settings: [local, train-only, test-only]", "settings: [remote]", `setting = "remote": must be one of`},
		{"policy: drop", "policy: dorp", `policy = "dorp": must be one of`},
		{"repetitions: 2", "repetitions: -2", "repetitions = -2: must be >= 1"},
		{"{words: 5, runs: 20}", "{words: 5}", "words and runs must both be given"},
		{"dimensions: [50]", "dimensions: [0]", "dimension = 0: must be >= 1"},
		{"dimensions: [50]", "dimensions: [50]\n    datasets: [imdb]", `data set "imdb" is not in the study`},
		{"- name: generated-words", "- name: generated-reviews", `data set "generated-reviews" is given twice`},
		{"- name: generated-words", "- name: own\n    file: own.csv", `data set "own": a file needs its text and label columns`},
		{"# A study", "\tA study", "tiny.yaml:2:7: "},
	} {
		_, err := ParseStudy("tiny.yaml", edit(t, c.old, c.new))
		if err == nil {
			t.Errorf("%q for %q: no error", c.new, c.old)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "tiny.yaml:") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q for %q:\n got %q\nwant %q", c.new, c.old, err, c.want)
		}
	}
}

func TestBuiltinStudiesAreSound(t *testing.T) {
	for _, name := range Builtin.Names() {
		s, err := OpenStudy(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Name != name || s.Title == "" {
			t.Errorf("%s.yaml: name %q, title %q", name, s.Name, s.Title)
		}
		if _, err := s.Cells(); err != nil {
			t.Error(err)
		}
	}
}

// A study printed and read again is the same study: the manifest can be rerun.
func TestStudyYAMLRoundTrip(t *testing.T) {
	s := tiny(t)
	first, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseStudy("again.yaml", first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := again.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if string(first) != string(second) {
		t.Fatalf("first:\n%s\nsecond:\n%s", first, second)
	}
	a, err := s.Grid(traits)
	if err != nil {
		t.Fatal(err)
	}
	b, err := again.Grid(traits)
	if err != nil {
		t.Fatal(err)
	}
	if len(a) != len(b) {
		t.Fatalf("%d cells, then %d", len(a), len(b))
	}
	for i := range a {
		if a[i].Key(Fingerprints{}) != b[i].Key(Fingerprints{}) {
			t.Fatalf("cell %d: another key", i)
		}
	}
}

func TestOverride(t *testing.T) {
	comparative, err := OpenStudy("comparative")
	if err != nil {
		t.Fatal(err)
	}
	s, err := comparative.Override(Overrides{
		Embeddings: []string{"x/glove.6B.100d.subset.txt.gz", "x/local.50d.txt.gz"}, Dimensions: []int{100},
		Models: []string{"svm"}, Repetitions: 1, Sample: "small",
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Embeddings) != 1 || s.Embeddings[0].Name != "glove.6B" || s.Embeddings[0].Dimensions[0] != 100 {
		t.Errorf("embeddings %+v", s.Embeddings)
	}
	named, err := comparative.Override(Overrides{Embeddings: []string{"local"}, Dimensions: []int{50}})
	if err != nil {
		t.Fatal(err)
	}
	if len(named.Embeddings) != 1 || named.Embeddings[0].Name != "local" || named.Embeddings[0].File != "" || !slices.Equal(named.Embeddings[0].Dimensions, []int{50}) {
		t.Errorf("embeddings by name %+v", named.Embeddings)
	}
	if len(s.Models) != 1 || s.Models[0].Name != "svm" || len(s.Models[0].Datasets) != 0 {
		t.Errorf("models %+v", s.Models)
	}
	if s.Repetitions != 1 || s.BaselineRepetitions != 2 {
		t.Errorf("repetitions %d, baseline %d", s.Repetitions, s.BaselineRepetitions)
	}
	if d := s.Datasets[0]; d.Train != smallSample.Train || d.MaxTokens != 100 {
		t.Errorf("data set %+v", d)
	}
	if comparative.Datasets[0].Train != 8000 || len(comparative.Embeddings[0].Dimensions) != 3 {
		t.Error("the study itself was changed")
	}
	one, err := comparative.Override(Overrides{Datasets: []string{"imdb"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(one.Models) != 1 || one.Models[0].Name != "lstm" {
		t.Errorf("models for imdb: %+v", one.Models)
	}
	for _, bad := range []Overrides{
		{Dimensions: []int{-1}}, {Epsilons: []float64{0}}, {Mechanisms: []string{"nope"}}, {Models: []string{"nope"}},
		{Datasets: []string{"nope"}}, {Repetitions: -1}, {Sample: "large"}, {Settings: []string{"nope"}},
	} {
		if s, err := comparative.Override(bad); err == nil {
			if _, err = s.Grid(traits); err == nil {
				t.Errorf("%+v: no error", bad)
			}
		}
	}
}

func FuzzParseStudy(f *testing.F) {
	for _, name := range Builtin.Names() {
		data, err := Builtin.Source(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("schema: 1\nname: x\nmechanisms: [{name: cmp, parameters: {a: [[1]]}}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseStudy("fuzz.yaml", data)
		if err == nil && s.Check() != nil {
			t.Fatal("a study that was read does not pass its own check")
		}
	})
}
