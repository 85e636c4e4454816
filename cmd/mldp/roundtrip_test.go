package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mldpbench/internal/realdata"
)

// TestLongFilesOfOthers privatises tables that pandas, polars, pyarrow, DuckDB and datasets
// write, and has them read what came out: datasets/table/testdata/roundtrip.py. Python is
// that of MLDP_TABLES_PYTHON, or of venv-tables beside the project, with the versions of
// requirements.txt there. Without it the test is skipped, and fails in CI.
func TestLongFilesOfOthers(t *testing.T) {
	realdata.Long(t)
	python := os.Getenv("MLDP_TABLES_PYTHON")
	if python == "" {
		python = filepath.Join(source, "..", "venv-tables", "bin", "python3")
	}
	folder := filepath.Join(source, "datasets", "table", "testdata")
	check := exec.Command(python, "-c", "import datasets, duckdb, pandas, polars, pyarrow, pytz")
	if out, err := check.CombinedOutput(); err != nil {
		lacks := t.Skipf
		if os.Getenv("CI") == "true" {
			lacks = t.Fatalf
		}
		lacks("no Python with %s: set MLDP_TABLES_PYTHON to one (%v: %s)", filepath.Join(folder, "requirements.txt"), err, out)
	}
	out, err := exec.Command(python, filepath.Join(folder, "roundtrip.py"), "mldp", t.TempDir()).CombinedOutput()
	if err != nil {
		t.Errorf("wanted all files to come back, got %v:\n%s", err, out)
	}
}
