// Command slurmtest compares two results files for run.sh, ignoring the columns
// in which any two runs may differ.
package main

import (
	"fmt"
	"os"

	"mldpbench/results"
)

// main prints how many records are equal, or fails at the first that differs.
func main() {
	a, err := results.Read(os.Args[1])
	if err != nil {
		fail(err)
	}
	b, err := results.Read(os.Args[2])
	if err != nil || len(a) == 0 || len(a) != len(b) {
		fail(fmt.Sprintf("%d and %d records, %v", len(a), len(b), err))
	}
	for i := range a {
		if column := results.FirstDifference(a[i], b[i]); column != "" {
			fail(fmt.Sprintf("unit %s: %s differs", a[i].Key, column))
		}
	}
	fmt.Printf("%d records, equal apart from timing\n", len(a))
}

func fail(why any) {
	fmt.Fprintln(os.Stderr, "slurmtest:", why)
	os.Exit(1)
}
