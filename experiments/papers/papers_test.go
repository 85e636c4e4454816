package papers

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mldpbench/models"
	"mldpbench/results"
)

func open(t *testing.T, name string) Study {
	t.Helper()
	data, err := Builtin.Source(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(name+".yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBuiltinStudiesParse(t *testing.T) {
	for _, name := range Builtin.Names() {
		if got := open(t, name).header().Name; got != name {
			t.Errorf("%s.yaml: name = %q", name, got)
		}
	}
	for _, p := range Protocols() {
		for _, name := range []string{p, p + "-generated"} {
			if _, err := Builtin.Source(name); err != nil {
				t.Errorf("protocol %s: %v", p, err)
			}
		}
	}
}

// TestGeneratedStudies runs every protocol on the generated corpus, twice with
// different numbers of workers, and a third time to see that nothing is run
// again.
func TestGeneratedStudies(t *testing.T) {
	for _, p := range Protocols() {
		t.Run(p, func(t *testing.T) {
			if testing.Short() && p != "privemb" {
				t.Skip("the long protocols are left out of short runs")
			}
			t.Parallel()
			study := open(t, p+"-generated")
			dir := t.TempDir()
			var runs [][]results.Record
			for _, o := range []Options{{Out: filepath.Join(dir, "a"), Workers: 1}, {Out: filepath.Join(dir, "b"), Workers: 4}, {Out: filepath.Join(dir, "a"), Workers: 2}} {
				out, err := Run(context.Background(), study, o)
				if err != nil {
					t.Fatal(err)
				}
				if third := len(runs) == 2; third != (out.Reused == out.Units) || !third && out.Reused != 0 {
					t.Errorf("run %d: %d of %d units reused", len(runs), out.Reused, out.Units)
				}
				read, err := results.Read(out.Path)
				if err != nil {
					t.Fatal(err)
				}
				if len(read) == 0 || len(read) != len(out.Points) {
					t.Fatalf("%d points in the file, %d in memory", len(read), len(out.Points))
				}
				for _, x := range read {
					if !x.Generated {
						t.Fatalf("%s: %s: not labelled generated", x.Panel, x.Series)
					}
				}
				runs = append(runs, read)
			}
			for i := 1; i < len(runs); i++ {
				for j := range runs[0] {
					a, b := runs[0][j], runs[i][j]
					if !same(a, b) {
						t.Fatalf("run %d differs in row %d: %+v, %+v", i, j, a, b)
					}
				}
			}
		})
	}
}

// same says whether two rows are equal.
func same(a, b results.Record) bool {
	return results.FirstDifference(a, b) == "" && a.Index == b.Index && a.Key == b.Key
}

func TestParseRefuses(t *testing.T) {
	valid := `schema: 1
name: x
protocol: privemb
seed: 1
distance:
  - name: d
    embedding: {name: generated, dimension: 50}
    words: 10
    epsilons: [1]
    betas: [0.5]
    repetitions: 1
`
	if _, err := Parse("x.yaml", []byte(valid)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"protocol: privemb", "protocol: nonsense", `x.yaml: protocol = "nonsense": must be one of`},
		{"schema: 1", "schema: 7", "x.yaml: schema = 7"},
		{"name: x", "name: a/b", `x.yaml: name = "a/b"`},
		{"seed: 1", "sede: 1", "x.yaml:4:1: unknown field"},
		{"epsilons: [1]", "epsilons: [-1]", "x.yaml: distance[0]: epsilon = -1: must be > 0 and finite"},
		{"betas: [0.5]", "betas: [1.5]", "beta = 1.5: must be in (0, 1)"},
		{"words: 10", "words: ten", "x.yaml:8:12: "},
	} {
		_, err := Parse("x.yaml", []byte(strings.Replace(valid, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}

func TestDamagedUnitIsRunAgain(t *testing.T) {
	study := open(t, "privemb-generated")
	dir := t.TempDir()
	first, err := Run(context.Background(), study, Options{Out: dir, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "units", "*.json"))
	if err != nil || len(files) != first.Units {
		t.Fatalf("%d files for %d units, %v", len(files), first.Units, err)
	}
	if err := os.WriteFile(files[0], []byte("[{"), 0o644); err != nil {
		t.Fatal(err)
	}
	second, err := Run(context.Background(), study, Options{Out: dir, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if second.Reused != first.Units-1 {
		t.Errorf("%d of %d units reused", second.Reused, first.Units)
	}
}

// fixed is a study of given units.
type fixed struct {
	Header
	units []Unit
}

func (f fixed) check() error { return nil }
func (f fixed) plan(_ context.Context, lab *Lab) (units []Unit, err error) {
	for _, u := range f.units {
		if lab.wants("section", u.Panel) {
			units = append(units, u)
		}
	}
	return units, nil
}

func TestInterruptedUnitIsNotFinished(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	one := results.NewRecord()
	one.Panel, one.Series, one.Status = "p", "s", results.StatusOK
	point := []results.Record{one}
	study := fixed{Header{Name: "fixed"}, []Unit{
		{Panel: "p", Series: "whole", X: results.Missing, run: func(context.Context) ([]results.Record, error) { return point, nil }},
		{Panel: "p", Series: "cut off", X: 1, run: func(ctx context.Context) ([]results.Record, error) {
			cancel()
			return nil, ctx.Err()
		}},
		{Panel: "p", Series: "never begun", X: 2, run: func(context.Context) ([]results.Record, error) { return point, nil }},
	}}
	var finished []string
	o := Options{Out: t.TempDir(), Workers: 1, Finished: func(unit string, err error) { finished = append(finished, unit) }}
	if _, err := Run(ctx, study, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("err = %v, want that it was cancelled", err)
	}
	if want := []string{"p: whole"}; !reflect.DeepEqual(finished, want) {
		t.Errorf("finished %q, want %q", finished, want)
	}
}

func TestPanels(t *testing.T) {
	unit := func(panel, series string) Unit {
		return Unit{Panel: panel, Series: series, X: results.Missing, run: func(context.Context) ([]results.Record, error) {
			r := results.NewRecord()
			r.Panel, r.Series, r.Status = panel, series, results.StatusOK
			return []results.Record{with(r, "loss", 1, 1), with(r, "loss", 2, 3)}, nil
		}}
	}
	study := fixed{Header{Name: "fixed"}, []Unit{unit("a", "s"), unit("b", "s"), unit("a", "z")}}
	for selected, want := range map[string]int{"a": 2, "section/b": 1, "section": 3} {
		out, err := Run(context.Background(), study, Options{Out: t.TempDir(), Panels: []string{selected}})
		if err != nil || out.Units != want {
			t.Errorf("%s: %+v, %v, want %d units", selected, out, err, want)
		}
	}
	out, err := Run(context.Background(), study, Options{Out: t.TempDir(), Panels: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	rows := Summarize(out.Points)
	if len(rows) != 2 || rows[0].Series != "s" || rows[1].Series != "z" {
		t.Fatalf("%+v", rows)
	}
	// The t quantile of one degree of freedom is 12.706; the standard error of 1 and 3 is 1.
	if r := rows[0]; r.N != 2 || r.Mean != 2 || r.Least != 1 || r.Most != 3 || math.Abs(float64(r.High-r.Mean)-12.706) > 1e-3 {
		t.Errorf("%+v", r)
	}
	written, err := os.ReadFile(out.SummaryPath)
	if err != nil || strings.Count(string(written), "\n") != 3 {
		t.Errorf("%s, %v", written, err)
	}
	want := `panel = "c": must be one of ["a" "b" "section" "section/a" "section/b"]`
	if _, err := Run(context.Background(), study, Options{Out: t.TempDir(), Panels: []string{"c"}}); err == nil || err.Error() != want {
		t.Errorf("err = %v, want %q", err, want)
	}
}

// TestUnitsAreKnownByTheDefaultsOfTheirModel: a unit finished with other
// defaults must not be taken for one of today.
func TestUnitsAreKnownByTheDefaultsOfTheirModel(t *testing.T) {
	key := func(parameters map[string]any) string {
		k, err := Unit{identity: []any{utilityPanel{Model: ModelSpec{Name: "bilstm", Parameters: parameters}}}}.key(Header{})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	d, err := models.Find("bilstm")
	if err != nil {
		t.Fatal(err)
	}
	all, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if key(nil) != key(all) {
		t.Error("naming the defaults makes another unit")
	}
	for _, p := range d.Parameters {
		switch v := all[p.Name].(type) {
		case int:
			all[p.Name] = v + 1
		case float64:
			all[p.Name] = v / 2
		default:
			t.Fatalf("%s = %v: a type that this test does not change", p.Name, v)
		}
		if key(nil) == key(all) {
			t.Errorf("%s is not part of the key", p.Name)
		}
		all[p.Name] = p.Default
	}
}
