package experiments_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

// tokensOf is a measurement that only tests know.
const tokensOf = "tokens-of-test"

func init() {
	measure.Register(measure.Measurement{
		Name: tokensOf, Version: 1, Setting: true,
		Columns: []results.Column{{Name: tokensOf, Title: "tokens"}},
		Metric:  study.Metric{Key: "tokens_of_test", New: func() any { return &struct{}{} }},
		Measure: func(ctx context.Context, r *measure.Release, q *measure.Query) ([]results.Row, error) {
			c, err := r.Compare(ctx, q.Setting)
			if err != nil {
				return nil, err
			}
			n := 0
			for _, d := range c.After {
				n += len(d)
			}
			return []results.Row{r.Row(q).Of(tokensOf, results.Number(float64(n)))}, nil
		},
	})
}

// A measurement added to a finished study runs alone, and so does one with a
// new version; all other rows stay.
func TestMeasurementRunsAlone(t *testing.T) {
	dir := t.TempDir()
	s := own(t, "  - {name: cmp}\n  - {name: tem}")
	first := mustRun(t, s, engine.Options{Out: dir})
	more := withText(t, s, "metrics:\n", "metrics:\n  tokens_of_test: {}\n")
	second := mustRun(t, more, engine.Options{Out: dir})
	if second.Ran != 2 || second.Reused != first.Total {
		t.Errorf("a measurement more: %d units ran, want 2; %d of %d reused", second.Ran, second.Reused, first.Total)
	}
	for _, c := range cells(t, second) {
		if !c.IsBaseline() && !(c.Get(tokensOf).Float() > 0 && c.Has("n_w") && c.Has("accuracy")) {
			t.Errorf("%s: %v tokens", c.Mechanism, c.Get(tokensOf))
		}
	}
	same(t, "measured before", first.Rows, results.Where(second.Rows, func(r results.Row) bool {
		return r.Quantity != tokensOf
	}))
	m := measurement(t, tokensOf)
	m.Version = 2
	defer func() { m.Version = 1 }()
	third := mustRun(t, more, engine.Options{Out: dir})
	if third.Ran != 2 || third.Reused != first.Total {
		t.Errorf("a new version: %d units ran, want 2; %d of %d reused", third.Ran, third.Reused, first.Total)
	}
	for _, r := range third.Rows {
		if r.Quantity == tokensOf && r.Measurement != tokensOf+"@2" {
			t.Errorf("measured by %s", r.Measurement)
		}
	}
	m.Version = 1
	if again := mustRun(t, more, engine.Options{Out: dir}); again.Ran != 0 {
		t.Errorf("the version of before: %d units ran", again.Ran)
	}
}

// Whatever a command or a text depends on is in the keys of its units, and of
// no others: raw texts, folders, ids.
func TestKeysFollowWhatComesFromOutside(t *testing.T) {
	dir := t.TempDir()
	table := func(ids func(i int) int, text func(string) string) {
		var b strings.Builder
		b.WriteString("id,body,stars\n")
		for i := range 40 {
			fmt.Fprintf(&b, "r%d,%s,%d\n", ids(i), text([]string{"good food", "bad room"}[i%2]), i%2)
		}
		put(t, dir, "reviews.csv", b.String())
	}
	straight, lower := func(i int) int { return i }, func(s string) string { return s }
	table(straight, lower)
	var private strings.Builder
	private.WriteString("id,body\n")
	for i := range 40 {
		fmt.Fprintf(&private, "r%d,food\n", i)
	}
	put(t, dir, "private.csv", private.String())
	put(t, dir, "vectors.txt", "good 1 2\nbad 2 1\nfood 3 3\nroom 4 1\n")
	put(t, dir, "model/weights.bin", "1")
	put(t, dir, "model/deep/config.json", "1")
	put(t, dir, "listed/vocabulary.txt", "1")
	s, err := study.Parse("keys.yaml", []byte(strings.NewReplacer("SELF", selfName(t), "DIR", dir).Replace(`schema: 1
name: keys
seed: 3
datasets: [{name: mine, file: DIR/reviews.csv, text: body, label: stars, cleaning: words}]
embeddings: [{name: own, file: DIR/vectors.txt}]
epsilons: [5]
models: [{name: svm, parameters: {features: tfidf}}]
mechanisms:
  - {name: cmp}
  - {name: tokens, command: [SELF, client, shuffle]}
  - {name: raw, command: [SELF, client, shorter]}
  - {name: folder, command: [SELF, client, shuffle, --model=DIR/model]}
  - {name: listed, command: [SELF, client, shuffle, DIR/listed]}
  - {name: text, text: DIR/private.csv, id: id, epsilons: [5]}
`)))
	if err != nil {
		t.Fatal(err)
	}
	keys := func() map[string]string { // by mechanism
		t.Helper()
		all := unitKeys(t, s)
		out := map[string]string{}
		for i, u := range units(t, s) {
			out[u.Place.Mechanism] += all[i]
		}
		return out
	}
	last := keys()
	check := func(what string, changed ...string) {
		t.Helper()
		now := keys()
		for name := range now {
			want := false
			for _, c := range changed {
				want = want || c == name
			}
			if got := now[name] != last[name]; got != want {
				t.Errorf("%s: the keys of %s changed: %v, want %v", what, name, got, want)
			}
		}
		last = now
	}
	check("nothing")
	table(straight, strings.ToUpper)
	check("case of the raw text", "raw")
	table(func(i int) int { return (i + 1) % 40 }, strings.ToUpper)
	check("ids of the data set", "text")
	put(t, dir, "model/deep/config.json", "2")
	check("a file in a folder of the command line", "folder")
	put(t, dir, "model/deep/more.json", "")
	check("an empty file more in that folder", "folder")
	put(t, dir, "listed/vocabulary.txt", "2")
	check("a file in a folder of files", "listed")
}

// measurement returns a registered one.
func measurement(t *testing.T, name string) *measure.Measurement {
	t.Helper()
	for _, m := range measure.All() {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no measurement %q", name)
	return nil
}
