package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mldpbench/datasets/table"
)

// ticket is a row whose body alone is privatised.
type ticket struct {
	Ticket   int64    `parquet:"ticket" json:"ticket"`
	Body     string   `parquet:"body" json:"body"`
	Customer *string  `parquet:"customer,optional" json:"customer"`
	CC       []string `parquet:"cc,list" json:"cc"`
}

// Of a table of every format standard error and the report say which columns were copied,
// and how many of their values have an @.
func TestColumnsThatAreCopied(t *testing.T) {
	address := "ann@x.org"
	dir := t.TempDir()
	space := filepath.Join(dir, "v.txt")
	writeFile(t, space, "cat 1 0\ndog 0 1\nidea 2 2\n")
	var rows []ticket
	var objects bytes.Buffer
	fields := "body,ticket, customer ,cc\n"
	for i := range 3000 {
		row := ticket{Ticket: int64(i), Body: "cat q@x.org", CC: []string{"b"}}
		customer := "none"
		if i%3 > 0 {
			row.Customer = &address
			customer = address
		}
		if i%2 == 0 {
			row.CC = []string{"a@b", "c@d"}
		}
		rows = append(rows, row)
		fields += row.Body + ",1," + customer + "," + strings.Join(row.CC, " ") + "\n"
		if err := json.NewEncoder(&objects).Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	var columns bytes.Buffer
	if err := parquet.Write(&columns, rows); err != nil {
		t.Fatal(err)
	}
	_, numbered, _ := strings.Cut(fields, "\n")
	const said = "columns copied unchanged: ticket, customer (2,000 values with @), cc (1,500 values with @)\n"
	for name, c := range map[string]struct {
		data, said string
		args       []string
		want       []table.Copied
	}{
		"t.csv":   {fields, said, nil, nil},
		"t.tsv":   {strings.ReplaceAll(fields, ",", "\t"), said, nil, nil},
		"t.jsonl": {objects.String(), said, nil, nil},
		"t.json": {"[" + strings.ReplaceAll(strings.TrimSpace(objects.String()), "\n", ",") + "]", said, nil,
			[]table.Copied{{Column: "ticket"}, {Column: "customer", At: 2000}, {Column: "cc", At: 1500}}},
		"t.parquet": {columns.String(),
			"columns copied unchanged: ticket, customer (2,000 values with @), cc (3,000 values with @)\n",
			nil, nil},
		"n.csv": {numbered, "columns copied unchanged: 2, 3 (2,000 values with @), 4 (1,500 values with @)\n",
			[]string{"--no-header", "--column", "1"}, nil},
		"b.csv": {strings.Repeat("body\n", 9), "", nil, nil},
		"two.csv": {fields, "columns copied unchanged: ticket, cc (1,500 values with @)\n",
			[]string{"--column", "customer"}, nil},
		"in.txt": {"cat\ndog\n", "", []string{}, nil},
	} {
		file := filepath.Join(dir, name)
		writeFile(t, file, c.data)
		report := filepath.Join(dir, name+".report")
		args := []string{"privatize", "--mechanism", "k-rr", "--epsilon", "1", "--embedding", space, file, "--report", report,
			"--out", filepath.Join(dir, "out-"+name)}
		if name != "in.txt" && name != "n.csv" {
			args = append(args, "--column", "body")
		}
		code, out := mldp(t, append(args, c.args...)...)
		if code != exitOK {
			t.Fatalf("%s: exit code %d: %s", name, code, out)
		}
		n := strings.Count(out, "columns copied unchanged: ")
		if !strings.Contains(out, c.said) || n != min(1, len(c.said)) {
			t.Errorf("%s: says\n%s\nwant once %q", name, out, c.said)
		}
		var got struct {
			Copied     []table.Copied `json:"copied_unchanged"`
			Statements []string
		}
		text, err := os.ReadFile(report)
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.want != nil && !reflect.DeepEqual(got.Copied, c.want) {
			t.Errorf("%s: the report has %+v, want %+v", name, got.Copied, c.want)
		}
		if c.said != "" && !strings.Contains(strings.Join(got.Statements, "\n")+"\n", c.said) {
			t.Errorf("%s: the report says %q, want %q", name, got.Statements, c.said)
		}
	}
}
