package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mldpbench/embeddings"
)

// TestMain runs the tests or, under the name mldp, the program: tests call it in their own
// process, and start one only for signals, kills, pipes and terminals.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "mldp" {
		main()
	}
	os.Exit(inPath{m}.Run())
}

// inPath puts the program into the path, for shells and for commands that start it, and keeps its cache apart.
type inPath struct{ m *testing.M }

func (t inPath) Run() int {
	if own, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		os.Setenv("GOCACHE", filepath.Join(own, "go-build")) // Go keeps its own cache
	}
	dir, err := os.MkdirTemp("", "mldp-test-path-")
	if err == nil {
		defer os.RemoveAll(dir)
		var self string
		if self, err = os.Executable(); err == nil {
			err = errors.Join(os.Symlink(self, filepath.Join(dir, "mldp")),
				os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")),
				os.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache")))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return t.m.Run()
}

// source is the folder of the source, found before a test changes that of this process.
var source, _ = filepath.Abs(filepath.Join("..", ".."))

// alone is held while the program runs here: its folder and variables are the process's.
var alone sync.Mutex

// call is the program in this process, in a folder ("" for that of the tests), with variables.
type call struct {
	dir            string
	env            map[string]string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// run returns the exit code. Of a call that could not be made the error is a panic.
func (c call) run(args ...string) int {
	alone.Lock()
	defer alone.Unlock()
	if c.dir != "" {
		here, err := os.Getwd()
		if err = cmp.Or(err, os.Chdir(c.dir)); err != nil {
			panic(err)
		}
		defer os.Chdir(here)
	}
	for name, value := range c.env {
		if old, set := os.LookupEnv(name); set {
			defer os.Setenv(name, old)
		} else {
			defer os.Unsetenv(name)
		}
		set := os.Setenv(name, value)
		if value == "" {
			set = os.Unsetenv(name)
		}
		if set != nil {
			panic(set)
		}
	}
	if c.stdin == nil {
		c.stdin = strings.NewReader("")
	}
	return run(context.Background(), args, c.stdin, c.stdout, c.stderr)
}

// mldp runs a command line and returns its exit code and all it prints.
func mldp(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := call{stdout: &out, stderr: &out}.run(args...)
	return code, out.String()
}

// scripts runs scripts with the commands and the files of testdata/common that all have.
func scripts(t *testing.T, p testscript.Params) {
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){"mldp": program, "fails": fails,
		"object": jsonObject}
	here := filepath.Join(source, "cmd", "mldp")
	p.Dir = filepath.Join(here, p.Dir)
	vectors, setup := embeddings.DefaultCacheDir(), p.Setup
	p.Setup = func(env *testscript.Env) error {
		env.Setenv("ROOT", source)
		env.Setenv("EXTERNAL", filepath.Join(source, "examples", "external"))
		err := errors.Join(ownCache(env, vectors), common(filepath.Join(here, "testdata", "common"), env.WorkDir))
		if err == nil && setup != nil {
			err = setup(env)
		}
		return err
	}
	testscript.Run(t, p)
}

// common copies the files that scripts share, but for those that a script has itself.
func common(from, to string) error {
	files, err := os.ReadDir(from)
	for _, f := range files {
		if _, own := os.Stat(filepath.Join(to, f.Name())); own != nil {
			data, failed := os.ReadFile(filepath.Join(from, f.Name()))
			err = errors.Join(err, failed, os.WriteFile(filepath.Join(to, f.Name()), data, 0o644))
		}
	}
	return err
}

// ownCache gives a script a separate cache, except for vectors: those read by one script are there
// for all.
func ownCache(env *testscript.Env, vectors string) error {
	cache := filepath.Join(env.WorkDir, ".cache")
	env.Setenv("XDG_CACHE_HOME", cache)
	own := filepath.Join(cache, filepath.Base(filepath.Dir(vectors)))
	if err := errors.Join(os.MkdirAll(own, 0o755), os.MkdirAll(vectors, 0o755)); err != nil {
		return err
	}
	return os.Symlink(vectors, filepath.Join(own, filepath.Base(vectors)))
}

// inScripts are the variables that scripts set.
var inScripts = []string{"XDG_CACHE_HOME", "MLDP_DATA", "MLDP_MIRROR", "HOME", "TMPDIR", "WORK", "PYTHONPATH",
	"PYTHONDONTWRITEBYTECODE"}

// execute runs the program in a script, with its folder and variables; a last argument <FILE is its
// standard input.
func execute(ts *testscript.TestScript, args []string) (code int, stderr string) {
	var said strings.Builder
	c := call{dir: ts.MkAbs("."), env: map[string]string{}, stdout: ts.Stdout(),
		stderr: io.MultiWriter(ts.Stderr(), &said)}
	for _, name := range inScripts {
		c.env[name] = ts.Getenv(name)
	}
	if n := len(args) - 1; n >= 0 && strings.HasPrefix(args[n], "<") {
		c.stdin, args = strings.NewReader(ts.ReadFile(args[n][1:])), args[:n]
	}
	return c.run(args...), said.String()
}

// program is "mldp ARGUMENT... [<FILE]".
func program(ts *testscript.TestScript, neg bool, args []string) {
	if code, _ := execute(ts, args); (code != exitOK) != neg {
		ts.Fatalf("mldp %s: exit code %d", strings.Join(args, " "), code)
	}
}

// fails is "fails N REGEXP mldp ARGUMENT... [<FILE]": the program ends with exit code N, and a line of standard error
// matches.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || args[2] != "mldp" {
		ts.Fatalf("usage: fails N REGEXP mldp ARGUMENT...")
	}
	code, said := execute(ts, args[3:])
	if fmt.Sprint(code) != args[0] || !regexp.MustCompile("(?m)"+args[1]).MatchString(said) {
		ts.Fatalf("exit code %d, want %s with %s", code, args[0], args[1])
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
