package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

// The next write removes files of a killed process; files of a running process
// or another machine stay.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	gone := []string{fmt.Sprintf(".a.csv.tmp-%s-%d-1", machine(), dead.Process.Pid), ".a.csv.tmp-elsewhere-1-old"}
	stay := []string{
		fmt.Sprintf(".a.csv.tmp-%s-%d-1", machine(), os.Getppid()),
		fmt.Sprintf(".a.csv.tmp-%s-%d-1", "elsewhere", dead.Process.Pid),
		fmt.Sprintf(".b.csv.tmp-%s-%d-1", machine(), dead.Process.Pid),
	}
	for _, name := range append(gone, stay...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-stale - time.Hour)
	if err := os.Chtimes(filepath.Join(dir, gone[1]), old, old); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(path, 0o644, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for i, name := range append(gone, stay...) {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != (i >= len(gone)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
