// Package outsidetest builds and runs Go files as a module of their own that requires this one,
// which is what a stranger can do: packages under internal are closed to it.
package outsidetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Run writes files, by their path in a module called outside, runs its main package and
// returns what that prints. root is the folder of this module.
func Run(t *testing.T, root string, files map[string]string) string {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for path, text := range files {
		write(t, filepath.Join(dir, path), text)
	}
	// All that this module requires, at the same versions, so that nothing is looked up.
	own := Read(t, filepath.Join(root, "go.mod"))
	_, requirements, _ := strings.Cut(own, "\n")
	write(t, filepath.Join(dir, "go.mod"), "module outside\n"+requirements+
		"\nrequire mldpbench v0.0.0\n\nreplace mldpbench => "+root+"\n")
	write(t, filepath.Join(dir, "go.sum"), Read(t, filepath.Join(root, "go.sum")))
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go run in a module outside: %v\n%s", err, out)
	}
	return string(out)
}

// Read returns the text of a file.
func Read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
