package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// permanent marks failures that a retry at the same address will not fix.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

var errProxyLogin = permanent{errors.New("the proxy wants a login: put it into HTTP_PROXY and HTTPS_PROXY, as in " +
	"http://user:password@host:port")}

// errDisk is in the chain of errors of a full disk, where trying another
// address does not help.
var errDisk = errors.New("no space left")

func diskError(err error, target string) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w on the disk of %s: make room and run the same command again", errDisk,
			filepath.Dir(target))
	}
	return err
}

// downloadFrom gets one file from one address, with retries that continue
// where the last one stopped.
func (f *Fetcher) downloadFrom(ctx context.Context, address string, d Download, target string) error {
	part := target + ".part"
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return err
	}
	retries, wait := cmp.Or(f.Retries, 5), cmp.Or(f.Backoff, time.Second)
	fresh := false // whether the .part was begun here, not taken over from an earlier run
	for attempt := 0; ; attempt++ {
		before := size(part)
		began, err := f.transfer(ctx, address, d, part)
		fresh = fresh || began
		if err == nil {
			err = accept(d, part, target)
			if errors.Is(err, errChecksum) && !fresh {
				// The .part of an earlier run may belong to another file: try
				// once more from the start.
				f.notice("%s: continued download does not add up, starting again", address)
				fresh = true
				continue
			}
			return err
		}
		var p permanent
		if errors.As(err, &p) || ctx.Err() != nil || errors.Is(err, errDisk) {
			return err
		}
		if size(part) > before {
			attempt = -1 // there was progress: only attempts without data count
		}
		if attempt >= retries {
			return fmt.Errorf("given up after %d attempts: %w", attempt+1, err)
		}
		f.notice("%s: %v: trying again", address, err)
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

// accept checks a complete .part and moves it into place.
func accept(d Download, part, target string) error {
	drop := func(err error) error {
		return permanent{errors.Join(err, os.Remove(part))}
	}
	if err := checkKind(part, d.File); err != nil {
		return drop(err)
	}
	if err := d.checkPublished(part); err != nil {
		return drop(err)
	}
	return os.Rename(part, target)
}

// transfer makes one request and appends the response to part. began means that
// this run wrote part from its first byte.
func (f *Fetcher) transfer(ctx context.Context, address string, d Download, part string) (began bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := cmp.Or(f.Stall, 30*time.Second)
	watchdog := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no byte for %v", stall)) })
	defer watchdog.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, permanent{err}
	}
	req.Header.Set("User-Agent", "mldp (mldpbench)")
	have := resumable(req, d, part)
	client := f.Client
	if client == nil {
		client = http.DefaultClient // its transport honours HTTP_PROXY and HTTPS_PROXY
	}
	resp, err := staySecure(client).Do(req)
	if err != nil {
		return false, networkError(ctx, req.URL, err)
	}
	defer resp.Body.Close()
	flag := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	switch {
	case resp.StatusCode == http.StatusPartialContent && have > 0 && rangeStart(resp) == have:
		flag = os.O_WRONLY | os.O_APPEND
	case resp.StatusCode == http.StatusOK:
		have = 0
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && have > 0:
		if resp.Header.Get("Content-Range") == fmt.Sprintf("bytes */%d", have) {
			return false, nil // it was complete already
		}
		return false, errors.Join(errors.New("the server has a file of another size: starting again"), os.Remove(part))
	case resp.StatusCode == http.StatusPartialContent:
		return false, errors.Join(errors.New("the server sent another part than asked for: starting again"),
			os.Remove(part))
	case resp.StatusCode == http.StatusProxyAuthRequired:
		return false, errProxyLogin
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests ||
		resp.StatusCode == http.StatusRequestTimeout:
		return false, fmt.Errorf("the server says %s", resp.Status)
	default:
		return false, permanent{fmt.Errorf("the server says %s", resp.Status)}
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return false, permanent{fmt.Errorf("got a web page instead of %s", filepath.Base(d.File))}
	}
	began = have == 0
	total := int64(-1)
	if resp.ContentLength >= 0 {
		total = have + resp.ContentLength
	}
	if total > d.limit() {
		return false, errors.Join(d.tooLarge(total), os.Remove(part))
	}
	return began, f.write(ctx, resp.Body, part, flag, have, total, d, func() { watchdog.Reset(stall) })
}

// limit returns the largest size of a download in bytes: a tenth more than in
// the catalogue, and a little extra for small files, whose sizes are rounded
// there.
func (d Download) limit() int64 { return d.Bytes + d.Bytes/10 + 1<<16 }

func (d Download) tooLarge(bytes int64) error {
	return permanent{fmt.Errorf("sends %d bytes or more for %s, which has about %d: refused", bytes,
		filepath.Base(d.File), d.Bytes)}
}

// errInsecure is the error of a redirect that would give up encryption.
var errInsecure = permanent{errors.New("redirects from https to http: refused")}

// staySecure returns a client that does not follow a redirect from https to
// http.
func staySecure(client *http.Client) *http.Client {
	c := *client
	inner := c.CheckRedirect
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch last := via[len(via)-1]; {
		case last.URL.Scheme == "https" && req.URL.Scheme != "https":
			return errInsecure
		case inner != nil:
			return inner(req, via)
		case len(via) >= 10:
			return permanent{errors.New("redirects without end")}
		}
		return nil
	}
	return &c
}

// write copies a body to part and reports progress.
func (f *Fetcher) write(ctx context.Context, body io.Reader, part string, flag int, have, total int64, d Download,
	alive func()) error {
	out, err := os.OpenFile(part, flag, 0o644)
	if err != nil {
		return permanent{diskError(err, part)}
	}
	report := func(int64) {}
	if f.Progress != nil {
		expected := total
		if expected < 0 {
			expected = d.Bytes
		}
		report = f.Progress(filepath.Base(d.File), expected)
	}
	defer report(-1)
	got := have
	buf := make([]byte, 1<<16)
	for err == nil {
		var n int
		var rerr error
		n, rerr = body.Read(buf)
		if n > 0 {
			alive()
			if got+int64(n) > d.limit() {
				err = errors.Join(d.tooLarge(got+int64(n)), os.Remove(part))
				break
			}
			if _, err = out.Write(buf[:n]); err != nil {
				err = diskError(err, part)
				break
			}
			got += int64(n)
			report(got)
		}
		if rerr == io.EOF {
			break
		}
		if rerr != nil {
			err = cause(ctx, fmt.Errorf("connection lost after %d bytes: %w", got, rerr))
		}
	}
	if err == nil {
		err = diskError(out.Sync(), part)
	}
	if cerr := out.Close(); err == nil {
		err = diskError(cerr, part)
	}
	if err == nil && total >= 0 && got != total {
		err = fmt.Errorf("truncated: %d of %d bytes", got, total)
	}
	return err
}

// resumable requests only the rest of part where a checksum, published or in the
// archive itself, tells whether the parts belong together.
func resumable(req *http.Request, d Download, part string) (have int64) {
	if have = size(part); have == 0 || d.SHA256+d.MD5 == "" && d.Unpack == nil {
		return 0
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	return have
}

func rangeStart(resp *http.Response) int64 {
	var start int64 = -1
	_, _ = fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-", &start)
	return start
}

// cause prefers the reason of a cancelled context, such as a stall.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil && !errors.Is(c, context.Canceled) {
		return c
	}
	return err
}

// networkError describes in words why a request cannot be made.
func networkError(ctx context.Context, u *url.URL, err error) error {
	if c := cause(ctx, nil); c != nil {
		return c
	}
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return fmt.Errorf("the proxy (HTTP_PROXY, HTTPS_PROXY) does not answer: %w", op.Err)
	case errors.As(err, &dns) && dns.IsNotFound:
		return permanent{fmt.Errorf("offline, or no such host: %s", u.Hostname())}
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return permanent{fmt.Errorf("offline: no route to %s", u.Hostname())}
	}
	var ue *url.Error
	if !errors.As(err, &ue) {
		return err
	}
	if ue.Err.Error() == http.StatusText(http.StatusProxyAuthRequired) { // for https addresses
		return errProxyLogin
	}
	return ue.Err
}
