//go:build unix

package mapped

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fullDisk is the variable with the file that the test binary is to write where files have at most a page.
const fullDisk = "MLDP_TEST_FULL_DISK"

// TestFullDisk: a disk that is full at any place of a file is an error, and the file before stays.
func TestFullDisk(t *testing.T) {
	path := os.Getenv(fullDisk)
	if path != "" {
		writeOnFullDisk(t, path)
		return
	}
	c := contentOf(2, 3000)
	path, data := c.written(t)
	ran := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
	ran.Env = append(os.Environ(), fullDisk+"="+path)
	out, err := ran.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestFullDisk") {
		t.Fatalf("writing to a full disk: %v\n%s", err, out)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(after, data) {
		t.Error("the file before is another after a full disk")
	}
	f, err := Open(path, testKind)
	if err != nil {
		t.Fatal(err)
	}
	if said := c.differs(f); said != "" {
		t.Errorf("after a full disk: %s", said)
	}
	entries, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil || len(entries) > 0 {
		t.Errorf("%v is left of what failed (%v)", entries, err)
	}
}

// writeOnFullDisk expects an error wherever the disk becomes full.
func writeOnFullDisk(t *testing.T, path string) {
	signal.Ignore(unix.SIGXFSZ)
	other := contentOf(1, 4000)
	_, data := other.written(t)
	for _, room := range []int{0, 1, alignment, 2 * alignment, len(data) - trailerLength, len(data) - 1} {
		limit := unix.Rlimit{Cur: uint64(room), Max: unix.RLIM_INFINITY}
		err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit)
		if err != nil {
			t.Skipf("no limit of files here: %v", err)
		}
		_, err = Write(path, testKind, other.fill)
		if err == nil {
			t.Errorf("a file of %d bytes was written where %d have room", len(data), room)
		}
	}
}
