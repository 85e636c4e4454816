package fetch

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/progress"
)

// AskAbove is the number of bytes above which a download needs confirmation.
const AskAbove = 500e6

// Fetcher downloads entries into a data folder. Any number of processes may
// fetch into one folder at once.
type Fetcher struct {
	Dir string // data folder, see Root
	// Mirror is tried before the addresses of the catalogue: a URL, or a folder
	// that holds the files under their own names. "" means MLDP_MIRROR.
	Mirror string
	// Partial allows a mirror folder to be incomplete: members missing from its
	// archives are left out with a notice. Otherwise they are an error.
	Partial bool
	// Confirm is called before more than AskAbove bytes are downloaded; nil
	// means yes.
	Confirm func(bytes int64) error
	// Notice is called with one line of information for the user; it may be
	// nil.
	Notice func(line string)
	// Progress is called at the start of a download. It returns a function that
	// is called with the bytes so far, and with -1 at the end. It may be nil.
	Progress func(file string, total int64) func(done int64)

	Client  *http.Client  // nil means one that honours HTTP_PROXY and HTTPS_PROXY
	Retries int           // per address, after temporary failures; 0 means 5
	Backoff time.Duration // before the first retry, doubled each time; 0 means 1 s
	Stall   time.Duration // without data before a connection is given up; 0 means 30 s
}

// Fetch downloads all entries that are not in the data folder yet. After a
// failure it continues with the other entries; all failures are returned.
func (f *Fetcher) Fetch(ctx context.Context, entries []Entry) error {
	var missing []Entry
	var total int64
	counted := map[string]bool{}
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
		missing = append(missing, e)
		for _, d := range e.Downloads {
			if !counted[d.File] && !f.local(d.File) {
				counted[d.File] = true
				total += d.Bytes
			}
		}
	}
	if total > AskAbove && f.Confirm != nil {
		if err := f.Confirm(total); err != nil {
			return err
		}
	}
	for _, e := range missing {
		if err := f.fetchEntry(ctx, e); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("%s: %w; the downloaded part is kept, the same command continues", e.Name, ctx.Err())
			}
			if errors.Is(err, errLacks) && f.Partial {
				f.notice("%s: left out: %v", e.Name, err)
				continue
			}
			failed = append(failed, fmt.Errorf("%s: %w", e.Name, err))
		}
	}
	return errors.Join(failed...)
}

// local reports whether a file is in the data folder or in a mirror folder.
func (f *Fetcher) local(file string) bool { return exists(f.path(file)) || f.inMirror(file) != "" }

// fetchEntry gets all files of an entry.
func (f *Fetcher) fetchEntry(ctx context.Context, e Entry) error {
	if err := os.MkdirAll(f.path(""), 0o777); err != nil {
		return err
	}
	for _, d := range e.Downloads {
		if err := f.fetchFile(ctx, e, d); err != nil {
			return err
		}
	}
	if _, err := e.Present(f.Dir); err != nil {
		return fmt.Errorf("fetched, but not complete: %w", err)
	}
	f.notice("%s: in %s", e.Name, Root(f.Dir))
	return nil
}

// fetchFile downloads one file unless it is present, and unpacks it. The lock
// makes a second process wait and then find the file.
func (f *Fetcher) fetchFile(ctx context.Context, e Entry, d Download) error {
	unlock, err := f.lock(ctx, d.File)
	if err != nil {
		return err
	}
	defer unlock()
	target := f.path(d.File)
	if !exists(target) {
		if err := f.download(ctx, d, target); err != nil {
			return err
		}
	}
	if d.Unpack == nil {
		return nil
	}
	if _, err := e.Present(f.Dir); err == nil {
		return nil
	}
	mark := incomplete(f.path(""), e.Name)
	return f.unpack(ctx, d, mark)
}

func (f *Fetcher) path(file string) string {
	return filepath.Join(Root(f.Dir), filepath.FromSlash(file))
}

func (f *Fetcher) notice(format string, args ...any) {
	if f.Notice != nil {
		f.Notice(fmt.Sprintf(format, args...))
	}
}

// lock takes the lock of one file of the data folder; locks of killed
// processes are released by the operating system. Another user of a shared folder
// may take it too, less what umask forbids; one that he must not open is no lock for
// him, and that he must not write is said where he does.
func (f *Fetcher) lock(ctx context.Context, file string) (unlock func(), err error) {
	name := f.path(path.Join(".locks", strings.ReplaceAll(file, "/", "_")))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, err
	}
	l := flock.New(name, flock.SetPermissions(0o666))
	ok, err := l.TryLock()
	if err == nil && !ok {
		f.notice("another process is getting %s: waiting for it", file)
		_, err = l.TryLockContext(ctx, 100*time.Millisecond)
	}
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = l.Unlock() }, nil
}

// download tries the mirror and then the address of a file.
func (f *Fetcher) download(ctx context.Context, d Download, target string) error {
	if name := f.inMirror(d.File); name != "" {
		return f.copyFrom(name, d, target)
	}
	urls := []string{d.URL}
	if mirror := f.mirror(); isURL(mirror) {
		urls = append(mirrorNames(mirror, d.File), urls...)
	}
	var failed []error
	for _, u := range urls {
		err := f.downloadFrom(ctx, u, d, target)
		if err == nil || ctx.Err() != nil || errors.Is(err, errDisk) {
			return err
		}
		failed = append(failed, fmt.Errorf("%s: %w", u, err))
	}
	names := mirrorNames("", d.File) // the last is the shortest
	return fmt.Errorf("%w\nwithout a network, put %s into a folder and set MLDP_MIRROR to it", errors.Join(failed...),
		strings.TrimPrefix(names[len(names)-1], "/"))
}

func (f *Fetcher) mirror() string { return cmp.Or(f.Mirror, os.Getenv("MLDP_MIRROR")) }

func isURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// mirrorNames returns the names under which a mirror may hold a file: as under
// the data folder, without "archives/", or the bare name, where no other file of
// the catalogue has it, as model.onnx of each model has.
func mirrorNames(mirror, file string) []string {
	mirror = strings.TrimSuffix(mirror, "/")
	names := []string{mirror + "/" + strings.TrimPrefix(file, "archives/")}
	for _, e := range Catalogue() {
		if slices.ContainsFunc(e.Downloads, func(d Download) bool {
			return d.File != file && path.Base(d.File) == path.Base(file)
		}) {
			return names
		}
	}
	return slices.Compact(append(names, mirror+"/"+path.Base(file)))
}

// inMirror returns the path of a file in the mirror folder, "" where there is
// none.
func (f *Fetcher) inMirror(file string) string {
	if mirror := f.mirror(); mirror != "" && !isURL(mirror) {
		names := mirrorNames(filepath.ToSlash(mirror), file)
		if i := slices.IndexFunc(names, exists); i >= 0 {
			return filepath.FromSlash(names[i])
		}
	}
	return ""
}

// copyFrom copies a file of a mirror folder. The folder is the user's own, so the
// file may differ from the published one; this is reported.
func (f *Fetcher) copyFrom(name string, d Download, target string) error {
	if err := checkKind(name, d.File); err != nil {
		return err
	}
	if err := d.checkPublished(name); err != nil {
		f.notice("notice: %s from the mirror folder is not the published file (%v); taken as it is",
			path.Base(d.File), err)
	}
	return diskError(copyFile(name, target), target)
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
	h, name, published := sha256.New(), "SHA-256", d.SHA256
	if published == "" {
		h, name, published = md5.New(), "MD5", d.MD5
	}
	if published == "" {
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := io.Copy(h, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != published {
		return fmt.Errorf("%w: %s is %s, published is %s", errChecksum, name, got, published)
	}
	return nil
}

// Check is the result of verifying one file.
type Check struct {
	Path string
	Err  error // nil: as published
}

// Verify compares every file of the entries that is in the data folder, and
// has a published checksum, with it.
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
			if d.SHA256+d.MD5 == "" || !exists(c.Path) ||
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
		if path := f.path(d.File); slices.Contains(slices.Collect(maps.Values(paths)), path) {
			if err := d.checkPublished(path); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return nil
}

// checkKind rejects a file whose beginning does not match its name, typically a
// web page.
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
