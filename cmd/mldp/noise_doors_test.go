package main

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mldpbench/mechanisms/external"
	"mldpbench/stream"
)

// release privatises a table of texts at a door.
type release struct {
	t       *testing.T
	dir     string
	vectors string
}

func newRelease(t *testing.T) release {
	r := release{t: t, dir: t.TempDir()}
	r.vectors = filepath.Join(r.dir, "vectors.txt")
	writeFile(t, r.vectors, noiseVectors())
	return r
}

// write writes a table of columns, in the format of a suffix.
func (r release) write(suffix string, names []string, columns ...[]string) string {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "in"+suffix)
	var b bytes.Buffer
	var err error
	switch suffix {
	case ".txt":
		b.WriteString(strings.Join(columns[0], "\n") + "\n")
	case ".csv", ".tsv":
		w := csv.NewWriter(&b)
		if suffix == ".tsv" {
			w.Comma = '\t'
		}
		err = w.Write(names)
		for i := range columns[0] {
			var row []string
			for _, c := range columns {
				row = append(row, c[i])
			}
			_ = w.Write(row) // a later error of b, which has none
		}
		w.Flush()
	case ".jsonl", ".json":
		var rows []map[string]string
		for i := range columns[0] {
			row := map[string]string{}
			for j, c := range columns {
				row[names[j]] = c[i]
			}
			rows = append(rows, row)
		}
		e := json.NewEncoder(&b)
		if suffix == ".json" {
			err = e.Encode(rows)
			break
		}
		for _, row := range rows {
			err = e.Encode(row)
		}
	case ".parquet":
		var rows []noiseRow
		for i := range columns[0] {
			rows = append(rows, noiseRow{columns[0][i], columns[len(columns)-1][i]})
		}
		err = parquet.Write(&b, rows)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	writeFile(r.t, file, b.String())
	return file
}

type noiseRow struct {
	Body  string `parquet:"body" json:"body"`
	Title string `parquet:"title" json:"title"`
}

// privatize returns a column of a table after mldp privatize.
func (r release) privatize(file, column string, args ...string) []string {
	r.t.Helper()
	suffix := filepath.Ext(file)
	out := filepath.Join(r.t.TempDir(), "out"+suffix)
	args = append([]string{"--quiet", "privatize", "--embedding", r.vectors, "--out", out, file}, args...)
	if code, said := mldp(r.t, args...); code != exitOK {
		r.t.Fatalf("%q: exit code %d: %s", args, code, said)
	}
	return r.read(out, column)
}

// read returns a column of a table.
func (r release) read(file, column string) (texts []string) {
	r.t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	data := string(content)
	add := func(row map[string]string) { texts = append(texts, row[column]) }
	switch suffix := filepath.Ext(file); suffix {
	case ".txt":
		return strings.Split(strings.TrimSuffix(data, "\n"), "\n")
	case ".csv", ".tsv":
		in := csv.NewReader(strings.NewReader(data))
		if suffix == ".tsv" {
			in.Comma = '\t'
		}
		rows, err := in.ReadAll()
		if err != nil {
			r.t.Fatal(err)
		}
		for _, fields := range rows[1:] {
			row := map[string]string{}
			for i, f := range fields {
				row[rows[0][i]] = f
			}
			add(row)
		}
	case ".jsonl", ".json":
		d := json.NewDecoder(strings.NewReader(data))
		if suffix == ".json" {
			_, _ = d.Token() // of the array
		}
		for d.More() {
			var row map[string]string
			if err := d.Decode(&row); err != nil {
				r.t.Fatal(err)
			}
			add(row)
		}
	case ".parquet":
		rows, err := parquet.Read[noiseRow](strings.NewReader(data), int64(len(data)))
		if err != nil {
			r.t.Fatal(err)
		}
		for _, row := range rows {
			add(map[string]string{"body": row.Body, "title": row.Title})
		}
	}
	return texts
}

// serve returns the texts, or documents, that mldp serve answers for one seed of each row.
func (r release) serve(texts []string, tokens bool) []string {
	r.t.Helper()
	request := external.Request{ID: 1, Epsilon: 4}
	for i, text := range texts {
		seed := stream.FromUint64(7).Derive("text").At(uint64(i))
		request.Seeds = append(request.Seeds, hex.EncodeToString(seed[:]))
		if tokens {
			request.Documents = append(request.Documents, strings.Fields(text))
		} else {
			request.Texts = append(request.Texts, text)
		}
	}
	line, err := json.Marshal(request)
	if err != nil {
		r.t.Fatal(err)
	}
	var out, said bytes.Buffer
	c := call{stdin: bytes.NewReader(line), stdout: &out, stderr: &said}
	if code := c.run("--quiet", "serve", "--mechanism", "k-rr", "--embedding", r.vectors); code != exitOK {
		r.t.Fatalf("exit code %d: %s", code, &said)
	}
	_, second, _ := strings.Cut(out.String(), "\n") // after the hello
	var answer external.Answer
	if err := json.Unmarshal([]byte(second), &answer); err != nil || answer.Error != "" {
		r.t.Fatalf("%v, %s", err, answer.Error)
	}
	for _, d := range answer.Documents {
		answer.Texts = append(answer.Texts, strings.Join(d, " "))
	}
	return answer.Texts
}
