// Package realdata finds the real data sets for tests: the folder named by
// MLDP_DATA, or ../shared/data next to the project.
package realdata

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Dir returns the folder of real data and skips the test where there is none.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("MLDP_DATA")
	if dir == "" {
		dir = filepath.Join(Root(), "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no real data: set MLDP_DATA to a folder with it (%v)", err)
	}
	return dir
}

// File returns the path of one file of Dir and skips the test where it is absent.
func File(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Dir(t), name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s in the real data: %v", name, err)
	}
	return path
}

// Root is the folder of go.mod, searched upwards from the package under test; a
// relative path where there is none.
func Root() string {
	dir, _ := os.Getwd() // "" is the folder itself
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "."
		}
		dir = parent
	}
}

// Long skips a test of many seconds, called TestLong…, unless MLDP_LONG is set, as
// make long does. It says whether everything is wanted (MLDP_LONG=all), which takes hours.
func Long(t testing.TB) (all bool) {
	t.Helper()
	wanted := os.Getenv("MLDP_LONG")
	if wanted == "" {
		t.Skip("takes long: make long runs it")
	}
	return wanted == "all"
}

// python finds the interpreter of models and puts it into MLDP_PYTHON.
var python = sync.OnceValue(func() error {
	named := os.Getenv("MLDP_PYTHON")
	if info, err := os.Stat(named); err != nil || info.IsDir() {
		named = "python3"
		if beside, err := filepath.Abs(filepath.Join(Root(), "..", "venv-models", "bin", named)); err == nil {
			if _, err := os.Stat(beside); err == nil {
				named = beside
			}
		}
	}
	if out, err := exec.Command(named, "-c", "import onnxruntime, tokenizers, numpy").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return os.Setenv("MLDP_PYTHON", named)
})

// Model returns the folder of a model of Dir, and skips the test where it is not
// there or where no Python runs it: the one of MLDP_PYTHON, or that of the virtual
// environment venv-models next to the project (python/requirements-models.txt).
func Model(t testing.TB, name string) string {
	t.Helper()
	folder := filepath.Dir(File(t, name+"/model.onnx"))
	if err := python(); err != nil {
		t.Skipf("no Python with python/requirements-models.txt: set MLDP_PYTHON to one (%v)", err)
	}
	return folder
}
