// Command module renames the module of the working directory, for publishing it
// at a different address:
//
//	go run ./internal/module host/you/mldpbench
//
// It rewrites the module lines and the imports, and nothing else: names of
// folders and programs stay.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] == "" {
		fmt.Fprintln(os.Stderr, "module: want one name, such as host/you/mldpbench (make module "+
			"MODULE=host/you/mldpbench)")
		os.Exit(2)
	}
	if err := rename(".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "module:", err)
		os.Exit(1)
	}
}

// rename changes the module at root and those below it whose names begin with
// its name. Sources are read before anything is written.
func rename(root, to string) error {
	from, err := moduleName(root)
	if err != nil {
		return err
	}
	changed := map[string][]byte{}
	var modules []string
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.Name() == "go.mod":
			modules = append(modules, filepath.Dir(path))
		case filepath.Ext(path) == ".go" && entry.Type().IsRegular():
			before, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			after, err := renameImports(path, before, from, to)
			if err != nil {
				return err
			}
			if !bytes.Equal(before, after) {
				changed[path] = after
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	// The root comes first, so the go command checks the name before anything
	// else changes.
	for _, dir := range modules {
		old, err := moduleName(dir)
		if err != nil {
			return err
		}
		if name, ok := renamed(old, from, to); ok {
			if _, err := goMod(dir, "edit", "-module="+name); err != nil {
				return err
			}
		}
	}
	for path, source := range changed {
		if err := os.WriteFile(path, source, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// renamed maps the import path from, or one below it, to its new name.
func renamed(path, from, to string) (string, bool) {
	rest, ok := strings.CutPrefix(path, from)
	return to + rest, ok && (rest == "" || rest[0] == '/')
}

func renameImports(path string, source []byte, from, to string) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	result := source
	for _, spec := range slices.Backward(file.Imports) {
		old, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if name, ok := renamed(old, from, to); ok {
			start, end := files.Position(spec.Path.Pos()).Offset, files.Position(spec.Path.End()).Offset
			result = slices.Concat(result[:start], []byte(strconv.Quote(name)), result[end:])
		}
	}
	if bytes.Equal(result, source) {
		return source, nil
	}
	return format.Source(result) // a new name may change the sort order
}

func moduleName(dir string) (string, error) {
	out, err := goMod(dir, "edit", "-json")
	if err != nil {
		return "", err
	}
	var file struct{ Module struct{ Path string } }
	if err := json.Unmarshal(out, &file); err != nil {
		return "", fmt.Errorf("%s: %w", filepath.Join(dir, "go.mod"), err)
	}
	return file.Module.Path, nil
}

func goMod(dir string, arguments ...string) ([]byte, error) {
	command := exec.Command("go", append([]string{"mod"}, arguments...)...)
	command.Dir = dir
	out, err := command.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return nil, errors.New(strings.TrimSpace(string(failed.Stderr)))
	}
	return out, err
}
