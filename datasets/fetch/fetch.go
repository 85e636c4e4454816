package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"mldpbench/internal/atomicfile"
)

// Fetcher downloads entries into a data folder. The environment variable
// MLDP_MIRROR names a folder that is searched before the addresses of the
// catalogue; it is laid out as a data folder is.
type Fetcher struct {
	Dir string    // data folder, see Root
	Log io.Writer // what happens, with the progress of downloads

	Retries int           // after temporary failures; 0 means 5
	Backoff time.Duration // before a retry; 0 means 2 s
	Stall   time.Duration // without data before a connection is given up; 0 means 30 s
}

// Fetch gets all entries that are not in the data folder yet. After a failure it
// continues with the other entries; all failures are returned.
func (f *Fetcher) Fetch(ctx context.Context, entries []Entry) error {
	var failed []error
	for _, e := range entries {
		if _, err := e.Present(f.Dir); err == nil {
			fmt.Fprintf(f.Log, "%s: already in %s\n", e.Name, Root(f.Dir))
			continue
		}
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

// fetchEntry gets all files of an entry.
func (f *Fetcher) fetchEntry(ctx context.Context, e Entry) error {
	if len(e.Downloads) == 0 {
		return errors.New(e.Manual)
	}
	for _, d := range e.Downloads {
		if target := f.path(d.File); !exists(target) {
			if err := f.get(ctx, d, target); err != nil {
				return err
			}
		}
		if d.Unpack == nil {
			continue
		}
		if err := f.unpack(ctx, d, incomplete(f.path(""), e.Name)); err != nil {
			return err
		}
	}
	if _, err := e.Present(f.Dir); err != nil {
		return fmt.Errorf("fetched, but not complete: %w", err)
	}
	fmt.Fprintf(f.Log, "%s: in %s\n", e.Name, Root(f.Dir))
	return nil
}

func (f *Fetcher) path(file string) string {
	return filepath.Join(Root(f.Dir), filepath.FromSlash(file))
}

// get copies a file from the mirror folder or downloads it. The folder is the
// user's own, so a file in it may differ from the published one; this is reported.
func (f *Fetcher) get(ctx context.Context, d Download, target string) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return err
	}
	if mirror := os.Getenv("MLDP_MIRROR"); mirror != "" {
		if name := filepath.Join(mirror, filepath.FromSlash(d.File)); exists(name) {
			if err := d.check(name); err != nil {
				fmt.Fprintf(f.Log, "notice: %s from the mirror folder is not the published file (%v); taken as it is\n",
					path.Base(d.File), err)
			}
			in, err := os.Open(name)
			if err != nil {
				return err
			}
			defer in.Close()
			return atomicfile.Write(target, 0o644, func(w io.Writer) error {
				_, err := io.Copy(w, in)
				return err
			})
		}
	}
	err := f.download(ctx, d, target)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%s: %w\nwithout a network, set MLDP_MIRROR to a folder that has %s", d.URL, err, d.File)
}

// check compares a file with the published checksum. Where there is none, a web
// page is refused, which a network sends that wants a log-in.
func (d Download) check(file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	if d.SHA256 == "" {
		head := make([]byte, 512)
		n, _ := io.ReadFull(in, head)
		start := strings.ToLower(strings.TrimSpace(string(head[:n])))
		if strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") {
			return fmt.Errorf("got a web page instead of %s", path.Base(d.File))
		}
		return nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != d.SHA256 {
		return fmt.Errorf("wrong checksum: SHA-256 is %s, published is %s", got, d.SHA256)
	}
	return nil
}

// download gets one file, with retries that continue where the last one stopped,
// checks it and moves it into place.
func (f *Fetcher) download(ctx context.Context, d Download, target string) error {
	part := target + ".part"
	for attempt := 1; ; attempt++ {
		before := size(part) // which may be part of another file
		err := f.transfer(ctx, d, part)
		if err == nil {
			err = d.check(part)
			if err == nil {
				return os.Rename(part, target)
			}
			err = errors.Join(err, os.Remove(part))
			if before == 0 {
				return err
			}
		}
		var p permanent
		if errors.As(err, &p) || ctx.Err() != nil {
			return err
		}
		if size(part) > before {
			attempt = 1 // there was progress: only attempts without data count
		}
		if attempt > cmp.Or(f.Retries, 5) {
			return fmt.Errorf("given up after %d attempts: %w", attempt, err)
		}
		fmt.Fprintf(f.Log, "%s: %v: trying again\n", d.URL, err)
		select {
		case <-time.After(cmp.Or(f.Backoff, 2*time.Second)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func size(name string) int64 {
	if info, err := os.Stat(name); err == nil {
		return info.Size()
	}
	return 0
}
