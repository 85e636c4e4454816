package engine

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mldpbench/internal/atomicfile"
	"mldpbench/results"
)

// store keeps one file per finished unit in a folder: DIR/units/KEY.json,
// written to a temporary name and renamed. A killed run therefore
// leaves complete files only, shards on several machines can share the folder
// without locks (which shared file systems do not support reliably), and a unit
// is looked up by its name alone. Each file has its key and a checksum: a file
// that was edited, swapped or cut counts as missing, and its unit is run again.
type store struct{ dir string }

func (s store) unitPath(key string) string    { return filepath.Join(s.dir, "units", key+".json") }
func (s store) failurePath(key string) string { return filepath.Join(s.dir, "failed", key+".txt") }

// sealed is the file of a unit.
type sealed struct {
	Key    string          `json:"key"`
	SHA256 string          `json:"sha256"` // of Body
	Body   json.RawMessage `json:"body"`
}

// stored is the body: the output of a unit.
type stored struct {
	Schema   int               `json:"schema"` // of the rows
	Name     string            `json:"name"`
	Version  string            `json:"version"` // of mldp
	Rows     []json.RawMessage `json:"rows"`
	Examples []results.Example `json:"examples,omitempty"`
}

func checksum(body []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(body))
}

// load returns a finished unit; ok is false if there is none. A row is read
// into a new record, so columns absent from the file are missing values.
func (s store) load(key string) (out Output, version string, ok bool, err error) {
	data, err := os.ReadFile(s.unitPath(key))
	if errors.Is(err, fs.ErrNotExist) {
		return out, "", false, nil
	}
	if err != nil {
		return out, "", false, err
	}
	var f sealed
	var b stored
	if json.Unmarshal(data, &f) != nil || f.Key != key || checksum(f.Body) != f.SHA256 ||
		json.Unmarshal(f.Body, &b) != nil || b.Schema != results.SchemaVersion {
		return out, "", false, nil
	}
	out.Examples = b.Examples
	for _, raw := range b.Rows {
		r := results.NewRow()
		if json.Unmarshal(raw, &r) != nil {
			return Output{}, "", false, nil
		}
		out.Rows = append(out.Rows, r)
	}
	return out, b.Version, len(out.Rows) > 0, nil
}

func (s store) save(key, name, version string, out Output) error {
	b := stored{Schema: results.SchemaVersion, Name: name, Version: version, Examples: out.Examples}
	for _, r := range out.Rows {
		raw, err := json.Marshal(r)
		if err != nil {
			return err
		}
		b.Rows = append(b.Rows, raw)
	}
	body, err := json.Marshal(b)
	if err != nil {
		return err
	}
	data, err := json.Marshal(sealed{key, checksum(body), body})
	if err != nil {
		return err
	}
	if err := atomicfile.WriteMany(s.unitPath(key), 0o644, append(data, '\n')); err != nil {
		return err
	}
	if err := os.Remove(s.failurePath(key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// fail stores the error of a unit. The unit is not finished: a resumed run
// tries it again.
func (s store) fail(key, name string, cause error) error {
	return atomicfile.WriteBytes(s.failurePath(key), 0o644, fmt.Appendf(nil, "unit %s: %s\n%v\n", key, name, cause))
}

// removeTemporary deletes unfinished files of killed runs.
func (s store) removeTemporary() {
	for _, dir := range []string{"", "units", "failed", "tables"} {
		atomicfile.Clean(filepath.Join(s.dir, dir))
	}
}
