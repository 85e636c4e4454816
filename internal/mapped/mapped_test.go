package mapped

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const testKind = "test 1"

type testMeta struct{ Rows int }

// content is what a test's file has.
type content struct {
	key     string
	numbers []float32
	words   []byte
}

// contentOf is that of a key, with parts of more than a page.
func contentOf(i, length int) content {
	c := content{key: fmt.Sprint("key ", i)}
	for j := range length {
		c.numbers = append(c.numbers, float32(i)+float32(j)/float32(length))
	}
	c.words = bytes.Repeat([]byte{byte(i)}, length)
	return c
}

// fill writes the parts, and an empty one between them.
func (c content) fill(w *Writer) error {
	w.Key = c.key
	w.Meta = testMeta{len(c.numbers)}
	w.Begin("numbers")
	half := len(c.numbers) / 2
	Append(w, c.numbers[:half])
	Append(w, c.numbers[half:])
	w.Begin("none")
	w.Begin("words")
	Append(w, c.words)
	return w.Err()
}

// differs says what of a file is not the content, "" for nothing.
func (c content) differs(f *File) string {
	var meta testMeta
	err := f.Meta(&meta)
	switch {
	case err != nil:
		return err.Error()
	case f.Key != c.key:
		return fmt.Sprintf("key %q, want %q", f.Key, c.key)
	case meta.Rows != len(c.numbers):
		return fmt.Sprintf("meta of %d rows, want %d", meta.Rows, len(c.numbers))
	case !slices.Equal(Part[float32](f, "numbers"), c.numbers):
		return "other numbers than were written"
	case !bytes.Equal(Part[byte](f, "words"), c.words):
		return "other words than were written"
	case Part[byte](f, "none") != nil || Part[byte](f, "unknown") != nil:
		return "a part of which nothing was written has something"
	}
	return ""
}

// written writes a file of a content into a folder of its own.
func (c content) written(t *testing.T) (path string, data []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	f, err := Write(path, testKind, c.fill)
	if err != nil {
		t.Fatal(err)
	}
	if said := c.differs(f); said != "" {
		t.Fatalf("the file that was written: %s", said)
	}
	data, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, data
}

func TestOpenedIsWhatWasWritten(t *testing.T) {
	for _, length := range []int{0, 1, 3, 1023, 1024, 1025, 5000} {
		c := contentOf(7, length)
		path, _ := c.written(t)
		for range 2 { // checked, then vouched for by the stamp or checked again
			f, err := Open(path, testKind)
			if err != nil {
				t.Fatalf("%d numbers: %v", length, err)
			}
			if said := c.differs(f); said != "" {
				t.Errorf("%d numbers: %s", length, said)
			}
		}
	}
}

// opened is what Open makes of the bytes of a file that no stamp vouches for.
func opened(data []byte) (*File, error) {
	f, err := parse(data, testKind)
	if err == nil {
		err = f.verify()
	}
	return f, err
}

// TestTruncated cuts a file at every length.
func TestTruncated(t *testing.T) {
	path, data := contentOf(3, 2000).written(t)
	for length := range data {
		_, err := opened(data[:length])
		if !errors.Is(err, ErrUnusable) {
			t.Fatalf("%d of %d bytes: %v, want that they are unusable", length, len(data), err)
		}
	}
	for _, length := range []int{0, 1, alignment, len(data) - trailerLength, len(data) - 1} {
		err := os.WriteFile(path, data[:length], 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(path, testKind)
		if !errors.Is(err, ErrUnusable) {
			t.Errorf("a file cut to %d of %d bytes: %v, want that it is unusable", length, len(data), err)
		}
	}
}

// TestDamaged changes a byte of a file, each in turn: it is unusable, or all its parts are as they
// were, where the byte is between them.
func TestDamaged(t *testing.T) {
	c := contentOf(4, 1100)
	path, data := c.written(t)
	unnoticed := 0
	for at := range data {
		for _, change := range []byte{0x01, 0x80} {
			data[at] ^= change
			f, err := opened(data)
			switch {
			case errors.Is(err, ErrUnusable):
			case err != nil:
				t.Fatalf("byte %d: %v, want that the file is unusable", at, err)
			default:
				unnoticed++
				if said := c.differs(f); said != "" {
					t.Fatalf("byte %d changed by %#x: the file opens with %s", at, change, said)
				}
			}
			data[at] ^= change
		}
	}
	between := 2 * (len(data) - 5*1100)
	if unnoticed > between {
		t.Errorf("%d changes were not noticed, want at most %d, between the parts", unnoticed, between)
	}
	for _, at := range []int{0, 4 * 1100, len(data) - trailerLength - 5} {
		damaged := slices.Clone(data)
		damaged[at]++
		err := os.WriteFile(path, damaged, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, testKind)
		if err == nil && c.differs(f) != "" {
			t.Errorf("a file with another byte %d opens with %s", at, c.differs(f))
		}
	}
}

// TestForeign: what is no file of the kind is unusable, and says why.
func TestForeign(t *testing.T) {
	c := contentOf(5, 100)
	_, data := c.written(t)
	end := len(data) - trailerLength
	otherOrder := slices.Clone(data)
	slices.Reverse(otherOrder[end+8 : end+12])
	otherMagic := slices.Clone(data)
	copy(otherMagic[end:], "mldpmap0")
	long := slices.Clone(data)
	for i := range 8 {
		long[end+16+i] = 0xff
	}
	for name, test := range map[string]struct {
		data []byte
		said string
	}{
		"an empty file":               {nil, "cut short"},
		"a line of text":              {[]byte("the 0.1 0.2\n"), "cut short"},
		"much text":                   {bytes.Repeat([]byte("the 0.1 0.2\n"), 1000), "of another program"},
		"zeros":                       {make([]byte, 3*alignment), "of another program"},
		"another byte order":          {otherOrder, "another kind of machine"},
		"another version":             {otherMagic, "version"},
		"an index longer than it":     {long, "damaged"},
		"a trailer without the parts": {data[end:], "damaged"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		err := os.WriteFile(path, test.data, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(path, testKind)
		if !errors.Is(err, ErrUnusable) || !strings.Contains(Reason(err), test.said) {
			t.Errorf("%s: %v, want that it is unusable: %s", name, err, test.said)
		}
	}
	path, _ := c.written(t)
	_, err := Open(path, "test 2")
	if !errors.Is(err, ErrUnusable) {
		t.Errorf("a file of another kind: %v, want that it is unusable", err)
	}
	_, err = Open(filepath.Join(t.TempDir(), "none"), testKind)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v, want that there is none", err)
	}
	_, err = Open(t.TempDir(), testKind)
	if err == nil {
		t.Error("a folder can be opened, want an error")
	}
}

// TestStampOfAnother: a stamp of another file, or of nonsense, vouches for nothing.
func TestStampOfAnother(t *testing.T) {
	c := contentOf(6, 100)
	path, data := c.written(t)
	good, _ := contentOf(8, 100).written(t)
	stamp, err := os.ReadFile(good + stampSuffix)
	if err != nil {
		t.Fatal(err)
	}
	data[0]++ // of the first part
	for _, said := range [][]byte{stamp, []byte("{}"), []byte("nonsense"), nil} {
		err = errors.Join(os.WriteFile(path, data, 0o600), os.WriteFile(path+stampSuffix, said, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(path, testKind)
		if !errors.Is(err, ErrUnusable) {
			t.Errorf("damaged, with the stamp %q: %v, want that it is unusable", said, err)
		}
	}
}

// TestConcurrent: files that several write at once are seen whole, each as one of them wrote it; what was
// opened before stays.
func TestConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	const writers = 4
	first, err := Write(path, testKind, contentOf(0, 3000).fill)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for round := range 5 {
				c := contentOf(writers*round+i, 3000)
				f, err := Write(path, testKind, c.fill)
				if err != nil {
					t.Error(err)
					return
				}
				if said := c.differs(f); said != "" {
					t.Errorf("what was written: %s", said)
				}
			}
		})
		all.Go(func() {
			for range 30 {
				f, err := Open(path, testKind)
				if err != nil {
					t.Errorf("a file that others replace: %v", err)
					return
				}
				var i int
				_, err = fmt.Sscanf(f.Key, "key %d", &i)
				if err != nil {
					t.Errorf("key %q: %v", f.Key, err)
					return
				}
				if said := contentOf(i, 3000).differs(f); said != "" {
					t.Errorf("what another wrote: %s", said)
				}
			}
		})
	}
	all.Wait()
	if said := contentOf(0, 3000).differs(first); said != "" {
		t.Errorf("what was opened before it was replaced: %s", said)
	}
}

// TestNotWritten: where a file cannot be written, or its content cannot be made, the one before stays.
func TestNotWritten(t *testing.T) {
	c := contentOf(9, 3000)
	path, _ := c.written(t)
	failed := errors.New("no more rows")
	_, err := Write(path, testKind, func(w *Writer) error {
		w.Begin("numbers")
		Append(w, make([]float32, 100_000))
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("content that fails: %v, want its error", err)
	}
	f, err := Open(path, testKind)
	if err != nil {
		t.Fatal(err)
	}
	if said := c.differs(f); said != "" {
		t.Errorf("after another that failed: %s", said)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "file") {
			t.Errorf("%s is left of what failed", e.Name())
		}
	}
	_, err = Write(filepath.Join(path, "below"), testKind, c.fill) // no folder
	if err == nil {
		t.Error("a file below a file was written")
	}
}
