package table

import (
	"strings"

	"golang.org/x/text/transform"
)

// encoding/csv, as every CSV library for Go that was found, forgets what three kinds of
// reader see: whether a field stood in quotes ("" is an empty text, nothing a missing
// one; "007" a text, 007 a number), CR LF inside a field, and an empty line, which in a
// table of one column is a row. So these are marked on the way to the library, and the
// marks taken out of its fields: a zero byte, which no text has (checked refuses it).
// What is CSV and what is not is for the library to say.
const (
	mark      = "\x00"
	emptyLine = mark + mark // an empty text in quotes has one
)

// marks puts a mark after a quote that opens a field, after a carriage return in quotes,
// and into an empty line.
type marks struct {
	quoted  bool // within quotes
	last    byte // read
	before  byte // that
	inLine  int  // bytes of the line, of which a carriage return at its end is one
	escaped bool // a quote within quotes came after a backslash
}

var _ transform.Transformer = (*marks)(nil)

func (m *marks) Reset() { *m = marks{} }

// Transform implements transform.Transformer.
func (m *marks) Transform(dst, src []byte, _ bool) (written, read int, err error) {
	for _, c := range src {
		if written+3 > len(dst) {
			return written, read, transform.ErrShortDst
		}
		empty := m.inLine == 0 || m.inLine == 1 && m.last == '\r'
		if c == '\n' && !m.quoted && empty {
			written += copy(dst[written:], emptyLine)
		}
		dst[written] = c
		written++
		read++
		if m.follow(c) {
			dst[written] = mark[0]
			written++
		}
	}
	return written, read, nil
}

// follow goes on by a byte and reports whether a mark comes after it.
func (m *marks) follow(c byte) bool {
	marked := false
	switch {
	case c == '"' && m.quoted:
		m.escaped = m.escaped || m.last == '\\' && m.before != '\\'
		m.quoted = false
	case c == '"':
		m.quoted = true
		marked = m.last != '"' // two quotes within quotes are one
	case c == '\r':
		marked = m.quoted
	}
	m.inLine++
	if c == '\n' {
		m.inLine = 0
	}
	m.before = m.last
	m.last = c
	return marked
}

// unmarked is a field as it was.
func unmarked(field string) string {
	if strings.IndexByte(field, mark[0]) < 0 {
		return field
	}
	return strings.ReplaceAll(field, mark, "")
}

// isQuoted reports whether a field stood in quotes.
func isQuoted(field string) bool { return strings.HasPrefix(field, mark) }

// isEmptyLine reports whether a row is an empty line.
func isEmptyLine(fields []string) bool {
	return len(fields) == 1 && strings.TrimPrefix(fields[0], "\r") == emptyLine
}
