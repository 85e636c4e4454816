// Package records reads the committed records for tests.
package records

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mldpbench/internal/realdata"
	"mldpbench/results"
)

var views sync.Map // of the names, each made once in a process: a func

// View returns the rows of runs under results/reference, prepared together. Its
// cells are shared by all tests of a package: none may change them.
func View(t testing.TB, names ...string) *results.Prepared {
	t.Helper()
	once, _ := views.LoadOrStore(strings.Join(names, " "), sync.OnceValues(func() (*results.Prepared, error) {
		var runs []results.Run
		for _, name := range names {
			rows, err := results.Read(filepath.Join(realdata.Root(), "results", "reference", name+".csv.gz"))
			if err != nil {
				return nil, err
			}
			runs = append(runs, results.Run{Name: name, Rows: rows})
		}
		return results.Prepare(runs...)
	}))
	p, err := once.(func() (*results.Prepared, error))()
	if err != nil {
		t.Fatal(err)
	}
	own := *p
	return &own
}
