package experiments

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mldpbench/experiments/cluster"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// SlurmJob asks for the script of a study in shards.
type SlurmJob struct {
	Call
	Study     string // name or file
	Overrides study.Overrides
	Shards    int
	Out       string   // shared folder of the results; "" is runs/STUDY
	Options   []string // of sbatch
	Stdout    io.Writer
}

// WriteSlurmJob writes the script that submits a study in shards.
func WriteSlurmJob(_ context.Context, j SlurmJob) error {
	o := j.answer()
	p, err := openPlan(j.Study, j.Data, j.Overrides)
	if err != nil {
		return err
	}
	job := cluster.Slurm{
		Name:    "mldp-" + p.Name,
		Study:   j.Study,
		Flags:   list.Map(j.Overrides.Set, func(a string) string { return "--set=" + a }),
		Out:     cmp.Or(j.Out, filepath.Join("runs", p.Name)),
		Shards:  j.Shards,
		Options: j.Options,
	}
	if j.Data != "" {
		job.Flags = append(job.Flags, "--data="+j.Data)
	}
	job.WorkDir, err = os.Getwd()
	if err != nil {
		return err
	}
	job.Program, err = os.Executable()
	if err != nil {
		return err
	}
	if job.Shards > cluster.MostShards {
		o.note("warning: %d shards: an array of Slurm has tasks up to %d, unless its MaxArraySize says otherwise "+
			"(scontrol show config)", job.Shards, cluster.MostShards)
	}
	return Usage(job.Script(j.Stdout))
}

// Status tells how far the shards of a folder are.
func Status(_ context.Context, call Call, folder string) (*Outcome, error) {
	o := call.answer()
	shards, total, err := engine.ReadProgress(folder)
	if err != nil {
		return nil, fmt.Errorf("%s: no run here: %w", folder, err)
	}
	var rows [][]any
	done := 0
	failed := 0
	for _, s := range shards {
		done += s.Done
		failed += s.Failed
		if !s.Started {
			rows = append(rows, []any{s.Shard, nil, nil, nil})
			continue
		}
		rows = append(rows, []any{cmp.Or(s.Shard, "1/1"), s.Units, s.Done, s.Failed})
	}
	rows = append(rows, []any{"all", total, done, failed})
	o.table("progress", []string{"shard", "units", "done", "failed"}, rows)
	o.say("%d of %d units are left", total-done, total)
	return o, nil
}

// Merging says which shards are joined.
type Merging struct {
	Call
	Folders []string
	Out     string // folder of the joined results; "" is the one folder
}

// Merge joins the results of shards into one folder, and writes its page.
func Merge(_ context.Context, m Merging) (*Outcome, error) {
	o := m.answer()
	if m.Out == "" && len(m.Folders) > 1 {
		return nil, check.Wrong("merge of several folders: give the target with --out")
	}
	s, err := engine.Merge(m.Folders, cmp.Or(m.Out, m.Folders[0]))
	if err != nil {
		return nil, err
	}
	o.note("%d of %d units", s.Reused, s.Total)
	return o, o.writeRun(s, runPages{})
}
