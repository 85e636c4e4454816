// Command slurmtest compares two results files the way run.sh needs it: equal
// apart from the columns that any two runs may differ in.
package main

import (
	"fmt"
	"os"
	"reflect"
	"slices"

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
		va, vb := reflect.ValueOf(a[i]), reflect.ValueOf(b[i])
		for f := range va.NumField() {
			column := va.Type().Field(f).Tag.Get("csv")
			x, y := va.Field(f).Interface(), vb.Field(f).Interface()
			if missing, ok := x.(results.Float); ok && !missing.Known() && !y.(results.Float).Known() {
				continue
			}
			if x != y && !slices.Contains(results.TimingColumns, column) {
				return 0, fmt.Errorf("cell %s: %s is %v in %s and %v in %s", a[i].Key, column, x, pathA, y, pathB)
			}
		}
	}
	return len(a), nil
}
