//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipesAreWrittenTo: what is no regular file is not replaced by one, as
// /dev/null would be for root.
func TestPipesAreWrittenTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	read := make(chan string)
	go func() {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		read <- string(data)
	}()
	if err := WriteBytes(path, 0o644, []byte("through")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "through" {
		t.Errorf("got %q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe was replaced: %v, %v", info, err)
	}
}

func TestLinksStayLinks(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := WriteBytes(target, 0o644, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(link, 0o644, []byte("new")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(target)
	if info, lerr := os.Lstat(link); lerr != nil || info.Mode()&fs.ModeSymlink == 0 || string(data) != "new" {
		t.Errorf("link %v, target %q, %v", info, data, err)
	}
	if err := WriteBytes(dir, 0o644, nil); err == nil {
		t.Error("a folder is no file")
	}
}
