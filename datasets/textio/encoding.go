package textio

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"mldpbench/internal/check"
)

var encodings = map[string]encoding.Encoding{
	"utf-8":        nil,
	"latin1":       charmap.ISO8859_1,
	"iso-8859-1":   charmap.ISO8859_1,
	"windows-1252": charmap.Windows1252,
	"utf-16":       unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"utf-16le":     unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"utf-16be":     unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
}

// Encodings are the names that Options.Encoding takes.
func Encodings() []string { return slices.Sorted(maps.Keys(encodings)) }

func checkEncoding(name string) error {
	if name == "" {
		return nil
	}
	return check.OneOf("encoding", strings.ToLower(name), Encodings()...)
}

// toUTF8 decodes r and checks the result.
func toUTF8(r io.Reader, o Options) io.Reader {
	c := &checker{r: r, name: o.Name, line: 1}
	if e := encodings[strings.ToLower(o.Encoding)]; e != nil {
		c.r, c.decoded = transform.NewReader(r, e.NewDecoder()), true
	}
	return c
}

// checker passes on UTF-8 and stops, with line and byte, at anything else and
// at a zero byte, which does not occur in text.
type checker struct {
	r       io.Reader
	name    string
	decoded bool // from another encoding: the input is UTF-8 by construction
	line    int
	column  int    // valid bytes of the line so far
	buf     []byte // as read
	ready   []byte // of buf: valid but not passed on yet
	rest    []byte // of buf: the beginning of a character
	err     error  // comes after what is ready
}

func (c *checker) Read(p []byte) (int, error) {
	for len(c.ready) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		c.fill()
	}
	n := copy(p, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

func (c *checker) fill() {
	if c.buf == nil {
		c.buf = make([]byte, bufferSize)
	}
	n := copy(c.buf, c.rest)
	k, err := c.r.Read(c.buf[n:])
	n += k
	good, bad := c.good(c.buf[:n], err != nil)
	c.ready, c.rest = c.buf[:good], c.buf[good:n]
	c.count(c.ready)
	c.err = err
	if bad != "" {
		c.err = fmt.Errorf("%s:%d: byte %d %s", c.name, c.line, c.column+1, bad)
	}
}

// good returns the number of bytes that are text, and what is wrong with the
// next byte; the rest may be the beginning of a character unless final is set.
func (c *checker) good(p []byte, final bool) (n int, bad string) {
	n = len(p)
	if i := bytes.IndexByte(p, 0); i >= 0 {
		n, bad = i, "is 0: this is no text"
		if !c.decoded {
			bad += " (if it is UTF-16: --encoding utf-16)"
		}
	}
	if utf8.Valid(p[:n]) {
		return n, bad
	}
	at := 0
	for at < n {
		r, size := utf8.DecodeRune(p[at:n])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	if !final && bad == "" && !utf8.FullRune(p[at:n]) {
		return at, ""
	}
	return at, fmt.Sprintf("(0x%02x) is not UTF-8: if the text is Latin-1 or the like, say so with --encoding", p[at])
}

func (c *checker) count(p []byte) {
	c.line += bytes.Count(p, []byte{'\n'})
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		c.column = len(p) - i - 1
	} else {
		c.column += len(p)
	}
}
