package experiments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mldpbench/datasets"
	"mldpbench/internal/atomicfile"
	"mldpbench/results"
)

// Manifest says what a results file was made from.
type Manifest struct {
	Study        string                       `json:"study"`
	StudySchema  int                          `json:"study_schema"`
	RecordSchema int                          `json:"record_schema"`
	Definition   string                       `json:"definition"` // the study file, overrides applied
	Data         map[string]Fingerprints      `json:"data"`       // by "data set, embedding, dimension"
	Datasets     []results.DatasetDescription `json:"datasets"`
	Cells        int                          `json:"cells"` // of the whole grid
	Shard        string                       `json:"shard,omitempty"`
	Version      string                       `json:"version"`
	Machine      string                       `json:"machine"`
	Command      []string                     `json:"command"`
	Started      time.Time                    `json:"started"`
}

// File names the files of a shard "results.2-of-5.csv", so that shards share a
// folder.
func (s Shard) File(stem, ext string) string {
	if s.Count <= 1 {
		return stem + ext
	}
	return fmt.Sprintf("%s.%d-of-%d%s", stem, s.Index, s.Count, ext)
}

// String is "i/n", empty for the whole grid.
func (s Shard) String() string {
	if s.Count <= 1 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

func (w *workspace) writeManifest(p *plan, o RunOptions, summary *Summary) error {
	s := w.study
	definition, err := s.YAML()
	if err != nil {
		return err
	}
	m := Manifest{
		Study: s.Name, StudySchema: StudySchema, RecordSchema: results.SchemaVersion,
		Definition: string(definition), Data: map[string]Fingerprints{}, Shard: o.Shard.String(),
		Version: o.Version, Machine: Machine(), Command: o.Command, Started: time.Now().UTC().Truncate(time.Second),
	}
	for i, g := range p.groups {
		m.Cells += len(g.cells)
		if p.keys[i] == nil {
			continue
		}
		c, f := g.cells[0], p.prints[i][0]
		name := dataName(c)
		f.Thesaurus, f.Encoder = "", "" // belong to single cells
		m.Data[name] = f
	}
	for _, d := range s.Datasets {
		if c, ok := w.corpora.peek(d.Name); ok {
			m.Datasets = append(m.Datasets, describe(c.Dataset))
		}
	}
	summary.Datasets = m.Datasets
	return writeJSON(filepath.Join(o.Out, o.Shard.File("manifest", ".json")), m)
}

// describe is the study's Table 2 of a data set.
func describe(d *datasets.Dataset) results.DatasetDescription {
	summary := datasets.Describe(d)
	s := summary.Table2
	out := results.DatasetDescription{
		Name: d.Name, Generated: d.Generated, Classes: len(d.Classes),
		TrainDocuments: s.Documents, TestDocuments: len(d.Test), Tokens: s.Words, Vocabulary: s.Vocabulary,
		LengthMean: s.MeanLength, LengthSD: s.Deviation,
		ClassNames: d.Classes, TrainClasses: make([]int, len(d.Classes)), Fingerprint: d.Fingerprint,
	}
	for _, split := range summary.Splits {
		if split.Name == "test" {
			out.TestClasses = split.Classes
			continue
		}
		for i, n := range split.Classes {
			out.TrainClasses[i] += n
		}
	}
	return out
}

func dataName(c Cell) string {
	return fmt.Sprintf("%s, %s, %d", c.Dataset.Name, c.Embedding, c.Dimension)
}

// ReadManifest reads the manifest beside a results file.
func ReadManifest(path string) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m Manifest
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.StudySchema != StudySchema || m.RecordSchema != results.SchemaVersion {
		return nil, fmt.Errorf("%s: schema %d of studies and %d of records: this mldp works with %d and %d",
			path, m.StudySchema, m.RecordSchema, StudySchema, results.SchemaVersion)
	}
	return &m, nil
}

// compose writes the files that are made of all finished cells.
func compose(s *Study, p *plan, st store, o RunOptions, summary *Summary) error {
	var records []results.Record
	var examples []Example
	err := p.each(func(c Cell, key string) error {
		out, ok, err := st.load(key)
		if err != nil || !ok {
			return err
		}
		// The grid may have grown since, and a cell is found in it by its command.
		out.Record.Index, out.Record.Study, out.Record.Command = c.Index, s.Name, o.rerun(key)
		records = append(records, out.Record)
		examples = append(examples, out.Examples...)
		return nil
	})
	if err != nil {
		return err
	}
	return writeFinished(o.Out, o.Shard, records, examples, summary)
}

// writeFinished writes results and examples of one run, shard or merge.
func writeFinished(dir string, shard Shard, records []results.Record, examples []Example, summary *Summary) error {
	derived, err := results.Derive(records)
	if err != nil {
		return err
	}
	summary.Records, summary.Examples = derived, examples
	if err := results.Write(filepath.Join(dir, shard.File("results", ".csv")), derived); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, shard.File("examples", ".jsonl")), 0o644, func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, x := range examples {
			if err := e.Encode(x); err != nil {
				return err
			}
		}
		return nil
	})
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, 0o644, append(data, '\n'))
}

// ReadExamples reads the examples beside a results file; none is no error.
func ReadExamples(path string) ([]Example, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Example
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		var x Example
		if err := json.Unmarshal([]byte(text), &x); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		out = append(out, x)
	}
	return out, nil
}
