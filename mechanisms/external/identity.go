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
	"regexp"
	"slices"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// variable is a variable of the environment in a command line.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expanded are words of a command line with the values of ${NAME}, which are for the
// process alone: they stand in no error, key or record.
func expanded(args []string) ([]string, error) {
	var missing []string
	values := list.Map(args, func(a string) string {
		return variable.ReplaceAllStringFunc(a, func(reference string) string {
			name := variable.FindStringSubmatch(reference)[1]
			value, set := os.LookupEnv(name)
			if !set && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
			return value
		})
	})
	if len(missing) > 0 {
		return nil, check.Wrong("the environment has no variable %s", strings.Join(missing, ", "))
	}
	return values, nil
}

// keyOf is the hex SHA-256 of everything that the output of a command depends on
// other than data, epsilon and seed, as far as it can be known from outside: its
// command line, its hello, and the content of the files and folders that the
// command line names, also as in --vectors=file and, of Python, -m module. A program
// found by name alone (python3) is not read, so its version is not part of the key,
// and nothing is known of what files import or start: see Hello.Code.
func keyOf(args []string, h Hello) (string, error) {
	values, err := expanded(args)
	if err != nil {
		return "", err
	}
	var files [][2]string
	for i, a := range values {
		if i == 0 && !strings.ContainsRune(a, filepath.Separator) {
			continue
		}
		previous := ""
		if i > 0 {
			previous = values[i-1]
		}
		for _, name := range mayBeFiles(a, previous) {
			info, err := os.Stat(name)
			if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
				continue
			}
			sum, err := Digest(name)
			if err != nil {
				return "", fmt.Errorf("command: %w", err)
			}
			if variable.MatchString(args[i]) {
				name = args[i]
			}
			files = append(files, [2]string{name, sum})
		}
	}
	canonical, err := json.Marshal([]any{args, files, h})
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), err
}

// mayBeFiles are the files and folders that an argument may name, behind the one before.
func mayBeFiles(argument, previous string) []string {
	if previous == "-m" {
		module, _, _ := strings.Cut(argument, ".")
		return []string{module, module + ".py"}
	}
	_, value, _ := strings.Cut(argument, "=")
	return []string{argument, value}
}

// compiled is where Python keeps what it made of its files.
const compiled = "__pycache__"

// Digest is the hex SHA-256 of a file, or of all files of a folder with their
// names.
func Digest(name string) (string, error) {
	root, err := filepath.EvalSymlinks(name) // WalkDir does not follow a link
	if err != nil {
		return "", err
	}
	h := sha256.New()
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == compiled {
			return fs.SkipDir
		}
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
