package results

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gocarina/gocsv"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"mldpbench/internal/atomicfile"
)

// StatusOK and StatusUndefined are the values of Record.Status.
const (
	StatusOK        = "ok"
	StatusUndefined = "undefined"
)

// fileColumns are the columns of the current schema in file order.
var fileColumns = sync.OnceValue(func() []string {
	t := reflect.TypeFor[Record]()
	var names []string
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("csv"); name != "-" {
			names = append(names, name)
		}
	}
	return names
})

// TimingColumns are the columns in which two runs of one cell may differ:
// timing and the origin of the record.
var TimingColumns = func() []string {
	t := reflect.TypeFor[Record]()
	var names []string
	for i := range t.NumField() {
		if tag := t.Field(i).Tag; tag.Get("timing") != "" {
			names = append(names, tag.Get("csv"))
		}
	}
	return names
}()

// Sort orders records by position in the grid, then repetition and key, so a
// file does not depend on which unit finished first.
func Sort(records []Record) {
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Repetition, b.Repetition),
			strings.Compare(a.Key, b.Key))
	})
}

// Union joins the records of several runs, whose grids follow each other. A
// cell in two of them is kept once; it is an error if they report it
// differently.
func Union(runs ...[]Record) ([]Record, error) {
	var all []Record
	at := map[rowID]int{}
	offset := 0
	for _, run := range runs {
		next := offset
		for _, r := range run {
			r.Index += offset
			next = max(next, r.Index+1)
			if i, again := at[r.id()]; again {
				r.Index, r.Study = all[i].Index, all[i].Study // its position, which does not identify it
				if column := FirstDifference(all[i], r); column != "" {
					return nil, fmt.Errorf("cell %s: two runs differ in %s", r.Key, column)
				}
				continue
			}
			at[r.id()] = len(all)
			all = append(all, r)
		}
		offset = next
	}
	return all, nil
}

// Write stores records as CSV, sorted, replacing path in one step. Outcomes of
// test documents, where known, go to a separate file next to it.
func Write(path string, records []Record) error {
	if err := atomicfile.Write(path, 0o644, func(w io.Writer) error { return Encode(w, records) }); err != nil {
		return err
	}
	return writeOutcomes(outcomesFile(path), records)
}

// Encode writes records as CSV, sorted. Columns that are empty in every row are
// left out; each row holds the number of rows.
func Encode(w io.Writer, records []Record) error {
	sorted := slices.Clone(records)
	Sort(sorted)
	for i := range sorted {
		sorted[i].Rows = len(sorted)
	}
	var rows rowBuffer
	if err := gocsv.MarshalCSV(sorted, &rows); err != nil {
		return err
	}
	var kept []int
	for j, name := range rows.all[0] {
		if len(sorted) == 0 || slices.Contains(requiredColumns, name) ||
			slices.ContainsFunc(rows.all[1:], func(row []string) bool { return row[j] != "" }) {
			kept = append(kept, j)
		}
	}
	out := csv.NewWriter(w)
	line := make([]string, len(kept))
	for _, row := range rows.all {
		for i, j := range kept {
			line[i] = row[j]
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// requiredColumns are in every file of this schema.
var requiredColumns = []string{"schema", "rows", "study", "key", "index", "mechanism", "repetition", "status"}

// rowBuffer is a gocsv.CSVWriter that stores the rows.
type rowBuffer struct{ all [][]string }

func (b *rowBuffer) Write(row []string) error { b.all = append(b.all, slices.Clone(row)); return nil }
func (b *rowBuffer) Flush()                   {}
func (b *rowBuffer) Error() error             { return nil }

// Read loads a file written by Write, of this schema or an older one. Errors
// name file and line.
func Read(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, err := Decode(path, f)
	if err != nil {
		return nil, err
	}
	return records, readOutcomes(outcomesFile(path), records)
}

// Decode is Read from a stream; name is used in errors.
func Decode(name string, r io.Reader) ([]Record, error) {
	t, err := readTable(name, r)
	if err != nil {
		return nil, err
	}
	if err := t.migrate(); err != nil {
		return nil, err
	}
	var records []Record
	if len(t.rows) == 0 {
		return nil, nil
	}
	if err := gocsv.UnmarshalCSV(&t, &records); err != nil {
		return nil, t.locate(err)
	}
	return records, t.check(records)
}

// table is a CSV file in memory with the line of each row. It is a CSVReader
// of gocsv, positioned at the header.
type table struct {
	name   string
	header []string
	rows   [][]string
	lines  []int
	next   int
}

func readTable(name string, r io.Reader) (table, error) {
	t := table{name: name}
	// Spreadsheet programs write a byte order mark.
	reader := csv.NewReader(transform.NewReader(r, unicode.BOMOverride(transform.Nop)))
	for {
		row, err := reader.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			var parse *csv.ParseError
			if errors.As(err, &parse) {
				return t, fmt.Errorf("%s:%d: %v", name, parse.Line, parse.Err)
			}
			return t, fmt.Errorf("%s: %w", name, err)
		}
		if t.header == nil {
			t.header = row
			continue
		}
		line, _ := reader.FieldPos(0)
		t.rows, t.lines = append(t.rows, row), append(t.lines, line)
	}
	if t.header == nil {
		return t, fmt.Errorf("%s: empty file: no header", name)
	}
	for i, column := range t.header {
		if slices.Contains(t.header[:i], column) {
			return t, fmt.Errorf("%s:1: column %q twice", name, column)
		}
	}
	return t, nil
}

// Read and ReadAll make table a gocsv.CSVReader.
func (t *table) Read() ([]string, error) {
	t.next++
	switch {
	case t.next == 1:
		return t.header, nil
	case t.next-2 < len(t.rows):
		return t.rows[t.next-2], nil
	default:
		return nil, io.EOF
	}
}

func (t *table) ReadAll() ([][]string, error) {
	all := append([][]string{t.header}, t.rows...)
	t.next = len(all)
	return all, nil
}

// locate turns gocsv's row number into a line of the file, and its column
// number into a name.
func (t *table) locate(err error) error {
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		if row, column := parse.Line-2, parse.Column-1; row >= 0 && row < len(t.rows) && column >= 0 &&
			column < len(t.header) {
			return fmt.Errorf("%s:%d: %s: %v", t.name, t.lines[row], t.header[column], parse.Err)
		}
	}
	return fmt.Errorf("%s: %w", t.name, err)
}

// rowID identifies a row: a unit of a paper study has several rows with one
// key.
type rowID struct {
	key        string
	repetition int
	series, x  string // as text, so that a missing x equals itself
	quantity   string
}

func (r Record) id() rowID {
	x, _ := r.X.MarshalCSV() // never fails
	return rowID{r.Key, r.Repetition, r.Series, x, r.Quantity}
}

// check returns an error for a row that no run can have written.
func (t *table) check(records []Record) error {
	seen := map[rowID]int{}
	for i, r := range records {
		line := t.lines[i]
		if r.Status != StatusOK && r.Status != StatusUndefined {
			return fmt.Errorf("%s:%d: status = %q: must be %q or %q", t.name, line, r.Status, StatusOK, StatusUndefined)
		}
		k := r.id()
		if first, dup := seen[k]; dup {
			return fmt.Errorf("%s:%d: repeats line %d (key %s, repetition %d)", t.name, line, first, r.Key,
				r.Repetition)
		}
		seen[k] = line
	}
	for i := range records {
		if rows := records[i].Rows; rows > 0 && rows != len(records) {
			return fmt.Errorf("%s: %d of %d rows: the file was cut short or edited", t.name, len(records), rows)
		}
		records[i].Rows = 0 // of the file, not of the record
	}
	return nil
}

// A migration lifts a row by one version of the schema, in place.
type migration func(row map[string]string) error

// migrations[v] lifts version v to v+1. A new column is missing in older files;
// it needs no new version and is not named here.
var migrations = map[int]migration{
	1: func(row map[string]string) error {
		// Version 1 kept English % and the number of tokens; version 2 keeps
		// the count that the percentage came from.
		if row["english"] == "" {
			return nil
		}
		percent, err := strconv.ParseFloat(row["english"], 64)
		if err != nil {
			return fmt.Errorf("english: %q is not a number", row["english"])
		}
		tokens, err := strconv.Atoi(row["english_tokens"])
		if err != nil {
			return fmt.Errorf("english_tokens: %q is not a number", row["english_tokens"])
		}
		row["english_found"] = strconv.Itoa(int(percent/100*float64(tokens) + 0.5))
		return nil
	},
	// Version 2 counted CS as measuring and had no command.
	2: unchanged,
	// Version 3 had no rows of paper studies.
	3: unchanged,
}

func unchanged(map[string]string) error { return nil }

// liftPoints turns a file of points, the older format of paper studies, into
// one of schema 3: its columns are a subset of ours, and its own schema was 1.
func (t *table) liftPoints() error {
	schema, key := slices.Index(t.header, "schema"), slices.Index(t.header, "key")
	if schema < 0 || key < 0 {
		return fmt.Errorf("%s:1: no column %q: not a results file", t.name, "schema")
	}
	t.header = append(t.header, "status", "index")
	units := map[string]int{}
	for i, row := range t.rows {
		if row[schema] != "1" {
			return fmt.Errorf("%s:%d: schema = %q of points: this mldp reads 1", t.name, t.lines[i], row[schema])
		}
		row[schema] = "3"
		if _, ok := units[row[key]]; !ok {
			units[row[key]] = len(units)
		}
		t.rows[i] = append(row, StatusOK, strconv.Itoa(units[row[key]]))
	}
	return nil
}

// migrate brings all rows to SchemaVersion. A column absent from the file
// counts as not measured; a column unknown to this version is an error.
func (t *table) migrate() error {
	columns := fileColumns()
	if slices.Contains(t.header, "quantity") && !slices.Contains(t.header, "status") {
		if err := t.liftPoints(); err != nil {
			return err
		}
	}
	at := slices.Index(t.header, "schema")
	if at < 0 {
		return fmt.Errorf("%s:1: no column %q: not a results file", t.name, "schema")
	}
	for _, c := range t.header {
		if !slices.Contains(columns, c) {
			return fmt.Errorf("%s:1: unknown column %q (schema %d)", t.name, c, SchemaVersion)
		}
	}
	for i, row := range t.rows {
		version, err := strconv.Atoi(row[at])
		if err != nil || version < 1 {
			return fmt.Errorf("%s:%d: schema = %q: must be a version >= 1", t.name, t.lines[i], row[at])
		}
		if version > SchemaVersion {
			return fmt.Errorf("%s:%d: schema = %d: this mldp reads up to %d; use a newer one", t.name, t.lines[i],
				version, SchemaVersion)
		}
		named := make(map[string]string, len(columns))
		for j, c := range t.header {
			named[c] = row[j]
		}
		if version == SchemaVersion {
			for _, c := range requiredColumns {
				if _, ok := named[c]; !ok && c != "rows" {
					return fmt.Errorf("%s:1: no column %q (schema %d)", t.name, c, SchemaVersion)
				}
			}
		}
		for ; version < SchemaVersion; version++ {
			m, ok := migrations[version]
			if !ok {
				return fmt.Errorf("%s:%d: schema = %d: this mldp cannot read it: no migration to schema %d", t.name,
					t.lines[i], version, version+1)
			}
			if err := m(named); err != nil {
				return fmt.Errorf("%s:%d: from schema %d: %w", t.name, t.lines[i], version, err)
			}
		}
		named["schema"] = strconv.Itoa(SchemaVersion)
		lifted := make([]string, len(columns))
		for j, c := range columns {
			lifted[j] = named[c]
		}
		t.rows[i] = lifted
	}
	t.header = columns
	return nil
}

// WriteRows writes a slice of structs with csv tags as CSV.
func WriteRows(w io.Writer, rows any) error { return gocsv.Marshal(rows, w) }

// RowWriter writes such structs one by one; the header comes before the first.
func RowWriter[T any](w io.Writer) func(T) error {
	marshal := gocsv.Marshal
	return func(row T) error {
		err := marshal([]T{row}, w)
		marshal = gocsv.MarshalWithoutHeaders
		return err
	}
}
