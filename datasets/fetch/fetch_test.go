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
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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

type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, s)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

func newFetcher(t *testing.T) (*Fetcher, *log) {
	t.Helper()
	t.Setenv("MLDP_MIRROR", "")
	l := &log{}
	return &Fetcher{Dir: t.TempDir(), Notice: l.add, Retries: 3, Backoff: time.Millisecond, Stall: 5 * time.Second}, l
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
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "file.bin", time.Time{}, bytes.NewReader(content))
}

// cut announces the whole file, serves n bytes of it and drops the connection.
func cut(w http.ResponseWriter, n int) {
	w.Header().Set("ETag", `"v1"`)
	w.Header().Set("Content-Type", "application/octet-stream")
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

func wantNothing(t *testing.T, f *Fetcher) {
	t.Helper()
	for _, name := range []string{"one/file.bin", "one/file.bin.part"} {
		if exists(f.path(name)) {
			t.Errorf("%s is left behind", name)
		}
	}
}

func TestCatalogueIsSound(t *testing.T) {
	seen, files, bases := map[string]bool{}, map[string]string{}, map[string]string{}
	for _, e := range Catalogue() {
		if seen[e.Name] {
			t.Errorf("%s comes twice", e.Name)
		}
		seen[e.Name] = true
		if e.Title == "" || e.What == "" || e.Licence == "" || e.Citation == "" || len(e.Accept) == 0 {
			t.Errorf("%s: something is empty", e.Name)
		}
		if len(e.Downloads) == 0 {
			if e.Manual == "" {
				t.Errorf("%s: no way to get it", e.Name)
			}
			continue
		}
		gives := map[string]bool{}
		for _, d := range e.Downloads {
			if d.URL == "" || d.Bytes == 0 || d.File == "" {
				t.Errorf("%s: a download without address, size or file", e.Name)
			}
			if d.SHA256 != "" && len(d.SHA256) != 64 {
				t.Errorf("%s: checksum of a wrong length", e.Name)
			}
			if other, ok := files[d.File]; ok && other != d.URL+d.SHA256 {
				t.Errorf("%s: two downloads share %s", e.Name, d.File)
			}
			files[d.File] = d.URL + d.SHA256
			// A mirror may hold files under their bare names, where they are one file's.
			if other, ok := bases[filepath.Base(d.File)]; ok && other != d.File {
				for _, file := range []string{d.File, other} {
					if names := mirrorNames(file); len(names) != 1 || names[0] != file {
						t.Errorf("%s and %s share a name, and a mirror may mix them up: %v", d.File, other, names)
					}
				}
			}
			bases[filepath.Base(d.File)] = d.File
			gives[d.File] = true
			for want, to := range d.Unpack {
				if strings.HasSuffix(to, "/") {
					to += filepath.Base(want)
				}
				gives[to] = true
			}
		}
		for part, accept := range e.Accept {
			found := false
			for _, a := range accept {
				for g := range gives {
					found = found || g == a || strings.HasPrefix(g, a+"/")
				}
			}
			if !found {
				t.Errorf("%s: no download gives the part %s", e.Name, part)
			}
		}
	}
}

func TestExpand(t *testing.T) {
	names := func(es []Entry) string {
		var s []string
		for _, e := range es {
			s = append(s, e.Name)
		}
		return strings.Join(s, " ")
	}
	for _, c := range []struct {
		names      []string
		dimensions []int
		want       string
	}{
		{[]string{"imdb", "imdb"}, nil, "imdb"},
		{[]string{"glove.6B"}, []int{50, 300}, "glove.6B.50d glove.6B.300d"},
		{[]string{"glove.6B.100d", "words"}, nil, "glove.6B.100d words"},
		{[]string{"vickrey"}, nil, "imdb opinion-lexicon wordnet glove.6B.100d disaster-tweets"},
	} {
		got, err := Expand(c.names, c.dimensions)
		if err != nil || names(got) != c.want {
			t.Errorf("%v %v: %q, %v; want %q", c.names, c.dimensions, names(got), err, c.want)
		}
	}
	for _, bad := range []string{"nothing", "glove"} {
		if _, err := Expand([]string{bad}, nil); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	if _, err := Expand([]string{"glove.6B"}, []int{77}); err == nil {
		t.Error("glove.6B of dimension 77: no error")
	}
}

func TestFetchOnceAndVerify(t *testing.T) {
	f, _ := newFetcher(t)
	var requests atomic.Int32
	u := serve(t, func(w http.ResponseWriter, r *http.Request) { requests.Add(1); whole(w, r) })
	for range 2 {
		if err := f.Fetch(t.Context(), []Entry{one(sum(content), u)}); err != nil {
			t.Fatal(err)
		}
	}
	wantWhole(t, f)
	if requests.Load() != 1 {
		t.Errorf("%d requests, want 1", requests.Load())
	}
	verify := func() []Check {
		t.Helper()
		checks, err := f.Verify(t.Context(), []Entry{one(sum(content), u), one(sum(content), u)})
		if err != nil {
			t.Fatal(err)
		}
		return checks
	}
	if checks := verify(); len(checks) != 1 || checks[0].Err != nil {
		t.Fatalf("verify: %v", checks)
	}
	if err := os.WriteFile(f.path("one/file.bin"), []byte("rotten"), 0o644); err != nil {
		t.Fatal(err)
	}
	if checks := verify(); len(checks) != 1 || !errors.Is(checks[0].Err, errChecksum) {
		t.Errorf("a changed file: %v", checks)
	}
	if err := os.Remove(f.path("one/file.bin")); err != nil {
		t.Fatal(err)
	}
	if checks := verify(); len(checks) != 0 {
		t.Errorf("an absent file: %v", checks)
	}
}

func TestResumeAfterCutConnection(t *testing.T) {
	f, _ := newFetcher(t)
	var ranges []string
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range"))
		if len(ranges) == 1 {
			cut(w, 100_000)
		}
		whole(w, r)
	})
	if err := f.Fetch(t.Context(), []Entry{one(sum(content), u)}); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, f)
	if len(ranges) != 2 || ranges[0] != "" || !strings.HasPrefix(ranges[1], "bytes=") || ranges[1] == "bytes=0-" {
		t.Errorf("ranges asked for: %q", ranges)
	}
}

func TestResumeAcrossRunsAndStalePart(t *testing.T) {
	for name, left := range map[string][]byte{
		"good":           content[:70_000],
		"of other bytes": bytes.Repeat([]byte("x"), 70_000),
		"too long":       append(bytes.Clone(content), "more"...),
		"complete":       content,
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := newFetcher(t)
			if err := os.MkdirAll(f.path("one"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(f.path("one/file.bin.part"), left, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := f.Fetch(t.Context(), []Entry{one(sum(content), serve(t, whole))}); err != nil {
				t.Fatal(err)
			}
			wantWhole(t, f)
		})
	}
}

func TestChangedFileIsNotContinued(t *testing.T) {
	f, _ := newFetcher(t)
	first := true
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if first {
			first = false
			w.Header().Set("ETag", `"old"`)
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = w.Write(bytes.Repeat([]byte("o"), 80_000))
			panic(http.ErrAbortHandler)
		}
		whole(w, r) // the validator differs: If-Range gives the whole file
	})
	if err := f.Fetch(t.Context(), []Entry{one("", u)}); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, f)
}

func TestWrongChecksum(t *testing.T) {
	f, _ := newFetcher(t)
	err := f.Fetch(t.Context(), []Entry{one(sum([]byte("other")), serve(t, whole))})
	if err == nil || !strings.Contains(err.Error(), "wrong checksum: SHA-256 is "+sum(content)) {
		t.Fatalf("err = %v", err)
	}
	wantNothing(t, f)
}

func TestNotFoundAnywhere(t *testing.T) {
	f, _ := newFetcher(t)
	err := f.Fetch(t.Context(), []Entry{one("", serve(t, http.NotFound))})
	if err == nil || !strings.Contains(err.Error(), "404 Not Found") || !strings.Contains(err.Error(), "MLDP_MIRROR") {
		t.Fatalf("err = %v", err)
	}
	wantNothing(t, f)
}

func TestServerErrorsAreRetried(t *testing.T) {
	f, _ := newFetcher(t)
	var n atomic.Int32
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		whole(w, r)
	})
	if err := f.Fetch(t.Context(), []Entry{one(sum(content), u)}); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, f)
}

func TestTruncatedForGood(t *testing.T) {
	f, _ := newFetcher(t)
	u := serve(t, func(w http.ResponseWriter, r *http.Request) { cut(w, 1000) })
	err := f.Fetch(t.Context(), []Entry{one(sum(content), u)})
	if err == nil || !strings.Contains(err.Error(), "given up after") {
		t.Fatalf("err = %v", err)
	}
	if exists(f.path("one/file.bin")) {
		t.Error("a truncated file is in place")
	}
}

func TestWebPageInsteadOfData(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"by type": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<html>please log in</html>"))
		},
		"by content": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/zip")
			_, _ = w.Write([]byte("\n<!DOCTYPE html><p>please log in"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := newFetcher(t)
			err := f.Fetch(t.Context(), []Entry{one("", serve(t, h))})
			if err == nil || !strings.Contains(err.Error(), "got a web page instead of file.bin") {
				t.Fatalf("err = %v", err)
			}
			wantNothing(t, f)
		})
	}
}

func TestStalledServerIsGivenUp(t *testing.T) {
	f, _ := newFetcher(t)
	f.Stall, f.Retries = 50*time.Millisecond, 1
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	err := f.Fetch(t.Context(), []Entry{one(sum(content), u)})
	if err == nil || !strings.Contains(err.Error(), "no byte for 50ms") {
		t.Fatalf("err = %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	f, _ := newFetcher(t)
	var requests atomic.Int32
	u := serve(t, func(w http.ResponseWriter, r *http.Request) { requests.Add(1); whole(w, r) })
	part := f.path("one/file.bin.part")
	if err := os.MkdirAll(filepath.Dir(part), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here, which is always full")
	}
	if err := os.Symlink("/dev/full", part); err != nil {
		t.Fatal(err)
	}
	err := f.Fetch(t.Context(), []Entry{one("", u)})
	if err == nil || !strings.Contains(err.Error(), "no space left on the disk of "+f.path("one")) {
		t.Fatalf("err = %v", err)
	}
	if requests.Load() != 1 {
		t.Errorf("%d requests: a full disk is not cured by trying again", requests.Load())
	}
	if exists(f.path("one/file.bin")) {
		t.Error("a file is in place")
	}
	if err := os.Remove(part); err != nil {
		t.Fatal(err)
	}
	if err := f.Fetch(t.Context(), []Entry{one(sum(content), u)}); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, f)
}

func TestLargeDownloadIsConfirmed(t *testing.T) {
	f, _ := newFetcher(t)
	no := errors.New("no")
	f.Confirm = func(n int64) error { return no }
	e := one("", serve(t, whole))
	e.Downloads[0].Bytes = AskAbove + 1
	if err := f.Fetch(t.Context(), []Entry{e}); !errors.Is(err, no) {
		t.Fatalf("err = %v", err)
	}
	e.Downloads[0].Bytes = AskAbove
	if err := f.Fetch(t.Context(), []Entry{e}); err != nil {
		t.Fatal(err)
	}
}

func TestCancelKeepsPart(t *testing.T) {
	f, _ := newFetcher(t)
	ctx, cancel := context.WithCancel(t.Context())
	u := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:100_000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	f.Progress = func(string, int64) func(int64) {
		return func(done int64) {
			if done >= 100_000 {
				cancel()
			}
		}
	}
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

func TestOneFailureDoesNotStopTheOthers(t *testing.T) {
	f, _ := newFetcher(t)
	bad := one("", serve(t, http.NotFound))
	bad.Name, bad.Accept = "bad", map[string][]string{"file": {"bad/file.bin"}}
	bad.Downloads[0].File = "bad/file.bin"
	err := f.Fetch(t.Context(), []Entry{bad, one(sum(content), serve(t, whole))})
	if err == nil || !strings.HasPrefix(err.Error(), "bad: ") {
		t.Fatalf("err = %v", err)
	}
	wantWhole(t, f)
}

// A mirror folder needs no network and no confirmation.
func TestMirrorFolderComesFirst(t *testing.T) {
	f, _ := newFetcher(t)
	f.Mirror = t.TempDir()
	if err := os.WriteFile(filepath.Join(f.Mirror, "file.bin"), content, 0o644); err != nil {
		t.Fatal(err)
	}
	f.Confirm = func(int64) error { return errors.New("asked") }
	asked := false
	e := one("", serve(t, func(w http.ResponseWriter, r *http.Request) { asked = true; whole(w, r) }))
	e.Downloads[0].Bytes = AskAbove + 1
	if err := f.Fetch(t.Context(), []Entry{e}); err != nil || asked {
		t.Errorf("err = %v, network asked: %v", err, asked)
	}
}

// archived is an entry of one archive with one member.
func archived(file, want string, address string) Entry {
	return Entry{
		Name: "one", Title: "One file",
		Accept:    map[string][]string{"file": {"one/" + filepath.Base(want)}},
		Downloads: []Download{{URL: address, File: "archives/" + file, Bytes: 1, Unpack: map[string]string{want: "one/"}}},
	}
}

func zipOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	for _, h := range headers {
		text := "text of " + h.Name
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(text))
		}
		h.Mode = 0o644
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			_, _ = w.Write([]byte(text))
		}
	}
	if err := errors.Join(w.Close(), g.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUnpack(t *testing.T) {
	var gz bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, _ = g.Write([]byte("gzipped"))
	_ = g.Close()
	regular := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }
	for _, c := range []struct {
		name, file, want string
		archive          []byte
		text, err        string
	}{
		{"zip", "a.zip", "x.txt", zipOf(t, map[string]string{"deep/x.txt": "X", "__MACOSX/x.txt": "junk"}), "X", ""},
		{"tar", "a.tar.gz", "x.txt", tarOf(t, regular("deep/x.txt")), "text of deep/x.txt", ""},
		{"escape", "a.tar.gz", "x.txt", tarOf(t, regular("../../x.txt")), "text of ../../x.txt", ""},
		{"link", "a.tar.gz", "x.txt", tarOf(t, tar.Header{Name: "x.txt", Typeflag: tar.TypeSymlink,
			Linkname: "/etc/passwd"}), "", "no x.txt in it"},
		{"absent", "a.zip", "x.txt", zipOf(t, map[string]string{"y.txt": "Y", "xx.txt": "no"}), "", "no x.txt in it"},
		{"truncated zip", "a.zip", "x.txt", zipOf(t, map[string]string{"x.txt": "X"})[:40], "", "damaged archive"},
		{"truncated tar", "a.tar.gz", "y.txt", tarOf(t, regular("x.txt"), regular("y.txt"))[:60], "",
			"damaged archive"},
		{"not a zip", "a.zip", "x.txt", []byte("hello"), "", "not a .zip file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _ := newFetcher(t)
			u := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/octet-stream")
				_, _ = w.Write(c.archive)
			})
			err := f.Fetch(t.Context(), []Entry{archived(c.file, c.want, u)})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("err = %v, want %q", err, c.err)
				}
				if exists(f.path("one/x.txt")) {
					t.Error("a file is in place")
				}
			} else {
				if err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(f.path("one/x.txt"))
				if err != nil || string(got) != c.text {
					t.Fatalf("%q, %v", got, err)
				}
			}
			// What is not whole counts as missing, until it is.
			if _, err := archived("", "", "").Present(f.Dir); (err == nil) != (c.text != "") {
				t.Error(err)
			}
		})
	}
}

// A download larger than the file is stopped, and nothing is kept.
func TestEndlessDownload(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"announced": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(10*len(content)))
			_, _ = w.Write(content)
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(content); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := newFetcher(t)
			err := f.Fetch(t.Context(), []Entry{one("", serve(t, h))})
			if err == nil || !strings.Contains(err.Error(), "for file.bin, which has about 262144: refused") {
				t.Fatalf("err = %v", err)
			}
			wantNothing(t, f)
		})
	}
}

func TestRedirectMayNotGiveUpEncryption(t *testing.T) {
	f, _ := newFetcher(t)
	plain := serve(t, whole)
	secure := httptest.NewTLSServer(http.RedirectHandler(plain, http.StatusFound))
	t.Cleanup(secure.Close)
	f.Client = secure.Client()
	err := f.Fetch(t.Context(), []Entry{one(sum(content), secure.URL+"/file.bin")})
	if err == nil || !strings.Contains(err.Error(), "redirects from https to http: refused") {
		t.Fatalf("err = %v", err)
	}
	wantNothing(t, f)
}

// Unpacking without end is stopped. A damaged archive without a published
// checksum is deleted, so the next fetch gets a new one.
func TestBombsAndDamagedArchivesAreDeleted(t *testing.T) {
	good := zipOf(t, map[string]string{"x.txt": strings.Repeat("text ", 1000)})
	torn := bytes.Clone(good)
	for i := 40; i < 60; i++ {
		torn[i] ^= 0x55
	}
	bomb := zipOf(t, map[string]string{"x.txt": strings.Repeat("0", 8<<20)})
	for name, bad := range map[string][]byte{"torn": torn, "bomb": bomb} {
		t.Run(name, func(t *testing.T) {
			f, _ := newFetcher(t)
			served := bad
			e := archived("a.zip", "x.txt", serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/octet-stream")
				_, _ = w.Write(served)
			}))
			err := f.Fetch(t.Context(), []Entry{e})
			if err == nil || !strings.Contains(err.Error(), "damaged archive: ") ||
				!strings.Contains(err.Error(), "deleted, the same command gets it again") {
				t.Fatalf("err = %v", err)
			}
			if exists(f.path("archives/a.zip")) || exists(f.path("one/x.txt")) {
				t.Error("something is left")
			}
			served = good
			if err := f.Fetch(t.Context(), []Entry{e}); err != nil {
				t.Fatalf("again: %v", err)
			}
			e.Downloads[0].SHA256 = sum(bad)
			if err := os.Remove(f.path("one/x.txt")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(f.path("archives/a.zip"), bad, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := f.Fetch(t.Context(), []Entry{e}); err == nil || !exists(f.path("archives/a.zip")) {
				t.Errorf("the published file is gone: %v", err)
			}
		})
	}
}

// A process killed while it moves files into place leaves the mark behind; the
// entry then counts as missing and is unpacked again.
func TestInterruptedUnpackIsRedone(t *testing.T) {
	f, _ := newFetcher(t)
	e := archived("a.zip", "x.txt", serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(zipOf(t, map[string]string{"x.txt": "X"}))
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
