package gunzip

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
)

func packed(t *testing.T, unit string, times int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range times {
		_, _ = io.WriteString(z, unit)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLimit(t *testing.T) {
	t.Parallel()
	read := func(data []byte) (int64, error) {
		r, err := NewReader(bytes.NewReader(data), "x.gz")
		if err != nil {
			return 0, err
		}
		return io.Copy(io.Discard, r)
	}
	zeros := strings.Repeat("\x00", 1<<20)
	if n, err := read(packed(t, zeros, 100)); !errors.Is(err, ErrBomb) || n > Slack+(1<<25) ||
		!strings.HasPrefix(err.Error(), "x.gz: unpacks to far more") {
		t.Errorf("bomb: %d bytes, %v", n, err)
	}
	if n, err := read(packed(t, zeros, 10)); err != nil || n != 10<<20 {
		t.Errorf("small: %d bytes, %v", n, err)
	}
	if _, err := read(packed(t, "text", 1000)[:20]); err == nil ||
		err.Error() != "x.gz: damaged gzip file: unexpected EOF" {
		t.Errorf("cut: %v", err)
	}
	if _, err := read([]byte("text")); err == nil || !strings.HasPrefix(err.Error(), "x.gz: damaged gzip file: ") {
		t.Errorf("no gzip: %v", err)
	}
}
