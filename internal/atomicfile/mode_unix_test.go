//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	path := filepath.Join(t.TempDir(), "a")
	for _, c := range []struct{ chmod, want fs.FileMode }{{0, 0o600}, {0o640, 0o640}, {0o400, 0o400}, {0o666, 0o666}} {
		if c.chmod != 0 {
			if err := os.Chmod(path, c.chmod); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteBytes(path, 0o644, []byte("private")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != c.want {
			t.Errorf("mode %o, want %o", got, c.want)
		}
	}
}
