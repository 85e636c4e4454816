package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// permanent marks failures that a retry will not fix.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// errDisk is in the chain of errors of a full disk.
var errDisk = permanent{errors.New("no space left")}

func diskError(err error, target string) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w on the disk of %s: make room and run the same command again", errDisk, filepath.Dir(target))
	}
	return err
}

// download gets one file, with retries that continue where the last one stopped,
// checks it and moves it into place.
func (f *Fetcher) download(ctx context.Context, d Download, target string) error {
	part := target + ".part"
	retries, wait := cmp.Or(f.Retries, 5), cmp.Or(f.Backoff, time.Second)
	earlier := size(part) > 0 // it may be part of another file
	for attempt := 0; ; attempt++ {
		before := size(part)
		err := f.transfer(ctx, d, part)
		if err == nil {
			if err = cmp.Or(checkKind(part, d.File), d.checkPublished(part)); err == nil {
				return os.Rename(part, target)
			}
			if err = errors.Join(err, os.Remove(part)); !earlier {
				return err
			}
		}
		var p permanent
		if errors.As(err, &p) || ctx.Err() != nil {
			return err
		}
		if size(part) > before {
			attempt = -1 // there was progress: only attempts without data count
		}
		if attempt >= retries {
			return fmt.Errorf("given up after %d attempts: %w", attempt+1, err)
		}
		f.notice("%s: %v: trying again", d.URL, err)
		earlier = earlier && size(part) > 0
		select {
		case <-time.After(wait << max(attempt, 0)):
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

// transfer makes one request and appends the response to part.
func (f *Fetcher) transfer(ctx context.Context, d Download, part string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := cmp.Or(f.Stall, 30*time.Second)
	watchdog := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no byte for %v", stall)) })
	defer watchdog.Stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL, nil)
	if err != nil {
		return permanent{err}
	}
	req.Header.Set("User-Agent", "mldp (mldpbench)")
	// Only the rest is requested where a checksum, published or in the archive itself,
	// tells whether the parts belong together.
	have := size(part)
	if d.SHA256 == "" && d.Unpack == nil {
		have = 0
	}
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	client := f.Client
	if client == nil {
		client = http.DefaultClient // its transport honours HTTP_PROXY and HTTPS_PROXY
	}
	resp, err := staySecure(client).Do(req)
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return permanent{fmt.Errorf("offline, or no such host: %w", err)}
	}
	if err != nil {
		return cause(ctx, err)
	}
	defer resp.Body.Close()
	sent := resp.Header.Get("Content-Range")
	switch status := resp.StatusCode; {
	case status == http.StatusPartialContent && have > 0 && strings.HasPrefix(sent, fmt.Sprintf("bytes %d-", have)):
	case status == http.StatusOK:
		have = 0
	case status == http.StatusRequestedRangeNotSatisfiable && sent == fmt.Sprintf("bytes */%d", have):
		return nil // it was complete already
	case status == http.StatusRequestedRangeNotSatisfiable, status == http.StatusPartialContent:
		return errors.Join(errors.New("the server has a file of another size: starting again"), os.Remove(part))
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return fmt.Errorf("the server says %s", resp.Status)
	default:
		return permanent{fmt.Errorf("the server says %s", resp.Status)}
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return permanent{fmt.Errorf("got a web page instead of %s", filepath.Base(d.File))}
	}
	total := int64(-1)
	if resp.ContentLength >= 0 {
		total = have + resp.ContentLength
	}
	return f.write(ctx, resp.Body, part, have, total, d, func() { watchdog.Reset(stall) })
}

// staySecure returns a client that does not follow a redirect from https to http.
func staySecure(client *http.Client) *http.Client {
	c := *client
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https" {
			return permanent{errors.New("redirects from https to http: refused")}
		}
		if len(via) >= 10 {
			return permanent{errors.New("redirects without end")}
		}
		return nil
	}
	return &c
}

// write appends a body to the first have bytes of part and reports progress. A
// download may have a tenth more than in the catalogue, and a little extra for small
// files, whose sizes are rounded there.
func (f *Fetcher) write(ctx context.Context, body io.Reader, part string, have, total int64, d Download,
	alive func()) error {
	flag, limit := os.O_CREATE|os.O_WRONLY|os.O_APPEND, d.Bytes+d.Bytes/10+1<<16
	if have == 0 {
		flag |= os.O_TRUNC
	}
	out, err := os.OpenFile(part, flag, 0o644)
	if err != nil {
		return permanent{diskError(err, part)}
	}
	report := func(int64) {}
	if f.Progress != nil {
		report = f.Progress(filepath.Base(d.File), max(total, d.Bytes))
	}
	defer report(-1)
	got := have
	_, err = io.Copy(out, io.TeeReader(io.LimitReader(body, limit-have+1), written(func(n int) {
		alive()
		got += int64(n)
		report(got)
	})))
	failed := diskError(errors.Join(err, out.Sync(), out.Close()), part)
	switch {
	case max(got, total) > limit:
		return permanent{errors.Join(fmt.Errorf("sends %d bytes or more for %s, which has about %d: refused", max(got, total),
			filepath.Base(d.File), d.Bytes), os.Remove(part))}
	case err != nil && !errors.Is(failed, errDisk):
		return cause(ctx, fmt.Errorf("connection lost after %d bytes: %w", got, err))
	case failed == nil && total >= 0 && got != total:
		return fmt.Errorf("truncated: %d of %d bytes", got, total)
	}
	return failed
}

// written counts the bytes that are written to it.
type written func(n int)

func (w written) Write(p []byte) (int, error) {
	w(len(p))
	return len(p), nil
}

// cause prefers the reason of a cancelled context, such as a stall.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil && !errors.Is(c, context.Canceled) {
		return c
	}
	return err
}
