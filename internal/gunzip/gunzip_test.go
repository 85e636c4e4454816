package gunzip

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

func packed(unit string, times int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range times {
		_, _ = io.WriteString(z, unit)
	}
	_ = z.Close() // a buffer takes all
	return b.Bytes()
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data []byte
		most int64
		want string // the beginning of the error
	}{
		"small": {packed("text", 10), 40, ""},
		"text":  {[]byte("\xff text"), 6, ""},
		"cut":   {packed("text", 1000)[:20], 4000, "x.gz: damaged gzip file: unexpected EOF"},
		"head":  {[]byte("\x1f\x8btext"), 0, "x.gz: damaged gzip file: "},
		"xz":    {[]byte("\xfd7zXZ\x00..."), 0, "x.gz: is packed by xz"},
	} {
		r, err := Open(bytes.NewReader(c.data), "x.gz", 1<<16)
		n := int64(0)
		if err == nil {
			n, err = io.Copy(io.Discard, r)
		}
		if (err != nil) != (c.want != "") || err != nil && !strings.HasPrefix(err.Error(), c.want) || n > c.most ||
			err == nil && n != c.most {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
	}
}
