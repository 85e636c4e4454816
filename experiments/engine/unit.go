// Package engine runs units of work: it stores finished units, resumes, shards
// and merges.
//
// A study is a list of units, and a unit is either done or not done. Two runs
// of one plan over the same data give the same rows for any number of workers,
// shards and interruptions, and a finished unit is never run again. The package
// is independent of text: planners define what a unit does.
package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"mldpbench/datasets"
	"mldpbench/results"
)

// Unit is a piece of work that is done or not done: one measurement of one
// release.
type Unit struct {
	Name string // for people
	// ID holds everything that the rows depend on except data: settings, seed,
	// position. Equal IDs in one plan are the same unit. See MakeID.
	ID string
	// Group is the same for units that share expensive work, for example
	// privatised text. Consecutive units of one group are run by one worker,
	// one after the other; a unit with "" is a separate group.
	Group string
	Kind  func() string // the same for units that take about the same time; for Options.Sample
	Place results.Place // of what is measured
	// Data opens what the unit depends on and returns its fingerprints by name.
	// They and the ID make the key.
	Data func(ctx context.Context) (map[string]string, error)
	// Run measures the unit. A unit that does not exist at its settings returns
	// a row of status undefined, which is a result.
	Run func(ctx context.Context, job *Job) ([]results.Row, error)
}

// Job is the work of one worker: the unfinished units of a group.
type Job struct {
	IDs    []string // of its units, in order
	Shared any      // values they share, kept as long as the job
}

// Plan is a study divided into units, with its entries for the manifest.
type Plan struct {
	Study      string
	Task       string // of which the study is a run, "" for none
	Definition string // the study file with overrides applied
	Schema     int    // of the study file
	Units      []Unit
	Data       func() []datasets.Description // of opened data
	// Unseen names the programs behind the fingerprints of a unit that may have changed
	// without a change of these.
	Unseen func(data map[string]string) []string
}

// Unique drops units that repeat an earlier one and returns their names.
func (p *Plan) Unique() (repeated []string) {
	seen := map[string]bool{}
	p.Units = slices.DeleteFunc(p.Units, func(u Unit) bool {
		if seen[u.ID] {
			repeated = append(repeated, u.Name)
			return true
		}
		seen[u.ID] = true
		return false
	})
	return repeated
}

// MakeID returns the canonical form of the values that identify a unit.
func MakeID(parts ...any) string {
	data, err := json.Marshal(parts)
	if err != nil {
		panic(fmt.Sprintf("engine: an ID of what is no JSON: %v", err)) // numbers and words only
	}
	return string(data)
}

// key returns 16 hex digits of a hash over the ID and the fingerprints of the
// data. A changed value makes a different unit; an unchanged unit is never run
// again.
func (u Unit) key(data map[string]string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", u.ID)
	for _, name := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(h, "%s=%s\n", name, data[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// groups are contiguous parts of the units, each of which belongs to one worker and
// to one shard.
func (p *Plan) groups() (all [][]int) {
	for i, u := range p.Units {
		if i > 0 && u.Group != "" && u.Group == p.Units[i-1].Group {
			all[len(all)-1] = append(all[len(all)-1], i)
			continue
		}
		all = append(all, []int{i})
	}
	return all
}
