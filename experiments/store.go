package experiments

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mldpbench/internal/atomicfile"
	"mldpbench/models"
	"mldpbench/results"
)

// Outcome is all that is kept of one finished cell.
type Outcome struct {
	Cell     Cell           `json:"cell"`
	Record   results.Record `json:"record"`
	Epochs   []models.Epoch `json:"epochs,omitempty"`
	Examples []Example      `json:"examples,omitempty"`
}

// Example is a sentence before and after, for the reader of a report.
type Example = results.Example

// store keeps one file per finished cell in a folder: DIR/cells/KEY.json,
// written to a temporary name, synced and renamed. A killed run therefore
// leaves whole files only, shards on several machines can share the folder
// without locks (which shared file systems do not keep), and a cell is looked
// up by its name alone.
type store struct{ dir string }

func (s store) cellPath(key string) string    { return filepath.Join(s.dir, "cells", key+".json") }
func (s store) failurePath(key string) string { return filepath.Join(s.dir, "failed", key+".txt") }

// load returns a finished cell; ok is false if there is none. A file that
// cannot be read as a cell counts as none: it is run again and replaced.
func (s store) load(key string) (o Outcome, ok bool, err error) {
	data, err := os.ReadFile(s.cellPath(key))
	if errors.Is(err, fs.ErrNotExist) {
		return o, false, nil
	}
	if err != nil {
		return o, false, err
	}
	if json.Unmarshal(data, &o) != nil || o.Record.Key != key || o.Record.Schema != results.SchemaVersion {
		return Outcome{}, false, nil
	}
	return o, true, nil
}

func (s store) save(o Outcome) error {
	data, err := json.MarshalIndent(o, "", " ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(s.cellPath(o.Record.Key), 0o644, append(data, '\n')); err != nil {
		return err
	}
	return ignoreMissing(os.Remove(s.failurePath(o.Record.Key)))
}

// fail keeps the error of a cell. The cell is not finished: a resumed run
// tries it again.
func (s store) fail(c Cell, key string, cause error) error {
	text := fmt.Sprintf("cell %d (key %s): %s\n%v\n", c.Index, key, c, cause)
	return atomicfile.WriteBytes(s.failurePath(key), 0o644, []byte(text))
}

// setAside moves finished cells out of the way, so that a fresh run loses
// nothing.
func (s store) setAside() (to string, err error) {
	from := filepath.Join(s.dir, "cells")
	for i := 1; ; i++ {
		to = fmt.Sprintf("%s.old-%d", from, i)
		if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", err
		}
	}
	err = os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return to, err
}

// removeTemporary deletes what killed runs left half-written, if it is old
// enough not to belong to a process that still runs.
func (s store) removeTemporary(old func(fs.FileInfo) bool) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "cells"))
	if err != nil {
		return // nothing there
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") || !strings.Contains(e.Name(), ".tmp-") {
			continue
		}
		if info, err := e.Info(); err == nil && old(info) {
			_ = os.Remove(filepath.Join(s.dir, "cells", e.Name())) // left over: not worth failing for
		}
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
