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

	"mldpbench/internal/realdata"
)

// write writes content to a file in a temporary folder, gzipped if the name
// ends in .gz.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	data := []byte(content)
	if strings.HasSuffix(name, ".gz") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
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
		cache := t.TempDir()
		path := write(t, name, content)
		for range 2 { // from the file, then from the cache
			s, err := load(path, LoadOptions{CacheDir: cache, Dimension: 2})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			if !slices.Equal(s.Vocabulary.Words(), words) || !slices.Equal(s.Vectors, vectors) {
				t.Errorf("%s: %q %v", name, s.Vocabulary.Words(), s.Vectors)
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
	one := word2vecBinary([]string{"a", "b"}, []float32{1, 2}, true)
	for _, c := range []struct{ name, content, want string }{
		{"a.txt", "", ": empty file"},
		{"a.txt.gz", "", ": empty file"},
		{"a.txt", "a 1 2\nb 1\n", `:2: "b" has 1 numbers, want 2`},
		{"a.txt", "a 1 2\nb 1 2 3\n", `:2: "b" has 3 numbers, want 2`},
		{"a.txt", "a 1 2\n7 1\n", `:2: "7" has 1 numbers, want 2`},
		{"a.txt", "a 1 2\n 1 2\n", `:2: no word before the 2 numbers`},
		{"a.txt", "a 1 2\n\nb 1 2\n", `:2: empty line, want a word and 2 numbers`},
		{"a.txt", "a 1 2\nb 1 x\n", `:2: "b": "x" is not a number`},
		{"a.txt", "a 1 2\nb NaN 2\n", `:2: "b": number 1 is NaN: must be finite`},
		{"a.txt", "a 1 2\nb 1 -inf\n", `:2: "b": number 2 is -inf: must be finite`},
		{"a.txt", "a 1 2\nb 1 1e39\n", `:2: "b": number 2 is 1e39: must be finite`},
		{"a.txt", "a 1 2\nb 1 2\na 3 4\n", `:3: "a" repeats line 1`},
		{"a.txt", "a\nb\n", `:1: "a": want a word and its vector`},
		{"a.vec", "3 2\na 1 2\nb 1 2\n", `: header promises 3 words, file has 2`},
		{"a.vec", "1 2\na 1 2\nb 1 2\n", `: header promises 1 words, file has 2`},
		{"a.vec", "2 2\na 1 2\nb 1\n", `:3: "b" has 1 numbers, want 2`},
		{"a.vec", "2 2\na 1 2\na 1 2\n", `:3: "a" repeats line 2`},
		{"a.vec", "0 2\n", `:1: header promises no words`},
		{"a.vec", "9 2", `: header promises 9 words, file has 0`},
		{"a.vec", "1 99999999\n", `:1: dimension 99999999: must be <= 65536`},
		{"a.bin", one[:len(one)-3], `: word 2: file ends here, header promises 2 words`},
		{"a.bin", one + "x", `: more data after the 2 words of the header`},
		{"a.bin", "a 1 2\n", `:1: no word2vec header (number of words, dimension)`},
		{"a.bin", word2vecBinary([]string{"a", "a"}, []float32{1, 2}, true), `: word 2: "a" repeats word 1`},
		{"a.bin", "1 1\nx \x00\x00\xc0\x7f", `: word 1: "x": number 1 is NaN: must be finite`},
		{"a.bin", "1 1\n \x00\x00\xc0\x7f", `: word 1: no word before the vector`},
		{"a.bin", "\xba\x16\x4f\x2f\x0c", `: is a fastText model: load the .vec file of the same name`},
		{"a.zip", "PK\x03\x04...", `: is a zip archive: unpack it and name one of its files`},
		{"a.txt", "a 1 2 3\n", `: has 3 numbers per word, want dimension 2`},
	} {
		opts := LoadOptions{CacheDir: t.TempDir()}
		if strings.Contains(c.want, "want dimension 2") {
			opts.Dimension = 2
		}
		path := write(t, c.name, c.content)
		_, err := load(path, opts)
		if err == nil || err.Error() != path+c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.content, err, path+c.want)
		}
		if left, _ := os.ReadDir(opts.CacheDir); len(left) != 0 {
			t.Errorf("%q: left %v in the cache", c.content, left)
		}
	}
}

func TestTruncatedGzip(t *testing.T) {
	path := write(t, "a.txt.gz", strings.Repeat("word 1 2 3\n", 1))
	data, _ := os.ReadFile(path)
	if err := os.WriteFile(path, data[:len(data)-6], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := load(path, LoadOptions{}); err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Fatalf("err = %v", err)
	}
}

// many returns more rows than one chunk holds.
func many() (string, []string) {
	var b strings.Builder
	var words []string
	for i := range 60000 {
		words = append(words, fmt.Sprintf("w%d", i))
		fmt.Fprintf(&b, "w%d %d.25 -%d.5 0.125 0.0625\n", i, i, i)
	}
	return b.String(), words
}

func TestManyChunksKeepOrderAndLines(t *testing.T) {
	rows, words := many()
	path := write(t, "a.txt", rows)
	s, err := load(path, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Vocabulary.Words(), words) {
		t.Fatal("words out of order")
	}
	for _, i := range []int{0, 30000, 59999} {
		if got, want := s.Vector(WordID(i)), []float32{float32(i) + .25, -float32(i) - .5, .125,
			.0625}; !slices.Equal(got, want) {
			t.Errorf("word %d: %v, want %v", i, got, want)
		}
	}
	path = write(t, "b.txt", rows+"w7 1 2 3 4\nbad 1\n")
	for range 5 { // the first error in file order, whichever worker is faster
		_, err := load(path, LoadOptions{})
		if want := path + `:60001: "w7" repeats line 8`; err == nil || err.Error() != want {
			t.Fatalf("err = %v, want %s", err, want)
		}
	}
}

func TestKeepAndCacheAgree(t *testing.T) {
	rows, _ := many()
	path, cache := write(t, "a.txt", rows), t.TempDir()
	keep := func(w string) bool { return strings.HasSuffix(w, "7") || w == "w100" || w == "w101" }
	var first *Space
	for i, opts := range []LoadOptions{
		{Keep: keep}, {Keep: keep, CacheDir: cache}, {Keep: keep, CacheDir: cache},
	} {
		s, err := load(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = s
		}
		if s.Len() != 6002 || s.Fingerprint() != first.Fingerprint() {
			t.Errorf("load %d: %d words, or others than at first", i, s.Len())
		}
	}
	_, err := load(path, LoadOptions{Keep: func(string) bool { return false }, CacheDir: cache})
	if want := path + ": none of its 60000 words is in the data set"; err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
	_, err = load(path, LoadOptions{Dimension: 5, CacheDir: cache})
	if want := path + ": has 4 numbers per word, want dimension 5"; err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
}

// Any flipped byte, any cut and any change of the source must be noticed, but
// for the few bits that gzip does not read: the time and system of its header,
// and the padding of a block. They change nothing.
func TestDamagedCacheIsRebuilt(t *testing.T) {
	path, dir := write(t, "a.txt", "a 1 2\nb 3 4\nc 5 6\n"), t.TempDir()
	opts := LoadOptions{CacheDir: dir}
	s, err := load(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	cache := cachePath(dir, path)
	good, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	damaged := [][]byte{nil, good[:len(good)-1], good[1:], append([]byte{0}, good...)}
	for i := range good {
		b := slices.Clone(good)
		b[i] ^= 0x10
		damaged = append(damaged, b)
	}
	unread := 0
	for i, b := range damaged {
		if err := os.WriteFile(cache, b, 0o644); err != nil {
			t.Fatal(err)
		}
		again, err := load(path, opts)
		if err != nil || again.Fingerprint() != s.Fingerprint() {
			t.Fatalf("damage %d: %v", i, err)
		}
		if now, _ := os.ReadFile(cache); !bytes.Equal(now, good) {
			unread++
		}
	}
	if unread > 6+3 {
		t.Errorf("%d of %d damages went unnoticed", unread, len(damaged))
	}
	// A source of the same size and modification time but other content is
	// different.
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"a 9 2\nb 3 4\nc 5 6\n", "a 7 2\nbb 3 4\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		changed, err := load(path, opts)
		if err != nil || changed.Len() != 3-i || changed.Vectors[0] != float32(9-2*i) {
			t.Fatalf("changed source %q: %v %v", text, changed, err)
		}
	}
}

func TestUnwritableCacheIsNoError(t *testing.T) {
	path := write(t, "a.txt", "a 1 2\n")
	if _, err := load(path, LoadOptions{CacheDir: filepath.Join(path, "below-a-file")}); err != nil {
		t.Fatal(err)
	}
}

func TestCancelledLoad(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Load(ctx, write(t, "a.txt", "a 1 2\n"), LoadOptions{}); err != context.Canceled {
		t.Fatalf("err = %v", err)
	}
}

func TestRealGloVe(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	path, cache := realdata.File(t, "glove.6B.100d.subset.txt.gz"), t.TempDir()
	a, err := load(path, LoadOptions{CacheDir: cache})
	if err != nil {
		t.Fatal(err)
	}
	b, err := load(path, LoadOptions{CacheDir: cache, Dimension: 100})
	if err != nil {
		t.Fatal(err)
	}
	if a.Len() != 85329 || a.Dimension != 100 || a.Name != "glove.6B.100d.subset" ||
		a.Fingerprint() != b.Fingerprint() {
		t.Fatalf("%s: %d × %d", a.Name, a.Len(), a.Dimension)
	}
	if x := a.Vector(a.Vocabulary.ID("the"))[0]; x != -0.038194 { // first number of the file
		t.Fatalf("the: %v", x)
	}
}

func BenchmarkLoad(b *testing.B) {
	path := realdata.File(b, "glove.6B.100d.subset.txt.gz")
	cache := b.TempDir()
	if _, err := load(path, LoadOptions{CacheDir: cache}); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, dir string }{{"text", ""}, {"cache", cache}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := load(path, LoadOptions{CacheDir: c.dir}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Accepted input gives a consistent space; rejected input gives an error and
// never a panic.
func fuzzReader(f *testing.F, name string) {
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &collector{path: name, lines: map[string]int{}}
		if err := c.readFrom(context.Background(), bytes.NewReader(data), 0, func(block) {}); err != nil {
			return
		}
		if len(c.words) == 0 || len(c.vectors) != len(c.words)*c.dimension || len(c.words) != len(c.lines) {
			t.Fatalf("%d words, %d numbers, dimension %d", len(c.words), len(c.vectors), c.dimension)
		}
		v, err := NewVocabulary(c.words)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewSpace(name, v, c.dimension, c.vectors); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"a 1 2\nb 3 4\n", ". . . 1 2\n", "a\t1\n", "a 1 2\n\nb 1\n", "\x1f\x8b\x08"} {
		f.Add([]byte(s))
	}
	fuzzReader(f, "a.txt")
}

func FuzzVec(f *testing.F) {
	f.Add([]byte("2 2\na 1 2 \nb 3 4 \n"))
	f.Add([]byte("2 2\na 1 2 \nb 3\n"))
	fuzzReader(f, "a.vec")
}

func FuzzBinary(f *testing.F) {
	f.Add([]byte(word2vecBinary([]string{"a", "b"}, []float32{1, 2, 3, 4}, true)))
	f.Add([]byte("4294967295 65536\n"))
	fuzzReader(f, "a.bin")
}

func FuzzCache(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.cache")
	err := writeCache(path, "a", func(add func(block)) error {
		add(block{words: []string{"a", "b"}, vectors: []float32{1, 2, 3, 4}})
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if s, ok, err := fromCache(t.Context(), path, "a", "a.txt", LoadOptions{Name: "a"}); ok && err == nil &&
			len(s.Vectors) != s.Len()*s.Dimension {
			t.Errorf("%d numbers for %d words", len(s.Vectors), s.Len())
		}
	})
}
