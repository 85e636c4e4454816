package embeddings

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write writes content to a file in a temporary folder.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(content string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(content)) // memory cannot fail
	_ = z.Close()
	return b.String()
}

func load(path string, opts LoadOptions) (*Space, error) {
	return Load(context.Background(), path, opts)
}

// word2vecBinary encodes rows the way word2vec.c does, or without the line
// breaks as some other writers do.
func word2vecBinary(words []string, vectors []float32, lineBreaks bool) string {
	d := len(vectors) / len(words)
	b := fmt.Appendf(nil, "%d %d\n", len(words), d)
	for i, w := range words {
		b = append(b, w+" "...)
		for _, x := range vectors[i*d : (i+1)*d] {
			b, _ = binary.Append(b, binary.LittleEndian, x)
		}
		if lineBreaks {
			b = append(b, '\n')
		}
	}
	return string(b)
}

func TestFormatsAgree(t *testing.T) {
	words, vectors := []string{"the", "naïve", "x_y"}, []float32{1, -0.5, 0.1, 2, 1e-5, -3}
	rows := "the 1 -0.5\nnaïve 0.1 2\nx_y 1e-05 -3\n"
	for name, content := range map[string]string{
		"a.txt":       rows,
		"a.txt.gz":    rows,
		"mark.txt":    "\ufeff" + rows,
		"mark.vec.gz": "\ufeff" + "3 2\n" + rows,
		"nolast.txt":  strings.TrimSuffix(rows, "\n"),
		"crlf.txt":    strings.ReplaceAll(rows, "\n", "\r\n"),
		"tabs.txt":    strings.ReplaceAll(rows, " ", "\t"),
		"tabs.vec":    "3\t2\n" + strings.ReplaceAll(rows, " ", "\t"),
		"wide.txt":    strings.ReplaceAll(rows, " ", "   "),
		"wide.vec":    "3  2\n" + strings.ReplaceAll(rows, " ", "  "),
		"last.txt":    rows + "\n",
		"last.vec.gz": "3 2\r\n" + strings.ReplaceAll(rows, "\n", "\r\n") + "\r\n",
		"a.vec":       "3 2\n" + strings.ReplaceAll(rows, "\n", " \n"), // fastText ends rows with a space
		"a.vec.gz":    "3 2\n" + rows,
		"a.bin":       word2vecBinary(words, vectors, true),
		"a.bin.gz":    word2vecBinary(words, vectors, true),
		"bare.bin":    word2vecBinary(words, vectors, false),
		"noextension": word2vecBinary(words, vectors, true),
	} {
		if strings.HasSuffix(name, ".gz") {
			content = gzipped(content)
		}
		cache, path := t.TempDir(), write(t, name, content)
		for range 2 { // from the file, then from the cache
			s, err := load(path, LoadOptions{CacheDir: cache, Dimension: 2})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			if got := s.Vocabulary.Words(); !slices.Equal(got, words) {
				t.Errorf("%s has the words %q, want %q", name, got, words)
			}
			if !slices.Equal(s.Vectors, vectors) {
				t.Errorf("%s has the numbers %v, want %v", name, s.Vectors, vectors)
			}
		}
	}
}

// The public files need these; see Load.
func TestWordsOfRealFiles(t *testing.T) {
	want := []string{"a", ". . .", "at name@domain.com", "1/2", "\u00a0", "\u0085", "b\u2028c", "\t", "\xff", "2004"}
	var rows strings.Builder
	for _, w := range want {
		fmt.Fprintf(&rows, "%s 1 2 3\n", w)
	}
	s, err := load(write(t, "a.txt", rows.String()), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Vocabulary.Words(), want) {
		t.Fatalf("got %q", s.Vocabulary.Words())
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	one, cut := word2vecBinary([]string{"a", "b"}, []float32{1, 2}, true), gzipped("word 1 2 3\n")
	for _, c := range []struct{ name, content, want string }{
		{"a.txt", "", ": empty file"},
		{"a.txt.gz", gzipped(""), ": empty file"},
		{"a.txt.gz", cut[:len(cut)-6], ": damaged gzip file: unexpected EOF"},
		{"a.txt", "a 1 2\nb 1\n", `:2: "b" has 1 numbers: want a word and 2 numbers`},
		{"a.txt", "a 1 2\nb 1 2 3\n", `:2: "b" has 3 numbers: want a word and 2 numbers`},
		{"a.txt", "a 1 2\n7 1\n", `:2: "7" has 1 numbers: want a word and 2 numbers`},
		{"a.txt", "a 1 2\n 1 2\n", `:2: "" has 2 numbers: want a word and 2 numbers`},
		{"a.txt", "a 1 2\n\nb 1 2\n", `:2: "" has 0 numbers: want a word and 2 numbers`},
		{"a.txt", "a 1 2\nb 1 x\n", `:2: "b": "x" is no finite number`},
		{"a.txt", "a 1 2\nb NaN 2\n", `:2: "b": "NaN" is no finite number`},
		{"a.txt", "a 1 2\nb 1 -inf\n", `:2: "b": "-inf" is no finite number`},
		{"a.txt", "a 1 2\nb 1 1e39\n", `:2: "b": "1e39" is no finite number`},
		{"a.txt", "a 1 2\nb 1 2\na 3 4\n", `:3: "a" is there twice, first at 1`},
		{"a.txt", "a\nb\n", `:1: "a": want a word and its vector`},
		{"a.vec", "3 2\na 1 2\nb 1 2\n", `: header says 3 words, file has 2`},
		{"a.vec", "1 2\na 1 2\nb 1 2\n", `: header says 1 words, file has 2`},
		{"a.vec", "2 2\na 1 2\nb 1\n", `:3: "b" has 1 numbers: want a word and 2 numbers`},
		{"a.vec", "2 2\na 1 2\na 1 2\n", `:3: "a" is there twice, first at 2`},
		{"a.vec", "0 2\n", `: header says 0 words, file has 0`},
		{"a.vec", "9 2", `: header says 9 words, file has 0`},
		{"a.vec", "1 99999999\n", `:1: dimension 99999999: must be <= 65536`},
		{"a.bin", one[:len(one)-3], `: word 2: file ends here, header says 2 words`},
		{"a.bin", one + "x", `: more data after the 2 words of the header`},
		{"a.bin", "a 1 2\n", `:1: no word2vec header (number of words, dimension)`},
		{"a.bin", word2vecBinary([]string{"a", "a"}, []float32{1, 2}, true), `:2: "a" is there twice, first at 1`},
		{"a.bin", "1 1\nx \x00\x00\xc0\x7f", `: word 1: "x": number 1 is NaN: must be finite`},
		{"a.bin", "1 1\n \x00\x00\xc0\x7f", `: word 1: no word before the vector`},
		{"a.bin.gz", gzipped(one)[:30], `: damaged gzip file: unexpected EOF`},
	} {
		opts, path := LoadOptions{CacheDir: t.TempDir()}, write(t, c.name, c.content)
		_, err := load(path, opts)
		if err == nil || strings.ReplaceAll(err.Error(), path, "PATH") != "PATH"+c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.content, err, path+c.want)
		}
		if left, _ := os.ReadDir(opts.CacheDir); len(left) != 0 {
			t.Errorf("%q: left %v in the cache", c.content, left)
		}
	}
}

// More rows than one chunk holds keep their order and lines, in one allocation as
// the file's size gives their number; a copy of them holds all of them, whatever was
// wanted at first.
func TestManyChunks(t *testing.T) {
	var b strings.Builder
	const n = 60_000
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint("w", i)
		fmt.Fprintf(&b, "w%d %d.25 -%d.5 0.125 0.0625\n", i, i, i)
	}
	path, cache := write(t, "a.txt", b.String()), t.TempDir()
	s, err := load(path, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Vocabulary.Words(), words) {
		t.Fatal("words out of order")
	}
	for _, i := range []int{0, 30000, 59999} {
		if want := []float32{float32(i) + .25, -float32(i) - .5, .125, .0625}; !slices.Equal(s.Vector(WordID(i)), want) {
			t.Errorf("word %d: %v, want %v", i, s.Vector(WordID(i)), want)
		}
	}
	if spare := float64(cap(s.Vectors))/float64(len(s.Vectors)) - 1; spare > 0.06 {
		t.Errorf("%.0f%% of the vectors' memory is spare", 100*spare)
	}
	keep := func(w string) bool { return strings.HasSuffix(w, "7") || w == "w100" || w == "w101" }
	want, err := s.Restrict(keep)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", cache, cache} { // from text, and from the copy at last
		if s, err := load(path, LoadOptions{Keep: keep, CacheDir: dir}); err != nil || s.Len() != 6002 ||
			s.Fingerprint() != want.Fingerprint() {
			t.Errorf("copy in %q: %d words, or others: %v", dir, s.Len(), err)
		}
	}
	fails := func(o LoadOptions, want string) {
		t.Helper()
		if _, err := load(path, o); err == nil || err.Error() != path+want {
			t.Errorf("err = %v, want %s", err, path+want)
		}
	}
	fails(LoadOptions{Keep: func(string) bool { return false }, CacheDir: cache}, ": none of its 60000 words is in the data set")
	fails(LoadOptions{Dimension: 5}, ": has 4 numbers per word, want dimension 5")
	fails(LoadOptions{Dimension: 5, CacheDir: cache}, ": has 4 numbers per word, want dimension 5")
	path = write(t, "b.txt", b.String()+"w7 1 2 3 4\nbad 1\n")
	for range 3 { // the first error in file order, whichever worker is faster
		fails(LoadOptions{}, `:60001: "w7" is there twice, first at 8`)
	}
}

func TestFirst(t *testing.T) {
	if First(0, nil) != nil {
		t.Error("no limit on all words is a function, want none")
	}
	two, taken := First(2, func(w string) bool { return w != "x" }), ""
	for _, w := range strings.Fields("a x a b c b") { // "a" as in a second reading
		if two(w) {
			taken += w
		}
	}
	if taken != "aabb" {
		t.Errorf("the first two but x: %q", taken)
	}
}

// Accepted input gives a consistent space; rejected input gives an error and
// never a panic.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"a.txt:a 1 2\nb 3 4\n", "a.txt:. . . 1 2\n", "a.txt:a 1 2\n\nb 1\n",
		"a.txt:\x1f\x8b\x08", "a.vec:2 2\na 1 2 \nb 3 4 \n", "a.vec:2 2\na 1 2 \nb 3\n", "a.bin:4294967295 65536\n",
		"a.bin:" + word2vecBinary([]string{"a", "b"}, []float32{1, 2, 3, 4}, true)} {
		name, data, _ := strings.Cut(seed, ":")
		f.Add(name, []byte(data))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		l := &loader{path: name, size: int64(len(data)), seen: new(seenWords)}
		l.pass = l.append
		file, err := newFile(bytes.NewReader(data), name)
		if err != nil {
			return
		}
		format, err := recognise(file)
		if err != nil {
			return
		}
		if err := l.read(t.Context(), file, format); err != nil {
			return
		}
		if len(l.words) == 0 || len(l.vectors) != len(l.words)*l.dimension || len(l.words) != len(l.seen.lines) {
			t.Fatalf("%d words, %d numbers, dimension %d", len(l.words), len(l.vectors), l.dimension)
		}
		if _, err := l.space(nil); err != nil {
			t.Fatal(err)
		}
	})
}

// Rows of a binary file that are out of step, and files that trainers write beside the
// vectors, are refused with what they are.
func TestFilesThatHoldNoWords(t *testing.T) {
	model := "\xba\x16\x4f\x2f\x0c\x00\x00\x00dim"
	table := "2 3 4 5 2 2166136261 < >\n0 1 2 3\n1 1 2 3\n"
	for _, c := range []struct{ name, content, want string }{
		{"a.bin", word2vecBinary([]string{"good", "new york", "bad"}, []float32{1, 2, 3, 4, 5, 6}, true), ": word 3: "},
		{"a.bin", word2vecBinary([]string{"new york", "good", "bad"}, []float32{0, 0, 0, 0, 0, 0}, true), ": word 2: "},
		{"a.bin", word2vecBinary([]string{"a\x00b", "c"}, []float32{1, 2}, true), `: word 1: "a\x00b" has a control character`},
		{"a.bin.gz", gzipped(word2vecBinary([]string{"a", "b\tc"}, []float32{1, 2}, false)), `: word 2: "b\tc" has a control`},
		{"noextension", word2vecBinary([]string{"a", "b\nc"}, []float32{1, 2}, false), `: word 2: "b\nc" has a control`},
		{"a.bin", model, ": is a model of fastText"},
		{"a.ftz", model, ": is a model of fastText"},
		{"a.vec.gz", gzipped(model), ": is a model of fastText"},
		{"a.floret", table, ": is a table of floret"},
		{"a.txt", table, ": is a table of floret"},
		{"a.vec.gz", gzipped(table), ": is a table of floret"},
	} {
		s, err := load(write(t, c.name, c.content), LoadOptions{CacheDir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %q: got %v, %v, want an error with %q", c.name, c.content, s, err, c.want)
		}
	}
}
