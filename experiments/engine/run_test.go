package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"mldpbench/internal/cores"
	"mldpbench/results"
)

// numbers is a plan of n units in groups of three; each returns two rows
// computed from its number.
func numbers(n int) *Plan {
	p := &Plan{Study: "numbers", Definition: "n", Schema: 1}
	for i := range n {
		row := results.NewRow()
		row.Mechanism, row.Repetition = fmt.Sprint("m", i), 1
		p.Units = append(p.Units, Unit{
			Name: fmt.Sprint("unit ", i), ID: MakeID("numbers", i), Group: fmt.Sprint(i / 3), Place: row.Place,
			Data: func(context.Context) (map[string]string, error) { return map[string]string{"dataset": "d"}, nil },
			Run: func(ctx context.Context, job *Job) ([]results.Row, error) {
				rows := []results.Row{row, row}
				rows[0].Quantity, rows[0].Value = "accuracy", results.Float(float64(i))
				rows[1].Quantity, rows[1].Value = "loss", results.Float(float64(i)/3)
				return rows, ctx.Err()
			},
		})
	}
	return p
}

func mustRun(t testing.TB, p *Plan, o Options) *Summary {
	t.Helper()
	s, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// same compares the results of two runs, except for timing.
func same(t testing.TB, a, b []results.Row) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%d and %d records", len(a), len(b))
	}
	for i := range a {
		if column := results.FirstDifference(a[i], b[i]); column != "" {
			t.Fatalf("record %d differs in %s", i, column)
		}
	}
}

// Jobs share the cores of those that have ended, while they run.
func TestTheLastJobHasAllCores(t *testing.T) {
	t.Parallel()
	p, begun, before := numbers(9), make(chan struct{}), 0
	for i, first := range map[int]func(ctx context.Context){0: func(context.Context) { <-begun },
		3: func(context.Context) { <-begun }, 6: func(ctx context.Context) {
			before = cores.Free(ctx)
			close(begun)
			for cores.Free(ctx) != 4 {
				runtime.Gosched()
			}
		}} {
		run := p.Units[i].Run
		p.Units[i].Run = func(ctx context.Context, job *Job) ([]results.Row, error) { first(ctx); return run(ctx, job) }
	}
	if mustRun(t, p, Options{Out: t.TempDir(), Workers: 4}); before != 1 {
		t.Errorf("%d of 4 cores for each of three jobs", before)
	}
}

func TestShardsWorkersAndResumeGiveOneResult(t *testing.T) {
	t.Parallel()
	whole := mustRun(t, numbers(10), Options{Out: t.TempDir(), Workers: 1})
	if whole.Ran != 10 || len(whole.Rows) != 20 || whole.Manifest.Records != 20 {
		t.Fatalf("%+v", whole)
	}
	shared := t.TempDir()
	for i := range 3 {
		mustRun(t, numbers(10), Options{Out: shared, Workers: 4, Shard: Shard{i + 1, 3}})
	}
	merged, err := Merge([]string{shared}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	same(t, whole.Rows, merged.Rows)
	again := mustRun(t, numbers(10), Options{Out: shared})
	if again.Reused != 10 {
		t.Errorf("shards left %d of 10 units", again.Reused)
	}
	if more := mustRun(t, numbers(12), Options{Out: shared}); more.Ran != 2 {
		t.Errorf("two units more: %d ran", more.Ran)
	}
}

func TestInterruptedRunResumes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := numbers(6)
	ctx, cancel := context.WithCancel(t.Context())
	run := p.Units[3].Run
	p.Units[3].Run = func(ctx context.Context, job *Job) ([]results.Row, error) { cancel(); return run(ctx, job) }
	s, err := Run(ctx, p, Options{Out: dir, Workers: 1})
	if !errors.Is(err, ErrInterrupted) || s.Ran != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	if again := mustRun(t, numbers(6), Options{Out: dir}); again.Reused != 3 || again.Ran != 3 {
		t.Errorf("%+v", again)
	}
}

// A unit is run again if its file is empty, cut, edited or belongs to another
// unit.
func TestDamagedUnitIsRunAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := mustRun(t, numbers(5), Options{Out: dir})
	path := func(i int) string { return store{dir}.unitPath(first.Rows[2*i].Key) }
	other, err := os.ReadFile(path(4))
	if err != nil {
		t.Fatal(err)
	}
	edited, err := os.ReadFile(path(2))
	if err != nil {
		t.Fatal(err)
	}
	for i, damage := range [][]byte{nil, other[:len(other)/2],
		bytes.Replace(edited, []byte(`"Value":2`), []byte(`"Value":3`), 1), other} {
		if err := os.WriteFile(path(i), damage, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	again := mustRun(t, numbers(5), Options{Out: dir})
	if again.Ran != 4 {
		t.Errorf("%d of 4 damaged units ran again", again.Ran)
	}
	same(t, first.Rows, again.Rows)
}

// A row stored before a metric existed reads as not measured, never as 0.
func TestOldUnitReadsAsNotMeasured(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := mustRun(t, numbers(1), Options{Out: dir})
	key := first.Rows[0].Key
	data, err := os.ReadFile(store{dir}.unitPath(key))
	if err != nil {
		t.Fatal(err)
	}
	var f sealed
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	f.Body = bytes.ReplaceAll(f.Body, []byte(`"Value":0,`), nil)
	f.SHA256 = checksum(f.Body)
	sealed, err := json.Marshal(f)
	if err != nil || len(sealed) >= len(data)-10 {
		t.Fatalf("%s, %v", sealed, err)
	}
	if err := os.WriteFile(store{dir}.unitPath(key), sealed, 0o644); err != nil {
		t.Fatal(err)
	}
	again := mustRun(t, numbers(1), Options{Out: dir})
	if again.Ran != 0 {
		t.Error("the unit ran again")
	}
	for _, r := range again.Rows {
		if r.Value.Known() {
			t.Errorf("value = %v, is not in the file", r.Value)
		}
	}
}

func TestEqualUnitsAreOneAndAnotherVersionIsSaid(t *testing.T) {
	t.Parallel()
	p, dir := numbers(3), t.TempDir()
	p.Units = append(p.Units, p.Units[1])
	var log bytes.Buffer
	s := mustRun(t, p, Options{Out: dir, Log: &log, Version: "1"})
	if s.Total != 3 || !strings.Contains(log.String(), "1 units of the study repeat others") {
		t.Errorf("%d units, log %q", s.Total, &log)
	}
	mustRun(t, p, Options{Out: dir, Version: "2", Log: &log})
	if strings.Count(log.String(), "3 of 3 finished units were measured by another version") != 1 {
		t.Errorf("log: %s", &log)
	}
}

func TestFailuresAndPanicsAreKeptApart(t *testing.T) {
	t.Parallel()
	p, dir := numbers(6), t.TempDir()
	p.Units[1].Run = func(context.Context, *Job) ([]results.Row, error) { return nil, errors.New("broken") }
	p.Units[4].Run = func(context.Context, *Job) ([]results.Row, error) { panic("worse") }
	var log bytes.Buffer
	s, err := Run(t.Context(), p, Options{Out: dir, Log: &log})
	if err == nil || s.Failed != 2 || s.Ran != 4 || !strings.Contains(log.String(),
		"failed: unit 4: internal error: worse") {
		t.Fatalf("%+v, %v\n%s", s, err, &log)
	}
	again := mustRun(t, numbers(6), Options{Out: dir})
	if left, _ := filepath.Glob(filepath.Join(dir, "failed", "*")); again.Ran != 2 || len(left) != 0 {
		t.Errorf("%+v, %v", again, left)
	}
}

func TestMergeRefusesWhatDoesNotBelong(t *testing.T) {
	t.Parallel()
	a, b := t.TempDir(), t.TempDir()
	mustRun(t, numbers(6), Options{Out: a, Shard: Shard{1, 2}})
	refused := func(what, want string) {
		t.Helper()
		if _, err := Merge([]string{a, b}, t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	other := numbers(6)
	other.Definition = "m"
	mustRun(t, other, Options{Out: b, Shard: Shard{2, 2}})
	refused("another definition", "definitions of the study differ")
	mustRun(t, numbers(6), Options{Out: b, Shard: Shard{2, 2}})
	path := filepath.Join(b, "results.2-of-2.csv")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:bytes.LastIndexByte(data[:len(data)-1], '\n')+1], 0o644); err != nil {
		t.Fatal(err)
	}
	refused("a file cut at the end of a row", "it was cut or changed")
	if _, err := Merge([]string{a}, t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "3 of 6 units are in none") {
		t.Errorf("half a study: %v", err)
	}
}

func TestGroupsShareAJob(t *testing.T) {
	t.Parallel()
	p := numbers(6)
	var made atomic.Int32
	for i := range p.Units {
		run := p.Units[i].Run
		p.Units[i].Run = func(ctx context.Context, job *Job) ([]results.Row, error) {
			if job.Shared == nil {
				job.Shared = made.Add(1)
			}
			if len(job.IDs) != 3 || !slices.Contains(job.IDs, p.Units[i].ID) {
				t.Errorf("job of %v", job.IDs)
			}
			return run(ctx, job)
		}
	}
	if mustRun(t, p, Options{Out: t.TempDir(), Workers: 4}); made.Load() != 2 {
		t.Errorf("%d groups, want 2", made.Load())
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

// A sample is one unit of each kind, kept, and none again; the rest then runs to the same rows.
func TestSampleRunsOneOfEachKind(t *testing.T) {
	t.Parallel()
	plan := func() *Plan {
		p := numbers(10)
		for i := range p.Units {
			p.Units[i].Kind = func() string { return fmt.Sprint(i % 2) }
		}
		return p
	}
	dir := t.TempDir()
	for _, ran := range []int{2, 0} {
		s := mustRun(t, plan(), Options{Out: dir, Sample: true, Workers: 1})
		pace := (s.Rows[0].Seconds.Float() + s.Rows[2].Seconds.Float()) * 4 // four more of each
		if s.Ran != ran || s.Total != 10 || math.Abs(s.Left.Seconds()-pace) > 1e-9+pace/1e6 {
			t.Errorf("%d of %d units ran (want %d), %v left (want %g s)", s.Ran, s.Total, ran, s.Left, pace)
		}
	}
	if s := mustRun(t, plan(), Options{Out: dir, Sample: true, Shard: Shard{2, 4}}); s.Ran != 0 || s.Total != 3 {
		t.Errorf("shard: %+v", s)
	}
	s := mustRun(t, plan(), Options{Out: dir})
	if s.Ran != 8 || s.Left != 0 {
		t.Errorf("%d units ran, %v left", s.Ran, s.Left)
	}
	same(t, s.Rows, mustRun(t, plan(), Options{Out: t.TempDir()}).Rows)
}

// The units of a folder that a run would lose are those whose keys it has not.
func TestLostUnits(t *testing.T) {
	t.Parallel()
	before := &earlier{measured: map[string]bool{"a": true, "b": true, "c": true}}
	for _, c := range []struct {
		keys []string
		want int
	}{{[]string{"a", "b", "c"}, 0}, {[]string{"a", "d"}, 2}, {nil, 3}} {
		if got := before.lost(c.keys); got != c.want {
			t.Errorf("a run of the units %v loses %d of the units a, b and c, want %d", c.keys, got, c.want)
		}
	}
}
