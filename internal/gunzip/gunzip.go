// Package gunzip unpacks gzip streams with a limit on the size of the output,
// because a few megabytes can unpack to as many gigabytes.
package gunzip

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"mldpbench/internal/check"
)

// The output of n bytes is at most Ratio·n + Slack. Text is compressed to
// between a third and a fifth of its length, rarely to a thirtieth; a
// decompression bomb to a thousandth.
const (
	Ratio = 100
	Slack = 64 << 20
)

// ErrBomb is in the chain of the error that ends a stream above the limit.
var ErrBomb = errors.New("unpacks to far more than text does")

// others are the first bytes of files that are not unpacked here.
var others = map[string]string{"\xfd7zXZ\x00": "xz", "\x28\xb5\x2f\xfd": "zstd", "BZh9": "bzip2"}

// Open returns r buffered and, if its first bytes are those of gzip, unpacked.
// name is for errors.
func Open(r io.Reader, name string, buffer int) (b *bufio.Reader, packed bool, err error) {
	b = bufio.NewReaderSize(r, buffer)
	head, _ := b.Peek(2)
	if string(head) != "\x1f\x8b" {
		head, _ = b.Peek(min(6, b.Buffered()))
		for magic, program := range others {
			if strings.HasPrefix(string(head), magic) {
				return nil, false, check.Wrong("%s: is packed by %s: unpack it, or pack it with gzip", name, program)
			}
		}
		return b, false, nil
	}
	packing := &reader{Reader: b}
	z, err := gzip.NewReader(packing)
	if err != nil {
		return nil, true, fmt.Errorf("%s: damaged gzip file: %w", name, err)
	}
	return bufio.NewReaderSize(&unpacked{reader{Reader: z}, packing, name}, buffer), true, nil
}

// SkipMark skips a byte order mark, which some editors write at the start of a
// text, and returns it.
func SkipMark(b *bufio.Reader) string {
	const mark = "\ufeff"
	if head, _ := b.Peek(len(mark)); string(head) != mark {
		return ""
	}
	_, _ = b.Discard(len(mark)) // just peeked, so it is there
	return mark
}

// reader counts what is read.
type reader struct {
	io.Reader
	n int64
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += int64(n)
	return n, err
}

type unpacked struct {
	reader
	packed *reader
	name   string
}

func (r *unpacked) Read(p []byte) (int, error) {
	n, err := r.reader.Read(p)
	switch {
	case r.n > Ratio*r.packed.n+Slack:
		return 0, fmt.Errorf("%s: %w: %d bytes out of %d so far", r.name, ErrBomb, r.n, r.packed.n)
	case err != nil && !errors.Is(err, io.EOF):
		err = fmt.Errorf("%s: damaged gzip file: %w", r.name, err)
	}
	return n, err
}
