package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// review is a row with numbers, a list, and a title that some rows lack, besides
// the text to privatise.
type review struct {
	ID    int64    `parquet:"id" json:"id"`
	Body  *string  `parquet:"body,optional,zstd" json:"body"`
	Title *string  `parquet:"title,optional" json:"title"`
	Score float64  `parquet:"score" json:"score"`
	Tags  []string `parquet:"tags,list" json:"tags"`
}

// reviewsOf returns n reviews; the text of each is of words that no output has,
// but every seventh has no word, and every ninth, where there may be nulls, no
// text.
func reviewsOf(n int, nulls bool) []review {
	all := make([]review, n)
	for i := range all {
		title := fmt.Sprintf("the %d\" cat, a dog; an idea", i)
		body := fmt.Sprintf("Secret%d, \"private\" words; ½ ② a-b", i)
		switch {
		case i%7 == 0:
			body = " …"
		case i%11 == 0 && !nulls:
			body = ""
		}
		all[i] = review{ID: int64(i) << 40, Score: float64(i) / 3, Tags: []string{"cat; dog", fmt.Sprint(i)}}
		if i%9 > 0 || !nulls {
			all[i].Body = &body
		}
		if i%4 > 0 {
			all[i].Title = &title
		}
	}
	return all
}

// separated are rows between delimiters; of tabs, quotes have no meaning.
func separated(t *testing.T, all []review, delimiter rune, end string) []byte {
	rows := [][]string{{"id", "body", "title"}}
	for _, r := range all {
		title := ""
		if r.Title != nil {
			title = *r.Title
		}
		rows = append(rows, []string{fmt.Sprint(r.ID), *r.Body, title})
	}
	var b bytes.Buffer
	if delimiter == '\t' {
		for _, r := range rows {
			b.WriteString(strings.Join(r, "\t") + "\n")
		}
	} else {
		w := csv.NewWriter(&b)
		w.Comma = delimiter
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
	}
	return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(end))
}

// parsed reads a table with the libraries of its format: the texts, and all else.
func parsed(t *testing.T, name string, data []byte) (bodies []string, rest []map[string]any) {
	t.Helper()
	add := func(row map[string]any) {
		body, _ := row["body"].(string)
		delete(row, "body")
		bodies, rest = append(bodies, body), append(rest, row)
	}
	decode := func(line []byte, to any) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(to); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	switch filepath.Ext(name) {
	case ".txt":
		return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"), nil
	case ".parquet":
		rows, err := parquet.Read[review](bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		data, _ = json.Marshal(rows)
		fallthrough
	case ".json":
		var rows []map[string]any
		decode(data, &rows)
		for _, r := range rows {
			add(r)
		}
	case ".jsonl":
		for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
			var row map[string]any
			decode(line, &row)
			add(row)
		}
	default:
		r := csv.NewReader(bytes.NewReader(bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))))
		r.Comma = map[string]rune{".csv": ',', ".tsv": '\t', ".ssv": ';'}[filepath.Ext(name)]
		r.LazyQuotes = r.Comma == '\t'
		rows, err := r.ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, row := range rows[1:] {
			add(map[string]any{"id": row[0], "title": row[2], "body": row[1]})
		}
	}
	return bodies, rest
}

// secret finds what stands in reviews and in no vector file.
var secret = regexp.MustCompile(`(?i)secret|private|words|[½②]|a-b`)

// rows is their number in each table.
const rows = 2000

// aTable is a table of reviews with the options that read it.
type aTable struct {
	name string
	data []byte
	args []string
}

// everyFormat returns a table of reviews in every format and with every line end.
func everyFormat(t *testing.T) []aTable {
	all, nulls := reviewsOf(rows, false), reviewsOf(rows, true)
	var objects bytes.Buffer
	for _, r := range nulls {
		if err := json.NewEncoder(&objects).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	var columns bytes.Buffer
	if err := parquet.Write(&columns, nulls); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, r := range all {
		lines.WriteString(*r.Body + "\n")
	}
	return []aTable{
		{"lines.txt", []byte(lines.String()), nil},
		{"commas.csv", separated(t, all, ',', "\n"), nil},
		{"windows.csv", separated(t, all, ',', "\r\n"), nil},
		{"semicolons.ssv", separated(t, all, ';', "\n"), []string{"--format", "csv", "--delimiter", ";"}},
		{"tabs.tsv", separated(t, all, '\t', "\n"), nil},
		{"lines.jsonl", objects.Bytes(), nil},
		{"columns.parquet", columns.Bytes(), nil},
	}
}

// The rule behind K1 and K2: of every format, rows read are rows rewritten, or
// rows that the report says were not. No text is left, all else comes back equal. Other
// layouts have the same words and rows, and what they promise, in every format.
func TestEveryRowIsRewrittenOrCounted(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(file("space.vec"), []byte("cat 1 0\ndog 1 0.5\nidea -3 2\ngood 5 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range everyFormat(t) {
		if err := os.WriteFile(file(c.name), c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"privatize", "--mechanism", "k-rr", "--epsilon", "2", "--seed", "1", "--embedding",
			file("space.vec"), "--out", file("private-" + c.name), "--report", file(c.name + ".json"), file(c.name)}, c.args...)
		if c.name != "lines.txt" {
			args = append(args, "--column", "body")
		}
		if code, out := mldp(t, args...); code != exitOK {
			t.Errorf("%s: exit code %d\n%s", c.name, code, out)
			continue
		}
		got, err := os.ReadFile(file("private-" + c.name))
		if err != nil {
			t.Fatal(err)
		}
		before, restBefore := parsed(t, c.name, c.data)
		after, restAfter := parsed(t, c.name, got)
		if len(before) != rows || len(after) != rows {
			t.Fatalf("%s: %d rows as %d", c.name, len(before), len(after))
		}
		unlike := 0
		for i := range after {
			switch {
			case secret.MatchString(after[i]):
				t.Fatalf("%s, row %d: %q is published as %q", c.name, i, before[i], after[i])
			case before[i] != after[i]:
				unlike++
			}
		}
		if !reflect.DeepEqual(restBefore, restAfter) {
			t.Errorf("%s: more than the column changed", c.name)
		}
		var report struct {
			Summary struct {
				Rewritten int `json:"rows_rewritten"`
				Wordless  int `json:"rows_without_words"`
			} `json:"summary"`
		}
		text, err := os.ReadFile(file(c.name + ".json"))
		if err == nil {
			err = json.Unmarshal(text, &report)
		}
		if s := report.Summary; err != nil || s.Rewritten != unlike || s.Rewritten+s.Wordless != rows {
			t.Errorf("%s: %+v: want %d rewritten, of %d rows; %v", c.name, s, unlike, rows, err)
		}
		for layout, form := range map[string]string{"plain": `^([a-z]+( [a-z]+)*)?$`, "fixed=3": `^[a-z]+ [a-z]+ [a-z]+$`} {
			other := file(layout + c.name)
			if code, out := mldp(t, append(args, "--layout", layout, "--out", other, "--force")...); code != exitOK {
				t.Errorf("%s, %s: exit code %d\n%s", c.name, layout, code, out)
				continue
			}
			if got, err = os.ReadFile(other); err != nil {
				t.Fatal(err)
			}
			texts, rest := parsed(t, c.name, got)
			for i, text := range texts {
				null := before[i] == "" && restBefore != nil && restBefore[i]["tags"] != nil
				if !null && !regexp.MustCompile(form).MatchString(text) || layout == "plain" &&
					text != strings.Join(regexp.MustCompile("[a-z]+").FindAllString(after[i], -1), " ") && !null {
					t.Fatalf("%s, %s, row %d: %q of %q", c.name, layout, i, text, after[i])
				}
			}
			if len(texts) != rows || !reflect.DeepEqual(rest, restAfter) {
				t.Errorf("%s, %s: %d rows, or more than the column changed", c.name, layout, len(texts))
			}
		}
	}
}

// serve answers each text of a request, with no word of it left.
func TestServeRewritesEveryText(t *testing.T) {
	space := filepath.Join(t.TempDir(), "space.vec")
	if err := os.WriteFile(space, []byte("cat 1 0\ndog 1 0.5\nidea -3 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	request := map[string]any{"id": 1, "epsilon": 1}
	var texts, seeds []string
	for _, r := range reviewsOf(200, false) {
		texts, seeds = append(texts, *r.Body), append(seeds, strings.Repeat("00", 32))
	}
	request["texts"], request["seeds"] = texts, seeds
	line, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := call{stdin: bytes.NewReader(line), stdout: &out, stderr: &out}
	if code := c.run("--quiet", "serve", "--mechanism", "k-rr", "--embedding", space); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, &out)
	}
	var answer struct{ Texts []string }
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &answer); err != nil || len(answer.Texts) != len(texts) {
		t.Fatalf("%d texts for %d, %v", len(answer.Texts), len(texts), err)
	}
	for i, private := range answer.Texts {
		if secret.MatchString(private) || strings.ContainsAny(texts[i], "abc") && private == texts[i] {
			t.Errorf("%q is published as %q", texts[i], private)
		}
	}
}

// What privatize writes, evaluate aligns with the original, word by word, whatever
// the vectors hold: words that no text holds as one are no outputs (K4).
func TestStrangeVocabularyAligns(t *testing.T) {
	strange := []string{"a\tb", "c\rd", "e\x00f", "\xc3", "cut\xe2\x82", "\u00a0", " ", "x y", "\u2028", ",", "...", "--",
		"new_york", "#tag", "@user", "<unk>", "3.5", "1,000", "½", "😀", "don't", "n't", "U.S.", "well-known", "\ufeffbom",
		"a\u200bb", "\ue000", "(", "http://x.org", "q@x.org", "cat", "Dog", "ca", "'s", "do", "it"}
	var vectors strings.Builder
	for i, w := range strange {
		fmt.Fprintf(&vectors, "%s %d %d\n", w, i, i*i%7)
	}
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	texts := []string{"The cat sat, and 3.5 dogs ran.", "😀😀 good😀 (room) 1990!",
		"Mail q@x.org or http://x.org/a now…",
		"A well-known U.S. firm; ½ off 🫩", "plain words of a text", "\"quoted\" one – two / three", "x² Ⅻ ③ one",
		"They can't say that it's o'clock, don't"}
	var rows, lines strings.Builder
	rows.WriteString("text\tlabel\n")
	for i := range 40 {
		fmt.Fprintf(&rows, "%s\tlabel%d\n", strings.ReplaceAll(texts[i%8], `"`, ""), i%2)
		lines.WriteString(texts[i%8] + "\n")
	}
	objects := make([]string, 40)
	for i := range objects {
		line, _ := json.Marshal(map[string]string{"text": texts[i%8], "label": fmt.Sprint("label", i%2)})
		objects[i] = string(line)
	}
	var table bytes.Buffer
	w := csv.NewWriter(&table)
	for _, r := range strings.Split(strings.TrimSpace(rows.String()), "\n") {
		if err := w.Write(strings.Split(r, "\t")); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	for name, data := range map[string]string{"v.vec": vectors.String(), "t.tsv": rows.String(), "t.csv": table.String(),
		"t.jsonl": strings.Join(objects, "\n")} {
		if err := os.WriteFile(file(name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"t.tsv", "t.csv", "t.jsonl"} {
		for _, mechanism := range []string{"uniform", "cmp"} {
			private := file(mechanism + "-" + name)
			code, out := mldp(t, "privatize", "--mechanism", mechanism, "--epsilon", "0.1", "--seed", "5", "--embedding",
				file("v.vec"), "--column", "text", "--out", private, file(name))
			if code != exitOK || strings.Count(out, "would not be read as one word") != 1 {
				t.Fatalf("%s: exit code %d\n%s", name, code, out)
			}
			if code, out := mldp(t, "--quiet", "evaluate", "--original", file(name), "--privatised", "p="+private, "--text",
				"text", "--label", "label", "--out", file("ev-"+mechanism+name[2:])); code != exitOK ||
				!regexp.MustCompile(`(?m)^p \(yours\) .* \d+\.\d ± `).MatchString(out) {
				text, _ := os.ReadFile(private)
				t.Errorf("%s, %s: not aligned\n%s\n%s", name, mechanism, text, out)
			}
		}
	}
}
