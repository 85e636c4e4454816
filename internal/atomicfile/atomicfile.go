// Package atomicfile writes files that are either absent, old or complete, even
// if the process is killed: content is written to a temporary file in the same
// folder, synced, and renamed into place. What a killed process left is removed by
// the next that writes the same file, once it is a day old.
package atomicfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Write calls fill with a buffered writer and moves the result to path. On any
// error path keeps its former state and the temporary file is removed. A device
// or pipe, such as /dev/null, is written to, not replaced; a link keeps pointing
// to the file that is written. A replaced file keeps its mode; a new one gets
// mode less the bits of umask.
func Write(path string, mode fs.FileMode, fill func(io.Writer) error) error {
	return WriteFile(path, mode, buffered(fill))
}

// WriteFile is Write for content that fill writes to the file itself, which it may also read
// and does not close.
func WriteFile(path string, mode fs.FileMode, fill func(*os.File) error) error {
	t, err := find(path, mode)
	if err != nil {
		return err
	}
	if t.device {
		return t.writeTo(fill)
	}
	clean(filepath.Dir(t.path), t.temporary())
	return t.replace(fill, (*os.File).Sync)
}

// WriteMany is WriteBytes for one of many small files that each have a checksum:
// it is not synced, so after a loss of power a new file may be damaged, and what
// killed processes left is removed by Clean.
func WriteMany(path string, mode fs.FileMode, data []byte) error {
	t, err := find(path, mode)
	if err != nil {
		return err
	}
	if t.device {
		return t.writeTo(buffered(bytesOf(data)))
	}
	return t.replace(buffered(bytesOf(data)), func(*os.File) error { return nil })
}

// WriteBytes is Write for content that is already in memory.
func WriteBytes(path string, mode fs.FileMode, data []byte) error {
	return Write(path, mode, bytesOf(data))
}

// WriteJSON replaces a file by the indented JSON of a value.
func WriteJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return WriteBytes(path, 0o644, append(data, '\n'))
}

func bytesOf(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// A target is a place that is written to.
type target struct {
	path   string // behind links
	mode   fs.FileMode
	exists bool
	device bool // or a pipe
}

// find looks at what stands at a path; mode is that of a new file.
func find(path string, mode fs.FileMode) (target, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return target{path: path, mode: mode}, nil // one that cannot be made fails there
	case info.IsDir():
		return target{}, fmt.Errorf("%s is a folder, not a file", path)
	case !info.Mode().IsRegular():
		return target{
			path:   path,
			exists: true,
			device: true,
		}, nil
	}
	path, err = filepath.EvalSymlinks(path)
	return target{
		path:   path,
		mode:   info.Mode().Perm(),
		exists: true,
	}, err
}

// writeTo writes to a device.
func (t target) writeTo(fill func(*os.File) error) error {
	f, err := os.OpenFile(t.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(fill(f), f.Close())
}

// temporary is how the name of a temporary file of a target begins.
func (t target) temporary() string { return "." + filepath.Base(t.path) + mark }

// replace fills a temporary file, ends it by sync, and moves it into place.
func (t target) replace(fill func(*os.File) error, sync func(*os.File) error) error {
	folder := filepath.Dir(t.path)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	// os.CreateTemp would ignore umask.
	name := filepath.Join(folder, fmt.Sprintf("%s%x", t.temporary(), rand.Uint64()))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, t.mode)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil && t.exists {
		err = f.Chmod(t.mode)
	}
	if err == nil {
		err = sync(f)
	}
	closeErr := f.Close()
	if err == nil {
		err = closeErr
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return os.Rename(name, t.path)
}

// buffered fills a file through a buffer. After an error too: a device or pipe gets what there is.
func buffered(fill func(io.Writer) error) func(*os.File) error {
	return func(f *os.File) error {
		w := bufio.NewWriterSize(f, 1<<16)
		err := fill(w)
		flushErr := w.Flush()
		if err != nil {
			return err
		}
		return flushErr
	}
}

// mark stands in the name of every temporary file.
const mark = ".tmp-"

// stale is the age at which a temporary file counts as left behind.
const stale = 24 * time.Hour

// Clean removes from a folder the temporary files that are a day old.
func Clean(folder string) { clean(folder, ".") }

// clean is Clean for the files whose names begin with prefix.
func clean(folder, prefix string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || !strings.Contains(e.Name(), mark) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > stale {
			_ = os.Remove(filepath.Join(folder, e.Name())) // another process may have removed it
		}
	}
}
