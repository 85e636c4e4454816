package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestWriteIsWholeOrNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sub")
	path, boom := filepath.Join(dir, "a.txt"), errors.New("boom")
	for _, want := range []string{"first", "second"} {
		err := WriteBytes(path, 0o644, []byte(want))
		failed := Write(path, 0o644, func(w io.Writer) error {
			_, _ = io.WriteString(w, "half")
			return boom
		})
		if err != nil || !errors.Is(failed, boom) {
			t.Fatalf("%v, %v", err, failed)
		}
		got, _ := os.ReadFile(path)
		if entries, _ := os.ReadDir(dir); string(got) != want || len(entries) != 1 {
			t.Fatalf("content %q, want %q, %d entries", got, want, len(entries))
		}
	}
}

// The next write removes temporary files of the same file that are a day old.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{".a.csv.tmp-1": stale + time.Hour, ".a.csv.tmp-2": 0,
		".b.csv.tmp-3": stale + time.Hour} {
		path, then := filepath.Join(dir, name), time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteBytes(filepath.Join(dir, "a.csv"), 0o644, []byte("x")); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, ".a.csv.tmp-2"), filepath.Join(dir, ".b.csv.tmp-3"), filepath.Join(dir, "a.csv")}
	if got, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}
