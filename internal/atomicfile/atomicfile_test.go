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

func TestWriteReplacesWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "a.txt")
	for _, want := range []string{"first", "second"} {
		if err := WriteBytes(path, 0o644, []byte(want)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	}
}

func TestFailedWriteKeepsOldAndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := WriteBytes(path, 0o644, []byte("old")); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := Write(path, 0o644, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatalf("err = %v", err)
	}
	got, _ := os.ReadFile(path)
	entries, _ := os.ReadDir(dir)
	if string(got) != "old" || len(entries) != 1 {
		t.Fatalf("content %q, %d entries", got, len(entries))
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
	for _, name := range gone {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	for _, name := range stay {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s is gone", name)
		}
	}
}
