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

// keyOf is the hex SHA-256 of everything that the output of a command depends on
// other than data, epsilon and seed, as far as it can be known from outside: its
// command line, its hello, and the content of the files and folders that the
// command line names, also as in --vectors=file. A program found by name alone
// (python3) is not read, so its version is not part of the key.
func keyOf(args []string, h Hello) (string, error) {
	var files [][2]string
	for i, a := range args {
		if i == 0 && !strings.ContainsRune(a, filepath.Separator) {
			continue
		}
		_, value, _ := strings.Cut(a, "=")
		for _, name := range []string{a, value} {
			info, err := os.Stat(name)
			if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
				continue
			}
			sum, err := Digest(name)
			if err != nil {
				return "", fmt.Errorf("command: %w", err)
			}
			files = append(files, [2]string{name, sum})
		}
	}
	canonical, err := json.Marshal([]any{args, files, h})
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), err
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
			inside := strings.TrimPrefix(path, root+string(filepath.Separator))
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
