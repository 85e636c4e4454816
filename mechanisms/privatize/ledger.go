package privatize

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"mldpbench/internal/check"
)

// Entry is one line of a ledger: a run that privatised with a key.
type Entry struct {
	Date      time.Time `json:"date"`
	Release   string    `json:"release"`
	Mechanism string    `json:"mechanism"` // with variant and parameters
	Epsilon   float64   `json:"epsilon"`
	Unit      string    `json:"unit"` // that epsilon is of: "word" or "document"
	Rows      uint64    `json:"rows"`
	Key       string    `json:"key"`     // Key.Name
	Vectors   string    `json:"vectors"` // their fingerprint
}

// Spent is what the runs of one release with one mechanism have spent.
type Spent struct {
	Release   string  `json:"release"`
	Mechanism string  `json:"mechanism"`
	Unit      string  `json:"unit"`
	Runs      int     `json:"runs"`
	Rows      uint64  `json:"rows"`
	Epsilon   float64 `json:"epsilon"` // the sum over the runs
}

// Ledger is a file with one Entry a line, as JSON, of all releases that a data holder has made.
type Ledger struct {
	path    string
	entries []Entry
}

// ReadLedger reads a ledger; a file that is not there has no entries.
func ReadLedger(path string) (*Ledger, error) {
	l := &Ledger{path: path}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for number := 1; lines.Scan(); number++ {
		var entry Entry
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		if decoder.Decode(&entry) != nil || entry.Release == "" || entry.Key == "" {
			return nil, check.Wrong("%s:%d: is no line of a ledger", path, number)
		}
		l.entries = append(l.entries, entry)
	}
	if err := lines.Err(); err != nil {
		return nil, check.Wrong("%s: is no ledger: %v", path, err)
	}
	return l, nil
}

// Check returns an error where a run can't go on with a release: it has another key or other vectors than the runs
// before it, so that no text would come out the same.
func (l *Ledger) Check(next Entry) error {
	for i, entry := range l.entries {
		switch {
		case entry.Release != next.Release:
		case entry.Key != next.Key:
			return check.Wrong("%s:%d: release %q was made with another key, %s and not %s: use that one, or another "+
				"--release", l.path, i+1, next.Release, entry.Key, next.Key)
		case entry.Vectors != next.Vectors:
			return check.Wrong("%s:%d: release %q was made with other vectors: use those, or another --release",
				l.path, i+1, next.Release)
		}
	}
	return nil
}

// Add appends an entry to the file, as one write: others may append at the same time.
func (l *Ledger) Add(entry Entry) (err error) {
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("%s: the run is not in the ledger: %w", l.path, err)
	}
	l.entries = append(l.entries, entry)
	return nil
}

// Spent sums up the entries by release and mechanism, in this order. ε of different mechanisms or units is of different
// distances, and has no sum.
func (l *Ledger) Spent() []Spent {
	type group struct{ release, mechanism, unit string }
	sums := map[group]Spent{}
	for _, entry := range l.entries {
		of := group{entry.Release, entry.Mechanism, entry.Unit}
		sum := sums[of]
		sum.Release = entry.Release
		sum.Mechanism = entry.Mechanism
		sum.Unit = entry.Unit
		sum.Runs++
		sum.Rows += entry.Rows
		sum.Epsilon += entry.Epsilon
		sums[of] = sum
	}
	order := func(s Spent) []string { return []string{s.Release, s.Mechanism, s.Unit} }
	return slices.SortedFunc(maps.Values(sums), func(a, b Spent) int {
		return slices.Compare(order(a), order(b))
	})
}
