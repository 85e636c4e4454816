package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/list"
	"mldpbench/internal/progress"
)

// AskAbove is the number of bytes above which a download needs confirmation.
const AskAbove = 500e6

// Fetcher downloads entries into a data folder.
type Fetcher struct {
	Dir string // data folder, see Root
	// Mirror is a folder that is searched before the addresses of the catalogue; it
	// holds the files under their own names. "" means MLDP_MIRROR.
	Mirror string
	// Confirm is called before more than AskAbove bytes are downloaded; nil means
	// yes.
	Confirm func(bytes int64) error
	// Notice is called with one line of information for the user; it may be nil.
	Notice func(line string)
	// Progress is called at the start of a download. It returns a function that is
	// called with the bytes so far, and with -1 at the end. It may be nil.
	Progress func(file string, total int64) func(done int64)

	Client  *http.Client  // nil means one that honours HTTP_PROXY and HTTPS_PROXY
	Retries int           // after temporary failures; 0 means 5
	Backoff time.Duration // before the first retry, doubled each time; 0 means 1 s
	Stall   time.Duration // without data before a connection is given up; 0 means 30 s
}

// Fetch downloads all entries that are not in the data folder yet. After a failure
// it continues with the other entries; all failures are returned.
func (f *Fetcher) Fetch(ctx context.Context, entries []Entry) error {
	var missing []Entry
	var total int64
	var failed []error
	for _, e := range entries {
		if _, err := e.Present(f.Dir); err == nil {
			f.notice("%s: already in %s", e.Name, Root(f.Dir))
			continue
		}
		if len(e.Downloads) == 0 {
			failed = append(failed, fmt.Errorf("%s: %s", e.Name, e.Manual))
			continue
		}
		for _, d := range e.Downloads {
			counted := slices.ContainsFunc(missing, func(o Entry) bool {
				return slices.ContainsFunc(o.Downloads, func(x Download) bool { return x.File == d.File })
			})
			if !counted && !exists(f.path(d.File)) && f.inMirror(d.File) == "" {
				total += d.Bytes
			}
		}
		missing = append(missing, e)
	}
	if total > AskAbove && f.Confirm != nil {
		if err := f.Confirm(total); err != nil {
			return err
		}
	}
	for _, e := range missing {
		err := f.fetchEntry(ctx, e)
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w; the downloaded part is kept, the same command continues", e.Name, ctx.Err())
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", e.Name, err))
		}
	}
	return errors.Join(failed...)
}

// fetchEntry gets all files of an entry. The lock makes a second process wait and
// then find them.
func (f *Fetcher) fetchEntry(ctx context.Context, e Entry) (err error) {
	if err := os.MkdirAll(f.path(""), 0o777); err != nil {
		return err
	}
	lock := flock.New(f.path(".lock"))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	for _, d := range e.Downloads {
		if target := f.path(d.File); !exists(target) {
			if err := f.get(ctx, d, target); err != nil {
				return err
			}
		}
		if _, err := e.Present(f.Dir); err == nil || d.Unpack == nil {
			continue
		}
		if err := f.unpack(ctx, d, incomplete(f.path(""), e.Name)); err != nil {
			return err
		}
	}
	if _, err := e.Present(f.Dir); err != nil {
		return fmt.Errorf("fetched, but not complete: %w", err)
	}
	f.notice("%s: in %s", e.Name, Root(f.Dir))
	return nil
}

func (f *Fetcher) path(file string) string {
	return filepath.Join(Root(f.Dir), filepath.FromSlash(file))
}

func (f *Fetcher) notice(format string, args ...any) {
	if f.Notice != nil {
		f.Notice(fmt.Sprintf(format, args...))
	}
}

// get copies a file from the mirror folder or downloads it. The folder is the
// user's own, so a file in it may differ from the published one; this is reported.
func (f *Fetcher) get(ctx context.Context, d Download, target string) error {
	if name := f.inMirror(d.File); name != "" {
		if err := checkKind(name, d.File); err != nil {
			return err
		}
		if err := d.checkPublished(name); err != nil {
			f.notice("notice: %s from the mirror folder is not the published file (%v); taken as it is",
				path.Base(d.File), err)
		}
		return diskError(copyFile(name, target), target)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return err
	}
	err := f.download(ctx, d, target)
	if err == nil || ctx.Err() != nil || errors.Is(err, errDisk) {
		return err
	}
	names := mirrorNames(d.File) // the last is the shortest
	return fmt.Errorf("%s: %w\nwithout a network, put %s into a folder and set MLDP_MIRROR to it", d.URL, err,
		names[len(names)-1])
}

// mirrorNames returns the names under which a mirror may hold a file: as under the
// data folder, without "archives/", or the bare name, where no other file of the
// catalogue has it.
func mirrorNames(file string) []string {
	names := []string{strings.TrimPrefix(file, "archives/")}
	for _, e := range Catalogue() {
		if slices.ContainsFunc(e.Downloads, func(d Download) bool {
			return d.File != file && path.Base(d.File) == path.Base(file)
		}) {
			return names
		}
	}
	return slices.Compact(append(names, path.Base(file)))
}

// inMirror returns the path of a file in the mirror folder, "" where it is not.
func (f *Fetcher) inMirror(file string) string {
	folder := cmp.Or(f.Mirror, os.Getenv("MLDP_MIRROR"))
	if folder == "" {
		return ""
	}
	names := list.Map(mirrorNames(file), func(n string) string { return filepath.Join(folder, filepath.FromSlash(n)) })
	if i := slices.IndexFunc(names, exists); i >= 0 {
		return names[i]
	}
	return ""
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomicfile.Write(to, 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

// errChecksum is in the chain of every wrong checksum.
var errChecksum = errors.New("wrong checksum")

// checkPublished compares a file with the published checksum, if there is one.
func (d Download) checkPublished(file string) error {
	if d.SHA256 == "" {
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != d.SHA256 {
		return fmt.Errorf("%w: SHA-256 is %s, published is %s", errChecksum, got, d.SHA256)
	}
	return nil
}

// Check is the result of verifying one file.
type Check struct {
	Path string
	Err  error // nil: as published
}

// Verify compares every file of the entries that is in the data folder, and has a
// published checksum, with it.
func (f *Fetcher) Verify(ctx context.Context, entries []Entry) ([]Check, error) {
	var out []Check
	bar := progress.Start(ctx, "entries", len(entries), float64(len(entries)))
	defer bar.Close()
	for _, e := range entries {
		bar.Add(1, 1, e.Name)
		for _, d := range e.Downloads {
			c := Check{Path: f.path(d.File)}
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			if d.SHA256 == "" || !exists(c.Path) ||
				slices.ContainsFunc(out, func(o Check) bool { return o.Path == c.Path }) {
				continue
			}
			if c.Err = d.checkPublished(c.Path); c.Err != nil && !errors.Is(c.Err, errChecksum) {
				return out, c.Err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// Published compares those files of an entry that are read as they were downloaded
// with their published checksums, where they are in the data folder dir.
func (e Entry) Published(dir string) error {
	paths, err := e.Present(dir)
	if err != nil {
		return nil // which is said where it is opened
	}
	f := Fetcher{Dir: dir}
	for _, d := range e.Downloads {
		for _, path := range paths {
			if path != f.path(d.File) {
				continue
			}
			if err := d.checkPublished(path); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return nil
}

// checkKind rejects a file whose beginning does not match its name, typically a web
// page.
func checkKind(file, name string) error {
	head, err := headOf(file)
	if err != nil {
		return err
	}
	start := strings.ToLower(strings.TrimSpace(head))
	if strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") {
		return fmt.Errorf("got a web page instead of %s", path.Base(name))
	}
	for suffix, magic := range map[string]string{".zip": "PK", ".gz": "\x1f\x8b"} {
		if strings.HasSuffix(name, suffix) && !strings.HasPrefix(head, magic) {
			return fmt.Errorf("the download is not a %s file", suffix)
		}
	}
	return nil
}

// headOf returns the first bytes of a file.
func headOf(file string) (string, error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(in, head)
	return string(head[:n]), nil
}
