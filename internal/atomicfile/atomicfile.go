// Package atomicfile writes files that are either absent, old or complete, even
// if the process is killed: content is written to a temporary file in the same
// folder, synced, and renamed into place. The next process that writes the same
// file removes files left by a killed one.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Write calls fill with a buffered writer and moves the result to path. On any
// error path keeps its former state and the temporary file is removed. A device
// or pipe, such as /dev/null, is written to, not replaced; a link keeps pointing
// to the file that is written.
func Write(path string, mode fs.FileMode, fill func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir():
			return fmt.Errorf("%s is a folder, not a file", path)
		case !info.Mode().IsRegular():
			return writeThrough(path, fill)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	clean(path)
	f, err := os.CreateTemp(filepath.Dir(path), temporary(path)+fmt.Sprintf("%s-%d-*", host(), os.Getpid()))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreNotExist(os.Remove(f.Name())))
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err = fill(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// writeThrough writes to what cannot be replaced.
func writeThrough(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	if err = fill(w); err == nil {
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}

// temporary returns the beginning of the names of temporary files of a path.
func temporary(path string) string { return "." + filepath.Base(path) + ".tmp-" }

// host is this machine's name, for file names.
var host = sync.OnceValue(func() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return strings.Map(func(r rune) rune {
		if r == '*' || r == '-' || os.IsPathSeparator(uint8(min(r, 127))) {
			return '_'
		}
		return r
	}, name)
})

// clean removes the temporary files of a path whose process no longer exists.
// Those of other machines are kept.
func clean(path string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, e := range entries {
		owner, ok := strings.CutPrefix(e.Name(), temporary(path)+host()+"-")
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(owner, "-")
		if pid, err := strconv.Atoi(number); err == nil && !alive(pid) {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name())) // another process may have removed it
		}
	}
}

// WriteBytes is Write for content that is already in memory.
func WriteBytes(path string, mode fs.FileMode, data []byte) error {
	return Write(path, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
