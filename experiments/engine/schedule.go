package engine

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Assignment is one line of a schedule: a unit, and the task that runs it.
type Assignment struct {
	Study    string  `json:"study"`
	Index    int     `json:"index"` // position in the plan
	Key      string  `json:"key"`
	Task     int     `json:"task"` // 1 to Tasks
	Tasks    int     `json:"tasks"`
	Seconds  float64 `json:"seconds"`  // estimated, on one core
	Estimate string  `json:"estimate"` // FromRecords or FromDefaults
	// MemoryMiB is the estimate of the unit on top of data and vectors; 0: unknown.
	MemoryMiB int64  `json:"memory_mib,omitempty"`
	Unit      string `json:"unit"` // for people
}

// Schedule is a plan divided into tasks, in its order. Units of one group are
// in one task, and a task is a contiguous part of the plan, so it opens few
// data sets and spaces.
type Schedule []Assignment

// maxTasks is the largest number of tasks that is reasonable on a shared
// scheduler.
const maxTasks = 2000

// NewSchedule divides the units of a plan into tasks of about equal estimated
// length: at most tasks of them or, if tasks is 0, as many as make each about
// taskSeconds long.
func NewSchedule(ctx context.Context, p *Plan, tasks int, taskSeconds float64) (Schedule, error) {
	if tasks < 0 {
		return nil, fmt.Errorf("tasks = %d: must be >= 1", tasks)
	}
	p.Unique()
	w, err := open(ctx, p, Options{Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	var schedule Schedule
	costs := make([]float64, len(w.groups))
	for i, g := range w.groups {
		for _, j := range g.units {
			u := p.Units[j]
			cost := u.cost()
			a := Assignment{Study: p.Study, Index: j, Key: w.keys[j], Unit: u.Name, Seconds: cost.Seconds,
				Estimate: cost.Source}
			if u.Memory != nil {
				a.MemoryMiB = u.Memory() >> 20
			}
			schedule = append(schedule, a)
			costs[i] += cost.Seconds
		}
	}
	if tasks == 0 {
		total := 0.0
		for _, c := range costs {
			total += c
		}
		tasks = int(min(maxTasks, max(1, math.Ceil(total/taskSeconds))))
	}
	assigned := partition(costs, tasks)
	for i, g := range w.groups {
		for _, j := range g.units {
			schedule[j].Task, schedule[j].Tasks = assigned[i]+1, assigned[len(assigned)-1]+1
		}
	}
	return schedule, nil
}

// partition divides items into at most n consecutive parts with the smallest
// possible cost of the most expensive part, and returns the part of each item,
// counted from 0.
func partition(costs []float64, n int) []int {
	deal := func(capacity float64) []int {
		parts := make([]int, len(costs))
		part, load := 0, 0.0
		for i, c := range costs {
			if i > 0 && load+c > capacity {
				part, load = part+1, 0
			}
			load += c
			parts[i] = part
		}
		return parts
	}
	low, high := 0.0, 0.0 // a capacity below the most expensive item is never enough; the sum always is
	for _, c := range costs {
		low, high = max(low, c), high+c
	}
	if n <= 1 {
		return make([]int, len(costs))
	}
	for range 60 { // halves the interval to the last bit
		middle := low + (high-low)/2
		if parts := deal(middle); parts[len(parts)-1] < n {
			high = middle
		} else {
			low = middle
		}
	}
	parts := deal(high)
	if parts[len(parts)-1] >= n { // rounding of sums
		parts = deal(high * (1 + 1e-9))
	}
	return parts
}

// Write writes a schedule as JSON lines.
func (s Schedule) Write(w io.Writer) error { return writeLines(w, s) }

// ReadSchedule reads and checks a schedule written by Write.
func ReadSchedule(path string) (Schedule, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := parseSchedule(data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return s, nil
}

func parseSchedule(data []byte) (Schedule, error) {
	var s Schedule
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		var c Assignment
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
		switch {
		case c.Index != n-1:
			return nil, fmt.Errorf("%d: unit %d, want %d: a schedule holds every unit in order", n, c.Index, n-1)
		case c.Tasks < 1 || c.Task < 1 || c.Task > c.Tasks:
			return nil, fmt.Errorf("%d: task %d of %d", n, c.Task, c.Tasks)
		case len(c.Key) != 16 || strings.Trim(c.Key, "0123456789abcdef") != "":
			return nil, fmt.Errorf("%d: key %q: want 16 hex digits", n, c.Key)
		case !(c.Seconds >= 0 && c.Seconds < 1e12):
			return nil, fmt.Errorf("%d: %v seconds", n, c.Seconds)
		case n > 1 && (c.Study != s[0].Study || c.Tasks != s[0].Tasks):
			return nil, fmt.Errorf("%d: study %s in %d tasks, line 1 has %s in %d", n, c.Study, c.Tasks, s[0].Study,
				s[0].Tasks)
		}
		s = append(s, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%d: %w", len(s)+1, err)
	}
	if len(s) == 0 {
		return nil, errors.New("1: empty schedule")
	}
	if s.Tasks() > len(s) {
		return nil, fmt.Errorf("1: %d tasks for %d units", s.Tasks(), len(s))
	}
	return s, nil
}

// Study returns the name of the study that was scheduled.
func (s Schedule) Study() string { return s[0].Study }

// Tasks returns the number of tasks.
func (s Schedule) Tasks() int { return s[0].Tasks }

// TaskSeconds returns the estimated seconds of the tasks on one core; task i is
// at i-1.
func (s Schedule) TaskSeconds() []float64 {
	seconds := make([]float64, s.Tasks())
	for _, c := range s {
		seconds[c.Task-1] += c.Seconds
	}
	return seconds
}

// errStaleSchedule means that the plan has changed since it was scheduled.
var errStaleSchedule = errors.New("the schedule is of another study, other overrides or other data: make it again")

// owns reports whether a group belongs to a shard: by the schedule if there is
// one, otherwise in turn.
func (o Options) owns(p *Plan, i int, g group) (bool, error) {
	if o.Schedule == nil {
		return o.Shard.has(i), nil
	}
	if len(o.Schedule) != len(p.Units) || o.Schedule.Tasks() != max(1, o.Shard.Count) {
		return false, errStaleSchedule
	}
	task := o.Schedule[g.units[0]].Task
	for _, u := range g.units {
		if o.Schedule[u].Task != task {
			return false, errStaleSchedule
		}
	}
	return task == max(1, o.Shard.Index), nil
}

// check compares the keys of a shard with those of the schedule.
func (s Schedule) check(w *work) error {
	for i, key := range w.keys {
		if key != "" && s[i].Key != key {
			return fmt.Errorf("unit %d (%s): %w", i, w.plan.Units[i].Name, errStaleSchedule)
		}
	}
	return nil
}

// ID returns the name of the schedule: 8 hex digits of a hash over its keys and
// tasks.
func (s Schedule) ID() string {
	h := sha256.New()
	for _, c := range s {
		fmt.Fprintf(h, "%s %d/%d\n", c.Key, c.Task, c.Tasks)
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}

// SameUnits reports whether two schedules are of the same plan over the same
// data, however it is divided.
func (s Schedule) SameUnits(other Schedule) bool {
	return slices.EqualFunc(s, other, func(a, b Assignment) bool { return a.Key == b.Key })
}

// State is the state of a scheduled unit in a results folder.
type State int

// States of a unit.
const (
	Missing State = iota
	Failed        // tried, with an error in the folder failed
	Done
)

// Progress is the state of a unit and the time at which it was finished.
type Progress struct {
	State    State
	Finished time.Time // of Done
}

// Progress looks up every unit in a results folder. It reads names and times
// only, so it can be called at any moment of a run of any size.
func (s Schedule) Progress(dir string) ([]Progress, error) {
	done, err := fileTimes(filepath.Join(dir, "units"), ".json")
	if err != nil {
		return nil, err
	}
	failed, err := fileTimes(filepath.Join(dir, "failed"), ".txt")
	if err != nil {
		return nil, err
	}
	progress := make([]Progress, len(s))
	for i, u := range s {
		if t, ok := done[u.Key]; ok {
			progress[i] = Progress{Done, t}
		} else if _, ok := failed[u.Key]; ok {
			progress[i].State = Failed
		}
	}
	return progress, nil
}

// fileTimes returns the names in a folder that have the given ending, without
// it, and when the files were written; a folder that is not there is empty.
func fileTimes(dir, suffix string) (map[string]time.Time, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	times := map[string]time.Time{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok {
			continue
		}
		if info, err := e.Info(); err == nil { // otherwise it was removed in the meantime
			times[name] = info.ModTime()
		}
	}
	return times, nil
}

// Shard is the i-th of n parts of a plan, counted from 1.
type Shard struct{ Index, Count int }

// ParseShard reads "i/n" with 1 <= i <= n.
func ParseShard(s string) (Shard, error) {
	var sh Shard
	var rest string
	n, _ := fmt.Sscanf(s, "%d/%d%s", &sh.Index, &sh.Count, &rest)
	if n != 2 || sh.Count < 1 || sh.Index < 1 || sh.Index > sh.Count {
		return Shard{}, fmt.Errorf("shard = %q: must be i/n with 1 <= i <= n", s)
	}
	return sh, nil
}

// has reports whether the i-th group of a plan belongs to the shard. Groups are
// assigned in turn, so slow ones spread over all shards.
func (s Shard) has(i int) bool { return s.Count <= 1 || i%s.Count == s.Index-1 }

// File returns the name of a shard's file, such as "results.2-of-5.csv"; shards
// can thus share a folder.
func (s Shard) File(stem, ext string) string {
	if s.Count <= 1 {
		return stem + ext
	}
	return fmt.Sprintf("%s.%d-of-%d%s", stem, s.Index, s.Count, ext)
}

// String returns "i/n", empty for the whole plan.
func (s Shard) String() string {
	if s.Count <= 1 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}
