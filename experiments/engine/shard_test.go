package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Shards of an earlier division do not count: neither where they lack units, nor
// where they have all, nor with other rows.
func TestEarlierShardsDoNotCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shard := func(i, n int) {
		t.Helper()
		mustRun(t, numbers(10), Options{Out: dir, Shard: Shard{i, n}})
		path := filepath.Join(dir, Shard{i, n}.File("manifest", ".json")) // started later than those before
		m, err := ReadManifest(path)
		if err != nil {
			t.Fatal(err)
		}
		m.Started = time.Date(2026, 1, n%7, i, 0, 0, 0, time.UTC)
		if err := m.write(dir, Shard{i, n}); err != nil {
			t.Fatal(err)
		}
	}
	shard(1, 3) // on the third day of a month
	shard(2, 3)
	for i := range 4 { // and on the fourth
		shard(i+1, 4)
	}
	whole := mustRun(t, numbers(10), Options{Out: t.TempDir()})
	merged, err := Merge([]string{dir}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	same(t, whole.Rows, merged.Rows)
	shards, total, err := ReadProgress(dir)
	if err != nil || total != 10 || len(shards) != 4 || shards[3].Shard != "4/4" {
		t.Errorf("%+v of %d: %v", shards, total, err)
	}
	// A shard that was killed has no results yet: what it lacks is missing.
	killed := t.TempDir()
	mustRun(t, numbers(10), Options{Out: killed, Shard: Shard{1, 2}})
	mustRun(t, numbers(10), Options{Out: killed, Shard: Shard{2, 2}})
	for i, want := range []string{"4 of 10 units are in none of the results files", killed + ": no shard has ended"} {
		_ = os.Remove(filepath.Join(killed, Shard{2 - i, 2}.File("results", ".csv")))
		if _, err := Merge([]string{killed}, t.TempDir()); err == nil || err.Error() != want {
			t.Errorf("%d killed: %v, want %s", i+1, err, want)
		}
	}
	shard(1, 6) // the newest, which alone has not all units
	if _, err := Merge([]string{dir}, t.TempDir()); err == nil ||
		err.Error() != "7 of 10 units are in none of the results files" {
		t.Errorf("one of six shards: %v", err)
	}
}

// TestProgress counts what is done, what failed and what has not started.
func TestProgress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := numbers(10)
	p.Units[5].Run = nil // a panic
	if _, err := Run(t.Context(), p, Options{Out: dir, Shard: Shard{2, 4}}); err == nil {
		t.Fatal("no unit failed")
	}
	shards, total, err := ReadProgress(dir)
	want := "[{1/4 false 0 0 0} {2/4 true 3 2 1} {3/4 false 0 0 0} {4/4 false 0 0 0}]"
	if got := fmt.Sprint(shards); err != nil || total != 10 || got != want {
		t.Errorf("%s of %d: %v", got, total, err)
	}
	if _, _, err := ReadProgress(t.TempDir()); err == nil {
		t.Error("an empty folder has progress")
	}
}
