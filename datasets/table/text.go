package table

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/transform"

	"mldpbench/internal/check"
	"mldpbench/internal/gunzip"
)

// lineBreaks are all characters that end a line somewhere.
const lineBreaks = "\n\r\v\f\u0085\u2028\u2029"

const bufferSize = 1 << 18

// encodingOf is an encoding by its name, nil for UTF-8.
func encodingOf(name string) (encoding.Encoding, error) {
	if name == "" || strings.EqualFold(name, "utf-8") {
		return nil, nil
	}
	e, err := ianaindex.IANA.Encoding(name)
	if err != nil || e == nil {
		return nil, check.Wrong("encoding = %q: must be a name of the IANA, such as latin1, windows-1252 or utf-16",
			name)
	}
	return e, nil
}

// decode unzips r if its first bytes are those of gzip, and converts it to UTF-8.
func (t *Reader) decode(r io.Reader) error {
	o := t.options
	b, err := gunzip.Open(r, o.Name, bufferSize)
	if err != nil {
		return err
	}
	head := peekKind(b)
	if err := checkKind(o.Name, head); err != nil && !o.unchecked {
		return err
	}
	encoded, err := encodingOf(o.Encoding)
	if err != nil {
		return err
	}
	var plain io.Reader = b
	switch {
	case o.unchecked:
	case encoded != nil:
		plain = transform.NewReader(b, encoded.NewDecoder())
	default:
		if s := head[:min(2, len(head))]; s == "\xff\xfe" || s == "\xfe\xff" {
			return check.Wrong("%s is UTF-16: say so with --encoding utf-16 (in a study: encoding)", o.Name)
		}
		plain = transform.NewReader(b, encoding.UTF8Validator)
	}
	t.input = &checked{
		r:       plain,
		name:    o.Name,
		line:    1,
		longest: cmp.Or(o.longest, longestRecord) + bufferSize,
	}
	t.text = bufio.NewReaderSize(t.input, bufferSize)
	t.mark = gunzip.SkipMark(t.text)
	return nil
}

// checked stops, with the line, at what is not text: bytes that are not UTF-8, and
// the zero byte; and at a row that does not end.
type checked struct {
	r       io.Reader
	name    string
	line    int
	n       int   // bytes since the last row ended
	longest int   // of them
	err     error // stays: bufio forgets an error that Peek met
}

// Read passes on what is text. An error stays.
func (c *checked) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if c.n > c.longest {
		return 0, fmt.Errorf("%s:%d: a row is longer than %d MiB: is a quote missing?", c.name, c.line, c.longest>>20)
	}
	n, err := c.r.Read(p)
	c.n += n
	zero := bytes.IndexByte(p[:n], 0)
	if zero >= 0 {
		n = zero
	}
	c.line += bytes.Count(p[:n], []byte{'\n'})
	switch {
	case zero >= 0:
		err = check.Wrong("%s:%d: has a zero byte: this is no text (if it is UTF-16: --encoding utf-16)", c.name,
			c.line)
	case errors.Is(err, encoding.ErrInvalidUTF8):
		err = check.Wrong("%s:%d: is not UTF-8: if the text is Latin-1 or the like, say so with --encoding "+
			"(in a study: encoding)", c.name, c.line)
	}
	c.err = err
	return n, err
}

// Compressed lets fill write through gzip if name ends in .gz.
func Compressed(w io.Writer, name string, fill func(io.Writer) error) error {
	if !strings.HasSuffix(strings.ToLower(name), ".gz") {
		return fill(w)
	}
	z := gzip.NewWriter(w)
	if err := fill(z); err != nil {
		return err
	}
	return z.Close()
}

// OpenText opens a file of a published corpus as it is, unzipped if its first
// bytes are those of gzip, without a byte order mark; its encoding is not checked.
func OpenText(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := gunzip.Open(f, path, bufferSize)
	if err != nil {
		f.Close()
		return nil, err
	}
	gunzip.SkipMark(b)
	return struct {
		io.Reader
		io.Closer
	}{b, f}, nil
}

// LinesOf calls each with every line of a file of a published corpus. A line that is not
// UTF-8 is ISO-8859-1, as in several older ones. Errors say where: "path:line: error".
func LinesOf(path string, each func(line string) error) error {
	o := Options{Format: Lines, unchecked: true}
	return Each(context.Background(), path, o, func(r Row) error {
		line := r.Values[0].Text
		if !utf8.ValidString(line) {
			line, _ = charmap.ISO8859_1.NewDecoder().String(line) // every byte is a character
		}
		return each(line)
	})
}
