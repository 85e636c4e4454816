// Package module tests `make module`, which gives the module another name.
package module

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var tree = map[string]string{
	"go.mod": "module old/name\n\ngo 1.26\n",
	"a/a.go": "package a\n\nconst Path = \"old/name/b\"\n",
	"b/b.go": `package main

import (
	"fmt"

	x "old/name/a" // with a comment
	_ "old/name/c"
)

func main() { fmt.Print(x.Path) }
`,
	"c/c.go": "package c\n\nimport \"old/name/a\"\n\nconst Same = a.Path\n",
}

// module writes the tree with this project's Makefile and runs make module in it.
func module(t *testing.T, to string) (dir string, err error) {
	t.Helper()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make on this machine")
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	files := map[string]string{"Makefile": string(makefile)}
	for name, text := range tree {
		files[name] = text
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir, run(dir, "make", "module", "MODULE="+to)
}

func run(dir, name string, arguments ...string) error {
	c := exec.Command(name, arguments...)
	c.Dir = dir
	return c.Run()
}

// Imports have the new name, other text stays, and the program is built; back again
// all is as before.
func TestRename(t *testing.T) {
	t.Parallel()
	const to = "example.org/you/bench"
	dir, err := module(t, to)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string) {
		t.Helper()
		for file, text := range tree {
			want := strings.ReplaceAll(text, "old/name", name)
			if file == "a/a.go" {
				want = text
			}
			if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != want {
				t.Errorf("%s is %q, %v; want %q", file, got, err, want)
			}
		}
	}
	check(to)
	if err := run(dir, "go", "build", "-o", os.DevNull, "./..."); err != nil {
		t.Errorf("go build: %v", err)
	}
	if err := run(dir, "make", "module", "MODULE=old/name"); err != nil {
		t.Fatal(err)
	}
	check("old/name")
	for _, bad := range []string{"", "with space", "/absolute", "a//b"} {
		if dir, err = module(t, bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
		check("old/name")
	}
}
