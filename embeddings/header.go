package embeddings

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// header is the first line of files of word2vec and fastText: exactly two whole numbers.
type header struct {
	words     int
	dimension int
}

// parseHeader reports false for a line that is no header.
func parseHeader(line string) (h header, found bool) {
	fields := strings.Fields(line)
	if len(fields) != 2 {
		return header{}, false
	}
	words, err := strconv.ParseUint(fields[0], 10, 40)
	if err != nil {
		return header{}, false
	}
	dimension, err := strconv.ParseUint(fields[1], 10, 40)
	if err != nil || dimension == 0 {
		return header{}, false
	}
	return header{words: int(words), dimension: int(dimension)}, true
}

// readHeader reads the header of a file, if its first line is one.
func readHeader(f *File) (h header, found bool, err error) {
	head, failed := f.Peek(sniffLength)
	line, _, ended := bytes.Cut(head, []byte{'\n'})
	if !ended && failed == nil {
		return h, false, fmt.Errorf("%s:1: line longer than %d bytes", f.Path, sniffLength)
	}
	h, found = parseHeader(string(line))
	if !found {
		return h, false, nil
	}
	_, failed = f.Discard(len(line) + 1)
	if failed != nil || h.words == 0 {
		return h, true, fmt.Errorf("%s: header says %d words, file has 0", f.Path, h.words)
	}
	return h, true, nil
}

// maxDimension bounds the memory that a damaged header can cause to be
// allocated.
const maxDimension = 1 << 16

// checkDimension is for the first line of a file.
func checkDimension(path string, dimension int) error {
	if dimension > maxDimension {
		return fmt.Errorf("%s:1: dimension %d: must be <= %d", path, dimension, maxDimension)
	}
	return nil
}
