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
	"mldpbench/results/quantity"
)

// tokensOf is a measurement that only tests know.
const tokensOf = "tokens-of-test"

func init() {
	measure.Register(measure.Measurement{
		Name: tokensOf, Version: 1, Setting: true,
		Quantities: []quantity.Quantity{{Name: tokensOf, Title: "tokens"}},
		Metric:     study.Metric{Key: "tokens_of_test", New: func() any { return &struct{}{} }},
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
	m := measurement(t, tokensOf)
	defer func() { m.Version = 1 }()
	for _, c := range []struct{ version, ran int }{{1, 2}, {2, 2}, {1, 0}} {
		m.Version = c.version
		sum := mustRun(t, more, engine.Options{Out: dir})
		if sum.Ran != c.ran || sum.Total != first.Total+2 {
			t.Errorf("version %d: %d of %d units ran, want %d", c.version, sum.Ran, sum.Total, c.ran)
		}
		before := results.Where(sum.Rows, func(r results.Row) bool { return r.Quantity != tokensOf })
		same(t, "measured before", first.Rows, before)
		for _, r := range sum.Rows {
			if r.Quantity == tokensOf && (r.Measurement != fmt.Sprintf("%s@%d", tokensOf, c.version) || !(r.Value.Float() > 0)) {
				t.Errorf("%v tokens by %s", r.Value, r.Measurement)
			}
		}
	}
}

// Whatever a command or a text depends on is in the keys of its units, and of
// no others: raw texts, folders, ids.
func TestKeysFollowWhatComesFromOutside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := func(shift int, text func(string) string) {
		rows := "id,body,stars\n"
		for i := range 40 {
			rows += fmt.Sprintf("r%d,%s,%d\n", (i+shift)%40, text([]string{"good food", "bad room"}[i%2]), i%2)
		}
		put(t, dir, "reviews.csv", rows)
	}
	table(0, strings.ToLower)
	private := "id,body\n"
	for i := range 40 {
		private += fmt.Sprintf("r%d,food\n", i)
	}
	for name, text := range map[string]string{"private.csv": private,
		"vectors.txt": "good 1 2\nbad 2 1\nfood 3 3\nroom 4 1\n", "model/weights.bin": "1",
		"model/deep/config.json": "1", "listed/vocabulary.txt": "1"} {
		put(t, dir, name, text)
	}
	s := parsed(t, strings.NewReplacer("SELF", selfName(t), "DIR", dir).Replace(`schema: 1
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
`))
	keys := func() map[string]string { // by mechanism
		out, all := map[string]string{}, unitKeys(t, s, "")
		for i, u := range units(t, s) {
			out[u.Place.Mechanism] += all[i]
		}
		return out
	}
	last := keys()
	for _, c := range []struct {
		what, changed string
		do            func()
	}{
		{"nothing", "none at all", func() {}},
		{"case of the raw text", "raw", func() { table(0, strings.ToUpper) }},
		{"ids of the data set", "text", func() { table(1, strings.ToUpper) }},
		{"a file in a folder of the command line", "folder", func() { put(t, dir, "model/deep/config.json", "2") }},
		{"an empty file more in that folder", "folder", func() { put(t, dir, "model/deep/more.json", "") }},
		{"a file in a folder that is an argument", "listed", func() { put(t, dir, "listed/vocabulary.txt", "2") }},
	} {
		c.do()
		now := keys()
		for name := range now {
			if got := now[name] != last[name]; got != (name == c.changed) {
				t.Errorf("%s: the keys of %s changed: %v", c.what, name, got)
			}
		}
		last = now
	}
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
