package external

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Key is the hex SHA-256 of everything that the output of a command depends on
// other than data, epsilon and seed, as far as it can be known from outside: its
// command line, its hello, and the content of the files that the command line
// and its options name. A command that does not start has no hello.
func Key(args []string, o Options, h Hello) (string, error) {
	files, err := named(args, o.Files)
	if err != nil {
		return "", err
	}
	canonical, err := json.Marshal([]any{args, files, h})
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), err
}

// named hashes all files that the command depends on: every argument that is a
// file or a folder, also as in --vectors=file, and those in its options. A
// program found by name alone (python3) is not read, so its version is not part
// of the key. It returns their names and hashes.
func named(args, extra []string) (files [][2]string, err error) {
	add := func(name string) bool {
		info, failed := os.Stat(name)
		if failed != nil || !info.Mode().IsRegular() && !info.IsDir() {
			return false
		}
		sum, failed := Digest(name)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("command: %w", failed))
		}
		files = append(files, [2]string{name, sum})
		return true
	}
	for i, a := range args {
		if i == 0 && !strings.ContainsRune(a, filepath.Separator) {
			continue
		}
		if _, value, flag := strings.Cut(a, "="); !add(a) && flag {
			add(value)
		}
	}
	for _, name := range extra {
		if !add(name) {
			err = errors.Join(err, fmt.Errorf("command: files: %s: no such file or folder", name))
		}
	}
	return files, err
}

// Digest is the hex SHA-256 of a file, or of all files of a folder with their
// names.
func Digest(name string) (string, error) {
	root, err := filepath.EvalSymlinks(name) // WalkDir does not follow a link
	if err != nil {
		return "", err
	}
	h := sha256.New()
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return err
		}
		if path != root {
			inside, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			_, _ = io.WriteString(h, filepath.ToSlash(inside)+"\n") // a hash never fails
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		_, err = io.Copy(h, f)
		return errors.Join(err, f.Close())
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
