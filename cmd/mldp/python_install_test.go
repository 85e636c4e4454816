package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/internal/realdata"
)

// privatises says with which program a package privatises, and a private text.
const privatises = `import mldpbench
print(mldpbench.program())
with mldpbench.Mechanism("k-rr", 5, "generated", seed=1) as m:
    print(m.privatise(["Superb food."])[0])`

// TestLongPythonInstalls installs the package from a copy of the source in the ways that a wheel of the folder is not:
// as one that can be edited, and from an sdist without the source.
func TestLongPythonInstalls(t *testing.T) {
	realdata.Long(t)
	t.Parallel()
	checkout := filepath.Join(t.TempDir(), "checkout")
	copyTracked(t, checkout)
	folder := filepath.Join(checkout, "python")

	python := venv(t)
	pip(t, python, "install", "-q", "-e", folder)
	wantPrivatised(t, python, filepath.Join(folder, "mldpbench", "bin"))

	builder := venv(t)
	pip(t, builder, "install", "-q", "build")
	dist := t.TempDir()
	build := exec.Command(builder, "-m", "build", "--sdist", "--outdir", dist, folder)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("python -m build --sdist: %v\n%s", err, out)
	}
	sdists, err := filepath.Glob(filepath.Join(dist, "mldpbench-*.tar.gz"))
	if err != nil || len(sdists) != 1 {
		t.Fatalf("python -m build --sdist wrote %q (%v), want one mldpbench-*.tar.gz", sdists, err)
	}
	if err := os.RemoveAll(checkout); err != nil {
		t.Fatal(err)
	}
	python = venv(t)
	pip(t, python, "install", "-q", "--upgrade", "pip") // newer ones refuse links out of an sdist
	pip(t, python, "install", "-q", sdists[0])
	environment := filepath.Dir(filepath.Dir(python))
	wantPrivatised(t, python, environment)
	licence := filepath.Join(environment, "lib", "python*", "site-packages", "mldpbench-*", "licenses", "LICENSE")
	if found, err := filepath.Glob(licence); err != nil || len(found) != 1 {
		t.Errorf("the package from the sdist has the licences %q (%v), want one LICENSE", found, err)
	}
}

// copyTracked copies what git tracks here.
func copyTracked(t *testing.T, to string) {
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = source
	out, err := list.Output()
	if err != nil {
		t.Skipf("git does not say what is tracked here: %v", err)
	}
	for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		from := filepath.Join(source, name)
		info, err := os.Lstat(from)
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if info.Mode()&os.ModeSymlink != 0 {
			copyLink(t, from, path)
			continue
		}
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
}

// copyLink makes a link that says what another one says.
func copyLink(t *testing.T, from, to string) {
	target, err := os.Readlink(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, to); err != nil {
		t.Fatal(err)
	}
}

// venv makes a virtual environment and returns its Python.
func venv(t *testing.T) string {
	folder := filepath.Join(t.TempDir(), "venv")
	if out, err := exec.Command("python3", "-m", "venv", folder).CombinedOutput(); err != nil {
		missing(t, "no python3 with venv here: %v\n%s", err, out)
	}
	return filepath.Join(folder, "bin", "python3")
}

// pip runs pip of a Python.
func pip(t *testing.T, python string, arguments ...string) {
	out, err := exec.Command(python, append([]string{"-m", "pip"}, arguments...)...).CombinedOutput()
	if err != nil && strings.Contains(string(out), "No matching distribution found for ") {
		missing(t, "pip reaches no registry here: %v\n%s", err, out)
	}
	if err != nil {
		t.Fatalf("pip %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
}

// missing skips a test for what a machine lacks, which continuous integration must have.
func missing(t *testing.T, format string, arguments ...any) {
	if os.Getenv("CI") != "" {
		t.Fatalf(format, arguments...)
	}
	t.Skipf(format, arguments...)
}

// wantPrivatised privatises a text with the package of a Python, whose program must be in a folder: no other is seen.
func wantPrivatised(t *testing.T, python, folder string) {
	t.Helper()
	cmd := exec.Command(python, "-c", privatises)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "MLDP=", "PYTHONPATH=", "PATH=/usr/bin:/bin")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("a text can't be privatised: %v\n%s", err, out)
	}
	program, text, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if !strings.HasPrefix(program, folder) {
		t.Errorf("the package runs %s, want one in %s", program, folder)
	}
	var want strings.Builder
	code := call{stdin: strings.NewReader("Superb food.\n"), stdout: &want, stderr: io.Discard}.run("privatize",
		"--mechanism", "k-rr", "--epsilon", "5", "--embedding", "generated", "--seed", "1")
	if code != exitOK || text != strings.TrimSpace(want.String()) {
		t.Errorf("the package's private text is %q, want %q, as mldp privatize says (exit code %d)", text,
			want.String(), code)
	}
}
