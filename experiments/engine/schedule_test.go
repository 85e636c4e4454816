package engine

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

func mustSchedule(t testing.TB, p *Plan, tasks int) Schedule {
	t.Helper()
	s, err := NewSchedule(t.Context(), p, tasks, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScheduledTasksMergeToASingleRun(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	whole := mustRun(t, numbers(9, nil), Options{Out: t.TempDir()})
	schedule := mustSchedule(t, numbers(9, nil), 2)
	if schedule.Tasks() != 2 || schedule[0].Task != schedule[2].Task {
		t.Fatalf("%d tasks, %v", schedule.Tasks(), schedule)
	}
	for task := 1; task <= 2; task++ {
		states, err := schedule.Progress(shared)
		if err != nil || slices.ContainsFunc(states, func(p Progress) bool { return p.State == Missing }) == false {
			t.Fatalf("before task %d: %v, %v", task, states, err)
		}
		mustRun(t, numbers(9, nil), Options{Out: shared, Schedule: schedule, Shard: Shard{task, 2}})
	}
	states, err := schedule.Progress(shared)
	if err != nil || slices.ContainsFunc(states, func(p Progress) bool {
		return p.State != Done || p.Finished.IsZero()
	}) {
		t.Errorf("after all tasks: %v, %v", states, err)
	}
	merged, err := Merge([]string{shared}, shared)
	if err != nil {
		t.Fatal(err)
	}
	same(t, whole.Rows, merged.Rows)
}

func TestStaleScheduleIsRefused(t *testing.T) {
	t.Parallel()
	schedule := mustSchedule(t, numbers(6, nil), 2)
	other := numbers(6, nil)
	other.Units[0].ID = "changed"
	for name, run := range map[string]func() error{
		"other": func() error {
			_, err := Run(t.Context(), other, Options{Out: t.TempDir(), Schedule: schedule, Shard: Shard{1, 2}})
			return err
		},
		"size": func() error {
			_, err := Run(t.Context(), numbers(9, nil),
				Options{Out: t.TempDir(), Schedule: schedule, Shard: Shard{1, 2}})
			return err
		},
		"tasks": func() error {
			_, err := Run(t.Context(), numbers(6, nil),
				Options{Out: t.TempDir(), Schedule: schedule, Shard: Shard{1, 3}})
			return err
		},
	} {
		if err := run(); !errors.Is(err, errStaleSchedule) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

func TestScheduleFile(t *testing.T) {
	s := mustSchedule(t, numbers(6, nil), 2)
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
		"order":     {lines[1], "1: unit 1, want 0"},
		"unknown":   {strings.Replace(lines[0], `"index"`, `"position"`, 1), "1: json: unknown field"},
		"truncated": {lines[0] + lines[1][:20], "2: unexpected EOF"},
		"task":      {strings.Replace(lines[0], `"task":1`, `"task":3`, 1), "1: task 3 of 2"},
		"key":       {strings.Replace(lines[0], s[0].Key, "../../etc/passwd", 1), `1: key "../../etc/passwd"`},
		"mixed":     {lines[0] + strings.Replace(lines[1], `"tasks":2`, `"tasks":5`, 1), "2: study numbers in 5 tasks"},
	} {
		if _, err := parseSchedule([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: err = %v, want %s", name, err, c.want)
		}
	}
}

func FuzzSchedule(f *testing.F) {
	f.Add([]byte(`{"study":"a","index":0,"key":"0123456789abcdef","task":1,"tasks":1,"seconds":1,"estimate":"defaults","unit":"x"}`))
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
