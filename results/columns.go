package results

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"mldpbench/metrics"
)

// Direction is the direction in which a metric is better.
type Direction int

const (
	Neither Direction = iota
	Up
	Down
)

// Column is a metric: one field of Record that has a title.
type Column struct {
	Name  string // in CSV
	Title string // in tables and figures
	Unit  string // "%", "×100" or ""
	// Direction tells whether more is better, in terms of the utility or
	// privacy that the metric measures.
	Direction Direction
	Digits    int     // printed after the point
	Threshold float64 // threshold of the gate, in the column's unit; 0: not watched
	Table     string  // shared with other columns; "": a separate table
	OfModel   bool    // depends on the classifier, not on the text alone
	Derived   bool    // follows from other records of the file

	field       int
	part, whole int // fields of the counts it is the percentage of; -1: none
}

// Get returns the value of the column in a record, missing where it was not
// measured. A row with one quantity has only that one.
func (c Column) Get(r Record) Float {
	if r.Quantity != "" {
		if r.Quantity == c.Name {
			return r.Value
		}
		return Missing
	}
	if c.field < 0 {
		return Missing
	}
	return *c.of(&r)
}

func (c Column) of(r *Record) *Float {
	return reflect.ValueOf(r).Elem().Field(c.field).Addr().Interface().(*Float)
}

// Heading returns the title with its unit.
func (c Column) Heading() string {
	switch c.Unit {
	case "":
		return c.Title
	case "%":
		return c.Title + " in %"
	}
	return c.Title + " " + c.Unit
}

// Registry lists every metric in the order of the file. CSV, tables, gate,
// figures, report and comparisons all use it: a new metric is one field of
// Record, or a quantity that its package registers.
var Registry = sync.OnceValue(func() []Column {
	columns, err := columnsOf(reflect.TypeFor[Record]())
	if err != nil {
		panic("results: " + err.Error()) // a tag of Record is wrong; a test reads them all
	}
	return append(columns, quantities...)
})

var quantities []Column

// RegisterQuantity adds a metric that occurs only in rows with one quantity and
// needs no separate column: name, title, unit, direction and digits. It is
// called from init functions only.
func RegisterQuantity(c Column) {
	c.field, c.part, c.whole = -1, -1, -1
	quantities = append(quantities, c)
}

// columnsOf reads the tags of a struct of this kind.
func columnsOf(t reflect.Type) ([]Column, error) {
	var columns []Column
	field := func(name string) int {
		for i := range t.NumField() {
			if t.Field(i).Tag.Get("csv") == name && t.Field(i).Type.Kind() == reflect.Int {
				return i
			}
		}
		return -1
	}
	for i := range t.NumField() {
		f := t.Field(i)
		title, ok := f.Tag.Lookup("title")
		if !ok {
			continue
		}
		if f.Type != reflect.TypeFor[Float]() {
			return nil, fmt.Errorf("field %s: a metric must be able to be missing: type Float", f.Name)
		}
		c := Column{
			Name: f.Tag.Get("csv"), Title: title, Unit: f.Tag.Get("unit"), Table: f.Tag.Get("table"), Digits: 2,
			OfModel: f.Tag.Get("of") == "model", Derived: f.Tag.Get("derived") != "", field: i, part: -1, whole: -1,
		}
		switch better := f.Tag.Get("better"); better {
		case "up":
			c.Direction = Up
		case "down":
			c.Direction = Down
		case "":
		default:
			return nil, fmt.Errorf("field %s: better = %q: must be \"up\" or \"down\"", f.Name, better)
		}
		var err error
		if digits := f.Tag.Get("digits"); digits != "" {
			if c.Digits, err = strconv.Atoi(digits); err != nil {
				return nil, fmt.Errorf("field %s: digits = %q: must be a number", f.Name, digits)
			}
		}
		if gate := f.Tag.Get("gate"); gate != "" {
			if c.Threshold, err = strconv.ParseFloat(gate, 64); err != nil || !(c.Threshold > 0) {
				return nil, fmt.Errorf("field %s: gate = %q: must be a number > 0", f.Name, gate)
			}
		}
		if count := f.Tag.Get("count"); count != "" {
			part, whole, _ := strings.Cut(count, "/")
			if c.part, c.whole = field(part), field(whole); c.part < 0 || c.whole < 0 {
				return nil, fmt.Errorf("field %s: count = %q: must name two columns of counts as part/whole", f.Name,
					count)
			}
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// FindColumn returns a metric by its name.
func FindColumn(name string) (Column, error) {
	for _, c := range Registry() {
		if c.Name == name {
			return c, nil
		}
	}
	return Column{}, fmt.Errorf("metric = %q: no such column; mldp metrics lists them", name)
}

// column is FindColumn for names that are constants in this package.
func column(name string) Column {
	c, err := FindColumn(name)
	if err != nil {
		panic("results: " + err.Error())
	}
	return c
}

// Get returns the value of a metric by name, missing where it was not measured.
func (r Record) Get(name string) Float {
	c, err := FindColumn(name)
	if err != nil {
		return Missing
	}
	return c.Get(r)
}

// recount sets the column from its counts. Without any (a total of 0) it is
// unchanged.
func (c Column) recount(r *Record) {
	if c.part < 0 {
		return
	}
	v := reflect.ValueOf(r).Elem()
	if whole := int(v.Field(c.whole).Int()); whole > 0 && (c.of(r).Known() || c.counted()) {
		*c.of(r) = Float(metrics.Percent(int(v.Field(c.part).Int()), whole))
	}
}

// counted reports whether a total alone shows that the column was counted,
// which is not so where an earlier column has the same total.
func (c Column) counted() bool {
	for _, o := range Registry() {
		if o.whole == c.whole {
			return o.field == c.field
		}
	}
	return true
}

// Measured returns the metrics that some record has.
func Measured(records []Record) []Column {
	var found []Column
	for _, c := range Registry() {
		for _, r := range records {
			if c.Get(r).Known() {
				found = append(found, c)
				break
			}
		}
	}
	return found
}

// RegistryTable returns a table of the metrics.
func RegistryTable() Table {
	t := Table{
		Name: "metrics", Title: "Metrics",
		Header: []string{"column", "metric", "unit", "better", "gate", "of", "counts"},
	}
	record := reflect.TypeFor[Record]()
	for _, c := range Registry() {
		better := map[Direction]string{Neither: "", Up: "higher", Down: "lower"}[c.Direction]
		gate, of, counts := "", "the text", ""
		if c.Threshold > 0 {
			gate = fmt.Sprintf("%g", c.Threshold)
		}
		if c.OfModel {
			of = "the classifier"
		}
		if c.part >= 0 {
			counts = record.Field(c.part).Tag.Get("csv") + " of " + record.Field(c.whole).Tag.Get("csv")
		}
		t.AddRow(c.Name, c.Title, c.Unit, better, gate, of, counts)
	}
	t.Legend = "Gate: the change of a mean that mldp check never calls a regression; none means not watched."
	return t
}
