// Package gunzip reads texts that may be packed by gzip.
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

// others are the first bytes of files that are not unpacked here.
var others = map[string]string{"\xfd7zXZ\x00": "xz", "\x28\xb5\x2f\xfd": "zstd", "BZh9": "bzip2"}

// Open returns r buffered and, if its first bytes are those of gzip, unpacked.
// name is for errors.
func Open(r io.Reader, name string, buffer int) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, buffer)
	head, _ := b.Peek(2)
	if string(head) != "\x1f\x8b" {
		head, _ = b.Peek(min(6, b.Buffered()))
		for magic, program := range others {
			if strings.HasPrefix(string(head), magic) {
				return nil, check.Wrong("%s: is packed by %s: unpack it, or pack it with gzip", name, program)
			}
		}
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("%s: damaged gzip file: %w", name, err)
	}
	return bufio.NewReaderSize(&unpacked{
		member: z,
		packed: b,
		name:   name,
	}, buffer), nil
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

// unpacked reads all members of a gzip file and names it in errors. Zero bytes after the
// last member, with which tapes and some stores fill up, are passed over.
type unpacked struct {
	member *gzip.Reader
	packed *bufio.Reader
	name   string
	err    error // stays: bufio forgets an error that Peek met
}

// Read implements io.Reader.
func (r *unpacked) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	r.member.Multistream(false)
	n, err := r.member.Read(p)
	if errors.Is(err, io.EOF) {
		err = r.nextMember()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: damaged gzip file: %w", r.name, err)
	}
	r.err = err
	return n, err
}

// nextMember goes on to the next member, and returns io.EOF where there is none.
func (r *unpacked) nextMember() error {
	next, err := r.packed.Peek(1)
	if err != nil {
		return err
	}
	if next[0] != 0 {
		return r.member.Reset(r.packed)
	}
	for {
		next, err := r.packed.ReadByte()
		if err != nil {
			return err
		}
		if next != 0 {
			return errors.New("more after zero bytes")
		}
	}
}
