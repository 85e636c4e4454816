package fetch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mldpbench/internal/list"
)

// content is large enough to be cut in the middle.
var content = bytes.Repeat([]byte("0123456789abcdef"), 1<<14)

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// one is an entry of one plain file.
func one(sha string, address string) Entry {
	return Entry{
		Name: "one", Title: "One file",
		Accept:    map[string][]string{"file": {"one/file.bin"}},
		Downloads: []Download{{URL: address, File: "one/file.bin", Bytes: int64(len(content)), SHA256: sha}},
	}
}

func newFetcher(t *testing.T) *Fetcher {
	t.Helper()
	t.Setenv("MLDP_MIRROR", "")
	return &Fetcher{Dir: t.TempDir(), Log: io.Discard, Retries: 3, Backoff: time.Millisecond, Stall: 5 * time.Second}
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/file.bin"
}

// whole serves content with ranges and validators.
func whole(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"v1"`)
	http.ServeContent(w, r, "file.bin", time.Time{}, bytes.NewReader(content))
}

// cut announces the whole file, serves n bytes of it and drops the connection.
func cut(w http.ResponseWriter, n int) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	_, _ = w.Write(content[:n])
	panic(http.ErrAbortHandler)
}

func wantWhole(t *testing.T, f *Fetcher) {
	t.Helper()
	got, err := os.ReadFile(f.path("one/file.bin"))
	if err != nil || !bytes.Equal(got, content) {
		t.Fatalf("file: %d bytes, %v", len(got), err)
	}
	if exists(f.path("one/file.bin.part")) {
		t.Error("the part is left behind")
	}
}

func TestCatalogueIsSound(t *testing.T) {
	seen, files := map[string]bool{}, map[string]string{}
	for _, e := range Catalogue() {
		if seen[e.Name] || e.Title == "" || e.What == "" || e.Licence == "" || e.Citation == "" || len(e.Accept) == 0 ||
			len(e.Downloads) == 0 && e.Manual == "" {
			t.Errorf("%s: twice, or something is empty", e.Name)
		}
		seen[e.Name] = true
		var gives []string
		for _, d := range e.Downloads {
			if other, ok := files[d.File]; d.URL == "" || d.Bytes == 0 || d.File == "" || d.SHA256 != "" && len(d.SHA256) != 64 ||
				ok && other != d.URL+d.SHA256 {
				t.Errorf("%s: %+v", e.Name, d)
			}
			files[d.File] = d.URL + d.SHA256
			gives = append(gives, d.File)
			for want, to := range d.Unpack {
				if strings.HasSuffix(to, "/") {
					to += filepath.Base(want)
				}
				gives = append(gives, to)
			}
		}
		for part, accept := range e.Accept {
			if len(e.Downloads) > 0 && !slices.ContainsFunc(accept, func(a string) bool {
				return slices.ContainsFunc(gives, func(g string) bool { return g == a || strings.HasPrefix(g, a+"/") })
			}) {
				t.Errorf("%s: no download gives the part %s", e.Name, part)
			}
		}
	}
}

func TestExpand(t *testing.T) {
	for name, want := range map[string]string{
		"imdb":           "imdb",
		"glove.6B":       "glove.6B.50d glove.6B.100d glove.6B.200d glove.6B.300d",
		"glove.6B.100d":  "glove.6B.100d",
		"vickrey":        "imdb opinion-lexicon wordnet glove.6B.100d disaster-tweets",
		"nothing":        "",
		"glove.6B.words": "glove.6B.words.50d glove.6B.words.100d",
	} {
		got, err := Expand(name)
		names := strings.Join(list.Map(got, func(e Entry) string { return e.Name }), " ")
		if names != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", name, names, err, want)
		}
	}
}

// What was left behind is continued where it is of the file, in one run and across
// runs; what is there is not fetched again.
func TestResume(t *testing.T) {
	for name, left := range map[string][]byte{
		"nothing": nil, "the beginning": content[:70_000], "other bytes": bytes.Repeat([]byte("x"), 70_000),
		"too much": append(bytes.Clone(content), "more"...), "all": content,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t)
			var ranges []string
			u := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if ranges = append(ranges, r.Header.Get("Range")); left == nil && len(ranges) == 1 {
					cut(w, 100_000)
				}
				whole(w, r)
			})
			if part := f.path("one/file.bin.part"); left != nil {
				if err := errors.Join(os.MkdirAll(filepath.Dir(part), 0o755), os.WriteFile(part, left, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := f.Fetch(t.Context(), []Entry{one(sum(content), u)}); err != nil {
					t.Fatal(err)
				}
			}
			wantWhole(t, f)
			if left == nil && (len(ranges) != 2 || ranges[0] != "" || ranges[1] == "" || ranges[1] == "bytes=0-") {
				t.Errorf("ranges asked for: %q", ranges)
			}
		})
	}
}

// What cannot be fetched says why, and nothing is put into place; a server that
// has a bad moment is asked again.
func TestFailures(t *testing.T) {
	page := func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("\n<!DOCTYPE html><p>please log in"))
	}
	var moments atomic.Int32
	for name, c := range map[string]struct {
		sha, want string
		serve     http.HandlerFunc
	}{
		"another file":   {sum([]byte("other")), "wrong checksum: SHA-256 is " + sum(content), whole},
		"no such file":   {"", "404 Not Found", http.NotFound},
		"how to do else": {"", "set MLDP_MIRROR to a folder that has one/file.bin", http.NotFound},
		"truncated":      {"", "given up after", func(w http.ResponseWriter, r *http.Request) { cut(w, 1000) }},
		"a log-in":       {"", "got a web page instead of file.bin", page},
		"stalls": {"", "no byte for 300ms", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}},
		"a bad moment": {sum(content), "", func(w http.ResponseWriter, r *http.Request) {
			if moments.Add(1) < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			whole(w, r)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t)
			f.Stall = 300 * time.Millisecond
			err := f.Fetch(t.Context(), []Entry{one(c.sha, serve(t, c.serve))})
			if c.want == "" && err == nil {
				wantWhole(t, f)
			} else if c.want == "" || err == nil || !strings.Contains(err.Error(), c.want) ||
				exists(f.path("one/file.bin")) {
				t.Fatalf("err = %v, want %q", err, c.want)
			}
		})
	}
}

func TestCancelKeepsPart(t *testing.T) {
	f := newFetcher(t)
	ctx, cancel := context.WithCancel(t.Context())
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:100_000])
		w.(http.Flusher).Flush()
		for size(f.path("one/file.bin.part")) < 100_000 && r.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
		<-r.Context().Done()
	})
	err := f.Fetch(ctx, []Entry{one(sum(content), u)})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "is kept") {
		t.Fatalf("err = %v", err)
	}
	if size(f.path("one/file.bin.part")) < 100_000 {
		t.Error("what came is not kept")
	}
	if err := f.Fetch(t.Context(), []Entry{one(sum(content), serve(t, whole))}); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, f)
}

// A mirror folder needs no network.
func TestMirrorFolderComesFirst(t *testing.T) {
	f, mirror := newFetcher(t), t.TempDir()
	t.Setenv("MLDP_MIRROR", mirror)
	for name, data := range map[string]string{"one/file.bin": string(content), "archives/a.zip": zipOf(t, "x.txt", "X")} {
		path := filepath.Join(mirror, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(data), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	bad := one("", "http://127.0.0.1:1") // whose failure does not stop the others
	bad.Name, bad.Accept, bad.Downloads[0].File = "bad", map[string][]string{"file": {"bad/file.bin"}}, "bad/file.bin"
	e := archived("a.zip", "x.txt", "http://nowhere.invalid")
	err := f.Fetch(t.Context(), []Entry{bad, one("", "http://nowhere.invalid"), e})
	if err == nil || !strings.HasPrefix(err.Error(), "bad: ") || !exists(f.path("one/x.txt")) {
		t.Fatal(err)
	}
	wantWhole(t, f)
}

// archived is an entry of one archive with one member.
func archived(file, want string, address string) Entry {
	return Entry{
		Name: "one", Title: "One file",
		Accept:    map[string][]string{"file": {"one/" + filepath.Base(want)}},
		Downloads: []Download{{URL: address, File: "archives/" + file, Bytes: 1, Unpack: map[string]string{want: "one/"}}},
	}
}

// zipOf returns a zip of names and texts in turn.
func zipOf(t *testing.T, namesAndTexts ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(namesAndTexts); i += 2 {
		w, err := z.Create(namesAndTexts[i])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(namesAndTexts[i+1]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tarOf returns a tar.gz of one member with the text "X".
func tarOf(t *testing.T, h tar.Header) string {
	t.Helper()
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	h.Mode, h.Size = 0o644, map[byte]int64{tar.TypeReg: 1}[h.Typeflag]
	err := w.WriteHeader(&h)
	if h.Size > 0 {
		_, _ = w.Write([]byte("X"))
	}
	if err := errors.Join(err, w.Close(), g.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestUnpack(t *testing.T) {
	regular := func(name string) string { return tarOf(t, tar.Header{Name: name, Typeflag: tar.TypeReg}) }
	for name, c := range map[string]struct{ file, archive, err string }{
		"zip":    {"a.zip", zipOf(t, "deep/x.txt", "X", "__MACOSX/x.txt", "junk"), ""},
		"tar":    {"a.tar.gz", regular("deep/x.txt"), ""},
		"escape": {"a.tar.gz", regular("../../x.txt"), ""},
		"link": {"a.tar.gz", tarOf(t, tar.Header{Name: "x.txt", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}),
			"no x.txt in it"},
		"absent":        {"a.zip", zipOf(t, "y.txt", "Y", "xx.txt", "no"), "no x.txt in it"},
		"truncated zip": {"a.zip", zipOf(t, "x.txt", "X")[:40], "damaged archive"},
		"truncated tar": {"a.tar.gz", regular("x.txt")[:30], "damaged archive"},
		"not a zip":     {"a.zip", "hello", "damaged archive"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t)
			u := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, c.archive) })
			err := f.Fetch(t.Context(), []Entry{archived(c.file, "x.txt", u)})
			got, _ := os.ReadFile(f.path("one/x.txt"))
			if c.err == "" && (err != nil || string(got) != "X") || c.err != "" && (err == nil || got != nil ||
				!strings.Contains(err.Error(), c.err)) {
				t.Errorf("%q, %v, want %q", got, err, c.err)
			}
		})
	}
}

// A damaged archive without a published checksum is deleted, so the next fetch
// gets a new one.
func TestDamagedArchivesAreDeleted(t *testing.T) {
	good := zipOf(t, "x.txt", strings.Repeat("text ", 1000))
	f, served := newFetcher(t), good[:40]+strings.Repeat("x", 20)+good[60:]
	e := archived("a.zip", "x.txt", serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, served) }))
	err := f.Fetch(t.Context(), []Entry{e})
	if err == nil || !strings.Contains(err.Error(), "deleted, the same command gets it again") ||
		exists(f.path("archives/a.zip")) || exists(f.path("one/x.txt")) {
		t.Fatalf("err = %v", err)
	}
	served = good
	if err := f.Fetch(t.Context(), []Entry{e}); err != nil {
		t.Fatalf("again: %v", err)
	}
}

// A process killed while it moves files into place leaves the mark behind; the
// entry then counts as missing and is unpacked again.
func TestInterruptedUnpackIsRedone(t *testing.T) {
	f := newFetcher(t)
	e := archived("a.zip", "x.txt", serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, zipOf(t, "x.txt", "X"))
	}))
	if err := f.Fetch(t.Context(), []Entry{e}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(incomplete(f.path(""), e.Name), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Present(f.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("an entry half in place is present: %v", err)
	}
	if err := f.Fetch(t.Context(), []Entry{e}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Present(f.Dir); err != nil {
		t.Fatal(err)
	}
}

func TestMissingErrorSaysWhichCommand(t *testing.T) {
	dir := t.TempDir()
	_, err := Locate(dir, "imdb", "reviews")
	var missing *MissingError
	if !errors.As(err, &missing) || !strings.HasSuffix(err.Error(), "get it with: mldp data fetch imdb --data "+dir) {
		t.Errorf("err = %v", err)
	}
	t.Setenv("MLDP_DATA", dir)
	if _, err = Locate("", "imdb", "reviews"); err == nil ||
		!strings.HasSuffix(err.Error(), "get it with: mldp data fetch imdb") {
		t.Errorf("err = %v", err)
	}
	if _, err = Locate(dir, "disaster-tweets", "tweets"); err == nil ||
		!strings.Contains(err.Error(), "your own account") {
		t.Errorf("err = %v", err)
	}
	if _, err = Locate(dir, "imdb", "nothing"); err == nil {
		t.Error("an unknown part is found")
	}
}
