package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/internal/cores"
	"mldpbench/internal/list"
	"mldpbench/internal/progress"
	"mldpbench/results"
)

// Options are the options of Run. None of them changes a result.
type Options struct {
	Out     string    // folder of the results
	Workers int       // units at a time; 0 is the number of cores
	Shard   Shard     // zero runs all units
	Again   bool      // runs finished units of a folder again and keeps all others of it
	Force   bool      // replaces rows of the folder that the plan does not have
	Sample  bool      // runs one unit of each kind of which none is finished, to know Summary.Left
	Log     io.Writer // progress and notes
	Version string    // of mldp, for records and manifest
	Command []string  // command line, for the manifest
}

// ErrInterrupted is returned by Run when its context was cancelled. Finished
// units are kept; the same call resumes.
var ErrInterrupted = errors.New("interrupted")

// Summary is the outcome of Run.
type Summary struct {
	Dir      string // folder of the results
	Rows     []results.Row
	Manifest Manifest
	Total    int           // units of the plan, or of the shard
	Ran      int           // finished by this call
	Reused   int           // finished before
	Failed   int           // with an error in DIR/failed
	Left     time.Duration // of the unfinished units of a sample, at the pace of the finished ones of their kinds
	Whole    time.Duration // of all its units, at that pace
}

// work is a run in progress.
type work struct {
	plan    *Plan
	options Options
	store   store
	groups  [][]int
	keys    []string            // by unit; "" outside the shard
	data    []map[string]string // by unit, as keys
	mu      sync.Mutex
	rows    [][]results.Row // by unit; nil is unfinished
	summary Summary
	failure string   // the first
	earlier *earlier // run in the folder, whose other rows stay, for Options.Again
}

// Run runs the unfinished units of a plan and writes DIR/results.csv and DIR/manifest.json.
// A unit that fails does not stop the others; Run then returns an error after them.
func Run(ctx context.Context, p *Plan, o Options) (*Summary, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	o.Log = cmp.Or(o.Log, io.Discard)
	if repeated := p.Unique(); len(repeated) > 0 {
		fmt.Fprintf(o.Log, "%d units of the study repeat others and are run once, the first: %s\n", len(repeated),
			repeated[0])
	}
	w, err := open(ctx, p, o)
	if err != nil && ctx.Err() != nil {
		err = ErrInterrupted
	}
	if err != nil {
		return nil, err
	}
	w.summary.Dir = o.Out
	before, err := readEarlier(o.Out, o.Shard)
	if err != nil {
		return nil, err
	}
	if o.Again {
		w.earlier = before
		err = w.checkAgain(before)
	} else {
		err = w.checkReplaced(before)
	}
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"", "units", "failed", "tables"} { // of killed runs
		atomicfile.Clean(filepath.Join(o.Out, dir))
	}
	jobs, err := w.pending()
	if err != nil {
		return nil, err
	}
	if err := w.begin(); err != nil {
		return nil, err
	}
	var kinds []string // of the units, for a sample
	if o.Sample {
		kinds = list.Map(p.Units, func(u Unit) string { return u.Kind() })
		jobs = w.sample(jobs, kinds)
	}
	runErr := w.run(ctx, jobs)
	if o.Sample {
		w.summary.Left, w.summary.Whole = w.pace(kinds)
	}
	return &w.summary, errors.Join(runErr, w.compose())
}

// begin writes which units the run has, and its manifest. A run of some cells again is
// part of the run that the folder holds, and leaves these.
func (w *work) begin() error {
	o := w.options
	if w.earlier != nil {
		w.summary.Manifest = *w.earlier.manifest
		return nil
	}
	w.summary.Manifest = w.manifest()
	keys := strings.Join(slices.DeleteFunc(slices.Clone(w.keys), func(k string) bool { return k == "" }), "\n")
	file := filepath.Join(o.Out, o.Shard.File("keys", ".txt"))
	if err := atomicfile.WriteBytes(file, 0o644, []byte(keys+"\n")); err != nil {
		return err
	}
	return w.summary.Manifest.write(o.Out, o.Shard)
}

// open finds the keys of the units that belong to the shard.
func open(ctx context.Context, p *Plan, o Options) (*work, error) {
	w := &work{plan: p, options: o, store: store{o.Out}, groups: p.groups()}
	w.keys = make([]string, len(p.Units))
	w.data = make([]map[string]string, len(p.Units))
	w.rows = make([][]results.Row, len(p.Units))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, o.Workers))
	for i, group := range w.groups {
		if !o.Shard.has(i) {
			continue
		}
		g.Go(func() error {
			for _, u := range group {
				data, err := p.Units[u].Data(ctx)
				if err != nil {
					return err
				}
				w.data[u] = data
				w.keys[u] = p.Units[u].key(data)
			}
			return nil
		})
	}
	return w, g.Wait()
}

// pending loads the finished units and returns the rest, in jobs. Of a run of cells again
// none is finished.
func (w *work) pending() ([][]int, error) {
	var jobs [][]int
	found := reused{unseen: map[string]int{}}
	for _, g := range w.groups {
		var job []int
		for _, i := range g {
			if w.keys[i] == "" {
				continue
			}
			w.summary.Total++
			finished, err := w.load(i, &found)
			if err != nil {
				return nil, err
			}
			if !finished {
				job = append(job, i)
			}
		}
		if len(job) > 0 {
			jobs = append(jobs, job)
		}
	}
	if found.others > 0 {
		fmt.Fprintf(w.options.Log, "%d of %d finished units were measured by another version of mldp than this, %q\n",
			found.others, w.summary.Reused, w.options.Version)
	}
	for _, program := range slices.Sorted(maps.Keys(found.unseen)) {
		fmt.Fprintf(w.options.Log, "warning: %d kept results are those of %s as it was then: what it imports, starts, "+
			"reads or has from the environment is not seen; after a change raise the version in its hello\n",
			found.unseen[program], program)
	}
	return jobs, nil
}

// reused is what finished units are that must be said.
type reused struct {
	others int            // by another version
	unseen map[string]int // by program, of which not all can be seen
}

// load loads a unit, if it is finished.
func (w *work) load(i int, found *reused) (finished bool, err error) {
	if w.earlier != nil {
		return false, nil
	}
	rows, version, err := w.store.load(w.keys[i])
	if err != nil || len(rows) == 0 {
		return false, err
	}
	if version != w.options.Version {
		found.others++
	}
	w.summary.Reused++
	w.rows[i] = rows
	if w.plan.Unseen == nil {
		return true, nil
	}
	for _, program := range w.plan.Unseen(w.data[i]) {
		found.unseen[program]++
	}
	return true, nil
}

// run is the worker pool.
func (w *work) run(ctx context.Context, jobs [][]int) error {
	o := w.options
	todo := list.Sum(jobs, func(job []int) int { return len(job) })
	if w.summary.Reused > 0 {
		fmt.Fprintf(o.Log, "%d of %d units are finished already\n", w.summary.Reused, w.summary.Total)
	}
	bar := progress.New(o.Log, "units", todo) // the pace so far is all that is known
	ctx = progress.Silent(ctx)
	defer bar.Close()
	var unfinished atomic.Int64 // jobs
	unfinished.Store(int64(len(jobs)))
	// The last jobs share the cores of those that have ended.
	ctx = cores.With(ctx, func() int { return o.Workers / int(max(1, unfinished.Load())) })
	var g errgroup.Group
	g.SetLimit(o.Workers)
	for _, units := range jobs {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			defer unfinished.Add(-1)
			return w.runJob(ctx, units, bar)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	if w.summary.Failed > 0 {
		return fmt.Errorf("%d of %d units failed (errors in %s); the same command tries them again; the first: %s",
			w.summary.Failed, todo, filepath.Join(o.Out, "failed"), w.failure)
	}
	return nil
}

// runJob runs the units of a job one after the other. After a failure it
// continues with the others.
func (w *work) runJob(ctx context.Context, units []int, bar *progress.Reporter) error {
	job := &Job{IDs: list.Map(units, func(i int) string { return w.plan.Units[i].ID })}
	for _, i := range units {
		if ctx.Err() != nil {
			return nil
		}
		u := w.plan.Units[i]
		key := w.keys[i]
		rows, err := w.measure(ctx, i, job)
		if ctx.Err() != nil {
			return nil // cancelled, not finished
		}
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			w.mu.Lock()
			w.summary.Failed++
			if w.failure == "" {
				w.failure = u.Name + ": " + strings.TrimSpace(err.Error())
			}
			w.mu.Unlock()
			bar.Add(1, "failed")
			bar.Note("failed: %s: %s", u.Name, first)
			if err := w.store.fail(key, u.Name, err); err != nil {
				return err
			}
			continue
		}
		if err := w.store.save(key, u.Name, w.options.Version, rows); err != nil {
			return err
		}
		w.mu.Lock()
		w.rows[i] = rows
		w.summary.Ran++
		w.mu.Unlock()
		bar.Add(1, u.Name)
	}
	return nil
}

// measure runs a unit, keeps a panic in it from ending the others, and fills in
// the origin of its rows.
func (w *work) measure(ctx context.Context, i int, job *Job) (rows []results.Row, err error) {
	start := time.Now()
	if err = check.Panics(func() error {
		rows, err = w.plan.Units[i].Run(ctx, job)
		return err
	}); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.New("internal error: nothing was measured")
	}
	for j := range rows {
		rows[j].Key = w.keys[i]
		rows[j].Version = w.options.Version
		rows[j].Machine = Machine()
	}
	rows[0].Seconds = results.Float(time.Since(start).Seconds()) // of all rows of the unit
	return rows, nil
}

// compose writes the files made from all finished units.
func (w *work) compose() error {
	var all []results.Row
	for i, rows := range w.rows {
		program, resources := fingerprints(w.data[i])
		for _, r := range rows {
			r.Program = program
			r.Resources = resources
			r.Schema = results.SchemaVersion
			r.Index = i
			r.Study = w.plan.Study
			r.Task = w.plan.Task
			r.Label = w.plan.Units[i].Place.Label // the plan may have grown since
			all = append(all, r)
		}
	}
	if w.earlier != nil {
		all = w.earlier.join(all)
	}
	return w.summary.finish(w.options.Shard, all)
}
