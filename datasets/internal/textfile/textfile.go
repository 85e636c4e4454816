// Package textfile opens text files that may or may not be gzipped, and reads
// them line by line with line numbers in every error.
package textfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"mldpbench/internal/gunzip"
	"mldpbench/internal/list"
)

// MaxLine is the longest line accepted, in bytes: far above any real text, and
// low enough to keep a binary file from filling memory.
const MaxLine = 16 << 20

type file struct {
	io.Reader
	close []io.Closer
}

func (f *file) Close() error {
	errs := list.Map(f.close, func(c io.Closer) error { return c.Close() })
	return errors.Join(errs...)
}

// Open opens path and unzips it if its first bytes are those of gzip,
// whatever its name.
func Open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := Reader(f, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{Reader: r, close: []io.Closer{f}}, nil
}

// Reader unzips r if its first bytes are those of gzip, and skips a byte
// order mark. name is for errors.
func Reader(r io.Reader, name string) (io.Reader, error) {
	b, _, err := gunzip.Open(r, name, 1<<16)
	if err != nil {
		return nil, err
	}
	gunzip.SkipMark(b)
	return b, nil
}

// Lines calls each with every line of r, without its line end, and its number
// from 1. An error of each comes back as "name:line: error".
func Lines(r io.Reader, name string, each func(line string) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 1<<16), MaxLine)
	n := 0
	for s.Scan() {
		n++
		if err := each(s.Text()); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	return nil
}

// LinesOf is Lines on a file.
func LinesOf(path string, each func(line string) error) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return Lines(f, path, each)
}

// Latin1 returns line unchanged if it is UTF-8 and otherwise decodes it as
// ISO-8859-1, the encoding of several older corpora.
func Latin1(line string) string {
	if utf8.ValidString(line) {
		return line
	}
	var b strings.Builder
	for i := range len(line) {
		b.WriteRune(rune(line[i]))
	}
	return b.String()
}
