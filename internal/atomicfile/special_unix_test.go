//go:build unix

package atomicfile

import (
	"errors"
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
			_ = os.Chmod(path, c.chmod) // the mode is compared below
		}
		err := WriteBytes(path, 0o644, []byte("private"))
		if info, serr := os.Stat(path); err != nil || serr != nil || info.Mode().Perm() != c.want {
			t.Errorf("%v, %v, want mode %o", err, info, c.want)
		}
	}
}

// What is no regular file is not replaced by one, as /dev/null would be for root; a
// link stays a link, and a folder is no file.
func TestPipesAndLinks(t *testing.T) {
	dir := t.TempDir()
	pipe, target, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	if err := errors.Join(os.WriteFile(target, nil, 0o644), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		data, _ := os.ReadFile(pipe)
		read <- string(data)
	}()
	if err := WriteBytes(pipe, 0o644, []byte("through")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "through" {
		t.Errorf("got %q", got)
	}
	for _, text := range []string{"old", "new"} {
		err := WriteBytes(link, 0o644, []byte(text))
		if data, rerr := os.ReadFile(target); err != nil || rerr != nil || string(data) != text {
			t.Errorf("%v, target %q, %v", err, data, rerr)
		}
	}
	for path, kind := range map[string]fs.FileMode{pipe: fs.ModeNamedPipe, link: fs.ModeSymlink} {
		if info, err := os.Lstat(path); err != nil || info.Mode()&kind == 0 {
			t.Errorf("%s was replaced: %v, %v", path, info, err)
		}
	}
	if err := WriteBytes(dir, 0o644, nil); err == nil {
		t.Error("a folder is no file")
	}
}
