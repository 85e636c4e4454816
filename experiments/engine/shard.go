package engine

import "fmt"

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
