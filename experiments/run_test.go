package experiments

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mldpbench/mechanisms"
	"mldpbench/results"
)

// Set in a child process of TestKilledAndResumed: run the study and exit.
const childStudy, childOut = "MLDP_TEST_CHILD_STUDY", "MLDP_TEST_CHILD_OUT"

func TestMain(m *testing.M) {
	if ref := os.Getenv(childStudy); ref != "" {
		s, err := OpenStudy(ref)
		if err == nil {
			_, err = Run(context.Background(), s, RunOptions{Out: os.Getenv(childOut), Workers: 2})
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// small is the tiny study cut down to seconds.
func small(t testing.TB, change func(*Study)) *Study {
	t.Helper()
	s := tiny(t)
	s.Settings = []string{Local}
	s.Models = s.Models[:1]
	s.Repetitions, s.BaselineRepetitions = 1, 1
	if change != nil {
		change(s)
	}
	s.source = nil
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	return s
}

func mustRun(t testing.TB, s *Study, o RunOptions) *Summary {
	t.Helper()
	sum, err := Run(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// untimed reads a results file without the columns that may differ.
func untimed(t testing.TB, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, row := range rows {
		var kept []string
		for i, v := range row {
			if !slices.Contains(results.TimingColumns, rows[0][i]) {
				kept = append(kept, v)
			}
		}
		if err := w.Write(kept); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	return out.String()
}

// sameResults compares two folders of results, examples of text included.
func sameResults(t testing.TB, want, got string) {
	t.Helper()
	if a, b := untimed(t, filepath.Join(want, "results.csv")), untimed(t, filepath.Join(got, "results.csv")); a != b {
		la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
		for i := range la {
			if i >= len(lb) || la[i] != lb[i] {
				t.Fatalf("%s and %s differ (%d and %d lines), first in line %d:\n%s\n%s", want, got, len(la), len(lb), i+1, la[i], lb[min(i, len(lb)-1)])
			}
		}
		t.Fatalf("%s has %d lines, %s has %d", want, len(la), got, len(lb))
	}
	a, err := os.ReadFile(filepath.Join(want, "examples.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(got, "examples.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Fatalf("%s and %s: examples differ", want, got)
	}
}

func TestWorkersDoNotChangeResults(t *testing.T) {
	s := small(t, func(s *Study) { s.Settings = []string{Local, TrainOnly, TestOnly}; s.Repetitions = 2 })
	one := t.TempDir()
	sum := mustRun(t, s, RunOptions{Out: one, Workers: 1})
	if sum.Ran != sum.Total || len(sum.Records) != sum.Total {
		t.Fatalf("%+v", sum)
	}
	for _, workers := range []int{2, 4} {
		dir := t.TempDir()
		mustRun(t, s, RunOptions{Out: dir, Workers: workers})
		sameResults(t, one, dir)
	}
}

func TestShardsMergeToASingleRun(t *testing.T) {
	s := small(t, nil)
	whole := t.TempDir()
	mustRun(t, s, RunOptions{Out: whole})
	shared, apart := t.TempDir(), []string{t.TempDir(), t.TempDir(), t.TempDir()}
	for i := range 3 {
		mustRun(t, s, RunOptions{Out: shared, Shard: Shard{i + 1, 3}})
		mustRun(t, s, RunOptions{Out: apart[i], Shard: Shard{i + 1, 3}})
	}
	for _, sources := range [][]string{{shared}, apart, append(apart, apart[0])} {
		out := t.TempDir()
		if _, err := Merge(sources, out, false); err != nil {
			t.Fatal(err)
		}
		sameResults(t, whole, out)
	}
	if _, err := Merge(apart[:2], t.TempDir(), false); err == nil || !strings.Contains(err.Error(), "are in none of the 2 results files") {
		t.Errorf("missing cells: %v", err)
	}
	if sum, err := Merge(apart[:2], t.TempDir(), true); err != nil || len(sum.Records) >= sum.Total {
		t.Errorf("partial merge: %v, %v", sum, err)
	}
}

func TestMergeRefusesWhatDoesNotBelong(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	s := small(t, func(s *Study) { s.Mechanisms = s.Mechanisms[:1]; s.Datasets = s.Datasets[1:] })
	mustRun(t, s, RunOptions{Out: a, Shard: Shard{1, 2}})
	other := func(change func(*Study)) string {
		dir := t.TempDir()
		o := small(t, func(o *Study) { o.Mechanisms = o.Mechanisms[:1]; o.Datasets = o.Datasets[1:]; change(o) })
		mustRun(t, o, RunOptions{Out: dir, Shard: Shard{2, 2}})
		return dir
	}
	refused := func(name, dir, want string) {
		t.Helper()
		if _, err := Merge([]string{a, dir}, t.TempDir(), true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	refused("other name", other(func(s *Study) { s.Name = "else" }), `study "tiny" and "else"`)
	refused("other seed", other(func(s *Study) { s.Seed++ }), "definitions of the study differ")

	// The same shard again, with one number changed.
	mustRun(t, s, RunOptions{Out: b, Shard: Shard{1, 2}})
	path := filepath.Join(b, "results.1-of-2.csv")
	records, err := results.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	records[0].TestCorrect++
	if err := results.Write(path, records); err != nil {
		t.Fatal(err)
	}
	refused("differing duplicate", b, "differ in test_correct")

	manifest := filepath.Join(b, "manifest.1-of-2.json")
	data, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	rewrite := func(old, new string) {
		t.Helper()
		if !bytes.Contains(data, []byte(old)) {
			t.Fatalf("manifest has no %s", old)
		}
		if err := os.WriteFile(manifest, bytes.Replace(data, []byte(old), []byte(new), 1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rewrite(`"dataset": "`, `"dataset": "0`)
	refused("other data", b, "fingerprints")
	rewrite(`"study_schema": 1`, `"study_schema": 9`)
	refused("other schema", b, "schema 9 of studies")
	if err := os.Remove(manifest); err != nil {
		t.Fatal(err)
	}
	refused("no manifest", b, "manifest.1-of-2.json")
}

// flaky is a mechanism that fails, panics or works as told.
var flaky atomic.Int32

const (
	flakyWorks = iota
	flakyFails
	flakyPanics
	flakyUndefined
)

func registerFlaky() {
	if _, err := mechanisms.Find("flaky"); err == nil {
		return
	}
	mechanisms.Register(mechanisms.Definition{
		Name: "flaky", Variants: []mechanisms.Variant{mechanisms.Proved},
		New: func(env mechanisms.Environment, s mechanisms.Settings) (mechanisms.Mechanism, error) {
			switch flaky.Load() {
			case flakyFails:
				return nil, errors.New("the flaky one failed")
			case flakyPanics:
				panic("the flaky one panicked")
			case flakyUndefined:
				return nil, &mechanisms.UndefinedError{Reason: "never here", SmallestEpsilon: 99}
			}
			s.Mechanism = "cmp"
			return mechanisms.New(env, mechanisms.Settings{Mechanism: "cmp", Epsilon: s.Epsilon})
		},
	})
}

func TestFailedCellsAreKeptApartAndTriedAgain(t *testing.T) {
	registerFlaky()
	s := small(t, func(s *Study) {
		s.Datasets = s.Datasets[1:]
		s.Mechanisms = []MechanismSpec{{Name: "cmp"}, {Name: "flaky"}}
	})
	dir := t.TempDir()
	for _, mode := range []int32{flakyFails, flakyPanics} {
		flaky.Store(mode)
		var log bytes.Buffer
		sum, err := Run(t.Context(), s, RunOptions{Out: dir, Log: &log})
		if err == nil || !strings.Contains(err.Error(), "2 of") || sum.Failed != 2 || len(sum.Records) != sum.Total-2 {
			t.Fatalf("mode %d: %v, %+v", mode, err, sum)
		}
		if !strings.Contains(log.String(), "the flaky one") {
			t.Errorf("log:\n%s", log.String())
		}
		kept, err := filepath.Glob(filepath.Join(dir, "failed", "*.txt"))
		if err != nil || len(kept) != 2 {
			t.Fatalf("%v, %v", kept, err)
		}
	}
	flaky.Store(flakyWorks)
	sum := mustRun(t, s, RunOptions{Out: dir})
	if sum.Ran != 2 || len(sum.Records) != sum.Total {
		t.Fatalf("%+v", sum)
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, "failed", "*")); len(kept) != 0 {
		t.Errorf("errors of cells that are done: %v", kept)
	}
}

func TestUndefinedMechanismIsAResult(t *testing.T) {
	registerFlaky()
	flaky.Store(flakyUndefined)
	defer flaky.Store(flakyWorks)
	s := small(t, func(s *Study) {
		s.Datasets = s.Datasets[1:]
		s.Mechanisms = []MechanismSpec{{Name: "flaky"}}
	})
	dir := t.TempDir()
	sum := mustRun(t, s, RunOptions{Out: dir})
	undefined := 0
	for _, r := range sum.Records {
		if r.Status == results.StatusUndefined {
			undefined++
			if r.Accuracy.Known() || !strings.Contains(r.Reason, "never here") {
				t.Errorf("%+v", r)
			}
		}
	}
	if undefined != 2 {
		t.Fatalf("%d undefined records", undefined)
	}
	if again := mustRun(t, s, RunOptions{Out: dir}); again.Ran != 0 {
		t.Errorf("undefined cells were run again: %+v", again)
	}
}

func TestInterruptedRunResumes(t *testing.T) {
	s := small(t, nil)
	whole, dir := t.TempDir(), t.TempDir()
	mustRun(t, s, RunOptions{Out: whole})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // interrupt as soon as something is finished
		for ctx.Err() == nil {
			if done, _ := filepath.Glob(filepath.Join(dir, "cells", "*.json")); len(done) > 0 {
				cancel()
			}
		}
	}()
	sum, err := Run(ctx, s, RunOptions{Out: dir, Workers: 1})
	if !errors.Is(err, ErrInterrupted) {
		t.Fatalf("interrupted run: %v", err)
	}
	if sum.Ran == 0 || sum.Ran == sum.Total {
		t.Fatalf("%+v", sum)
	}
	if _, err := Run(ctx, s, RunOptions{Out: dir}); !errors.Is(err, ErrInterrupted) {
		t.Fatalf("cancelled before it began: %v", err)
	}
	rest := mustRun(t, s, RunOptions{Out: dir})
	if rest.Reused != sum.Ran {
		t.Errorf("%d cells were finished, %d were found", sum.Ran, rest.Reused)
	}
	sameResults(t, whole, dir)
}

func TestDamagedCellIsRunAgain(t *testing.T) {
	s := small(t, func(s *Study) { s.Datasets = s.Datasets[1:]; s.Mechanisms = s.Mechanisms[:1] })
	whole, dir := t.TempDir(), t.TempDir()
	mustRun(t, s, RunOptions{Out: whole})
	sum := mustRun(t, s, RunOptions{Out: dir})
	for i, damage := range []string{"", "{", `{"record":{"Key":"other"}}`} {
		if err := os.WriteFile(store{dir}.cellPath(sum.Records[i].Key), []byte(damage), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if again := mustRun(t, s, RunOptions{Out: dir}); again.Ran != 3 {
		t.Fatalf("%+v", again)
	}
	sameResults(t, whole, dir)
}

func TestOneCellAgain(t *testing.T) {
	s := small(t, func(s *Study) { s.Datasets = s.Datasets[1:]; s.Mechanisms = s.Mechanisms[:1] })
	dir, alone := t.TempDir(), t.TempDir()
	sum := mustRun(t, s, RunOptions{Out: dir})
	want := sum.Records[len(sum.Records)-1]
	again := mustRun(t, s, RunOptions{Out: alone, Only: want.Key})
	if again.Ran != 1 || len(again.Records) != 1 {
		t.Fatalf("%+v", again)
	}
	if column := results.FirstDifference(want, again.Records[0]); column != "" {
		t.Errorf("rerun alone differs in %s", column)
	}
	if _, err := Run(t.Context(), s, RunOptions{Out: alone, Only: "0123456789abcdef"}); err == nil {
		t.Error("an unknown key was accepted")
	}
}

func TestForceNewLosesNothing(t *testing.T) {
	s := small(t, func(s *Study) { s.Datasets = s.Datasets[1:]; s.Mechanisms = s.Mechanisms[:1] })
	dir := t.TempDir()
	first := mustRun(t, s, RunOptions{Out: dir})
	second := mustRun(t, s, RunOptions{Out: dir, ForceNew: true})
	if second.Ran != first.Total || second.Reused != 0 {
		t.Fatalf("%+v", second)
	}
	old, err := filepath.Glob(filepath.Join(dir, "cells.old-1", "*.json"))
	if err != nil || len(old) != first.Total {
		t.Fatalf("%d old cells, %v", len(old), err)
	}
}

// TestKilledAndResumed kills a run with SIGKILL at 20 random moments and lets
// it go on each time. The end must be that of an uninterrupted run.
func TestKilledAndResumed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts 20 processes")
	}
	s := mini(t)
	definition, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	ref := filepath.Join(t.TempDir(), "mini.yaml")
	if err := os.WriteFile(ref, definition, 0o644); err != nil {
		t.Fatal(err)
	}
	whole, dir := t.TempDir(), t.TempDir()
	child := func(out string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		var log bytes.Buffer
		cmd.Stderr = &log
		cmd.Env = append(os.Environ(), childStudy+"="+ref, childOut+"="+out)
		return cmd, &log
	}
	cmd, log := child(whole)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	took := time.Since(start)
	rng := rand.New(rand.NewPCG(1, 2))
	killed := 0
	for range 20 {
		cmd, log := child(dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Moments are spread so that the run is far from done at the last one.
		timer := time.AfterFunc(time.Duration((0.1+0.9*rng.Float64())*float64(took)/10), func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		if err == nil {
			break // done before the kill
		}
		if cmd.ProcessState.Exited() {
			t.Fatalf("%v\n%s", err, log)
		}
		killed++
	}
	cmd, log = child(dir)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	t.Logf("killed %d times; an uninterrupted run takes %s", killed, took.Round(time.Millisecond))
	if killed < 20 {
		t.Errorf("killed %d times only", killed)
	}
	sameResults(t, whole, dir)
}

// mini is the built-in study with fewer documents, repetitions and dimensions.
func mini(t testing.TB) *Study {
	t.Helper()
	s, err := OpenStudy("mini")
	if err != nil {
		t.Fatal(err)
	}
	s, err = s.Override(Overrides{Sample: "small", Repetitions: 1, Dimensions: []int{50}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// All mechanisms of one data set must see the same words, so that N_w and S_w
// compare; and each example of text must be one of the test split.
func TestMechanismsAreProbedOnTheSameWords(t *testing.T) {
	s := small(t, nil)
	sum := mustRun(t, s, RunOptions{Out: t.TempDir()})
	words := map[string][]string{}
	for _, r := range sum.Records {
		if r.IsBaseline() {
			continue
		}
		d, err := r.Deniability()
		if err != nil || len(d) != s.Metrics.Deniability.Words {
			t.Fatalf("%v, %v", d, err)
		}
		var w []string
		for _, x := range d {
			w = append(w, x.Word)
		}
		if first, ok := words[r.Dataset]; ok && !slices.Equal(first, w) {
			t.Fatalf("%s: probed on %v and on %v", r.Dataset, first, w)
		}
		words[r.Dataset] = w
	}
	if len(words) != 2 {
		t.Fatalf("%v", words)
	}
}

// Plain text is what test-only cells train on: their model is the baseline's.
func TestPlainClassifierIsTrainedOnce(t *testing.T) {
	s := small(t, func(s *Study) {
		s.Datasets, s.Mechanisms, s.Settings = s.Datasets[:1], s.Mechanisms[:1], []string{TestOnly}
	})
	w := newWorkspace(s, "")
	p, err := w.plan(t.Context(), RunOptions{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.each(func(c Cell, key string) error {
		return w.runGroup(t.Context(), []Cell{c}, []string{key}, []Fingerprints{{}}, 1, func(Outcome) error { return nil })
	}); err != nil {
		t.Fatal(err)
	}
	if n := len(w.classifier.m); n != 1 {
		t.Errorf("%d classifiers were trained on plain text", n)
	}
}

// Repetitions that are privatised in one pass are those of separate runs.
func TestRepetitionsDoNotDependOnEachOther(t *testing.T) {
	study := func(repetitions int) *Study {
		return small(t, func(s *Study) {
			s.Mechanisms, s.Repetitions = []MechanismSpec{{Name: "tem"}, {Name: "cmp"}}, repetitions
			s.Settings = []string{Local, TestOnly}
		})
	}
	whole, dir := t.TempDir(), t.TempDir()
	mustRun(t, study(3), RunOptions{Out: whole})
	first := mustRun(t, study(1), RunOptions{Out: dir})
	if rest := mustRun(t, study(3), RunOptions{Out: dir}); rest.Reused != first.Total {
		t.Errorf("%d cells of one repetition, %d of them found again", first.Total, rest.Reused)
	}
	sameResults(t, whole, dir)
}
