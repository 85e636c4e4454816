package textio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"

	"mldpbench/internal/gunzip"
)

// lines reads plain lines, each with its line end.
type lines struct {
	r       *bufio.Reader
	options Options
	record  uint64
	buf     []byte // of the line, or what is left of it
	start   bool   // nothing has been read
}

func newLines(r *bufio.Reader, o Options) *lines {
	return &lines{r: r, options: o, start: true}
}

func (l *lines) waiting() bool { return hasLine(l.r) }

// hasLine reports whether r can return a line without reading.
func hasLine(r *bufio.Reader) bool {
	buffered, _ := r.Peek(r.Buffered()) // no read, so no error
	return bytes.IndexByte(buffered, '\n') >= 0
}

func (l *lines) next(dst []Piece) ([]Piece, error) {
	before := ""
	if l.start {
		before, l.start = gunzip.SkipMark(l.r), false
	}
	limit := LongestPiece
	if l.options.Whole {
		limit = l.options.longestRecord()
	}
	ended, err := l.fill(limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return dst, err
	}
	if len(l.buf) == 0 {
		if before != "" {
			dst = append(dst, Piece{Before: before})
		}
		return dst, io.EOF
	}
	n := len(l.buf)
	if !ended && err == nil { // too long
		if l.options.Whole {
			return dst, tooLong(l.options, int(l.record)+1)
		}
		n = cutAt(l.buf)
	}
	dst = append(dst, Piece{Before: before, Text: string(l.buf[:n]), Record: l.record, quote: plain})
	l.buf = l.buf[:copy(l.buf, l.buf[n:])]
	if ended {
		l.record++
	}
	return dst, nil
}

func tooLong(o Options, line int) error {
	return fmt.Errorf("%s:%d: longer than %d MiB", o.Name, line, o.longestRecord()>>20)
}

// fill reads up to a line end or limit bytes into l.buf, which may hold the
// rest of a line that was cut.
func (l *lines) fill(limit int) (ended bool, err error) {
	for len(l.buf) < limit {
		part, err := l.r.ReadSlice('\n')
		l.buf = append(l.buf, part...)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return false, err
		}
	}
	return false, nil
}

// cutAt returns where to cut a line that is too long: after the last white
// space of it, or, within an endless word, before its last character.
func cutAt(b []byte) int {
	if i := bytes.LastIndexFunc(b, unicode.IsSpace); i > 0 {
		_, size := utf8.DecodeRune(b[i:])
		return i + size
	}
	_, size := utf8.DecodeLastRune(b)
	return len(b) - size
}
