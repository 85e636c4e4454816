package results

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// made is a made-up row: the accuracy of a cell of CMP.
func made(index, repetition, right int) Row {
	r := NewRow()
	r.Study, r.Index, r.Key, r.Repetition, r.Seed = "test", index, fmt.Sprint("k", index), repetition, 1
	r.Dataset, r.DatasetFingerprint, r.TrainItems, r.TestItems = "imdb", "docs", 100, 20
	r.Embedding, r.EmbeddingFingerprint, r.Dimension = "glove.6B", "vectors", 100
	r.Mechanism, r.Variant, r.Epsilon = "cmp", "proved", Float(5)
	r.Model, r.Setting, r.Measurement = "svm", "local", "accuracy@1"
	r.GuaranteeMetric, r.GuaranteeEpsilon = "euclidean", Float(5)
	return r.Of("accuracy", Share(right, 20))
}

// baseline is the same without privatisation.
func baseline(index, repetition, right int) Row {
	r := made(index, repetition, right)
	r.Mechanism, r.Variant, r.Epsilon, r.Setting, r.Promise = BaselineMechanism, "", Missing, "", Promise{}
	return r
}

func write(t *testing.T, name string, rows ...Row) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := Write(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}

// Rows come back in order, with every field that has a column, whatever its type, and
// with the outcomes of documents, which a file beside holds.
func TestRowsReadBackAsWritten(t *testing.T) {
	odd, full := made(1, 2, 7), Row{}
	odd.GuaranteeReason, odd.Value = "quotes \" and, commas\nand lines", Float(35)
	odd.Low, odd.Detail = Float(1.0/3), "a:1:2 b:3:4"
	odd.Items = NewOutcomes(append(make([]bool, 13), true, true, true, true, true, true, true))
	for i, f := range fields {
		v := reflect.ValueOf(&full).Elem().FieldByIndex(f.Index)
		switch v.Kind() {
		case reflect.String:
			v.SetString(fmt.Sprint("text ", i))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int:
			v.SetInt(int64(i + 1))
		case reflect.Uint64:
			v.SetUint(1<<63 + uint64(i))
		case reflect.Struct:
			v.Set(reflect.ValueOf(Float(float64(i) + 1.0/3)))
		default:
			t.Fatalf("%s: a type that files do not hold", f.Name)
		}
	}
	full.Schema, full.Rows, full.Status, full.Items = SchemaVersion, 0, StatusOK, ""
	want := []Row{baseline(0, 1, 16), odd, full}
	for _, name := range []string{"sub/results.csv", "results.csv.gz"} {
		path := write(t, name, odd, full, baseline(0, 1, 16))
		got, err := Read(path)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v:\n got %+v\nwant %+v", name, err, got, want)
		}
		if err := Write(path, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path); err != nil || len(got) != 0 {
			t.Errorf("no rows: %v, %v", got, err)
		}
	}
}

func TestBrokenFilesNameFileAndLine(t *testing.T) {
	multiline := made(1, 1, 8)
	multiline.GuaranteeReason = "two\nlines"
	path := write(t, "r.csv", baseline(0, 1, 16), multiline, made(2, 1, 8))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	last := good[strings.LastIndex(strings.TrimSpace(good), "\n")+1:]
	version := fmt.Sprintf("\n%d,", SchemaVersion)
	for name, c := range map[string]struct{ content, want string }{
		"empty":          {"", "r.csv: empty file"},
		"not results":    {"a,b\n1,2\n", `r.csv:1: no column "schema"`},
		"unknown column": {strings.Replace(good, ",dataset,", ",datset,", 1), `r.csv:1: unknown column "datset"`},
		"no status": {fmt.Sprintf("schema,rows,study,index,key,mechanism,repetition\n%d,1,s,0,k,none,1\n",
			SchemaVersion), `r.csv:1: no column "status"`},
		"cut at a row": {strings.TrimSuffix(good, last), "r.csv: 2 of 3 rows: the file was cut short or edited"},
		"cut in a row": {good[:len(good)-8], "r.csv:5: "},
		"column twice": {strings.Replace(good, ",study,", ",schema,", 1), `r.csv:1: column "schema" twice`},
		"number":       {strings.Replace(good, ",40,", ",4o,", 1), `r.csv:3: value: "4o" is not a number`},
		"edited":       {strings.Replace(good, ",40,", ",41,", 1), "r.csv:3: accuracy = 41: its counts 8 of 20 give 40"},
		"status":       {strings.Replace(good, ",ok,", ",fine,", 1), `r.csv:2: status = "fine"`},
		"a row more":   {good + last, "r.csv: 4 of 3 rows: the file was cut short or edited"},
		"repeated": {strings.ReplaceAll(good+last, version+"3,", version+"4,"),
			"r.csv:6: repeats line 5"},
		"older schema":  {strings.Replace(good, version, "\n4,", 1), `r.csv:2: schema = "4": this mldp reads 5`},
		"another width": {good + "1,2\n", "r.csv:6: wrong number of fields"},
	} {
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if err := os.WriteFile(path, []byte("\ufeff"+good), 0o644); err != nil {
		t.Fatal(err)
	}
	if rows, err := Read(path); err != nil || len(rows) != 3 {
		t.Errorf("with a byte order mark: %d rows, %v", len(rows), err)
	}
}

// Outcomes that contradict the counts are an error.
func TestOutcomes(t *testing.T) {
	right := []bool{true, false, true, true, false, false, false, false, true, true}
	m := Share(5, 10)
	m.Items = NewOutcomes(right)
	if got := m.Right(); !reflect.DeepEqual(got, right) {
		t.Errorf("got %v, want %v", got, right)
	}
	for name, broken := range map[string]Measured{
		"another count": {Part: 4, Whole: 10, Items: m.Items}, "another length": {Part: 5, Whole: 30, Items: m.Items},
		"no base64": {Part: 5, Whole: 10, Items: "?"}, "none": {Part: 5, Whole: 10},
	} {
		if broken.Right() != nil {
			t.Errorf("%s: %v", name, broken.Right())
		}
	}
	a := made(0, 1, 5)
	a.Measured = m
	a.Part, a.Value = 6, Float(60)
	if _, err := Read(write(t, "r.csv", a)); err == nil || !strings.Contains(err.Error(), "r.csv:2: correct: 5 bits in 2 bytes") {
		t.Errorf("outcomes of another count: %v", err)
	}
}
