// Package engine runs units of work: it keeps what is finished, resumes, shards,
// schedules and merges.
//
// It believes that a study is a list of units and that a unit is done or not
// done: two runs of one plan over the same data give the same rows whatever the
// number of workers, the split into shards or the interruptions between, and a
// unit that is done is never run again. It knows no word about text: what a
// unit is about is the planner's business.
package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"mldpbench/results"
)

// Unit is a piece of work that is done or not done: one cell and repetition of
// a grid, one curve at one place of a paper's figure.
type Unit struct {
	Name string // for people
	// ID says all that the rows depend on beside data: settings, seed, place.
	// Equal IDs in one plan are one unit. See MakeID.
	ID string
	// Group names units that share expensive work, privatised text for example.
	// Neighbours of one group are run by one worker, one after the other; "" is
	// a group of its own.
	Group string
	// Row is what every row of the unit starts from: its place and settings. It
	// is compared with rows of older files to find the unit again.
	Row results.Record
	// Baselines are IDs of units without which columns of this one cannot be
	// derived: they are run too where the unit is run alone.
	Baselines []string
	// Data opens what the unit depends on and returns its fingerprints by name.
	// They and the ID make the key.
	Data func(ctx context.Context) (map[string]string, error)
	// Cost and Memory estimate the unit, in seconds on one core and in bytes
	// beside what all units share. They are asked after Data; nil is unknown.
	Cost   func() Cost
	Memory func() int64
	// Run measures. A unit that does not exist at its settings returns a row of
	// status undefined: that is a result.
	Run func(ctx context.Context, job *Job) (Output, error)
}

// Cost is an estimate and where it comes from.
type Cost struct {
	Seconds float64
	Source  string // FromRecords, FromSpeeds or FromDefaults
}

// Where an estimate comes from.
const (
	FromRecords  = "records"  // measured in earlier records of such units
	FromSpeeds   = "bench"    // speed of the mechanism, rough constants for the rest
	FromDefaults = "defaults" // rough constants of this program
)

// Output is what a unit leaves.
type Output struct {
	Rows     []results.Record
	Examples []results.Example
	Details  any // kept beside the rows, as JSON; nil is nothing
}

// Job is what one worker runs now: the unfinished units of a group.
type Job struct {
	Threads int      // that the worker may use
	IDs     []string // of its units, in order
	Shared  any      // what they share, kept as long as the job
}

// Plan is a study in units, and what the manifest says of it.
type Plan struct {
	Study      string
	Definition string // the study file, overrides applied
	Schema     int    // of the study file
	Units      []Unit
	Data       func() []results.DatasetDescription // of what has been opened
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

// MakeID is the canonical form of values that make a unit what it is.
func MakeID(parts ...any) string {
	data, err := json.Marshal(parts)
	if err != nil {
		panic(fmt.Sprintf("engine: an ID of what is no JSON: %v", err)) // numbers and words only
	}
	return string(data)
}

// key is 16 hex digits of a hash over the ID and the fingerprints of the data.
// A changed value is another unit; an unchanged one is never run again.
func (u Unit) key(data map[string]string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", u.ID)
	for _, name := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(h, "%s=%s\n", name, data[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// group is a stretch of units that belong together: what one worker runs, what
// one shard or task owns.
type group struct{ units []int }

func (p *Plan) groups() []group {
	var all []group
	for i, u := range p.Units {
		if i > 0 && u.Group != "" && u.Group == p.Units[i-1].Group {
			last := &all[len(all)-1]
			last.units = append(last.units, i)
			continue
		}
		all = append(all, group{[]int{i}})
	}
	return all
}

// find returns the unit that a row of any results file is of: the one whose Row
// agrees with it in most columns, all those that say what was run. -1 is none.
func (p *Plan) find(r results.Record) (int, error) {
	best, most, tie := -1, 0, false
	row := axes(r)
	for i, u := range p.Units {
		n := 0
		for j, v := range axes(u.Row) {
			if v == "" {
				continue
			}
			if v != row[j] {
				n = -1
				break
			}
			n++
		}
		switch {
		case n > most:
			best, most, tie = i, n, false
		case n == most && n > 0:
			tie = true
		}
	}
	if tie {
		return -1, fmt.Errorf("several units of this study fit the record %s", r.Key)
	}
	return best, nil
}

// axes are the columns that say what was run, as text; "" is not said.
func axes(r results.Record) []string {
	number := func(f results.Float) string { s, _ := f.MarshalCSV(); return s } // never fails
	count := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	return []string{r.Dataset, r.Embedding, count(r.Dimension), r.Mechanism, r.Variant, r.Parameters, number(r.Epsilon),
		r.Policy, r.Model, r.ModelParameters, r.Setting, count(r.Repetition), r.Panel, r.Series, number(r.X)}
}
