package submit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/experiments/lab"
	"mldpbench/internal/atomicfile"
	"mldpbench/results"
)

// Folders and files of a repository of packages.
const (
	PackagesFolder = "packages"
	receipts       = "verified.json"
)

// Entry is a package of a repository with its state.
type Entry struct {
	*Checked
	Name  string // of its file or folder
	State string
	Why   string // of the state
	Rows  []results.Row
}

// IsRepository reports whether a folder holds packages.
func IsRepository(dir string) bool {
	return lab.IsFolder(filepath.Join(dir, PackagesFolder))
}

// Packages returns the paths of the packages of a repository, by name.
func Packages(repository string) (all []string, err error) {
	entries, err := os.ReadDir(filepath.Join(repository, PackagesFolder))
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), ".zip") {
			all = append(all, filepath.Join(repository, PackagesFolder, e.Name()))
		}
	}
	return all, err
}

// Receipts are the digests of the packages that somebody with the repository
// verified, and with which mldp.
func Receipts(repository string) (map[string]string, error) {
	all := map[string]string{}
	data, err := os.ReadFile(filepath.Join(repository, receipts))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	return all, err
}

// WriteReceipts stores them.
func WriteReceipts(repository string, all map[string]string) error {
	return atomicfile.WriteJSON(filepath.Join(repository, receipts), all)
}

// Board reads all packages of a repository, each into a folder below dir, and
// finds their states. The package that came first owns a text; a later one with
// the same text and a stronger attacker attacks it.
func Board(repository, dir string) ([]*Entry, error) {
	verified, err := Receipts(repository)
	if err != nil {
		return nil, err
	}
	names, err := Packages(repository)
	if err != nil {
		return nil, err
	}
	var all []*Entry
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".zip")
		c, err := Check(name, filepath.Join(dir, base))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if c.Kind != Submission {
			return nil, fmt.Errorf("%s: is an %s: a board shows submissions", name, c.Kind)
		}
		e := &Entry{Checked: c, Name: base, State: Claimed, Why: "its numbers were not computed again"}
		if version, ok := verified[c.Digest]; ok {
			e.State, e.Why = Recomputed, "with mldp "+version
		}
		all = append(all, e)
	}
	own(all)
	for _, e := range all {
		e.judge(all)
	}
	return all, nil
}

// release identifies what was released, within a package.
func release(r results.Row) string {
	return fmt.Sprint(r.Mechanism, " ", r.Variant, " ", r.Parameters, " ", r.Epsilon, " ", r.Repetition, " ", r.Seed)
}

// own names texts after the system that had them first: the key of a unit
// depends on the text, so equal keys are equal texts.
func own(all []*Entry) {
	owner := map[string]string{} // system by key
	for _, e := range all {
		by := map[string]string{} // system by release
		for _, r := range e.Run.Rows {
			if s, ok := owner[r.Key]; ok {
				by[release(r)] = s
			}
		}
		for _, r := range e.Run.Rows {
			name := r.Mechanism
			if r.Variant == "external" {
				if name = by[release(r)]; name == "" {
					name = e.Card.System + ": " + r.Mechanism
				}
				if owner[r.Key] == "" {
					owner[r.Key] = name
				}
			}
			r.Mechanism = name
			e.Rows = append(e.Rows, r)
		}
	}
}

// judge finds whether others attacked or refuted a package.
func (e *Entry) judge(all []*Entry) {
	mine := map[string]results.Row{}
	promised := map[string]bool{}
	for _, r := range e.Rows {
		if r.Quantity == e.Of.Compare.Privacy {
			mine[release(r)] = r
		}
		if r.GuaranteeMetric != "" {
			promised[fmt.Sprint(r.Instance(), r.EmbeddingFingerprint)] = true
		}
	}
	privacy := results.MustColumn(e.Of.Compare.Privacy)
	for _, o := range all {
		if o.Task != e.Task || o.State == Claimed {
			continue // what nobody computed again takes nothing from others
		}
		for _, a := range o.Run.Audit {
			if a.Violated && a.Promises && promised[fmt.Sprint(a.Instance(), a.EmbeddingFingerprint)] {
				e.State, e.Why = Refuted, fmt.Sprintf("the audit of %s found %s violated", o.Name, a.Mechanism)
				return
			}
		}
		for _, r := range o.Rows {
			m, same := mine[release(r)]
			if o == e || !same || r.Quantity != privacy.Name || e.State == Attacked {
				continue
			}
			if privacy.Direction == results.Down && r.Low > m.High || privacy.Direction != results.Down && r.High < m.Low {
				e.State, e.Why = Attacked, fmt.Sprintf("%s: %s of %s", o.Name, privacy.Title, r.Detail)
			}
		}
	}
}

// Join returns the rows of packages of one task, of two attacks on one release
// the stronger, and the audits of those that were computed again.
func Join(entries []*Entry) results.Run {
	var run results.Run
	at := map[string]int{}
	for _, e := range entries {
		for _, r := range e.Rows {
			k := fmt.Sprint(release(r), r.Model, r.Setting, r.Quantity, r.DatasetFingerprint, r.EmbeddingFingerprint)
			i, again := at[k]
			if !again {
				at[k] = len(run.Rows)
				run.Rows = append(run.Rows, r)
				continue
			}
			c, err := results.FindColumn(r.Quantity)
			if err == nil && c.Attacker != "" && (r.Value > run.Rows[i].Value) == (c.Direction == results.Down) {
				r.Key, r.Index = run.Rows[i].Key, run.Rows[i].Index
				run.Rows[i] = r
			}
		}
		if e.State != Claimed {
			run.Audit = append(run.Audit, e.Run.Audit...)
		}
	}
	return run
}

// Tasks groups entries by task, by name.
func Tasks(all []*Entry) (groups [][]*Entry) {
	by := map[string][]*Entry{}
	for _, e := range all {
		by[e.Task] = append(by[e.Task], e)
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		groups = append(groups, by[name])
	}
	return groups
}
