package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestWriteFolderIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	one := func(folder string) error { return WriteBytes(filepath.Join(folder, "sub", "a"), 0o644, []byte("new")) }
	half := func(folder string) error { return errors.Join(one(folder), boom) }
	for name, c := range map[string]struct {
		before func(path string) error
		fill   func(string) error
		whole  bool
	}{
		"nothing there":           {func(string) error { return nil }, one, true},
		"an empty folder":         {func(path string) error { return os.Mkdir(path, 0o777) }, one, true},
		"a folder with a file":    {one, one, false},
		"a file":                  {func(path string) error { return os.WriteFile(path, []byte("old"), 0o644) }, one, false},
		"an error, nothing there": {func(string) error { return nil }, half, false},
		"an error, empty folder":  {func(path string) error { return os.Mkdir(path, 0o777) }, half, false},
	} {
		parent := t.TempDir()
		path := filepath.Join(parent, "out")
		if err := c.before(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(path)
		if err := WriteFolder(path, c.fill); (err == nil) != c.whole {
			t.Errorf("%s: wanted it to be written: %v, got %v", name, c.whole, err)
		}
		after, _ := os.Lstat(path)
		if same := before == nil && after == nil || before != nil && after != nil && os.SameFile(before, after); same == c.whole {
			t.Errorf("%s: wanted another folder there: %v, got %v", name, c.whole, !same)
		}
		if left, _ := filepath.Glob(filepath.Join(parent, ".*")); len(left) > 0 {
			t.Errorf("%s: wanted nothing left behind, got %q", name, left)
		}
	}
}
