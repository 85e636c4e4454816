// Package realdata finds the real data sets for tests: the folder named by
// MLDP_DATA, or ../shared/data next to the project.
package realdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir returns the folder of real data and skips the test where there is none.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("MLDP_DATA")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared", "data")
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

// root is the folder of go.mod, searched upwards from the package under test.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
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
