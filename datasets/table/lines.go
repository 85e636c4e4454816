package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lines reads plain lines.
type lines struct {
	t    *Reader
	buf  []byte // of the line, or what is left of it
	cut  bool   // the line goes on
	line uint64
}

// read returns the next line without its end, and its end. A line longer than
// limit is cut after white space, or, within an endless word, before a character:
// its end is then "", and the next line is its rest.
func (l *lines) read(limit int) (line, end string, err error) {
	for err == nil && len(l.buf) < limit && end == "" {
		var part []byte
		part, err = l.t.text.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		switch {
		case err == nil:
			end = "\n"
			if bytes.HasSuffix(l.buf, []byte("\r\n")) {
				end = "\r\n"
			}
		case errors.Is(err, bufio.ErrBufferFull):
			err = nil
		}
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(l.buf) == 0) {
		return "", "", err
	}
	n := len(l.buf)
	if l.cut = err == nil && end == ""; l.cut {
		n = cutAt(l.buf)
	}
	line = string(l.buf[:n-len(end)])
	l.buf = l.buf[:copy(l.buf, l.buf[n:])]
	return line, end, nil
}

func cutAt(b []byte) int {
	if i := bytes.LastIndexFunc(b, unicode.IsSpace); i > 0 {
		_, size := utf8.DecodeRune(b[i:])
		return i + size
	}
	_, size := utf8.DecodeLastRune(b)
	return len(b) - size
}

func (l *lines) next() (Row, error) {
	limit := LongestPiece
	if l.t.options.Whole {
		limit = l.t.options.longestRecord()
	}
	goesOn := l.cut
	line, end, err := l.read(limit)
	if err != nil {
		return Row{}, err
	}
	if !goesOn {
		l.t.rows++
	}
	if l.t.options.Whole && l.cut {
		return Row{}, fmt.Errorf("%s:%d: longer than %d MiB", l.t.options.Name, l.t.rows, limit>>20)
	}
	l.t.number++
	return Row{Values: []Value{{Text: line, Number: l.t.number - 1}}, Record: l.t.rows - 1, Line: int(l.t.rows),
		Size: len(line), rest: end}, nil
}

func (l *lines) writer(b *bufio.Writer) Writer {
	return &writer{Writer: b, row: func(r Row) error {
		_, _ = b.WriteString(r.Values[0].Text) // errors stay until Flush
		_, err := b.WriteString(r.rest.(string))
		return err
	}}
}

// full returns the next line that is not empty, of a format with one row a line.
// Empty lines count as a text each.
func (l *lines) full() (string, error) {
	for {
		line, _, err := l.read(l.t.options.longestRecord())
		if err != nil {
			return "", err
		}
		l.line++
		if l.cut {
			return "", fmt.Errorf("%s:%d: longer than %d MiB", l.t.options.Name, l.line, l.t.options.longestRecord()>>20)
		}
		if strings.TrimSpace(line) != "" {
			return line, nil
		}
		l.t.number++
	}
}
