package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// review is a row with numbers, a list, and a title that some rows lack, besides
// the text to privatise, which stands between signs.
type review struct {
	ID    int64    `parquet:"id" json:"id"`
	Body  string   `parquet:"body,zstd" json:"body"`
	Title *string  `parquet:"title,optional" json:"title"`
	Score float64  `parquet:"score" json:"score"`
	Good  bool     `parquet:"good" json:"good"`
	Tags  []string `parquet:"tags,list" json:"tags"`
}

func reviewsOf(n int) []review {
	words := []string{"cat", "dog", "idea", "good"}
	all := make([]review, n)
	for i := range all {
		all[i] = review{ID: int64(i) << 40, Score: float64(i) / 3, Good: i%2 == 0, Tags: []string{"cat; dog", fmt.Sprint(i)},
			Body: fmt.Sprintf("#%s %s, %s#", words[i%4], words[i/4%4], words[i/16%4])}
		if i%4 > 0 {
			title := fmt.Sprintf("the %d\" cat,\ta dog;\nan idea", i)
			all[i].Title = &title
		}
	}
	return all
}

// tableOf are rows with a delimiter; of tabs, quotes have no meaning.
func tableOf(all []review, delimiter string) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, strings.Join([]string{"id", "body", "title", "score", "good"}, delimiter))
	for _, r := range all {
		title := ""
		if r.Title != nil {
			title = `"` + strings.ReplaceAll(*r.Title, `"`, `""`) + `"`
		}
		text := `"` + r.Body + `"`
		if delimiter == "\t" {
			title, text = strings.NewReplacer("\t", " ", "\n", " ").Replace(title), r.Body
		}
		fmt.Fprintln(&b, strings.Join([]string{fmt.Sprint(r.ID), text, title, fmt.Sprint(r.Score), fmt.Sprint(r.Good)},
			delimiter))
	}
	return b.Bytes()
}

// TestRowsComeBack privatises one column of 20,000 rows of every format. Between its
// signs the text of most rows is another; no other byte, or value of Parquet, is.
func TestRowsComeBack(t *testing.T) {
	const rows = 20_000
	all := reviewsOf(rows)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("space.txt"), []byte("cat 1 0\ndog 1 0.5\nidea -3 2\ngood 5 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	objects := func(before, between, after string) []byte {
		lines := make([]string, rows)
		for i, r := range all {
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			lines[i] = string(line)
		}
		return []byte(before + strings.Join(lines, between) + after)
	}
	var columns bytes.Buffer
	if err := parquet.Write(&columns, all); err != nil {
		t.Fatal(err)
	}
	body := regexp.MustCompile(`#[a-z]+ [a-z]+, [a-z]+#`)
	for _, c := range []struct {
		name string
		data []byte
		args []string
	}{
		{"commas.csv", tableOf(all, ","), nil}, {"semicolons.csv", tableOf(all, ";"), []string{"--delimiter", ";"}},
		{"tabs.tsv", tableOf(all, "\t"), nil}, {"semicolons.tsv", tableOf(all, ";"), []string{"--delimiter", ";"}},
		{"lines.jsonl", objects("", "\n", "\n"), nil}, {"array.json", objects("[\n ", ",\n ", "\n]\n"), nil},
		{"columns.parquet", columns.Bytes(), nil},
	} {
		if err := os.WriteFile(file(c.name), c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		private := file("private-" + c.name)
		args := append([]string{"privatize", "--mechanism", "cmp", "--epsilon", "2", "--seed", "1", "--embedding",
			file("space.txt"), "--column", "body", "--out", private, file(c.name)}, c.args...)
		out, err := exec.Command("mldp", args...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, out)
			continue
		}
		got, err := os.ReadFile(private)
		if err != nil {
			t.Fatal(err)
		}
		var before, after []string
		if c.name == "columns.parquet" {
			read, err := parquet.Read[review](bytes.NewReader(got), int64(len(got)))
			if err != nil || len(read) != rows {
				t.Fatalf("%s: %d rows, %v", c.name, len(read), err)
			}
			for i, r := range read {
				before, after = append(before, all[i].Body), append(after, r.Body)
				if r.Body = all[i].Body; !reflect.DeepEqual(r, all[i]) {
					t.Fatalf("%s, row %d: %+v, want %+v", c.name, i, r, all[i])
				}
			}
			if a, b := schemaOf(t, c.data), schemaOf(t, got); a != b {
				t.Errorf("%s: %s, want %s", c.name, b, a)
			}
		} else {
			before, after = body.FindAllString(string(c.data), -1), body.FindAllString(string(got), -1)
			if !bytes.Equal(body.ReplaceAll(c.data, nil), body.ReplaceAll(got, nil)) {
				t.Errorf("%s: more than the column changed", c.name)
			}
		}
		changed := 0
		for i := range min(len(before), len(after)) {
			if before[i] != after[i] {
				changed++
			}
		}
		if len(before) != rows || len(after) != rows || changed < rows/4 {
			t.Errorf("%s: %d texts as %d, %d changed", c.name, len(before), len(after), changed)
		}
	}
}

func schemaOf(t *testing.T, data []byte) string {
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f.Schema().String()
}
