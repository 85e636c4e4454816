package experiments

import (
	"reflect"
	"slices"
	"testing"
)

func grid(t testing.TB, s *Study) []Cell {
	t.Helper()
	cells, err := s.Grid(traits)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

func TestGrid(t *testing.T) {
	cells := grid(t, tiny(t))
	// Baselines: 2 data sets × 2 repetitions × 2 models. Mechanisms: cmp, vickrey
	// in 2 variants with 2 t, tem with 2 γ = 7, × 2 data sets × 2 ε × 2
	// repetitions × 2 models × 3 settings.
	if want := 8 + 7*2*2*2*2*3; len(cells) != want {
		t.Fatalf("%d cells, want %d", len(cells), want)
	}
	seen := map[string]int{}
	for i, c := range cells {
		if c.Index != i {
			t.Fatalf("cell %d has index %d", i, c.Index)
		}
		key := c.Key(Fingerprints{})
		if j, dup := seen[key]; dup {
			t.Fatalf("cells %d and %d share the key %s:\n%s\n%s", j, i, key, cells[j], c)
		}
		seen[key] = i
	}
}

func TestLinearModelsOnlyForWordsAndVectors(t *testing.T) {
	s, err := tiny(t).Override(Overrides{Models: []string{"svm", "lstm"}})
	if err != nil {
		t.Fatal(err)
	}
	lstm := 0
	for _, c := range grid(t, s) {
		if c.Model == "lstm" {
			lstm++
			if c.Dataset.Name == "generated-words" {
				t.Fatalf("%s: an LSTM on single words", c)
			}
		}
	}
	if lstm == 0 {
		t.Fatal("no LSTM at all")
	}
}

func TestGeneratedAndRealDataAreNotMixed(t *testing.T) {
	s, err := tiny(t).Override(Overrides{Embeddings: []string{"glove.6B.50d.txt"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Grid(traits); err == nil {
		t.Fatal("generated text with real vectors was accepted")
	}
}

// A change of any value that can change a result changes the key.
func TestKeyFollowsValue(t *testing.T) {
	base := grid(t, tiny(t))[20]
	f := Fingerprints{Dataset: "d", Embedding: "e"}
	key := base.Key(f)
	if again := grid(t, tiny(t))[20].Key(f); again != key {
		t.Fatalf("the same cell has keys %s and %s", key, again)
	}
	moved := base
	moved.Index += 3
	moved.Dataset.File = "elsewhere.csv"
	if moved.Key(f) != key {
		t.Error("the position in the grid or the place of a file is part of the key")
	}
	changes := map[string]func(*Cell, *Fingerprints){
		"seed":        func(c *Cell, _ *Fingerprints) { c.Seed++ },
		"sample":      func(c *Cell, _ *Fingerprints) { c.Dataset.Train++ },
		"embedding":   func(c *Cell, _ *Fingerprints) { c.Embedding += "x" },
		"dimension":   func(c *Cell, _ *Fingerprints) { c.Dimension++ },
		"epsilon":     func(c *Cell, _ *Fingerprints) { c.Mechanism.Epsilon *= 1 + 1e-15 },
		"variant":     func(c *Cell, _ *Fingerprints) { c.Mechanism.Variant = "released" },
		"policy":      func(c *Cell, _ *Fingerprints) { c.Policy = "keep" },
		"model":       func(c *Cell, _ *Fingerprints) { c.Model = "lstm" },
		"setting":     func(c *Cell, _ *Fingerprints) { c.Setting = "other" },
		"repetition":  func(c *Cell, _ *Fingerprints) { c.Repetition++ },
		"metrics":     func(c *Cell, _ *Fingerprints) { c.Metrics.Low++ },
		"data":        func(_ *Cell, f *Fingerprints) { f.Dataset = "other" },
		"vectors":     func(_ *Cell, f *Fingerprints) { f.Embedding = "other" },
		"parameters":  func(c *Cell, _ *Fingerprints) { c.Mechanism.Parameters = map[string]any{"t": 0.25} },
		"model value": func(c *Cell, _ *Fingerprints) { c.ModelParameters = "c=2" },
	}
	for name, change := range changes {
		c, g := base, f
		change(&c, &g)
		if c.Key(g) == key {
			t.Errorf("%s: changed value, same key", name)
		}
	}
}

func TestTextSeedIgnoresModelSettingAndMetrics(t *testing.T) {
	a := grid(t, tiny(t))[20]
	b := a
	b.Model, b.ModelParameters, b.Setting, b.Metrics, b.Index = "lstm", "", TestOnly, MetricOptions{}, 0
	if a.textSeed() != b.textSeed() || a.repetitionSeed() != b.repetitionSeed() {
		t.Error("the noise depends on what is done with the text")
	}
	if a.modelSeed() == b.modelSeed() {
		t.Error("two models share their randomness")
	}
	b = a
	b.Repetition++
	if a.repetitionSeed() == b.repetitionSeed() {
		t.Error("two repetitions share their noise")
	}
}

func TestShardsPartitionTheGrid(t *testing.T) {
	all := groups(grid(t, tiny(t)))
	for n := 1; n <= 5; n++ {
		count := make([]int, len(all))
		for i := 1; i <= n; i++ {
			for j := range all {
				if (Shard{i, n}).has(j) {
					count[j]++
				}
			}
		}
		if slices.ContainsFunc(count, func(c int) bool { return c != 1 }) {
			t.Fatalf("%d shards: groups are run %v times", n, count)
		}
	}
}

func TestParseShard(t *testing.T) {
	if s, err := ParseShard("2/5"); err != nil || s != (Shard{2, 5}) {
		t.Fatalf("%v, %v", s, err)
	}
	for _, bad := range []string{"", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1/2x"} {
		if s, err := ParseShard(bad); err == nil {
			t.Errorf("%q: %v", bad, s)
		}
	}
}

// The canonical form of a cell must hold everything that is not listed here.
func TestCellFieldsAreInTheKey(t *testing.T) {
	outside := []string{"Index", "modelParameters"} // position; and what ModelParameters says in words
	c := reflect.TypeFor[Cell]()
	for i := range c.NumField() {
		f := c.Field(i)
		if hidden := f.Tag.Get("json") == "-" || !f.IsExported(); hidden != slices.Contains(outside, f.Name) {
			t.Errorf("field %s: in the key: %v", f.Name, !hidden)
		}
	}
}
