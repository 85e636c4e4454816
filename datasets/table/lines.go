package table

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// lines reads plain lines.
type lines struct {
	t    *Reader
	line int // number of the last one, from 1
}

// read returns the next line without its end, and its end.
func (l *lines) read() (line, end string, err error) {
	line, err = l.t.text.ReadString('\n')
	if err != nil && (!errors.Is(err, io.EOF) || line == "") {
		return "", "", err
	}
	l.line++
	text := strings.TrimSuffix(line, "\n")
	if len(text) < len(line) {
		text = strings.TrimSuffix(text, "\r")
	}
	return text, line[len(text):], nil
}

// next is the next line, and its number where it is the ID.
func (l *lines) next() (Row, error) {
	line, end, err := l.read()
	if err != nil {
		return Row{}, err
	}
	row := Row{
		Values: []Value{{Text: line}},
		Line:   l.line,
		Size:   len(line),
		rest:   end,
	}
	if l.t.options.ID == LineID {
		row.ID = strconv.Itoa(l.line)
	}
	return row, nil
}

func (l *lines) writer(b *bufio.Writer) Writer {
	return &writer{
		Writer: b,
		row: func(r Row) error {
			_, _ = b.WriteString(r.Values[0].Text) // errors stay until Flush
			_, err := b.WriteString(r.rest.(string))
			return err
		},
	}
}

// full returns the next line that is not empty, of a format with one row a line.
func (l *lines) full() (string, error) {
	for {
		line, _, err := l.read()
		if err != nil || strings.TrimSpace(line) != "" {
			return line, err
		}
	}
}
