package atomicfile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// WriteFolder calls fill with a new folder and moves it to path, where nothing or an empty
// folder is. On any error what was at path stays and the new folder is removed.
func WriteFolder(path string, fill func(folder string) error) error {
	path = filepath.Clean(path)
	parent := filepath.Dir(path)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	folder := filepath.Join(parent, fmt.Sprintf(".%s%s%x", filepath.Base(path), mark, rand.Uint64()))
	if err := os.Mkdir(folder, 0o777); err != nil {
		return err
	}
	err := fill(folder)
	if err == nil {
		err = moveFolder(folder, path)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	return nil
}

// moveFolder renames a folder to path, where nothing or an empty folder is.
func moveFolder(folder, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if err := os.Remove(path); err != nil { // it is not empty
			return err
		}
	}
	return os.Rename(folder, path)
}
