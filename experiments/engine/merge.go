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

// Merge joins the results of shards into one folder, as if one run had written
// them. It is an error if a part is damaged or belongs to a different study, schema
// or data, if two parts report a unit differently, except for timing, or if a
// unit is in none.
func Merge(folders []string, out string) (*Summary, error) {
	parts, err := findParts(folders)
	if err != nil {
		return nil, err
	}
	var merged *Manifest
	from := map[string]string{}        // unit: the part it was taken from
	rows := map[string][]results.Row{} // unit: its rows in that part
	var all []results.Row
	for _, p := range parts {
		m, file := p.manifest, p.file("results", ".csv")
		if _, err := os.Stat(file); p.shard.Count > 0 && errors.Is(err, os.ErrNotExist) {
			continue // killed before its end: its units are missing, unless another part has them
		}
		if err := m.Verify(file); err != nil {
			return nil, err
		}
		if merged == nil {
			merged = m
		} else if err := merged.join(m); err != nil {
			return nil, fmt.Errorf("%s does not belong to %s: %w", file, parts[0].file("results", ".csv"), err)
		}
		read, err := results.Read(file)
		if err != nil {
			return nil, err
		}
		units := map[string][]results.Row{}
		for _, r := range read {
			units[r.Key] = append(units[r.Key], r)
		}
		for key, u := range units {
			first, again := rows[key]
			if !again {
				from[key], rows[key] = file, u
				all = append(all, u...)
				continue
			}
			column := "the number of rows"
			for i := 0; len(first) == len(u) && i < len(u); i++ {
				if column = results.FirstDifference(first[i], u[i]); column != "" {
					break
				}
			}
			if column != "" {
				return nil, fmt.Errorf("unit %s: %s and %s differ in %s", key, from[key], file, column)
			}
		}
	}
	if merged == nil {
		return nil, fmt.Errorf("%s: no shard has ended", folders[0])
	}
	if missing := merged.Units - len(rows); missing != 0 {
		return nil, fmt.Errorf("%d of %d units are in none of the results files", missing, merged.Units)
	}
	if err := checkMergedInto(out, merged, slices.Collect(maps.Keys(rows))); err != nil {
		return nil, err
	}
	merged.Shard = ""
	s := &Summary{Dir: out, Total: merged.Units, Reused: len(rows), Manifest: *merged}
	return s, s.finish(Shard{}, all)
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
