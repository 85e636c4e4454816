package results

import (
	"fmt"
	"math"
	"reflect"
)

// Change is a column whose stored values differ from those computed from their
// counts and other records.
type Change struct {
	Column  string
	Records int
	Largest float64 // absolute difference; +Inf where a value appears or vanishes
}

// Changes compares records, in the order of Sort, with the result of Derive.
func Changes(stored, derived []Record) []Change {
	sorted := append([]Record(nil), stored...)
	Sort(sorted)
	t := reflect.TypeFor[Record]()
	var changes []Change
	for j := range t.NumField() {
		if t.Field(j).Type != reflect.TypeFor[Float]() {
			continue
		}
		c := Change{Column: t.Field(j).Tag.Get("csv")}
		for i := range sorted {
			a := reflect.ValueOf(sorted[i]).Field(j).Interface().(Float)
			b := reflect.ValueOf(derived[i]).Field(j).Interface().(Float)
			if a == b || !a.Known() && !b.Known() {
				continue
			}
			c.Records++
			d := math.Abs(float64(a - b))
			if math.IsNaN(d) {
				d = math.Inf(1)
			}
			c.Largest = max(c.Largest, d)
		}
		if c.Records > 0 {
			changes = append(changes, c)
		}
	}
	return changes
}

// ChangesTable returns a table of changes.
func ChangesTable(changes []Change) Table {
	t := Table{Name: "changes", Title: "Columns that differ from their raw counts",
		Header: []string{"column", "records", "largest difference"}}
	for _, c := range changes {
		t.AddRow(c.Column, fmt.Sprint(c.Records), fmt.Sprintf("%.3g", c.Largest))
	}
	return t
}
