package experiments

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
)

func TestPartitionIsConsecutiveAndEven(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		costs := make([]float64, 1+rng.IntN(9))
		for i := range costs {
			costs[i] = float64(rng.IntN(20))
		}
		n := 1 + rng.IntN(4)
		parts := partition(costs, n)
		loads := make([]float64, n)
		for i, p := range parts {
			if p < 0 || p >= n || i > 0 && p != parts[i-1] && p != parts[i-1]+1 || i == 0 && p != 0 {
				t.Fatalf("%v in %d: parts %v", costs, n, parts)
			}
			loads[p] += costs[i]
		}
		if got, want := slices.Max(loads), bestPartition(costs, n); math.Abs(got-want) > 1e-6*(1+want) {
			t.Fatalf("%v in %d: costliest part %v, best %v", costs, n, got, want)
		}
	}
}

// bestPartition tries all cuts.
func bestPartition(costs []float64, n int) float64 {
	best, load := math.Inf(1), 0.0
	for i, c := range costs {
		load += c
		rest := 0.0
		if i+1 < len(costs) {
			if n == 1 {
				continue
			}
			rest = bestPartition(costs[i+1:], n-1)
		}
		best = min(best, max(load, rest))
	}
	return best
}

func mustSchedule(t testing.TB, s *Study, o ScheduleOptions) Schedule {
	t.Helper()
	schedule, err := NewSchedule(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return schedule
}

func TestScheduledTasksMergeToASingleRun(t *testing.T) {
	s := small(t, nil)
	single, shared := t.TempDir(), t.TempDir()
	mustRun(t, s, RunOptions{Out: single})
	schedule := mustSchedule(t, s, ScheduleOptions{Tasks: 3})
	if schedule.Tasks() != 3 {
		t.Fatalf("%d tasks", schedule.Tasks())
	}
	states, err := schedule.Progress(shared)
	if err != nil || slices.ContainsFunc(states, func(p CellProgress) bool { return p.State != CellMissing }) {
		t.Fatalf("a folder that is not there: %v, %v", states, err)
	}
	for task := 1; task <= 3; task++ {
		mustRun(t, s, RunOptions{Out: shared, Schedule: schedule, Shard: Shard{task, 3}})
	}
	states, err = schedule.Progress(shared)
	if err != nil || slices.ContainsFunc(states, func(p CellProgress) bool { return p.State != CellDone || p.Finished.IsZero() }) {
		t.Errorf("after all tasks: %v, %v", states, err)
	}
	if _, err := Merge([]string{shared}, shared, false); err != nil {
		t.Fatal(err)
	}
	if untimed(t, filepath.Join(shared, "results.csv")) != untimed(t, filepath.Join(single, "results.csv")) {
		t.Error("merged tasks differ from a single run")
	}
}

func TestScheduleKeepsSharedTextTogether(t *testing.T) {
	s := small(t, func(s *Study) { s.Settings = []string{Local, TrainOnly, TestOnly} })
	schedule := mustSchedule(t, s, ScheduleOptions{Tasks: 1000})
	cells, err := s.Grid(traits)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cells {
		if i > 0 && sameGroup(cells[i-1], c) && schedule[i].Task != schedule[i-1].Task {
			t.Errorf("cells %d and %d share text but not the task", i-1, i)
		}
	}
	if n := len(groups(cells)); schedule.Tasks() > n {
		t.Errorf("%d tasks for %d groups", schedule.Tasks(), n)
	}
}

func TestEstimatesComeFromRecords(t *testing.T) {
	s := small(t, nil)
	plain := mustSchedule(t, s, ScheduleOptions{TaskSeconds: 1e9})
	if plain.Tasks() != 1 || plain[0].Estimate != FromDefaults {
		t.Fatalf("%d tasks, estimate from %s", plain.Tasks(), plain[0].Estimate)
	}
	records := mustRun(t, s, RunOptions{Out: t.TempDir()}).Records
	for i := range records {
		records[i].TotalSeconds = results.Float(10)
	}
	measured := mustSchedule(t, s, ScheduleOptions{TaskSeconds: 20, Records: records})
	for _, c := range measured {
		if c.Estimate != FromRecords || c.Seconds != 10 {
			t.Errorf("%s: %v s from %s", c.Cell, c.Seconds, c.Estimate)
		}
	}
	if want := (len(measured) + 1) / 2; measured.Tasks() != want {
		t.Errorf("%d tasks of 20 s for %d cells of 10 s, want %d", measured.Tasks(), len(measured), want)
	}
	if !measured.SameCells(plain) || measured.ID() == plain.ID() {
		t.Error("same cells, dealt out differently: SameCells or ID is wrong")
	}
}

func TestEstimatesComeFromSpeeds(t *testing.T) {
	speeds := []Speed{
		{"cmp", 50, 1000, 1, 2000}, {"cmp", 50, 1000, 1, 1000}, // two epsilons of one size
		{"cmp", 300, 9000, 1, 1}, {"cmp", 50, 1000, 2, 9e9}, {"tem", 50, 1000, 1, 0},
	}
	// The mean of 1/2000 and 1/1000 seconds, for twice the size.
	if got, ok := secondsPerToken(speeds, "cmp", 2*50*1000); !ok || math.Abs(got-2*0.00075) > 1e-12 {
		t.Errorf("%v, %v", got, ok)
	}
	for _, name := range []string{"tem", "vickrey"} { // undefined, and not measured
		if got, ok := secondsPerToken(speeds, name, 1); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, c := range mustSchedule(t, small(t, nil), ScheduleOptions{Tasks: 1, Speeds: speeds}) {
		if want := strings.Contains(c.Cell, "cmp"); want != (c.Estimate == FromSpeeds) {
			t.Errorf("%s: estimate from %s", c.Cell, c.Estimate)
		}
	}
}

func TestStaleScheduleIsRefused(t *testing.T) {
	s := small(t, nil)
	schedule := mustSchedule(t, s, ScheduleOptions{Tasks: 2})
	other := small(t, func(s *Study) { s.Seed++ })
	larger := small(t, func(s *Study) { s.Repetitions = 2 })
	for name, run := range map[string]func() error{
		"seed": func() error {
			_, err := Run(t.Context(), other, RunOptions{Out: t.TempDir(), Schedule: schedule, Shard: Shard{1, 2}})
			return err
		},
		"size": func() error {
			_, err := Run(t.Context(), larger, RunOptions{Out: t.TempDir(), Schedule: schedule, Shard: Shard{1, 2}})
			return err
		},
		"tasks": func() error {
			_, err := Run(t.Context(), s, RunOptions{Out: t.TempDir(), Schedule: schedule, Shard: Shard{1, 3}})
			return err
		},
	} {
		if err := run(); !errors.Is(err, errStaleSchedule) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

func TestDrainedRunFinishesItsCellAndResumes(t *testing.T) {
	s := small(t, nil)
	dir, whole := t.TempDir(), t.TempDir()
	drain := make(chan struct{})
	close(drain)
	sum, err := Run(t.Context(), s, RunOptions{Out: dir, Drain: drain})
	if !errors.Is(err, ErrInterrupted) || sum.Ran != 0 {
		t.Fatalf("drained from the start: %+v, %v", sum, err)
	}
	// Drain as soon as the first cell is there.
	drain = make(chan struct{})
	sum, err = Run(t.Context(), s, RunOptions{Out: dir, Workers: 1, Drain: drain, Log: writerFunc(func() {
		select {
		case <-drain:
		default:
			if found, _ := filepath.Glob(filepath.Join(dir, "cells", "*.json")); len(found) > 0 {
				close(drain)
			}
		}
	})})
	if err != nil && !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	if err == nil && sum.Ran != sum.Total {
		t.Errorf("no error, but %d of %d cells", sum.Ran, sum.Total)
	}
	mustRun(t, s, RunOptions{Out: dir})
	mustRun(t, s, RunOptions{Out: whole})
	if untimed(t, filepath.Join(dir, "results.csv")) != untimed(t, filepath.Join(whole, "results.csv")) {
		t.Error("a drained and resumed run differs from an uninterrupted one")
	}
}

type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) { f(); return len(p), nil }

func TestScheduleFile(t *testing.T) {
	s := mustSchedule(t, small(t, nil), ScheduleOptions{Tasks: 2})
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "plan.jsonl")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := ReadSchedule(path)
	if err != nil || !slices.Equal(again, s) {
		t.Fatalf("read back: %v", err)
	}
	lines := strings.SplitAfter(b.String(), "\n")
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {"", "1: empty schedule"},
		"order":     {lines[1], "1: cell 1, want 0"},
		"unknown":   {strings.Replace(lines[0], `"index"`, `"position"`, 1), "1: json: unknown field"},
		"truncated": {lines[0] + lines[1][:20], "2: unexpected EOF"},
		"task":      {strings.Replace(lines[0], `"task":1`, `"task":3`, 1), "1: task 3 of 2"},
		"key":       {strings.Replace(lines[0], s[0].Key, "../../etc/passwd", 1), `1: key "../../etc/passwd"`},
		"mixed":     {lines[0] + strings.Replace(lines[1], `"tasks":2`, `"tasks":5`, 1), "2: study tiny in 5 tasks"},
	} {
		if _, err := parseSchedule([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: err = %v, want %s", name, err, c.want)
		}
	}
}

func FuzzSchedule(f *testing.F) {
	f.Add([]byte(`{"study":"a","index":0,"key":"0123456789abcdef","task":1,"tasks":1,"seconds":1,"estimate":"defaults","cell":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSchedule(data)
		if err != nil {
			return
		}
		if len(s.TaskSeconds()) != s.Tasks() {
			t.Fatal("tasks")
		}
	})
}
