package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mldpbench/results"
)

func TestCheckExitCodes(t *testing.T) {
	dir := t.TempDir()
	rows := fewRows(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	renamed := slices.Clone(rows)
	for i := range renamed {
		renamed[i].Study = "another"
	}
	old := path("old.csv")
	for name, r := range map[string][]results.Row{"old.csv": rows, "lost.csv": rows[:len(rows)/2],
		"renamed.csv": renamed, "nothing.csv": nil} {
		if err := results.Write(path(name), r); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, path("broken.csv"), "a,b\n1,2\n")
	for _, c := range []struct {
		baseline, results string
		want              int
	}{
		{old, old, exitOK},
		{old, path("lost.csv"), exitNothing},
		{old, path("broken.csv"), exitUsage},
		{path("broken.csv"), old, exitUsage},
		{old, path("renamed.csv"), exitOK}, // cells are compared, whatever their study is called
		{old, path("nothing.csv"), exitNothing},
	} {
		if code, out := mldp(t, "check", "--baseline", c.baseline, c.results); code != c.want {
			t.Errorf("%s against %s: exit %d, want %d\n%s", filepath.Base(c.results), filepath.Base(c.baseline), code,
				c.want, out)
		}
	}
	if code, out := mldp(t, "check", old); code != exitUsage {
		t.Errorf("without a baseline: exit %d, want %d\n%s", code, exitUsage, out)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
