package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/results"
)

// earlier is the run whose rows a folder holds.
type earlier struct {
	manifest *Manifest
	rows     []results.Row
	index    map[string]int // of its units by key, finished or not
	measured map[string]bool
}

// readEarlier returns the run in a folder, nil where there is none with rows, or where its
// rows are not those that it wrote.
func readEarlier(folder string, shard Shard) (*earlier, error) {
	manifest, err := ReadManifest(filepath.Join(folder, shard.File("manifest", ".json")))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	file := filepath.Join(folder, shard.File("results", ".csv"))
	if _, err := os.Stat(file); err != nil || manifest.Verify(file) != nil {
		return nil, nil
	}
	rows, err := results.Read(file)
	if err != nil || len(rows) == 0 {
		return nil, nil // of another version, which this one cannot lose: it could not read them
	}
	e := &earlier{
		manifest: manifest,
		rows:     rows,
		index:    map[string]int{},
		measured: map[string]bool{},
	}
	keys, _ := os.ReadFile(filepath.Join(folder, shard.File("keys", ".txt"))) // merged runs have none
	if shard.Count <= 1 {
		for i, key := range strings.Fields(string(keys)) {
			e.index[key] = i
		}
	}
	for _, r := range rows {
		e.index[r.Key] = r.Index
		e.measured[r.Key] = true
	}
	return e, nil
}

// lost is the number of its units that are not among those of the keys.
func (e *earlier) lost(keys []string) int {
	own := map[string]bool{}
	for _, key := range keys {
		own[key] = true
	}
	lost := 0
	for key := range e.measured {
		if !own[key] {
			lost++
		}
	}
	return lost
}

// checkReplaced refuses a run that would leave out rows of the folder: those of another
// definition of the study, as with fewer epsilons. Rows of the same definition are
// of data that changed; that they are replaced is said.
func (w *work) checkReplaced(e *earlier) error {
	if e == nil || w.options.Force {
		return nil
	}
	lost := e.lost(w.keys)
	if lost == 0 {
		return nil
	}
	if e.manifest.Definition == w.plan.Definition {
		fmt.Fprintf(w.options.Log, "%d of %d units in %s were measured on other data or by another version, and are "+
			"replaced\n", lost, len(e.measured), w.options.Out)
		return nil
	}
	return check.Wrong("%s holds %d units, %d of which are not of this run and would be replaced: choose another "+
		"--out, or say --again to run the cells of this run again and keep the others, or --force to replace them",
		w.options.Out, len(e.measured), lost)
}

// checkAgain refuses units that the folder does not have.
func (w *work) checkAgain(e *earlier) error {
	if e == nil {
		return check.Wrong("%s: no finished run is here, of which --again could run cells again", w.options.Out)
	}
	var unknown []string
	for i, key := range w.keys {
		if _, known := e.index[key]; !known && key != "" {
			unknown = append(unknown, w.plan.Units[i].Name)
		}
	}
	if len(unknown) > 0 {
		return check.Wrong("%s does not have %d of these %d units, such as %s: --again runs cells again that it has, "+
			"on the same data", w.options.Out, len(unknown), len(w.plan.Units), unknown[0])
	}
	return nil
}

// join returns the rows of the folder with those that were measured again in place of
// theirs.
func (e *earlier) join(again []results.Row) []results.Row {
	replaced := map[string]bool{}
	for i := range again {
		r := &again[i]
		replaced[r.Key] = true
		r.Index = e.index[r.Key]
		r.Study = e.manifest.Study
		r.Task = e.rows[0].Task
	}
	kept := results.Where(e.rows, func(r results.Row) bool { return !replaced[r.Key] })
	return append(kept, again...)
}
