package experiments

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"mldpbench/internal/progress"
	"mldpbench/models"
	"mldpbench/results"
)

// RunOptions say how a study is run. None of them changes a result.
type RunOptions struct {
	Root     string    // data folder; "" is found as every command does
	Out      string    // folder of the results; "" is results/STUDY
	Workers  int       // cells at a time; 0 is the number of cores
	Memory   int64     // bytes that cells in flight may use by estimate; 0 is three quarters of what is free
	Shard    Shard     // zero runs all cells
	Schedule Schedule  // says which cells a shard runs; nil deals groups out by turns
	Only     string    // run only the cell of this key, finished or not
	ForceNew bool      // set finished cells aside and run all again
	Log      io.Writer // progress and notes
	Version  string    // of mldp, for records and manifest
	Command  []string  // command line, for the manifest
	// Rerun makes the command that runs the cell of a key alone again, for its
	// record; nil leaves it out.
	Rerun func(key string) string

	// Drain, when closed, lets cells at work finish and starts no other: Run
	// then returns ErrInterrupted. Cancelling the context discards them.
	Drain <-chan struct{}
}

// draining says whether Drain is closed.
func (o RunOptions) draining() bool {
	select {
	case <-o.Drain:
		return true
	default:
		return false
	}
}

func (o RunOptions) rerun(key string) string {
	if o.Rerun == nil {
		return ""
	}
	return o.Rerun(key)
}

// Shard is the i-th of n parts of a grid, counted from 1.
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

// has says whether the i-th group of a grid belongs to the shard. Groups are
// dealt out in turn, so that slow mechanisms spread over all shards.
func (s Shard) has(i int) bool { return s.Count <= 1 || i%s.Count == s.Index-1 }

// ErrInterrupted is returned by Run when its context was cancelled. Finished
// cells are kept; the same call resumes.
var ErrInterrupted = errors.New("interrupted")

// Summary is what Run did.
type Summary struct {
	Dir      string // folder of the results
	Records  []results.Record
	Examples []Example
	Datasets []results.DatasetDescription
	Total    int // cells of the grid, or of the shard
	Ran      int // finished by this call
	Reused   int // finished before
	Failed   int // with an error in DIR/failed
}

// task is the part of a group that is still to be run.
type task struct {
	cells  []Cell
	keys   []string
	prints []Fingerprints
}

// Run runs the unfinished cells of a study and writes DIR/results.csv,
// DIR/manifest.json and DIR/examples.jsonl. A cell that fails does not stop
// the others; Run then returns an error after them.
func Run(ctx context.Context, s *Study, o RunOptions) (_ *Summary, runErr error) {
	if o.Out == "" {
		o.Out = filepath.Join("results", s.Name)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = availableMemory() / 4 * 3
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	w := newWorkspace(s, o.Root)
	if ref, err := w.encoderRef(); err == nil && ref != s.Metrics.CS.Encoder && ref == sifEncoder {
		fmt.Fprintf(o.Log, "no sentence encoder on this machine: CS is measured with SIF and marked so; get one with: mldp data fetch %s\n", catalogueEncoder)
	}
	defer func() { runErr = errors.Join(runErr, w.close()) }()
	plan, err := w.plan(ctx, o)
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	st := store{o.Out}
	if o.ForceNew && o.Only == "" {
		to, err := st.setAside()
		if err != nil {
			return nil, err
		}
		if to != "" {
			fmt.Fprintf(o.Log, "finished cells moved to %s\n", to)
		}
	}
	st.removeTemporary(func(i fs.FileInfo) bool { return time.Since(i.ModTime()) > time.Hour })
	summary := &Summary{Dir: o.Out}
	tasks, err := plan.open(st, o, summary)
	if err != nil {
		return nil, err
	}
	if err := w.writeManifest(plan, o, summary); err != nil {
		return nil, err
	}
	runErr = w.runTasks(ctx, tasks, st, o, summary)
	if err := compose(s, plan, st, o, summary); err != nil {
		return summary, errors.Join(runErr, err)
	}
	return summary, runErr
}

// plan is the grid with keys, and the part of it that belongs to the shard.
type plan struct {
	groups []group
	keys   [][]string // by group and cell; nil outside the shard
	prints [][]Fingerprints
}

// plan expands the grid and loads the data that keys depend on.
func (w *workspace) plan(ctx context.Context, o RunOptions) (*plan, error) {
	cells, err := w.study.Grid(traits)
	if err != nil {
		return nil, err
	}
	p := &plan{groups: groups(cells)}
	p.keys = make([][]string, len(p.groups))
	p.prints = make([][]Fingerprints, len(p.groups))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(o.Workers)
	for i, group := range p.groups {
		mine, err := o.owns(i, group)
		if err != nil {
			return nil, errors.Join(err, g.Wait())
		}
		if !mine {
			continue
		}
		g.Go(func() error {
			p.prints[i] = make([]Fingerprints, len(group.cells))
			p.keys[i] = make([]string, len(group.cells))
			for j, c := range group.cells {
				f, err := w.fingerprints(gctx, c)
				if err != nil {
					return err
				}
				p.prints[i][j], p.keys[i][j] = f, c.Key(f)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if o.Schedule != nil {
		if err := o.Schedule.check(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// each calls f for the cells of the shard in grid order.
func (p *plan) each(f func(c Cell, key string) error) error {
	for i, g := range p.groups {
		for j, key := range p.keys[i] {
			if err := f(g.cells[j], key); err != nil {
				return err
			}
		}
	}
	return nil
}

// open returns what is left to do.
func (p *plan) open(st store, o RunOptions, summary *Summary) ([]task, error) {
	var tasks []task
	found := false
	for i, g := range p.groups {
		var t task
		for j, key := range p.keys[i] {
			summary.Total++
			if o.Only != "" {
				if key != o.Only {
					continue
				}
				found = true
			} else if _, done, err := st.load(key); err != nil {
				return nil, err
			} else if done {
				summary.Reused++
				continue
			}
			t.cells, t.keys = append(t.cells, g.cells[j]), append(t.keys, key)
			t.prints = append(t.prints, p.prints[i][j])
		}
		if len(t.cells) > 0 {
			tasks = append(tasks, t)
		}
	}
	if o.Only != "" && !found {
		return nil, fmt.Errorf("no cell of this study has the key %s: the study, its overrides and its data must be those of the record", o.Only)
	}
	return tasks, nil
}

// runTasks is the pool.
func (w *workspace) runTasks(ctx context.Context, tasks []task, st store, o RunOptions, summary *Summary) error {
	todo := 0
	for _, t := range tasks {
		todo += len(t.cells)
	}
	if summary.Reused > 0 {
		fmt.Fprintf(o.Log, "%d of %d cells are finished already\n", summary.Reused, summary.Total)
	}
	bar := progress.New(o.Log, "cells", todo)
	defer bar.Close()
	memory := semaphore.NewWeighted(o.Memory)
	threads := max(1, o.Workers/max(1, len(tasks)))
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(o.Workers)
	for _, t := range tasks {
		if ctx.Err() != nil || o.draining() {
			break
		}
		g.Go(func() error {
			weight := min(o.Memory, w.estimateMemory(t.cells[0]))
			if err := memory.Acquire(ctx, weight); err != nil {
				return nil // interrupted: reported once, below
			}
			defer memory.Release(weight)
			if o.draining() {
				return nil
			}
			finished := 0
			err := w.runSafely(ctx, t, threads, func(out Outcome) error {
				out.Record.Study, out.Record.Version, out.Record.Command = w.study.Name, o.Version, o.rerun(out.Record.Key)
				if err := st.save(out); err != nil {
					return err
				}
				finished++
				mu.Lock()
				summary.Ran++
				mu.Unlock()
				bar.Add(1, out.Cell.String())
				if finished < len(t.cells) && o.draining() {
					return ErrInterrupted
				}
				return nil
			})
			if err == nil || ctx.Err() != nil || errors.Is(err, ErrInterrupted) {
				return nil
			}
			mu.Lock()
			summary.Failed += len(t.cells) - finished
			mu.Unlock()
			for i := finished; i < len(t.cells); i++ {
				if err := st.fail(t.cells[i], t.keys[i], err); err != nil {
					return err
				}
			}
			bar.Add(len(t.cells)-finished, "failed")
			first, _, _ := strings.Cut(err.Error(), "\n")
			bar.Note("failed: %s: %s", t.cells[finished], first)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := interrupted(ctx, ctx.Err()); err != nil {
		return err
	}
	if o.draining() && summary.Ran+summary.Failed < todo {
		return ErrInterrupted
	}
	if summary.Failed > 0 {
		return fmt.Errorf("%d of %d cells failed (errors in %s); the same command tries them again", summary.Failed, todo, filepath.Join(st.dir, "failed"))
	}
	return nil
}

// runSafely keeps a defect in one cell from ending the others.
func (w *workspace) runSafely(ctx context.Context, t task, threads int, done func(Outcome) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
		}
	}()
	return w.runGroup(ctx, t.cells, t.keys, t.prints, threads, done)
}

// interrupted names a cancelled context as such.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// estimateMemory is a generous guess of what a cell needs beside shared data,
// in bytes.
func (w *workspace) estimateMemory(c Cell) int64 {
	const process = 64 << 20
	const perToken = 64     // string header, ids, features
	const perWord = 8 << 10 // tables of the selection family
	const recurrentNet = 400 << 20
	weight := int64(process)
	if e, ok := w.corpora.peek(c.Dataset.Name); ok {
		for _, d := range e.documents {
			weight += perToken * int64(len(d))
		}
		weight += perWord * int64(len(e.types))
	}
	if d, err := models.Find(c.Model); err == nil && !d.Vectors {
		weight += recurrentNet
	}
	return weight
}

// String names a cell for people.
func (c Cell) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s %dd, ", c.Dataset.Name, c.Embedding, c.Dimension)
	if c.IsBaseline() {
		b.WriteString("baseline")
	} else {
		b.WriteString(c.Mechanism.Mechanism)
		if c.Mechanism.Variant != "" {
			fmt.Fprintf(&b, " (%s)", c.Mechanism.Variant)
		}
		if p := c.Mechanism.Parameters.String(); p != "" {
			fmt.Fprintf(&b, " %s", p)
		}
		fmt.Fprintf(&b, " ε=%v", c.Mechanism.Epsilon)
	}
	fmt.Fprintf(&b, ", %s", c.Model)
	if c.Setting != Local {
		fmt.Fprintf(&b, ", %s", c.Setting)
	}
	fmt.Fprintf(&b, ", repetition %d", c.Repetition)
	return b.String()
}
