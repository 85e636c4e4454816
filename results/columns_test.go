package results

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// fields are the metrics that are columns of the file; quantities have a row each.
func fields() []Column {
	return slices.DeleteFunc(slices.Clone(Registry()), func(c Column) bool { return c.field < 0 })
}

// everything returns invented records with each metric in every repetition of
// two mechanisms and a baseline.
func everything(shift float64) []Record {
	var records []Record
	for _, mechanism := range []string{BaselineMechanism, "cmp", "vickrey"} {
		for repetition := range 3 {
			r := NewRecord()
			r.Study, r.Status, r.Index, r.Key = "made up", StatusOK, len(records), fmt.Sprint(len(records))
			r.Dataset, r.Embedding, r.Dimension, r.Model, r.Setting = "imdb", "made", 5, "svm", "local"
			r.Mechanism, r.Repetition = mechanism, repetition+1
			if mechanism != BaselineMechanism {
				r.Epsilon = 5
			}
			for i, c := range fields() {
				*c.of(&r) = Float(10 + float64(i) + shift + 0.01*float64(repetition))
			}
			records = append(records, r)
		}
	}
	return records
}

// A metric is one field of Record: every field with a title is in the file, the
// tables, the gate and the list without further code.
func TestEveryColumnIsEverywhere(t *testing.T) {
	if len(fields()) < 25 {
		t.Fatalf("%d columns", len(fields()))
	}
	records := everything(0)
	var file bytes.Buffer
	if err := Encode(&file, records); err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(file.String(), "\n")
	back, err := Decode("made.csv", &file)
	if err != nil {
		t.Fatal(err)
	}
	tables := Tables(TableInputs{Records: records})
	gate, err := Gate(records, everything(50), DefaultGateLevel)
	if err != nil {
		t.Fatal(err)
	}
	list := render(t, RegistryTable(), "md")
	for _, c := range fields() {
		if !slices.Contains(strings.Split(header, ","), c.Name) {
			t.Errorf("%s is not in the file", c.Name)
		}
		if got, want := c.Get(back[0]), c.Get(records[0]); got != want {
			t.Errorf("%s reads back as %v, not %v", c.Name, got, want)
		}
		if !slices.ContainsFunc(tables, func(table Table) bool {
			return strings.Contains(strings.ToLower(table.Title), strings.ToLower(c.Title)) ||
				slices.Contains(table.Header, c.Title)
		}) {
			t.Errorf("%s is in no table", c.Name)
		}
		failed := slices.ContainsFunc(gate.Tests, func(x GateTest) bool { return x.Metric == c.Name && x.Failed })
		if watched := c.Threshold > 0; failed != watched {
			t.Errorf("%s: watched %v, a change of 50 fails: %v", c.Name, watched, failed)
		}
		if !strings.Contains(list, "| "+c.Name+" ") {
			t.Errorf("%s is not listed", c.Name)
		}
	}
}

// A different struct: tags alone make columns, and wrong tags are errors.
func TestColumnsOf(t *testing.T) {
	type good struct {
		Key      string `csv:"key"`
		Found    int    `csv:"found"`
		Total    int    `csv:"total"`
		Surprise Float  `csv:"surprise" title:"Surprise" unit:"%" better:"down" gate:"1.5" digits:"1" count:"found/total"`
		Hidden   Float  `csv:"hidden"`
	}
	columns, err := columnsOf(reflect.TypeFor[good]())
	if err != nil || len(columns) != 1 {
		t.Fatalf("%+v, %v", columns, err)
	}
	c := columns[0]
	if c.Name != "surprise" || c.Direction != Down || c.Threshold != 1.5 || c.Digits != 1 || c.part != 1 ||
		c.whole != 2 || c.Heading() != "Surprise in %" {
		t.Errorf("%+v", c)
	}
	for want, bad := range map[string]reflect.Type{
		"type Float": reflect.TypeFor[struct {
			X int `csv:"x" title:"X"`
		}](),
		"better": reflect.TypeFor[struct {
			X Float `csv:"x" title:"X" better:"sideways"`
		}](),
		"gate": reflect.TypeFor[struct {
			X Float `csv:"x" title:"X" gate:"-1"`
		}](),
		"count": reflect.TypeFor[struct {
			X Float `csv:"x" title:"X" count:"a/b"`
		}](),
	} {
		if _, err := columnsOf(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A value absent from a file, a stored record or a row of one quantity was not
// measured and is never 0.
func TestAbsentIsNotZero(t *testing.T) {
	older := fmt.Sprintf("schema,study,key,index,mechanism,repetition,status,accuracy,english_found,english_tokens\n%d,s,a,0,cmp,1,ok,80,66,100\n", SchemaVersion)
	got, err := Decode("older.csv", strings.NewReader(older))
	if err != nil {
		t.Fatal(err)
	}
	derived, err := Derive(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Registry() {
		v := c.Get(derived[0])
		if measured := c.Name == "accuracy" || c.Name == "english"; v.Known() != measured {
			t.Errorf("%s = %v in a file without it", c.Name, v)
		}
	}
	var stored Record
	if err := stored.UnmarshalJSON([]byte(`{"Schema":4,"Accuracy":80}`)); err != nil {
		t.Fatal(err)
	}
	if stored.Accuracy != 80 || stored.Low.Known() || stored.LowOverlap.Known() {
		t.Errorf("%+v", stored)
	}
	row := NewRecord()
	row.Quantity, row.Value, row.Accuracy = "loss", 0.25, 80
	if row.Get("loss") != 0.25 || row.Get("accuracy").Known() || row.Get("no such").Known() {
		t.Error("a row of one quantity has that one alone")
	}
}

// Columns that no row has are left out of a file.
func TestEncodeLeavesOutWhatIsEmpty(t *testing.T) {
	var b strings.Builder
	if err := Encode(&b, []Record{cellRecord(1, 1, 800)}); err != nil {
		t.Fatal(err)
	}
	header, _, _ := strings.Cut(b.String(), "\n")
	for _, name := range []string{"low_overlap", "panel", "l_m", "command"} {
		if slices.Contains(strings.Split(header, ","), name) {
			t.Errorf("empty column %s is written", name)
		}
	}
}

func TestUnknownSchemaIsAnError(t *testing.T) {
	saved := migrations[3]
	delete(migrations, 3)
	defer func() { migrations[3] = saved }()
	_, err := Decode("old.csv", strings.NewReader("schema,study,key,index,mechanism,repetition,status\n3,s,a,0,cmp,1,ok\n"))
	if err == nil || !strings.Contains(err.Error(), "old.csv:2: schema = 3") ||
		!strings.Contains(err.Error(), "no migration") {
		t.Errorf("error %v", err)
	}
}

func TestOutcomesLieBesideTheRecords(t *testing.T) {
	path := t.TempDir() + "/results.csv"
	a, b := baselineRecord(0, 1, 2), baselineRecord(1, 2, 3)
	a.TestTotal, b.TestTotal, a.DatasetFingerprint, b.DatasetFingerprint = 10, 10, "f", "f"
	a.Correct = NewOutcomes([]bool{true, false, false, false, false, false, false, false, true, false})
	b.Correct = NewOutcomes([]bool{true, true, false, false, false, false, false, false, false, true})
	if err := Write(path, []Record{a, b}); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if onlyA, onlyB, ok := Disagree(got[0], got[1]); !ok || onlyA != 1 || onlyB != 2 {
		t.Errorf("%d and %d, %v; want 1 and 2", onlyA, onlyB, ok)
	}
	a.TestCorrect = 5 // of another run: the bits contradict it
	if err := Write(path, []Record{a, b}); err != nil {
		t.Fatal(err)
	}
	if got, err = Read(path); err != nil || got[0].Correct != "" || got[1].Correct == "" {
		t.Errorf("%+v, %v", got, err)
	}
	a.Correct, b.Correct = "", ""
	if err := Write(path, []Record{a, b}); err != nil {
		t.Fatal(err)
	}
	if got, err = Read(path); err != nil || got[1].Correct != "" {
		t.Errorf("an older file beside the records was read: %+v, %v", got, err)
	}
}
