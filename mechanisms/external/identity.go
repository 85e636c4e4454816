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
	"os/exec"
	"path/filepath"
	"strings"
)

// Identity is everything that the text of a command depends on other than data,
// epsilon and seed, as far as it can be known from outside: the command line,
// its declarations, and the content of the files that the command line names.
type Identity struct {
	Protocol   int         `json:"protocol"`
	Command    []string    `json:"command"`
	Name       string      `json:"name"`
	Version    string      `json:"version"`
	Parameters string      `json:"parameters"` // mechanisms.Parameters.String
	Guarantee  *Promise    `json:"guarantee"`
	Repeatable bool        `json:"repeatable"`
	Aligned    bool        `json:"aligned"`
	Input      Input       `json:"input"`
	Files      []NamedFile `json:"files"` // in the order of the command line, then of Options.Files
	Role       Role        `json:"role,omitempty"`
	Better     string      `json:"better,omitempty"`
}

// NamedFile is a file named on a command line or in its options.
type NamedFile struct {
	Name   string `json:"name"` // as written
	SHA256 string `json:"sha256"`
}

// Identity returns the identity of the command, for the key of its output.
func (c *Command) Identity() Identity { return c.identity }

// Unstarted returns what is known of a command without starting it, its command
// line and files, for the key of a failed run.
func Unstarted(args []string, o Options) (Identity, error) {
	files, err := named(args, o)
	return Identity{Protocol: Protocol, Command: args, Files: files}, err
}

// Check returns an error where the program of a command, or one of the files in
// its options, is not there. It starts nothing.
func Check(args []string, o Options) error {
	if _, err := exec.LookPath(args[0]); err != nil {
		return fmt.Errorf("command %s: %w", strings.Join(args, " "), err)
	}
	_, err := Unstarted(args, o)
	return err
}

// Key returns the hex SHA-256 of the identity.
func (i Identity) Key() string {
	canonical, err := json.Marshal(i)
	if err != nil {
		panic("external: an identity is not JSON") // numbers and words only
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// named hashes all files that the command depends on: every argument that is a
// file or a folder, also as in --vectors=file, and those in its options. A
// program found by name alone (python3) is not read, so its version is not part
// of the identity.
func named(args []string, o Options) (files []NamedFile, err error) {
	add := func(name string) (found bool) {
		sum, found, failed := hashFile(name)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("command: %w", failed))
		} else if found {
			files = append(files, NamedFile{name, sum})
		}
		return found
	}
	for i, a := range args {
		if i == 0 && !strings.ContainsRune(a, filepath.Separator) {
			continue
		}
		if _, value, flag := strings.Cut(a, "="); !add(a) && flag {
			add(value)
		}
	}
	for _, name := range o.Files {
		if !add(name) {
			err = errors.Join(err, fmt.Errorf("command: files: %s: no such file or folder", name))
		}
	}
	return files, err
}

// hashFile hashes a file, or all files of a folder with their names; ok is false
// for what is neither.
func hashFile(name string) (sum string, ok bool, err error) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return "", false, nil
	}
	h := sha256.New()
	add := func(path string) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		_, err = io.Copy(h, f)
		return errors.Join(err, f.Close())
	}
	if !info.IsDir() {
		err = add(name)
		return hex.EncodeToString(h.Sum(nil)), true, err
	}
	root, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", false, err
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := os.Stat(path) // of the target of a link
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		inside, err := filepath.Rel(root, path)
		fmt.Fprintf(h, "%q %d\n", filepath.ToSlash(inside), info.Size())
		return errors.Join(err, add(path))
	})
	return hex.EncodeToString(h.Sum(nil)), true, err
}
