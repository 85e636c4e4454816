package engine

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/results"
)

// merging is what is joined of the parts so far.
type merging struct {
	manifest *Manifest                // nil before the first part
	first    string                   // file of the first part
	from     map[string]string        // by unit: the file that it was taken from
	units    map[string][]results.Row // by unit: its rows in that file
	rows     []results.Row
}

// Merge joins the results of shards into one folder, as if one run had written
// them. It is an error if a part is damaged or belongs to a different study, schema
// or data, if two parts report a unit differently, except for timing, or if a
// unit is in none.
func Merge(folders []string, out string) (*Summary, error) {
	parts, err := findParts(folders)
	if err != nil {
		return nil, err
	}
	m := merging{
		first: parts[0].file("results", ".csv"),
		from:  map[string]string{},
		units: map[string][]results.Row{},
	}
	for _, p := range parts {
		if err := m.add(p); err != nil {
			return nil, err
		}
	}
	if m.manifest == nil {
		return nil, fmt.Errorf("%s: no shard has ended", folders[0])
	}
	merged := m.manifest
	if missing := merged.Units - len(m.units); missing != 0 {
		return nil, fmt.Errorf("%d of %d units are in none of the results files", missing, merged.Units)
	}
	if err := checkMergedInto(out, merged, slices.Collect(maps.Keys(m.units))); err != nil {
		return nil, err
	}
	merged.Shard = ""
	s := &Summary{
		Dir:      out,
		Total:    merged.Units,
		Reused:   len(m.units),
		Manifest: *merged,
	}
	return s, s.finish(Shard{}, m.rows)
}

// add joins a part. One that was killed before its end adds nothing: its units are missing,
// unless another part has them.
func (m *merging) add(p part) error {
	file := p.file("results", ".csv")
	_, err := os.Stat(file)
	if p.shard.Count > 0 && errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := p.manifest.Verify(file); err != nil {
		return err
	}
	if m.manifest == nil {
		m.manifest = p.manifest
	} else if err := m.manifest.join(p.manifest); err != nil {
		return fmt.Errorf("%s does not belong to %s: %w", file, m.first, err)
	}
	read, err := results.Read(file)
	if err != nil {
		return err
	}
	units := map[string][]results.Row{}
	for _, r := range read {
		units[r.Key] = append(units[r.Key], r)
	}
	for key, rows := range units {
		first, again := m.units[key]
		if !again {
			m.from[key] = file
			m.units[key] = rows
			m.rows = append(m.rows, rows...)
			continue
		}
		if column := firstDifference(first, rows); column != "" {
			return fmt.Errorf("unit %s: %s and %s differ in %s", key, m.from[key], file, column)
		}
	}
	return nil
}

// firstDifference is the column in which the rows of a unit differ, "" for none.
func firstDifference(a, b []results.Row) string {
	if len(a) != len(b) {
		return "the number of rows"
	}
	for i := range a {
		if column := results.FirstDifference(a[i], b[i]); column != "" {
			return column
		}
	}
	return ""
}

// checkMergedInto refuses a folder with rows of another definition of the study, which the
// merged run does not have: they would be replaced.
func checkMergedInto(out string, merged *Manifest, keys []string) error {
	e, err := readEarlier(out, Shard{})
	if err != nil || e == nil || e.manifest.Definition == merged.Definition {
		return err
	}
	lost := e.lost(keys)
	if lost == 0 {
		return nil
	}
	return check.Wrong("%s holds %d units, %d of which are not of these parts and would be replaced: choose another "+
		"--out", out, len(e.measured), lost)
}
