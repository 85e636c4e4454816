package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mldpbench/internal/realdata"
	"mldpbench/models/transformer"
)

// pythonTests is the file of what the package's tests use beside the standard library.
const pythonTests = "requirements-tests.txt"

// TestPython runs the tests of the Python package against this program; those of several callers
// make a few hundred calls, and TestLongPythonCallers 10,000.
func TestPython(t *testing.T) {
	if testing.Short() {
		t.Skip("starts interpreters")
	}
	python := transformer.Python()
	if _, err := exec.LookPath(python); err != nil {
		t.Skipf("no Python here: %v", err)
	}
	t.Parallel()
	out := testPython(t, python, "", "discover", "-v", "-s", "tests")
	if os.Getenv("CI") != "" && strings.Contains(out, "has no joblib") {
		t.Errorf("%s has no joblib: .ci/run installs python/%s", python, pythonTests)
	}
}

// TestLongPythonCallers makes 10,000 calls in each of threads, forked processes and processes of
// joblib, and calls that a signal ends: no row gets the text of another one, and no call hangs. It
// runs README's lines of Python, too.
func TestLongPythonCallers(t *testing.T) {
	realdata.Long(t)
	t.Parallel()
	testPython(t, pythonWithJoblib(t), "MLDP_LONG=1", "-v", "tests.test_callers", "tests.test_mldpbench.TestPage")
}

// TestLongEngines runs the package in engines of today, which it installs: equal texts by id in any number of parts,
// and where a task is killed and tried again.
func TestLongEngines(t *testing.T) {
	realdata.Long(t)
	if _, err := exec.LookPath("java"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("Spark needs Java: %v", err)
		}
		t.Skipf("Spark needs Java: %v", err)
	}
	t.Parallel()
	python := venv(t)
	pip(t, python, "install", "-q", "-r", filepath.Join(source, "python", "requirements-engines.txt"))
	testPython(t, python, "MLDP_ENGINES=1", "-v", "tests.test_engines")
}

// pythonWithJoblib is a Python with joblib: that of models if it has it, else one in a new environment.
func pythonWithJoblib(t *testing.T) string {
	python := transformer.Python()
	if exec.Command(python, "-c", "import joblib").Run() == nil {
		return python
	}
	python = venv(t)
	pip(t, python, "install", "-q", "-r", filepath.Join(source, "python", pythonTests))
	return python
}

// testPython runs Python's unittest with arguments in the folder of the package, and returns what it
// said; variable is one of its environment, such as MLDP_LONG=1, or "".
func testPython(t *testing.T, python, variable string, arguments ...string) string {
	folder := filepath.Join(source, "python")
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, append([]string{"-B", "-m", "unittest"}, arguments...)...)
	cmd.Dir = folder
	program, err := exec.LookPath("mldp") // not that of an editable install, which may be older
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "MLDP="+program, "PYTHONPATH="+folder, "MLDP_LONG=")
	if variable != "" {
		cmd.Env = append(cmd.Env, variable)
	}
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the package's tests: %v\n%s", err, out)
	}
	return string(out)
}
