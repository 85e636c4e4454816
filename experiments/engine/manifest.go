package engine

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mldpbench/datasets"
	"mldpbench/internal/atomicfile"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// Manifest describes the origin and content of a results file.
type Manifest struct {
	Study        string                 `json:"study"`
	StudySchema  int                    `json:"study_schema"`
	RecordSchema int                    `json:"record_schema"`
	Definition   string                 `json:"definition"` // the study file with overrides applied
	Data         map[string]string      `json:"data"`       // fingerprints
	Datasets     []datasets.Description `json:"datasets"`
	Units        int                    `json:"units"` // of the whole plan
	Shard        string                 `json:"shard,omitempty"`
	Version      string                 `json:"version"`
	Machine      string                 `json:"machine"`
	Command      []string               `json:"command"`
	Started      time.Time              `json:"started"`
	// Records and SHA256 are those of the results file; they are missing while
	// the first run is in progress.
	Records int    `json:"records,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
}

// Machine is the platform: operating system, architecture, cores.
var Machine = sync.OnceValue(func() string {
	return runtime.GOOS + "/" + runtime.GOARCH + "/" + strconv.Itoa(runtime.NumCPU()) + " cores"
})

// manifest is that of the run: its study, its data and this program.
func (w *work) manifest() Manifest {
	p := w.plan
	o := w.options
	m := Manifest{
		Study:        p.Study,
		StudySchema:  p.Schema,
		RecordSchema: results.SchemaVersion,
		Definition:   p.Definition,
		Data:         map[string]string{},
		Units:        len(p.Units),
		Shard:        o.Shard.String(),
		Version:      o.Version,
		Machine:      Machine(),
		Command:      o.Command,
		Started:      time.Now().UTC().Truncate(time.Millisecond),
	}
	for i, data := range w.data {
		for name, fingerprint := range data {
			m.Data[dataName(name, p.Units[i].Place)] = fingerprint
		}
	}
	if p.Data != nil {
		m.Datasets = p.Data()
	}
	return m
}

// dataName is the name of a fingerprint in a manifest: those of one name differ between units.
func dataName(name string, at results.Place) string {
	switch name {
	case "dataset":
		name = "dataset " + at.Dataset
	case "embedding", "vectors":
		name = strings.TrimSpace(fmt.Sprintf("%s %s %d, %s", name, at.Embedding, at.Dimension, at.Dataset))
	case "thesaurus":
		name = "thesaurus, " + at.Dataset
	}
	return strings.TrimSuffix(name, ", ")
}

// Outside begins the name of a fingerprint of a mechanism that is not built in.
const Outside = "outside "

// fingerprints are those of a unit in its rows, beside data set and vectors, which have
// columns of their own.
func fingerprints(data map[string]string) (program, resources string) {
	var programs, others []string
	for _, name := range slices.Sorted(maps.Keys(data)) {
		short := checksum([]byte(data[name]))[:12]
		switch {
		case name == "dataset" || name == "embedding":
		case strings.Contains(name, Outside):
			programs = append(programs, short)
		default:
			others = append(others, name+":"+short)
		}
	}
	return strings.Join(programs, " "), strings.Join(others, "; ")
}

func (m Manifest) write(dir string, shard Shard) error {
	return atomicfile.WriteJSON(filepath.Join(dir, shard.File("manifest", ".json")), m)
}

// ReadManifest reads the manifest of a results file.
func ReadManifest(path string) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &m, nil
}

// Verify checks that a results file is the one the manifest was written for,
// complete and unchanged. It cannot check a manifest without a checksum.
func (m *Manifest) Verify(path string) error {
	if m.SHA256 == "" {
		return nil
	}
	data, err := results.Bytes(path)
	if err != nil {
		return err
	}
	if checksum(data) != m.SHA256 {
		return fmt.Errorf("%s: not the file that its manifest describes, which has %d records: it was cut or changed",
			path, m.Records)
	}
	return nil
}

// finish writes results and manifest of one run, shard or merge.
func (s *Summary) finish(shard Shard, rows []results.Row) error {
	results.Sort(rows)
	s.Rows = rows
	path := filepath.Join(s.Dir, shard.File("results", ".csv"))
	if err := results.Write(path, rows); err != nil {
		return err
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s.Manifest.Records = len(rows)
	s.Manifest.SHA256 = checksum(file)
	return s.Manifest.write(s.Dir, shard)
}

// join checks that two manifests are of the same study over the same data and
// adds the data that only the other one lists.
func (m *Manifest) join(other *Manifest) error {
	if m.RecordSchema != other.RecordSchema {
		return fmt.Errorf("schema %d of records, and %d", m.RecordSchema, other.RecordSchema)
	}
	if m.Definition != other.Definition {
		return errors.New("the definitions of the study differ (see definition in the manifests)")
	}
	for name, f := range other.Data {
		if mine, ok := m.Data[name]; ok && mine != f {
			return fmt.Errorf("the data differ: fingerprints of %s are %s and %s", name, mine, f)
		}
	}
	maps.Copy(m.Data, other.Data)
	for _, d := range other.Datasets {
		if !slices.ContainsFunc(m.Datasets, func(x datasets.Description) bool {
			return x.Name == d.Name
		}) {
			m.Datasets = append(m.Datasets, d)
		}
	}
	return nil
}

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
	Schema  int           `json:"schema"` // of the rows
	Name    string        `json:"name"`
	Version string        `json:"version"` // of mldp
	Rows    []results.Row `json:"rows"`
}

func checksum(body []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(body))
}

// load returns the rows of a finished unit, none if it is not. Columns absent from
// the file are missing values.
func (s store) load(key string) (rows []results.Row, version string, err error) {
	data, err := os.ReadFile(s.unitPath(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	var f sealed
	var b stored
	if json.Unmarshal(data, &f) != nil ||
		f.Key != key ||
		checksum(f.Body) != f.SHA256 ||
		json.Unmarshal(f.Body, &b) != nil ||
		b.Schema != results.SchemaVersion {
		return nil, "", nil
	}
	for i, r := range b.Rows {
		b.Rows[i].Quantity = quantity.NameNow(r.Quantity)
	}
	return b.Rows, b.Version, nil
}

// save stores the rows of a finished unit, which is no failed one any more.
func (s store) save(key, name, version string, rows []results.Row) error {
	body, err := json.Marshal(stored{results.SchemaVersion, name, version, rows})
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
