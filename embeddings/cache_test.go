package embeddings

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mldpbench/internal/mapped"
	"mldpbench/internal/progress"
)

// noted loads a file and returns what was said on the display.
func noted(t *testing.T, path string, opts LoadOptions) (*Space, string) {
	t.Helper()
	var out strings.Builder
	_, ctx := progress.NewDisplay(t.Context(), &out)
	s, err := Load(ctx, path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s, out.String()
}

// same compares all that a space knows with those of one in memory.
func same(t *testing.T, what string, got, want *Space) {
	t.Helper()
	if !slices.Equal(got.Vocabulary.Words(), want.Vocabulary.Words()) || !slices.Equal(got.Vectors, want.Vectors) {
		t.Errorf("%s: words %q with %v, want %q with %v", what, got.Vocabulary.Words(), got.Vectors,
			want.Vocabulary.Words(), want.Vectors)
	}
	if got.Fingerprint() != want.Fingerprint() || got.Longest() != want.Longest() || got.Name != want.Name {
		t.Errorf("%s: fingerprint %s, longest %v, name %s, want %s, %v, %s", what, got.Fingerprint(), got.Longest(),
			got.Name, want.Fingerprint(), want.Longest(), want.Name)
	}
	for id, w := range want.Vocabulary.Words() {
		if got.Vocabulary.ID(w) != WordID(id) || got.Vocabulary.Word(WordID(id)) != w {
			t.Errorf("%s: %q is %d, and %d is %q, want %d", what, w, got.Vocabulary.ID(w), id,
				got.Vocabulary.Word(WordID(id)), id)
		}
	}
	for _, w := range []string{"", "no", "a ", "1"} {
		if got.Vocabulary.ID(w) != want.Vocabulary.ID(w) {
			t.Errorf("%s: %q is %d, want %d", what, w, got.Vocabulary.ID(w), want.Vocabulary.ID(w))
		}
	}
}

// old sets the times of files back, to when a stamp vouches for them.
func old(t *testing.T, paths ...string) {
	t.Helper()
	then := time.Now().Add(-time.Hour)
	for _, path := range paths {
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMappedIsAsInMemory loads spaces of 1 to 300 words, with all their words, some, and by a rule.
func TestMappedIsAsInMemory(t *testing.T) {
	rule := &Restriction{Name: "short", Version: 1, Keep: func(w string) bool { return len(w) < 3 }}
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 64, 65, 300} {
		var rows strings.Builder
		for i := range n {
			fmt.Fprintf(&rows, "%x %d.5 -%d\n", i, i, i)
		}
		path := write(t, "a.txt", rows.String())
		for what, opts := range map[string]LoadOptions{
			"all":           {},
			"kept":          {Keep: func(w string) bool { return w != "3" }},
			"by rule":       {Only: rule},
			"kept, by rule": {Keep: func(w string) bool { return w != "3" }, Only: rule},
			"first 5":       {Keep: First(5, nil)},
		} {
			want, err := load(path, opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.CacheDir = t.TempDir()
			for k := range 3 { // made, checked, opened
				got, said := noted(t, path, opts)
				same(t, fmt.Sprintf("%s of %d, load %d", what, n, k), got, want)
				if got.LeftOut != want.LeftOut || said != "" {
					t.Errorf("%s of %d: left out %v, said %q, want %v and nothing", what, n, got.LeftOut, said,
						want.LeftOut)
				}
			}
		}
	}
}

// TestRestrictedCopies counts the copies: a rule that leaves out nothing shares that of all words.
func TestRestrictedCopies(t *testing.T) {
	path := write(t, "a.txt", "a 1 2\nbb 3 4\n")
	all := &Restriction{Name: "all", Version: 1, Keep: func(string) bool { return true }}
	short := &Restriction{Name: "short", Version: 1, Keep: func(w string) bool { return len(w) < 2 }}
	newer := &Restriction{Name: "short", Version: 2, Keep: func(w string) bool { return len(w) > 1 }}
	for k, c := range []struct {
		rules []*Restriction
		want  int
	}{
		{[]*Restriction{nil, all, nil}, 1},
		{[]*Restriction{all, nil, all}, 1},
		{[]*Restriction{short, nil, all, short}, 2},
		{[]*Restriction{nil, short, newer, short}, 2},
	} {
		dir := t.TempDir()
		for _, rule := range c.rules {
			want, err := load(path, LoadOptions{Only: rule})
			if err != nil {
				t.Fatal(err)
			}
			got, err := load(path, LoadOptions{Only: rule, CacheDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			same(t, fmt.Sprintf("case %d, %v", k, rule), got, want)
			if got.LeftOut != want.LeftOut {
				t.Errorf("case %d: left out %v, want %v", k, got.LeftOut, want.LeftOut)
			}
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.cache"))
		if err != nil || len(files) != c.want {
			t.Errorf("case %d: copies %q, %v, want %d", k, files, err, c.want)
		}
	}
}

// TestDamagedCopyIsMadeAnew flips every byte of a copy, cuts it, and puts others in its place: what is
// loaded is always right, whatever the times of the files, and a copy that was not is replaced.
func TestDamagedCopyIsMadeAnew(t *testing.T) {
	path := write(t, "a.txt", "a 1 2\nb 3 4\nc 5 6\n")
	dir := t.TempDir()
	opts := LoadOptions{CacheDir: dir}
	want, err := load(path, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	noted(t, path, opts)
	copies, err := filepath.Glob(filepath.Join(dir, "*.cache"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies %q, %v, want one", copies, err)
	}
	good, err := os.ReadFile(copies[0])
	if err != nil {
		t.Fatal(err)
	}
	cases := [][]byte{{}, good[:1], good[:len(good)-1], good[:len(good)/2], good[1:], append([]byte{0}, good...),
		append(slices.Clone(good), 0), []byte("\x1f\x8bmldp vectors 4, source "), bytes.Repeat([]byte{0}, len(good))}
	other := write(t, "b.txt", "a 9 9\nb 9 9\nc 9 9\n")
	otherDir := t.TempDir()
	noted(t, other, LoadOptions{CacheDir: otherDir})
	foreign, _ := filepath.Glob(filepath.Join(otherDir, "*.cache"))
	data, err := os.ReadFile(foreign[0])
	if err != nil {
		t.Fatal(err)
	}
	cases = append(cases, data)
	used := 0 // bytes that are not between parts
	for i := range good {
		if i%4096 < 64 || i%5 == 0 && good[i] != 0 || i > len(good)-40 {
			b := slices.Clone(good)
			b[i] ^= 0x10
			cases = append(cases, b)
			used++
		}
	}
	if used < 250 {
		t.Errorf("%d bytes are flipped, want hundreds", used)
	}
	for i, b := range cases {
		err := os.WriteFile(copies[0], b, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // times of files do not hide it
			old(t, copies[0], path)
		}
		got, said := noted(t, path, opts)
		same(t, fmt.Sprintf("damage %d", i), got, want)
		now, _ := os.ReadFile(copies[0])
		inPadding := said == "" && bytes.Equal(now, b)
		if !inPadding && (!strings.Contains(said, "is made anew: ") || !bytes.Equal(now, good)) {
			t.Errorf("damage %d: said %q, and the copy is mended: %v", i, said, bytes.Equal(now, good))
		}
		if inPadding && i < 10 {
			t.Errorf("damage %d went unnoticed", i)
		}
	}
}

// TestChangedSource changes a file, also to one of the same size and times, in place and by another.
func TestChangedSource(t *testing.T) {
	path := write(t, "a.txt", "a 1 2\nb 3 4\n")
	opts := LoadOptions{CacheDir: t.TempDir()}
	noted(t, path, opts)
	for i, text := range []string{"a 9 2\nb 3 4\n", "a 7 2\nbb 3 4\n", "a 7 2\nbb 3 4\nc 5 6\n", "b 7 2\na 3 4\n"} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		target := path
		if i%2 == 1 {
			target = path + ".new"
		}
		err = errors.Join(os.WriteFile(target, []byte(text), 0o644), os.Chtimes(target, info.ModTime(), info.ModTime()))
		if err == nil && target != path {
			err = os.Rename(target, path)
		}
		if err != nil {
			t.Fatal(err)
		}
		want, err := load(path, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, said := noted(t, path, opts)
		same(t, fmt.Sprintf("text %d", i), got, want)
		if !strings.Contains(said, path+" is made anew: the vectors have changed") {
			t.Errorf("text %d: said %q, want that the copy is made anew", i, said)
		}
		got, said = noted(t, path, opts)
		same(t, fmt.Sprintf("text %d from the copy", i), got, want)
		if said != "" {
			t.Errorf("text %d again: said %q, want nothing", i, said)
		}
	}
}

// TestStamps: a source is read again where its times could hide a change, and only there.
func TestStamps(t *testing.T) {
	now := time.Now().UnixNano()
	at := func(modified, changed time.Duration) mapped.Identity {
		return mapped.Identity{Device: 1, Inode: 2, Size: 3, Modified: now + int64(modified),
			Changed: now + int64(changed)}
	}
	long := at(-time.Hour, -time.Minute)
	touched := long
	touched.Changed++
	moved := long
	moved.Inode++
	for _, c := range []struct {
		what    string
		stamped mapped.Identity
		is      mapped.Identity
		want    bool
	}{
		{"left alone", long, long, true},
		{"changed a moment before", at(-time.Hour, -time.Second), at(-time.Hour, -time.Second), false},
		{"modified a moment before", at(-time.Second, -time.Hour), at(-time.Second, -time.Hour), false},
		{"of the future", at(time.Hour, -time.Hour), at(time.Hour, -time.Hour), false},
		{"touched since", long, touched, false},
		{"another file", long, moved, false},
		{"not known", mapped.Identity{}, mapped.Identity{}, false},
	} {
		s := mapped.Stamp{Identity: c.stamped, When: now}
		if got := s.Vouches(c.is); got != c.want {
			t.Errorf("a file that is %s: vouched for: %v, want %v", c.what, got, c.want)
		}
	}
}

// TestCacheThatCannotBeWritten: the vectors are right, and one line says why there is no copy.
func TestCacheThatCannotBeWritten(t *testing.T) {
	path := write(t, "a.txt", "a 1 2\nb 3 4\n")
	want, err := load(path, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{"below a file": filepath.Join(path, "folder")}
	if info, err := os.Stat("/dev/full"); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		dir := t.TempDir() // every copy goes to a full disk
		c := &cache{}
		c.stem = stemOf(dir, path)
		if err := os.Symlink("/dev/full", c.file(nil).path); err != nil {
			t.Fatal(err)
		}
		dirs["full disk"] = dir
	}
	locked := t.TempDir()
	if err := os.Chmod(locked, 0o555); err != nil {
		t.Fatal(err)
	}
	if os.WriteFile(filepath.Join(locked, "probe"), nil, 0o644) != nil { // root may write
		dirs["read only"] = locked
	}
	for what, dir := range dirs {
		got, said := noted(t, path, LoadOptions{CacheDir: dir})
		same(t, what, got, want)
		if strings.Count(said, "is read without a cached copy: ") != 1 {
			t.Errorf("%s: said %q, want one line that there is no copy", what, said)
		}
	}
}

// TestReadOnlyCacheIsUsed: a copy that is there needs nothing to be written.
func TestReadOnlyCacheIsUsed(t *testing.T) {
	path := write(t, "a.txt", "a 1 2\nb 3 4\n")
	dir := t.TempDir()
	want, _ := noted(t, path, LoadOptions{CacheDir: dir})
	for _, keep := range []string{"*.stamp", "*.source", ""} {
		if keep != "" {
			files, _ := filepath.Glob(filepath.Join(dir, keep))
			for _, f := range files {
				if err := os.Remove(f); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		got, said := noted(t, path, LoadOptions{CacheDir: dir})
		same(t, "without "+keep, got, want)
		if said != "" {
			t.Errorf("without %s: said %q, want nothing", keep, said)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestConcurrentLoads make, replace and read copies of two sources of one path at once.
func TestConcurrentLoads(t *testing.T) {
	path := write(t, "a.txt", "a 1 2\nb 3 4\n")
	rule := &Restriction{Name: "short", Version: 1, Keep: func(w string) bool { return w != "b" }}
	dir := t.TempDir()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for round := range 10 {
				opts := LoadOptions{CacheDir: dir}
				want := []float32{1, 2, 3, 4}
				if (worker+round)%2 == 0 {
					opts.Only = rule
					want = want[:2]
				}
				if worker == 0 {
					files, _ := filepath.Glob(filepath.Join(dir, "*.cache"))
					for _, f := range files {
						_ = os.Remove(f)
					}
				}
				s, err := Load(context.Background(), path, opts)
				if err != nil || !slices.Equal(s.Vectors, want) {
					t.Errorf("worker %d, round %d: %v, %v, want %v", worker, round, s, err, want)
				}
			}
		})
	}
	all.Wait()
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files %q are left, %v", left, err)
	}
}

// TestOtherByteOrder: a copy of another kind of machine is not used.
func TestOtherByteOrder(t *testing.T) {
	path := write(t, "a.txt", "a 1 2\nb 3 4\n")
	dir := t.TempDir()
	want, _ := noted(t, path, LoadOptions{CacheDir: dir})
	copies, _ := filepath.Glob(filepath.Join(dir, "*.cache"))
	data, err := os.ReadFile(copies[0])
	if err != nil {
		t.Fatal(err)
	}
	order := data[len(data)-24:]
	binary.BigEndian.PutUint32(order, binary.LittleEndian.Uint32(order))
	if err := os.WriteFile(copies[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	got, said := noted(t, path, LoadOptions{CacheDir: dir})
	same(t, "other byte order", got, want)
	if !strings.Contains(said, "another kind of machine") {
		t.Errorf("said %q, want that the copy is of another kind of machine", said)
	}
}

func TestCancelledLoad(t *testing.T) {
	path := write(t, "a.txt", "a 1 2\nb 3 4\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, dir := range []string{"", t.TempDir()} {
		if _, err := Load(ctx, path, LoadOptions{CacheDir: dir}); !errors.Is(err, context.Canceled) {
			t.Errorf("cache %q: error %v, want %v", dir, err, context.Canceled)
		}
	}
}
