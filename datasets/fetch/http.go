package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mldpbench/internal/progress"
)

// permanent marks failures that a retry will not mend.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

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
	resp, err := http.DefaultClient.Do(req) // honours HTTP_PROXY and HTTPS_PROXY
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
	case status == http.StatusRequestedRangeNotSatisfiable, status == http.StatusPartialContent:
		return errors.Join(errors.New("the server has a file of another size: starting again"), os.Remove(part))
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return fmt.Errorf("the server says %s", resp.Status)
	default:
		return permanent{fmt.Errorf("the server says %s", resp.Status)}
	}
	return f.write(ctx, resp, part, have, d, func() { watchdog.Reset(stall) })
}

// write appends a body to the first have bytes of part and shows progress.
func (f *Fetcher) write(ctx context.Context, resp *http.Response, part string, have int64, d Download,
	alive func()) error {
	flag := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if have == 0 {
		flag |= os.O_TRUNC
	}
	out, err := os.OpenFile(part, flag, 0o644)
	if err != nil {
		return permanent{err}
	}
	const mega = 1_000_000
	total := max(have+resp.ContentLength, d.Bytes)
	bar := progress.New(f.Log, filepath.Base(d.File)+": MB", int(total/mega))
	defer bar.Close()
	got := have
	_, err = io.Copy(out, io.TeeReader(resp.Body, written(func(n int) {
		alive()
		if more := int((got+int64(n))/mega - got/mega); more > 0 {
			bar.Add(more, d.URL)
		}
		got += int64(n)
	})))
	err = errors.Join(err, out.Close())
	var disk *fs.PathError
	switch {
	case errors.As(err, &disk):
		return permanent{err}
	case err != nil:
		return cause(ctx, fmt.Errorf("connection lost after %d bytes: %w", got, err))
	}
	return nil
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
