package experiments

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/results"
)

// Merge joins the results of shards into one folder, as if one run had
// written them. Each source is a folder of a run, or one of its results files.
// It refuses sources of another study, schema or data, and a cell that two
// sources report differently, timing aside. A cell that no source has is an
// error too, unless partial is set.
func Merge(sources []string, out string, partial bool) (*Summary, error) {
	parts, err := findParts(sources)
	if err != nil {
		return nil, err
	}
	var merged *Manifest
	byKey := map[string]int{}
	from := map[string]string{}
	var records []results.Record
	var examples []Example
	for _, p := range parts {
		m, err := ReadManifest(p.manifest)
		if err != nil {
			return nil, err
		}
		if merged == nil {
			merged = m
		} else if err := merged.join(m); err != nil {
			return nil, fmt.Errorf("%s does not belong to %s: %w", p.results, parts[0].results, err)
		}
		read, err := results.Read(p.results)
		if err != nil {
			return nil, err
		}
		for _, r := range read {
			if r.Study != m.Study {
				return nil, fmt.Errorf("%s: a record of study %q, the manifest says %q", p.results, r.Study, m.Study)
			}
			i, dup := byKey[r.Key]
			if !dup {
				byKey[r.Key], from[r.Key] = len(records), p.results
				records = append(records, r)
				continue
			}
			if column := results.FirstDifference(records[i], r); column != "" {
				return nil, fmt.Errorf("cell %s: %s and %s differ in %s", r.Key, from[r.Key], p.results, column)
			}
		}
		x, err := ReadExamples(p.examples)
		if err != nil {
			return nil, err
		}
		for _, e := range x {
			if !slices.Contains(examples, e) {
				examples = append(examples, e)
			}
		}
	}
	sortExamples(examples, records)
	if missing := merged.Cells - len(records); missing != 0 && !partial {
		return nil, fmt.Errorf("%d of %d cells are in none of the %d results files", missing, merged.Cells, len(parts))
	}
	merged.Shard = ""
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	if err := writeJSON(filepath.Join(out, "manifest.json"), merged); err != nil {
		return nil, err
	}
	summary := &Summary{Dir: out, Total: merged.Cells, Reused: len(records), Datasets: merged.Datasets}
	return summary, writeFinished(out, Shard{}, records, examples, summary)
}

type part struct{ results, manifest, examples string }

// findParts lists the results files of folders, shards only where there are
// any, and finds the files beside them.
func findParts(sources []string) ([]part, error) {
	var files []string
	for _, s := range sources {
		info, err := os.Stat(s)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, s)
			continue
		}
		found, err := filepath.Glob(filepath.Join(s, "results.*-of-*.csv"))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			found = []string{filepath.Join(s, "results.csv")}
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, errors.New("nothing to merge")
	}
	slices.Sort(files)
	files = slices.Compact(files)
	parts := make([]part, len(files))
	for i, f := range files {
		base, ok := strings.CutPrefix(filepath.Base(f), "results")
		middle, csv := strings.CutSuffix(base, ".csv")
		if !ok || !csv {
			return nil, fmt.Errorf("%s: must be a folder or a file called results*.csv, as mldp run writes it", f)
		}
		beside := func(stem, ext string) string { return filepath.Join(filepath.Dir(f), stem+middle+ext) }
		parts[i] = part{results: f, manifest: beside("manifest", ".json"), examples: beside("examples", ".jsonl")}
	}
	return parts, nil
}

// join checks that two manifests are of one study over the same data and adds
// the data that only the other has seen.
func (m *Manifest) join(other *Manifest) error {
	if m.Study != other.Study {
		return fmt.Errorf("study %q and %q", m.Study, other.Study)
	}
	if m.Definition != other.Definition {
		return errors.New("the definitions of the study differ (see definition in the manifests)")
	}
	for name, f := range other.Data {
		if mine, ok := m.Data[name]; ok && mine != f {
			return fmt.Errorf("the data of %s differ: fingerprints %+v and %+v", name, mine, f)
		}
		m.Data[name] = f
	}
	for _, d := range other.Datasets {
		if !slices.ContainsFunc(m.Datasets, func(x results.DatasetDescription) bool { return x.Name == d.Name }) {
			m.Datasets = append(m.Datasets, d)
		}
	}
	return nil
}

// sortExamples brings examples into the order of the grid.
func sortExamples(examples []Example, records []results.Record) {
	position := map[Example]int{}
	for _, r := range records {
		k := Example{Dataset: r.Dataset, Embedding: r.Embedding, Dimension: r.Dimension, Mechanism: r.Mechanism,
			Variant: r.Variant, Parameters: r.Parameters, Epsilon: float64(r.Epsilon)}
		if at, ok := position[k]; !ok || r.Index < at {
			position[k] = r.Index
		}
	}
	slices.SortStableFunc(examples, func(a, b Example) int {
		strip := func(e Example) Example { e.Document, e.Original, e.Privatised = 0, "", ""; return e }
		return position[strip(a)] - position[strip(b)]
	})
}
