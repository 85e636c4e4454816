// Package atomicfile writes files that are either absent, old or complete, even
// if the process is killed: content is written to a temporary file in the same
// folder, synced, and renamed into place. What a killed process left is removed by
// the next that writes the same file, once it is a day old.
package atomicfile

import (
	"bufio"
	"cmp"
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
func Write(path string, mode fs.FileMode, fill func(io.Writer) error) (err error) {
	return WriteFile(path, mode, buffered(fill))
}

// WriteFile is Write for content that fill writes to the file itself, which it may also read
// and does not close.
func WriteFile(path string, mode fs.FileMode, fill func(*os.File) error) error {
	return write(path, mode, true, fill)
}

// WriteMany is WriteBytes for one of many small files that each have a checksum:
// it is not synced, so after a loss of power a new file may be damaged, and what
// killed processes left is removed by Clean.
func WriteMany(path string, mode fs.FileMode, data []byte) error {
	return write(path, mode, false, buffered(bytesOf(data)))
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

// write is WriteFile; careful syncs, and removes what killed processes left.
func write(path string, mode fs.FileMode, careful bool, fill func(*os.File) error) error {
	kept := false
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir():
			return fmt.Errorf("%s is a folder, not a file", path)
		case !info.Mode().IsRegular():
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			return errors.Join(fill(f), f.Close())
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
		kept, mode = true, info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	hidden := "." + filepath.Base(path) + mark
	if careful {
		clean(filepath.Dir(path), hidden)
	}
	// os.CreateTemp would ignore umask.
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%x", hidden, rand.Uint64())),
		os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil && kept {
		err = f.Chmod(mode)
	}
	if err == nil && careful {
		err = f.Sync()
	}
	if err = cmp.Or(err, f.Close()); err == nil {
		return os.Rename(f.Name(), path)
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// buffered fills a file through a buffer.
func buffered(fill func(io.Writer) error) func(*os.File) error {
	return func(f *os.File) error {
		w := bufio.NewWriterSize(f, 1<<16)
		err := fill(w)
		flushed := w.Flush()
		if err != nil {
			return err
		}
		return flushed
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
