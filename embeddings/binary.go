package embeddings

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/internal/mapped"
)

const (
	maxWord      = 1 << 16 // bytes
	blockNumbers = 1 << 20 // of the vectors that are passed on at once
)

// isBinary: a file with a header is word2vec's binary if it is called *.bin or if control
// characters follow; readBinary explains what is wrong with another that is called so.
func isBinary(name string, head []byte) bool {
	switch filepath.Ext(name) {
	case ".bin":
		return true
	case ".txt", ".vec":
		return false
	}
	line, rest, _ := strings.Cut(string(head), "\n")
	_, found := parseHeader(line)
	return found &&
		strings.ContainsFunc(rest, func(r rune) bool {
			return r < ' ' && r != '\t' && r != '\n' && r != '\r'
		})
}

// readBinary reads word2vec's binary rows: the word, one space, dimension
// little-endian float32 numbers, and a line break that some writers omit.
func readBinary(f *File, add func(Rows) error) error {
	h, found, err := readHeader(f)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%s:1: no word2vec header (number of words, dimension)", f.Path)
	}
	err = checkDimension(f.Path, h.dimension)
	if err != nil {
		return err
	}
	block := max(1, blockNumbers/h.dimension)
	var rows Rows
	for n := 1; n <= h.words; n++ {
		if rows.Vectors == nil {
			rows = Rows{
				Line:    n,
				Vectors: numbersFor(min(block, h.words-n+1) * h.dimension),
				spare:   true,
			}
		}
		err = readBinaryRow(f, &rows, h.dimension)
		switch {
		case err == nil:
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			return fmt.Errorf("%s: word %d: file ends here, header says %d words", f.Path, n, h.words)
		case errors.As(err, new(wrongRow)):
			return fmt.Errorf("%s: word %d: %w", f.Path, n, err)
		default: // it names the file
			return err
		}
		if len(rows.Words) == block || n == h.words {
			err = add(rows)
			if err != nil {
				return err
			}
			rows = Rows{}
		}
	}
	return binaryEnd(f, h.words)
}

// wrongRow is what is wrong with a row that could be read.
type wrongRow string

func (w wrongRow) Error() string { return string(w) }

// readBinaryRow reads a row and appends it to rows, which has room for it: the numbers go from the
// file to where they stay.
func readBinaryRow(f *File, rows *Rows, dimension int) error {
	word, err := binaryWord(f.Reader)
	if err != nil {
		return err
	}
	switch {
	case word == "":
		return wrongRow("no word before the vector")
	case strings.ContainsFunc(word, unwritten):
		return wrongRow(fmt.Sprintf("%.40q has a control character: a word before it has a space, which ends a word "+
			"in this format, or the dimension is wrong; write the vectors as text, or words with _ for a space", word))
	case len(word) > maxWord:
		return wrongRow(fmt.Sprintf("word longer than %d bytes: not a word2vec binary file, or damaged", maxWord))
	}
	rows.Vectors = rows.Vectors[:len(rows.Vectors)+dimension]
	vector := rows.Vectors[len(rows.Vectors)-dimension:]
	_, err = io.ReadFull(f, mapped.Bytes(vector))
	if err != nil {
		return err
	}
	k := firstInfinite(vector)
	if k >= 0 {
		return wrongRow(fmt.Sprintf("%.40q: number %d is %v: must be finite", word, k+1, vector[k]))
	}
	rows.Words = append(rows.Words, word)
	rows.Bytes += len(word) + 1 + 4*dimension
	return nil
}

// firstInfinite makes little-endian numbers those of this machine, and returns the place of the
// first that is not finite, -1 for none.
func firstInfinite(vector []float32) int {
	const exponent = 0x7f800000 // all its bits are set in infinite numbers and in those that are none
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		for k, x := range vector {
			vector[k] = math.Float32frombits(bits.ReverseBytes32(math.Float32bits(x)))
		}
	}
	return slices.IndexFunc(vector, func(x float32) bool {
		return math.Float32bits(x)&exponent == exponent
	})
}

// binaryEnd checks that nothing but line breaks follows the rows.
func binaryEnd(f *File, words int) error {
	for {
		c, err := f.ReadByte()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case c != '\n' && c != '\r':
			return fmt.Errorf("%s: more data after the %d words of the header", f.Path, words)
		}
	}
}

// unwritten are characters that no word of a binary file has, and numbers do.
func unwritten(r rune) bool { return r < ' ' || r == '\x7f' }

// binaryWord reads up to the space before a vector, or more than any word has,
// dropping the line break that ends the row before.
func binaryWord(r *bufio.Reader) (string, error) {
	var word []byte
	for len(word) <= maxWord {
		c, err := r.ReadByte()
		switch {
		case err != nil:
			return "", err
		case c == ' ':
			return string(word), nil
		case c != '\n' || len(word) > 0:
			word = append(word, c)
		}
	}
	return string(word), nil
}
