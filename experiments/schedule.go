package experiments

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

	"mldpbench/models"
	"mldpbench/results"
)

// ScheduledCell is one line of a schedule: a cell, and the task that runs it.
type ScheduledCell struct {
	Study    string  `json:"study"`
	Index    int     `json:"index"` // position in the grid
	Key      string  `json:"key"`
	Task     int     `json:"task"` // 1 to Tasks
	Tasks    int     `json:"tasks"`
	Seconds  float64 `json:"seconds"`  // estimated, on one core
	Estimate string  `json:"estimate"` // FromRecords, FromSpeeds or FromDefaults
	Cell     string  `json:"cell"`     // for people
}

// Where an estimate comes from.
const (
	FromRecords  = "records"  // measured in earlier records of such cells
	FromSpeeds   = "bench"    // speed of the mechanism, rough constants for the rest
	FromDefaults = "defaults" // rough constants of this program
)

// Schedule is a grid dealt out to tasks, in grid order. Cells that share
// privatised text are in one task, and a task is a stretch of the grid, so
// that it loads few data sets and spaces.
type Schedule []ScheduledCell

// ScheduleOptions say how a grid is dealt out.
type ScheduleOptions struct {
	Root        string           // data folder
	Tasks       int              // at most so many; 0 follows from TaskSeconds
	TaskSeconds float64          // length aimed at, if Tasks is 0
	Records     []results.Record // earlier ones, for estimates
	Speeds      []Speed          // measured, for estimates of what no record knows
}

// Speed is a measured speed of a mechanism on one core, as mldp bench
// reports it.
type Speed struct {
	Mechanism      string  `csv:"mechanism"`
	Dimension      int     `csv:"dimension"`
	Vocabulary     int     `csv:"vocabulary"`
	Workers        int     `csv:"workers"`
	WordsPerSecond float64 `csv:"words_per_second"` // 0 where the mechanism is undefined
}

// maxTasks is what a scheduler shared with others should be asked for at once.
const maxTasks = 2000

// NewSchedule expands a study and deals its cells out to tasks of about equal
// estimated length.
func NewSchedule(ctx context.Context, s *Study, o ScheduleOptions) (Schedule, error) {
	if o.Tasks < 0 {
		return nil, fmt.Errorf("tasks = %d: must be >= 1", o.Tasks)
	}
	w := newWorkspace(s, o.Root)
	p, err := w.plan(ctx, RunOptions{Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	measured := newCostTable(o.Records)
	var schedule Schedule
	costs := make([]float64, len(p.groups))
	for i, g := range p.groups {
		for j, c := range g.cells {
			cell := ScheduledCell{Study: s.Name, Index: c.Index, Key: p.keys[i][j], Cell: c.String(), Estimate: FromRecords}
			var known bool
			if cell.Seconds, known = measured.of(c); !known {
				cell.Seconds, cell.Estimate = w.estimatedCost(c, j == 0, o.Speeds)
			}
			costs[i] += cell.Seconds
			schedule = append(schedule, cell)
		}
	}
	tasks := o.Tasks
	if tasks == 0 {
		total := 0.0
		for _, c := range costs {
			total += c
		}
		tasks = int(min(maxTasks, max(1, math.Ceil(total/o.TaskSeconds))))
	}
	assigned := partition(costs, tasks)
	next := 0
	for i, g := range p.groups {
		for range g.cells {
			schedule[next].Task, schedule[next].Tasks = assigned[i]+1, assigned[len(assigned)-1]+1
			next++
		}
	}
	return schedule, nil
}

// partition deals consecutive items out to at most n parts so that the
// costliest part is as cheap as consecutive parts can be, and returns the part
// of each item, counted from 0.
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
	low, high := 0.0, 0.0 // no capacity below the costliest item is enough; the sum always is
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

// costTable holds mean seconds of earlier records at several levels of detail.
type costTable []map[string]*costMean

type costMean struct{ sum, n float64 }

// costLevels describe a cell from the closest to the vaguest likeness that
// still promises a like duration.
func costLevels(dataset string, dimension int, mechanism, variant, model, setting string, epsilon float64) []string {
	what := fmt.Sprintf("%s %s %s", mechanism, variant, model)
	return []string{
		fmt.Sprintf("%s %s %d %s %v", what, dataset, dimension, setting, epsilon),
		fmt.Sprintf("%s %s %d", what, dataset, dimension),
		fmt.Sprintf("%s %s", what, dataset),
	}
}

func newCostTable(records []results.Record) costTable {
	var t costTable
	for _, r := range records {
		if !r.TotalSeconds.Known() {
			continue
		}
		for i, name := range costLevels(r.Dataset, r.Dimension, r.Mechanism, r.Variant, r.Model, r.Setting, float64(r.Epsilon)) {
			if i == len(t) {
				t = append(t, map[string]*costMean{})
			}
			m, ok := t[i][name]
			if !ok {
				m = &costMean{}
				t[i][name] = m
			}
			m.sum += float64(r.TotalSeconds)
			m.n++
		}
	}
	return t
}

func (t costTable) of(c Cell) (float64, bool) {
	epsilon := c.Mechanism.Epsilon
	if c.IsBaseline() {
		epsilon = math.NaN() // missing in records
	}
	names := costLevels(c.Dataset.Name, c.Dimension, c.Mechanism.Mechanism, string(c.Mechanism.Variant), c.Model, c.Setting, epsilon)
	for i, level := range t {
		if m, ok := level[names[i]]; ok {
			return m.sum / m.n, true
		}
	}
	return 0, false
}

// Rough seconds of the work of a cell on one core of 2024, from the records of
// the comparative study; only ever used to deal cells out evenly where no
// records are given.
const (
	costPerCell       = 0.2   // fixed
	costPerDistance   = 1e-11 // one component of one distance, privatising one token
	costPerRecurrent  = 2e-5  // one token in training of an LSTM
	costPerLinear     = 3e-6  // one token in training of anything else
	costPerSimilarity = 0.2   // one document before and after, in a sentence encoder
)

// estimatedCost estimates a cell from speeds and constants; first says whether
// it is the one of its group that privatises.
func (w *workspace) estimatedCost(c Cell, first bool, speeds []Speed) (seconds float64, from string) {
	cost := costPerCell
	corpus, ok := w.corpora.peek(c.Dataset.Name)
	if !ok {
		return cost, FromDefaults
	}
	tokens := 0.0
	for _, d := range corpus.documents {
		tokens += float64(len(d))
	}
	if d, err := models.Find(c.Model); err == nil && !d.Vectors {
		cost += costPerRecurrent * tokens
	} else {
		cost += costPerLinear * tokens
	}
	if !first || c.IsBaseline() {
		return cost, FromDefaults
	}
	if c.measuresCS() && c.Metrics.CS.Encoder != sifEncoder {
		cost += costPerSimilarity * float64(c.Metrics.CS.Documents)
	}
	size := float64(len(corpus.types)) * float64(c.Dimension)
	if perToken, ok := secondsPerToken(speeds, c.Mechanism.Mechanism, size); ok {
		return cost + perToken*tokens, FromSpeeds
	}
	return cost + costPerDistance*size*tokens, FromDefaults
}

// secondsPerToken scales the mean of the measurements nearest in size (words ×
// dimension) to another size.
func secondsPerToken(speeds []Speed, mechanism string, size float64) (float64, bool) {
	nearest, sum, n := math.Inf(1), 0.0, 0.0
	for _, v := range speeds {
		measured := float64(v.Vocabulary) * float64(v.Dimension)
		if v.Mechanism != mechanism || v.Workers != 1 || !(v.WordsPerSecond > 0) || !(measured > 0) {
			continue
		}
		distance := math.Abs(math.Log(measured / size))
		if distance < nearest {
			nearest, sum, n = distance, 0, 0
		}
		if distance == nearest {
			sum += size / measured / v.WordsPerSecond
			n++
		}
	}
	return sum / max(n, 1), n > 0
}

// Write writes a schedule as JSON lines.
func (s Schedule) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, c := range s {
		if err := e.Encode(c); err != nil {
			return err
		}
	}
	return nil
}

// ReadSchedule reads and checks what Write wrote.
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
		var c ScheduledCell
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
		switch {
		case c.Index != n-1:
			return nil, fmt.Errorf("%d: cell %d, want %d: a schedule holds every cell in order", n, c.Index, n-1)
		case c.Tasks < 1 || c.Task < 1 || c.Task > c.Tasks:
			return nil, fmt.Errorf("%d: task %d of %d", n, c.Task, c.Tasks)
		case len(c.Key) != 16 || strings.Trim(c.Key, "0123456789abcdef") != "":
			return nil, fmt.Errorf("%d: key %q: want 16 hex digits", n, c.Key)
		case !(c.Seconds >= 0 && c.Seconds < 1e12):
			return nil, fmt.Errorf("%d: %v seconds", n, c.Seconds)
		case n > 1 && (c.Study != s[0].Study || c.Tasks != s[0].Tasks):
			return nil, fmt.Errorf("%d: study %s in %d tasks, line 1 has %s in %d", n, c.Study, c.Tasks, s[0].Study, s[0].Tasks)
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
		return nil, fmt.Errorf("1: %d tasks for %d cells", s.Tasks(), len(s))
	}
	return s, nil
}

// Study is the name of the study that was scheduled.
func (s Schedule) Study() string { return s[0].Study }

// Tasks is the number of tasks.
func (s Schedule) Tasks() int { return s[0].Tasks }

// TaskSeconds are the estimated lengths of the tasks on one core; task i is at
// i-1.
func (s Schedule) TaskSeconds() []float64 {
	seconds := make([]float64, s.Tasks())
	for _, c := range s {
		seconds[c.Task-1] += c.Seconds
	}
	return seconds
}

// errStaleSchedule says that the grid has changed since it was dealt out.
var errStaleSchedule = errors.New("the schedule is of another study, other overrides or other data: make it again")

// owns says whether a group belongs to a shard: to the task of that number if
// there is a schedule, else by turns.
func (o RunOptions) owns(i int, g group) (bool, error) {
	if o.Schedule == nil {
		return o.Shard.has(i), nil
	}
	last := g.cells[len(g.cells)-1].Index
	if last >= len(o.Schedule) || o.Schedule.Tasks() != max(1, o.Shard.Count) {
		return false, errStaleSchedule
	}
	task := o.Schedule[g.cells[0].Index].Task
	for _, c := range g.cells {
		if o.Schedule[c.Index].Task != task {
			return false, errStaleSchedule
		}
	}
	return task == max(1, o.Shard.Index), nil
}

// check compares the keys of a plan with those of the schedule.
func (s Schedule) check(p *plan) error {
	total := 0
	for _, g := range p.groups {
		total += len(g.cells)
	}
	if total != len(s) {
		return errStaleSchedule
	}
	return p.each(func(c Cell, key string) error {
		if s[c.Index].Key != key {
			return fmt.Errorf("cell %d (%s): %w", c.Index, c, errStaleSchedule)
		}
		return nil
	})
}

// ID names the schedule: 8 hex digits of a hash over its keys and tasks.
func (s Schedule) ID() string {
	h := sha256.New()
	for _, c := range s {
		fmt.Fprintf(h, "%s %d/%d\n", c.Key, c.Task, c.Tasks)
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}

// SameCells says whether two schedules are of one grid over the same data,
// however it is dealt out.
func (s Schedule) SameCells(other Schedule) bool {
	return slices.EqualFunc(s, other, func(a, b ScheduledCell) bool { return a.Key == b.Key })
}

// CellState is what a results folder says about a scheduled cell.
type CellState int

// States of a cell.
const (
	CellMissing CellState = iota
	CellFailed            // tried, with an error in the folder failed
	CellDone
)

// CellProgress is the state of a cell, and since when it is finished.
type CellProgress struct {
	State    CellState
	Finished time.Time // of CellDone
}

// Progress looks every cell up in a results folder. It reads names and times
// only, so it can be asked at any moment of a run of any size.
func (s Schedule) Progress(dir string) ([]CellProgress, error) {
	done, err := fileTimes(filepath.Join(dir, "cells"), ".json")
	if err != nil {
		return nil, err
	}
	failed, err := fileTimes(filepath.Join(dir, "failed"), ".txt")
	if err != nil {
		return nil, err
	}
	progress := make([]CellProgress, len(s))
	for i, c := range s {
		if t, ok := done[c.Key]; ok {
			progress[i] = CellProgress{CellDone, t}
		} else if _, ok := failed[c.Key]; ok {
			progress[i].State = CellFailed
		}
	}
	return progress, nil
}

// fileTimes returns the names in a folder that end so, without the end, and
// when they were written; a folder that is not there is empty.
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
		if info, err := e.Info(); err == nil { // else it was removed meanwhile
			times[name] = info.ModTime()
		}
	}
	return times, nil
}
