package results

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mldpbench/results/quantity"

	"github.com/gocarina/gocsv"
	"gonum.org/v1/gonum/floats/scalar"

	"mldpbench/datasets/table"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/list"
)

// Sort orders rows by position in the plan, then repetition, key and quantity,
// so a file does not depend on which unit finished first.
func Sort(rows []Row) {
	slices.SortStableFunc(rows, func(a, b Row) int {
		switch {
		case a.Index != b.Index:
			return cmp.Compare(a.Index, b.Index)
		case a.Repetition != b.Repetition:
			return cmp.Compare(a.Repetition, b.Repetition)
		}
		return strings.Compare(a.Key, b.Key)
	})
}

// File returns the path of the rows of a run: results.csv or results.csv.gz in a
// folder, and any other path unchanged.
func File(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, err
	}
	path = filepath.Join(path, "results.csv")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	} else if _, err := os.Stat(path + ".gz"); err == nil {
		return path + ".gz", nil
	}
	return path, nil
}

// Write stores rows as CSV, sorted, gzipped where the path ends in .gz,
// replacing path in one step.
func Write(path string, rows []Row) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		return table.Compressed(w, path, func(w io.Writer) error { return encode(w, rows) })
	})
}

// requiredColumns are in every file.
var requiredColumns = []string{"schema", "rows", "study", "index", "key", "mechanism", "repetition", "status",
	"measurement", "quantity", "value"}

// numbers are the columns in which 0 is a number, not the lack of one.
var numbers = func() map[string]bool {
	all := map[string]bool{}
	for _, f := range fields {
		all[f.Tag.Get("csv")] = f.Type == reflect.TypeFor[Optional]()
	}
	return all
}()

// encode writes rows as CSV, sorted. Columns that are empty in every row are
// left out; each row holds the number of rows.
func encode(w io.Writer, rows []Row) error {
	sorted := slices.Clone(rows)
	Sort(sorted)
	for i := range sorted {
		sorted[i].Rows = len(sorted)
		sorted[i].Schema = SchemaVersion
	}
	var t lines
	if err := gocsv.MarshalCSV(sorted, &t); err != nil {
		return err
	}
	var kept []int
	for j, name := range t.all[0] {
		if slices.Contains(requiredColumns, name) ||
			slices.ContainsFunc(t.all[1:], func(row []string) bool {
				return row[j] != "" && (numbers[name] || row[j] != "0" && row[j] != "false")
			}) {
			kept = append(kept, j)
		}
	}
	return csv.NewWriter(w).WriteAll(list.Map(t.all, func(row []string) []string {
		return list.Map(kept, func(j int) string { return row[j] })
	}))
}

// Read loads a file written by Write. Errors name file and line.
func Read(path string) ([]Row, error) {
	return read(path, func(r io.Reader) ([]Row, error) { return decode(path, r) })
}

// read parses a file, unzipped.
func read[T any](path string, parse func(io.Reader) (T, error)) (out T, err error) {
	f, err := table.OpenText(path)
	if err != nil {
		return out, err
	}
	defer f.Close()
	return parse(f)
}

// Bytes is the content of a file, unzipped.
func Bytes(path string) ([]byte, error) { return read(path, io.ReadAll) }

// ReadRows reads a file into structs with csv tags.
func ReadRows[T any](path string) ([]T, error) {
	return read(path, func(r io.Reader) ([]T, error) {
		t, err := readLines(path, r)
		if err != nil {
			return nil, err
		}
		return unmarshal[T](t)
	})
}

// fields are the columns of a file.
var fields = slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Row]()), func(f reflect.StructField) bool {
	return f.Anonymous || f.Tag.Get("csv") == "-"
})

// decode is Read from a stream; name is used in errors.
func decode(name string, r io.Reader) ([]Row, error) {
	t, err := readLines(name, r)
	if err != nil {
		return nil, err
	}
	if err := t.checkHeader(); err != nil {
		return nil, err
	}
	rows, err := unmarshal[Row](t)
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		if now := quantity.NameNow(r.Quantity); now != r.Quantity {
			rows[i].Quantity = now
			rows[i].FormerName = r.Quantity
		}
	}
	return rows, t.check(rows)
}

// lines is a CSV file in memory with the line of each row, the header first.
type lines struct {
	name string
	all  [][]string
	at   []int
}

// readLines reads a CSV file whose columns have names of their own; errors name its line.
func readLines(name string, r io.Reader) (t lines, err error) {
	t.name = name
	reader := csv.NewReader(r)
	for {
		row, err := reader.Read()
		if err == io.EOF {
			break
		}
		var parse *csv.ParseError
		if errors.As(err, &parse) {
			return t, fmt.Errorf("%s:%d: %v", name, parse.Line, parse.Err)
		}
		if err != nil {
			return t, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := reader.FieldPos(0)
		t.all = append(t.all, row)
		t.at = append(t.at, line)
	}
	if len(t.all) == 0 {
		return t, fmt.Errorf("%s: empty file: no header", name)
	}
	for i, column := range t.all[0] {
		if slices.Contains(t.all[0][:i], column) {
			return t, fmt.Errorf("%s:1: column %q twice", name, column)
		}
	}
	return t, nil
}

// Its methods make lines a gocsv.CSVReader, which reads all, and a gocsv.CSVWriter.
func (t lines) Read() ([]string, error)      { return nil, io.EOF }
func (t lines) ReadAll() ([][]string, error) { return t.all, nil }
func (t *lines) Write(row []string) error    { t.all = append(t.all, slices.Clone(row)); return nil }
func (t *lines) Flush()                      {}
func (t *lines) Error() error                { return nil }

// unmarshal makes structs with csv tags of the lines; errors name line and column.
func unmarshal[T any](t lines) (rows []T, err error) {
	if len(t.all) == 1 {
		return nil, nil
	}
	err = gocsv.UnmarshalCSV(t, &rows)
	var parse *csv.ParseError
	if errors.As(err, &parse) { // its line is a row's number, its column a position
		row := parse.Line - 1
		column := parse.Column - 1
		if row > 0 && row < len(t.all) && column >= 0 && column < len(t.all[0]) {
			return nil, fmt.Errorf("%s:%d: %s: %v", t.name, t.at[row], t.all[0][column], parse.Err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	return rows, nil
}

// checkHeader returns an error for a file of another schema, or with columns too many or too few.
func (t lines) checkHeader() error {
	header := t.all[0]
	schema := slices.Index(header, "schema")
	if schema < 0 {
		return fmt.Errorf("%s:1: no column %q: not a results file", t.name, "schema")
	}
	for i, row := range t.all[1:] {
		if row[schema] != strconv.Itoa(SchemaVersion) {
			return fmt.Errorf("%s:%d: schema = %q: this mldp reads %d: run the study again with it", t.name, t.at[i+1],
				row[schema], SchemaVersion)
		}
	}
	for _, c := range header {
		if !slices.ContainsFunc(fields, func(f reflect.StructField) bool {
			return f.Tag.Get("csv") == c
		}) {
			return fmt.Errorf("%s:1: unknown column %q (schema %d)", t.name, c, SchemaVersion)
		}
	}
	for _, c := range requiredColumns {
		if !slices.Contains(header, c) {
			return fmt.Errorf("%s:1: no column %q (schema %d)", t.name, c, SchemaVersion)
		}
	}
	return nil
}

// rowID identifies a row.
type rowID struct {
	key, quantity string
	Place
}

func (r Row) id() rowID {
	return rowID{r.Key, r.Quantity, Place{
		Dataset:         r.Dataset,
		Embedding:       r.Embedding,
		Label:           r.Label,
		Parameters:      r.Parameters,
		Repetition:      r.Repetition,
		Model:           r.Model,
		ModelParameters: r.ModelParameters,
		Setting:         r.Setting,
	}}
}

// check returns an error for a row that no run can have written.
func (t lines) check(rows []Row) error {
	seen := map[rowID]int{}
	for i, r := range rows {
		line := t.at[i+1]
		if r.Status != StatusOK && r.Status != StatusUndefined {
			return fmt.Errorf("%s:%d: status = %q: must be %q or %q", t.name, line, r.Status, StatusOK, StatusUndefined)
		}
		if first, again := seen[r.id()]; again {
			return fmt.Errorf("%s:%d: repeats line %d (key %s, %s, repetition %d)", t.name, line, first, r.Key,
				r.Quantity, r.Repetition)
		}
		seen[r.id()] = line
		if share, wrong := r.contradicts(); wrong {
			return fmt.Errorf("%s:%d: %s = %v: its counts %d of %d give %v", t.name, line, r.Quantity,
				r.Value.Float(), r.Part, r.Whole, share)
		}
		if _, err := r.Items.unpack(r.Part, r.Whole); r.Items != "" && err != nil {
			return fmt.Errorf("%s:%d: %w", t.name, line, err)
		}
		if r.Rows > 0 && r.Rows != len(rows) {
			return fmt.Errorf("%s: %d of %d rows: the file was cut short or edited", t.name, len(rows), r.Rows)
		}
		rows[i].Rows = 0 // of the file, not of the row
	}
	return nil
}

// contradicts returns the share that the counts of a row give, and whether its value is another.
func (r Row) contradicts() (share float64, wrong bool) {
	c, err := quantity.Find(r.Quantity)
	if err != nil || !c.Counted || r.Whole <= 0 || !r.Value.Known() {
		return 0, false
	}
	share = Share(r.Part, r.Whole).Value.Float()
	return share, !scalar.EqualWithinAbs(share, r.Value.Float(), 1e-9)
}

// originColumns differ between two runs of one unit, or state its position; or
// earlier records lack them.
var originColumns = []string{"schema", "rows", "study", "index", "task", "label", "seconds", "version", "machine",
	"correct", "program", "resources"}

// FirstDifference returns the first column in which two rows of one unit
// differ, except for their origin and for timing; "" if they are the same.
func FirstDifference(a, b Row) string {
	if c, err := quantity.Find(a.Quantity); err == nil && c.Timing && a.Quantity == b.Quantity {
		return ""
	}
	va := reflect.ValueOf(a)
	vb := reflect.ValueOf(b)
	for _, f := range fields {
		name := f.Tag.Get("csv")
		if !slices.Contains(originColumns, name) &&
			va.FieldByIndex(f.Index).Interface() != vb.FieldByIndex(f.Index).Interface() {
			return name
		}
	}
	return ""
}
