// Package module tests `make module`, which gives the module another name.
package module

import (
	"bytes"
	"errors"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rename runs make module in a folder.
func rename(dir, to string) error {
	command := exec.Command("make", "module", "MODULE="+to)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		return errors.New(string(out))
	}
	return nil
}

func moduleName(t *testing.T, dir string) string {
	t.Helper()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make on this machine")
	}
	command := exec.Command("go", "list", "-m")
	command.Dir = dir
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// importsOf returns what a Go file imports from a module.
func importsOf(path string, source []byte, module string) []string {
	var found []string
	if filepath.Ext(path) == ".go" {
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ImportsOnly)
		if err != nil {
			return []string{err.Error()}
		}
		for _, spec := range file.Imports {
			found = append(found, spec.Path.Value)
		}
	}
	return slices.DeleteFunc(found, func(s string) bool { return !strings.HasPrefix(s, `"`+module+"/") })
}

// TestRename renames a copy of this repository, builds a package of it that
// imports others, and renames it back. No import of the old name may be left.
func TestRename(t *testing.T) {
	t.Parallel()
	const to = "example.org/you/bench"
	root, copied := filepath.Join("..", ".."), t.TempDir()
	from := moduleName(t, root)
	sources := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && strings.HasPrefix(name, ".") && path != root {
			return fs.SkipDir
		} else if entry.IsDir() || filepath.Ext(name) != ".go" && name != "go.mod" && name != "go.sum" &&
			name != "Makefile" {
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if sources[relative], err = os.ReadFile(path); err != nil {
			return err
		}
		path = filepath.Join(copied, relative)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		return os.WriteFile(path, sources[relative], 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := rename(copied, to); err != nil {
		t.Fatal(err)
	}
	for path, before := range sources {
		after, err := os.ReadFile(filepath.Join(copied, path))
		if err != nil {
			t.Fatal(err)
		}
		if got := importsOf(path, after, from); len(got) > 0 {
			t.Errorf("%s: %q are left", path, got)
		}
		if got, want := importsOf(path, after, to), importsOf(path, before, from); len(got) != len(want) {
			t.Errorf("%s: %d imports of %s, want %d", path, len(got), to, len(want))
		}
		if filepath.Ext(path) != ".go" {
			continue
		}
		if formatted, err := format.Source(after); err != nil || !bytes.Equal(formatted, after) {
			t.Errorf("%s is not formatted (%v)", path, err)
		}
	}
	build := exec.Command("go", "build", to+"/embeddings")
	build.Dir = copied
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("go build: %v\n%s", err, out)
	}

	if err := rename(copied, from); err != nil {
		t.Fatal(err)
	}
	for path, before := range sources {
		if after, err := os.ReadFile(filepath.Join(copied, path)); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s is not the same after renaming there and back (%v)", path, err)
		}
	}
}

func TestRenameRefusesBadNames(t *testing.T) {
	t.Parallel()
	moduleName(t, ".")
	for _, name := range []string{"", "with space", "/absolute", "a//b"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module old\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		makefile, err := os.ReadFile("../../Makefile")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "Makefile"), makefile, 0o666); err != nil {
			t.Fatal(err)
		}
		source := "package old\n\nimport _ \"old/other\"\n"
		if err := os.WriteFile(filepath.Join(dir, "old.go"), []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := rename(dir, name); err == nil {
			t.Errorf("%q was accepted", name)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "old.go")); string(got) != source {
			t.Errorf("%q: a source was changed all the same", name)
		}
	}
}
