package engine

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Shard is the i-th of n parts of a plan, counted from 1.
type Shard struct{ Index, Count int }

// ParseShard reads "i/n" with 1 <= i <= n.
func ParseShard(s string) (Shard, error) {
	var sh Shard
	var rest string
	n, _ := fmt.Sscanf(s, "%d/%d%s", &sh.Index, &sh.Count, &rest)
	if n != 2 || sh.Count < 1 || sh.Index < 1 || sh.Index > sh.Count {
		return Shard{}, fmt.Errorf("shard = %q: must be i/n with 1 <= i <= n", s)
	}
	return sh, nil
}

// has reports whether the i-th group of a plan belongs to the shard. Groups are
// assigned in turn, so slow ones spread over all shards.
func (s Shard) has(i int) bool { return s.Count <= 1 || i%s.Count == s.Index-1 }

// File returns the name of a shard's file, such as "results.2-of-5.csv"; shards
// can thus share a folder.
func (s Shard) File(stem, ext string) string {
	if s.Count <= 1 {
		return stem + ext
	}
	return fmt.Sprintf("%s.%d-of-%d%s", stem, s.Index, s.Count, ext)
}

// String returns "i/n", empty for the whole plan.
func (s Shard) String() string {
	if s.Count <= 1 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

// part is a shard that was started in a folder, or a whole run.
type part struct {
	dir      string
	shard    Shard
	manifest *Manifest
}

func (p part) file(stem, ext string) string { return filepath.Join(p.dir, p.shard.File(stem, ext)) }

// findParts lists the parts in folders: shards where there are any. Of shards of
// several numbers n those count that were started last: the others are of an
// earlier division of the study.
func findParts(folders []string) (parts []part, err error) {
	for _, dir := range folders {
		if _, err := os.Stat(dir); err != nil {
			return nil, err
		}
		found, err := filepath.Glob(filepath.Join(dir, "manifest.*-of-*.json"))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			found = []string{filepath.Join(dir, "manifest.json")}
		}
		for _, name := range found {
			p := part{dir: dir}
			if p.manifest, err = ReadManifest(name); err != nil {
				return nil, err
			}
			if of := p.manifest.Shard; of != "" {
				if p.shard, err = ParseShard(of); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
			}
			parts = append(parts, p)
		}
	}
	last := slices.MaxFunc(parts, func(a, b part) int {
		return cmp.Or(min(a.shard.Count, 1)-min(b.shard.Count, 1), a.manifest.Started.Compare(b.manifest.Started))
	})
	parts = slices.DeleteFunc(parts, func(p part) bool {
		return p.shard.Count > 0 && p.shard.Count != last.shard.Count
	})
	slices.SortStableFunc(parts, func(a, b part) int { return a.shard.Index - b.shard.Index })
	return parts, nil
}

// Progress is how far a shard is: its units, those done, and those that failed
// when they were last tried.
type Progress struct {
	Shard               string // i/n, "" for a whole run
	Started             bool
	Units, Done, Failed int
}

// ReadProgress looks up the units of each shard of a folder. It reads names of
// files only, so it can be called at any moment of a run of any size. Total is the
// number of units of the study.
func ReadProgress(dir string) (shards []Progress, total int, err error) {
	parts, err := findParts([]string{dir})
	if err != nil {
		return nil, 0, err
	}
	done, err := names(filepath.Join(dir, "units"), ".json")
	if err != nil {
		return nil, 0, err
	}
	failed, err := names(filepath.Join(dir, "failed"), ".txt")
	if err != nil {
		return nil, 0, err
	}
	shards = make([]Progress, max(1, parts[0].shard.Count))
	for i := range shards {
		shards[i].Shard = Shard{i + 1, len(shards)}.String()
	}
	for _, p := range parts {
		keys, err := os.ReadFile(p.file("keys", ".txt"))
		if err != nil {
			return nil, 0, err
		}
		s := &shards[max(1, p.shard.Index)-1]
		s.Started = true
		total = p.manifest.Units
		for key := range strings.FieldsSeq(string(keys)) {
			s.Units++
			if done[key] {
				s.Done++
			} else if failed[key] {
				s.Failed++
			}
		}
	}
	return shards, total, nil
}

// names returns the names in a folder that have the given ending, without it; a
// folder that is not there is empty.
func names(dir, suffix string) (map[string]bool, error) {
	all, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	found := make(map[string]bool, len(all))
	for _, entry := range all {
		if key, ok := strings.CutSuffix(entry.Name(), suffix); ok {
			found[key] = true
		}
	}
	return found, err
}
