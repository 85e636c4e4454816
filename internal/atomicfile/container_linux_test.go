package atomicfile

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestContainersShareAFolder runs a writer in a space of process numbers of its
// own, as a container with this host's name has: the number of this process
// means nothing there.
func TestContainersShareAFolder(t *testing.T) {
	if path := os.Getenv("ATOMICFILE_PATH"); path != "" {
		if err := WriteBytes(path, 0o644, []byte("container")); err != nil {
			t.Fatal(err)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "a")
	err := Write(path, 0o644, func(w io.Writer) error {
		container := exec.Command(os.Args[0], "-test.run=TestContainersShareAFolder")
		container.Env = append(os.Environ(), "ATOMICFILE_PATH="+path)
		container.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
		out, err := container.CombinedOutput()
		if errors.Is(err, syscall.EPERM) {
			t.Skip("not allowed to make a space of process numbers")
		}
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		_, err = w.Write([]byte("ours"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "ours" {
		t.Errorf("%q, %v", got, err)
	}
}
