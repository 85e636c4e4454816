package results

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// same compares records with missing equal to missing.
func same(a, b Record) bool {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		x, y := va.Field(i).Interface(), vb.Field(i).Interface()
		if f, ok := x.(Float); ok && !f.Known() && !y.(Float).Known() {
			continue
		}
		if x != y {
			return false
		}
	}
	return true
}

func TestWriteReadRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "results.csv")
	odd := cellRecord(1, 2, 700)
	odd.GuaranteeReason = "quotes \" and, commas\nand lines"
	odd.Accuracy = 1.0 / 3
	records := []Record{odd, baselineRecord(0, 1, 1600), cellRecord(2, 1, 800)}
	if err := Write(path, records); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Record{records[1], odd, records[2]} {
		if !same(got[i], want) {
			t.Errorf("record %d:\n got %+v\nwant %+v", i, got[i], want)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if marked, err := Decode(path, strings.NewReader("\ufeff"+string(text))); err != nil || len(marked) != 3 {
		t.Errorf("with a byte order mark: %d records, %v", len(marked), err)
	}
	if err := Write(path, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(path); err != nil || len(got) != 0 {
		t.Errorf("no records: %v, %v", got, err)
	}
}

func TestReadErrorsNameFileAndLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.csv")
	multiline := cellRecord(1, 1, 800)
	multiline.GuaranteeReason = "two\nlines"
	if err := Write(path, []Record{baselineRecord(0, 1, 1600), multiline, cellRecord(2, 1, 800)}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	current := fmt.Sprintf("\n%d,test", SchemaVersion)
	header, body, _ := strings.Cut(good, "\n")
	for name, c := range map[string]struct{ content, want string }{
		"empty":       {"", "r.csv: empty file"},
		"not results": {"a,b\n1,2\n", `r.csv:1: no column "schema"`},
		"unknown column": {strings.Replace(good, "test_correct,", "test_corect,", 1),
			`r.csv:1: unknown column "test_corect"`},
		"lost column": {strings.Replace(good, "index,rows", "rows,rows2", 1), `r.csv:1: unknown column "rows2"`},
		"no status": {"schema,study,key,index,mechanism,repetition\n" +
			fmt.Sprintf("%d,test,a,0,none,1\n", SchemaVersion), `r.csv:1: no column "status"`},
		"cut at a row": {good[:strings.LastIndex(strings.TrimSpace(good), "\n")+1],
			"r.csv: 2 of 3 rows: the file was cut short"},
		"twice": {strings.Replace(header, "study", "schema", 1) + "\n" + body, `r.csv:1: column "schema" twice`},
		// The record before the broken one spans two lines: 5, not 4.
		"number":       {strings.Replace(good, ",800,2000", ",8o0,2000", 2), "r.csv:3: test_correct"},
		"later number": {replaceLast(good, ",800,2000", ",8o0,2000"), "r.csv:5: test_correct"},
		"ragged":       {good + "1,2\n", "r.csv:6: wrong number of fields"},
		"schema": {strings.Replace(good, current, fmt.Sprintf("\n%d,test", SchemaVersion+1), 1),
			fmt.Sprintf("r.csv:2: schema = %d", SchemaVersion+1)},
		"no schema": {strings.Replace(good, current, "\nx,test", 1), `r.csv:2: schema = "x"`},
		"status":    {replaceLast(good, ",ok,", ",fine,"), `r.csv:5: status = "fine"`},
		"duplicate": {good + good[strings.LastIndex(strings.TrimSpace(good), "\n")+1:], "r.csv:6: repeats line 5"},
	} {
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "absent.csv")); err == nil {
		t.Error("an absent file must be an error")
	}
}

func replaceLast(s, old, new string) string {
	i := strings.LastIndex(s, old)
	return s[:i] + new + s[i+len(old):]
}

// testdata/schema1.csv was written by the code of schema 1.
func TestReadMigratesSchema1(t *testing.T) {
	got, err := Read(filepath.Join("testdata", "schema1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 {
		t.Fatalf("%d records, want 2", len(got))
	}
	r := got[1]
	if r.Schema != SchemaVersion || r.Mechanism != "cmp" || r.EnglishTokens != 3000 {
		t.Errorf("%+v", r)
	}
	if r.EnglishFound != 2001 { // 66.7% of 3000
		t.Errorf("english_found = %d, want 2001", r.EnglishFound)
	}
	if r.SwExact.Known() || r.EMMapLower.Known() {
		t.Error("what schema 1 did not measure must be missing, not 0")
	}
}

func FuzzDecode(f *testing.F) {
	path := filepath.Join("testdata", "schema1.csv")
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add("schema\n1\n")
	f.Add("schema,study\n2,\"a\nb\"\n")
	f.Fuzz(func(t *testing.T, content string) {
		records, err := Decode("fuzz.csv", strings.NewReader(content))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz.csv:") {
				t.Errorf("error without its file: %v", err)
			}
			return
		}
		var again strings.Builder
		if err := Encode(&again, records); err != nil {
			t.Fatal(err)
		}
		back, err := Decode("again.csv", strings.NewReader(again.String()))
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if len(back) != len(records) {
			t.Fatalf("%d records became %d", len(records), len(back))
		}
	})
}

func TestUnion(t *testing.T) {
	first := []Record{baselineRecord(0, 1, 1600), cellRecord(1, 1, 800)}
	again := baselineRecord(0, 1, 1600)
	again.Study, again.Command, again.TrainSeconds = "other", "mldp run other", 3
	other := cellRecord(1, 1, 900)
	other.Key, other.Study = "other", "other"
	all, err := Union(first, []Record{again, other})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || all[2].Key != "other" || all[2].Index <= all[1].Index {
		t.Errorf("%+v", all)
	}
	again.TestCorrect++
	if _, err := Union(first, []Record{again}); err == nil || !strings.Contains(err.Error(), "differ in test_correct") {
		t.Errorf("a cell that two runs report differently: %v", err)
	}
}

// A file of points, the older format of paper studies.
func TestReadLiftsPoints(t *testing.T) {
	header := "schema,study,key,panel,series,x_name,x,quantity,repetition,value,dataset,generated,embedding,dimension,mechanism,variant,parameters,epsilon,guarantee_metric,guarantee_reason,note\n"
	got, err := Decode("points.csv", strings.NewReader(header+
		"1,s,u1,a,CMP,epsilon,5,loss,0,0.25,d,true,generated,50,cmp,proved,,5,euclidean,,\n"+
		"1,s,u1,a,CMP,epsilon,5,loss,1,0.5,d,true,generated,50,cmp,proved,,5,euclidean,,\n"+
		"1,s,u2,a,plain,epsilon,,loss,0,0,d,true,generated,50,none,,,,,,same\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[0].Schema != SchemaVersion || got[1].Value != 0.5 || got[2].Index != 1 ||
		got[2].X.Known() || got[2].Note != "same" {
		t.Errorf("%+v", got)
	}
	if got[0].Accuracy.Known() || got[0].Status != StatusOK {
		t.Error("what points did not hold must be missing")
	}
	if _, err := Decode("points.csv", strings.NewReader(header+"2,s,u,a,b,c,,loss,0,0,,true,,0,,,,,,,\n")); err == nil {
		t.Error("points of another schema were accepted")
	}
}
