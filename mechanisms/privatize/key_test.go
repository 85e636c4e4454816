package privatize

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mldpbench/datasets/table"
	"mldpbench/mechanisms"
)

func testKey(t testing.TB) *Key {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.key")
	if err := os.WriteFile(path, []byte("a secret of some bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeyFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "new.key")
	if err := CreateKey(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() != 32 {
		t.Errorf("a new key has %d bytes, want 32", info.Size())
	}
	if info.Mode() != fs.FileMode(0o600) {
		t.Errorf("a new key has mode %v, want 0600", info.Mode())
	}
	first, err := ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := CreateKey(path); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a key over another: error %v, want that it is there", err)
	}
	again, err := ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if first.Name() != again.Name() {
		t.Error("the key changed where it was to be replaced, want it as it was")
	}
	if first.Name() == testKey(t).Name() {
		t.Error("two keys have one name")
	}

	for name, content := range map[string]struct {
		bytes int
		want  string
	}{
		"empty": {0, "has 0 bytes, a key at least 16"},
		"short": {15, "has 15 bytes, a key at least 16"},
		"long":  {longestKey + 1, "this is no key"},
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, make([]byte, content.bytes), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKey(path); err == nil || !strings.Contains(err.Error(), content.want) {
			t.Errorf("%s: error %v, want %q", name, err, content.want)
		}
	}
	if _, err := ReadKey(folder); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: error %v, want that it is one", err)
	}
}

// The derivation is what its comment says: other programs may repeat it, and a release can be made again in years.
func TestKeyedNoiseIsAsWritten(t *testing.T) {
	t.Parallel()
	s := newStream(t, Options{Key: testKey(t), Release: "march", Vectors: "fingerprint"})
	mac := hmac.New(sha256.New, []byte("a secret of some bytes"))
	text := "The cat."
	sum := sha256.Sum256([]byte(text))
	for _, label := range []string{"mldp keyed noise 1", "march", "tem", "proved", "beta=0.001 gamma=theorem3", "word",
		"1", "fingerprint", "", "0", "body", "row 7", string(sum[:])} {
		mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(label))))
		mac.Write([]byte(label))
	}
	got := s.Keyed("body", "row 7", text)
	if want := mac.Sum(nil); string(got[:]) != string(want) {
		t.Errorf("noise is seeded by %s, want %s", hex.EncodeToString(got[:]), hex.EncodeToString(want))
	}
}

func TestKeyedNoiseDependsOnAllOfTheRelease(t *testing.T) {
	t.Parallel()
	base := Options{Key: testKey(t), Release: "march", Vectors: "one"}
	other := base
	other.Release = "april"
	vectors := base
	vectors.Vectors = "two"
	document := base
	document.Document = 1
	kept := base
	kept.Mechanism = mechanisms.KeepWords(newStream(t, base).options.Mechanism, []string{"cat"})
	layout := base
	layout.Layout = 5
	seen := map[string]string{}
	look := func(what string, s *Stream, column, id, text string) {
		seed := s.Keyed(column, id, text)
		if before, is := seen[string(seed[:])]; is {
			t.Errorf("%s has the noise of %s", what, before)
		}
		seen[string(seed[:])] = what
	}
	s := newStream(t, base)
	look("a text", s, "body", "1", "a b")
	look("another id", s, "body", "2", "a b")
	look("another column", s, "title", "1", "a b")
	look("another text", s, "body", "1", "a c")
	look("labels cut otherwise", s, "body1", "", "a b")
	look("another release", newStream(t, other), "body", "1", "a b")
	look("other vectors", newStream(t, vectors), "body", "1", "a b")
	look("a budget of documents", newStream(t, document), "body", "1", "a b")
	look("kept words", newStream(t, kept), "body", "1", "a b")
	look("another length", newStream(t, layout), "body", "1", "a b")
}

// keyedRows are the rows of a CSV by their ids.
func keyedRows(t *testing.T, s *Stream, rows []string) map[string]string {
	t.Helper()
	o := table.Options{Name: "test.csv", Columns: []string{"body"}, ID: "id"}
	out := runOn(t, s, strings.NewReader("id,body\n"+strings.Join(rows, "\n")+"\n"), o)
	byID := map[string]string{}
	for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n")[1:] {
		id, text, _ := strings.Cut(line, ",")
		byID[id] = text
	}
	return byID
}

// Neither the order of rows, nor the parts that they are in, nor the number of workers change a text.
func TestKeyedTextsComeOutTheSameInAnyOrder(t *testing.T) {
	t.Parallel()
	var rows []string
	for i, text := range strings.Split(strings.TrimSpace(someText()), "\n") {
		rows = append(rows, fmt.Sprintf("%d,%s", i, text))
	}
	rows = append(rows, "a,cat dog good bad", "b,cat dog good bad")
	o := Options{Key: testKey(t), Release: "march"}
	want := keyedRows(t, newStream(t, o), rows)
	if len(want) != len(rows) {
		t.Fatalf("%d rows came out, want %d", len(want), len(rows))
	}
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for _, parts := range []int{1, 2, 7} {
		o.Workers = parts
		got := map[string]string{}
		for part := range parts {
			from := part * len(rows) / parts
			to := (part + 1) * len(rows) / parts
			for id, text := range keyedRows(t, newStream(t, o), rows[from:to]) {
				got[id] = text
			}
		}
		for id, text := range want {
			if got[id] != text {
				t.Fatalf("%d parts: the row %s became %q, want %q", parts, id, got[id], text)
			}
		}
	}
}

func TestIdsThatNameNoRow(t *testing.T) {
	t.Parallel()
	for rows, want := range map[string]string{
		"1,cat\n2,dog\n1,bad\n": `test.csv:4: id "1" is that of an earlier record`,
		"1,cat\n,dog\n":         "test.csv:3: the id is empty",
	} {
		s := newStream(t, Options{Key: testKey(t)})
		o := table.Options{Name: "test.csv", Columns: []string{"body"}, ID: "id"}
		r, err := table.NewReader(strings.NewReader("id,body\n"+rows), o)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err = s.Run(t.Context(), r, &out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", rows, err, want)
		}
	}
}

func TestLedger(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	entry := Entry{Date: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Release: "march", Mechanism: "tem proved",
		Epsilon: 5, Unit: "word", Rows: 10, Key: "0123456789abcdef", Vectors: "vectors"}
	document := entry
	document.Unit = "document"
	for _, e := range []Entry{entry, document, entry} {
		l, err := ReadLedger(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Check(e); err != nil {
			t.Fatal(err)
		}
		if err := l.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	l, err := ReadLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []Spent{{"march", "tem proved", "document", 1, 10, 5}, {"march", "tem proved", "word", 2, 20, 10}}
	got := l.Spent()
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("spent is %v, want %v", got, want)
	}
	key := entry
	key.Key = "fedcba9876543210"
	if err := l.Check(key); err == nil || !strings.Contains(err.Error(), "with another key") {
		t.Errorf("another key: error %v, want that it is another", err)
	}
	vectors := entry
	vectors.Vectors = "others"
	if err := l.Check(vectors); err == nil || !strings.Contains(err.Error(), "with other vectors") {
		t.Errorf("other vectors: error %v, want that they are others", err)
	}
	vectors.Release = "april"
	if err := l.Check(vectors); err != nil {
		t.Errorf("another release with other vectors: error %v, want none", err)
	}
	if err := os.WriteFile(path, []byte("{\"release\":\"march\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLedger(path); err == nil ||
		!strings.Contains(err.Error(), "ledger.jsonl:1: is no line of a ledger") {
		t.Errorf("a line without a key: error %v, want its place", err)
	}
}
