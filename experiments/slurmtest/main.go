// Command slurmtest compares two results files for run.sh, ignoring the columns
// in which any two runs may differ.
package main

import (
	"fmt"
	"os"

	"mldpbench/results"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: slurmtest A.csv B.csv")
		os.Exit(2)
	}
	cells, err := compare(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "slurmtest:", err)
		os.Exit(1)
	}
	fmt.Printf("%d records, equal apart from timing\n", cells)
}

// compare returns the number of records, or the first difference.
func compare(pathA, pathB string) (int, error) {
	a, err := results.Read(pathA)
	if err != nil {
		return 0, err
	}
	b, err := results.Read(pathB)
	if err != nil {
		return 0, err
	}
	if len(a) == 0 || len(a) != len(b) {
		return 0, fmt.Errorf("%s has %d records, %s has %d", pathA, len(a), pathB, len(b))
	}
	for i := range a {
		if column := results.FirstDifference(a[i], b[i]); column != "" {
			return 0, fmt.Errorf("cell %s: %s differs between %s and %s", a[i].Key, column, pathA, pathB)
		}
	}
	return len(a), nil
}
