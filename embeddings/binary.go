package embeddings

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

const (
	maxWord   = 1 << 16 // bytes
	blockRows = 1 << 12
)

// readBinary reads word2vec's binary rows: the word, one space, dimension
// little-endian float32 numbers, and a line break that some writers omit.
func readBinary(r *bufio.Reader, path string, l layout, emit func(block) error) error {
	d := l.dimension
	row := make([]byte, 4*d)
	b := block{line: 1}
	for n := 1; n <= l.count; n++ {
		word, err := binaryWord(r)
		wrong := ""
		switch {
		case err != nil:
		case word == "":
			wrong = "no word before the vector"
		case strings.ContainsFunc(word, unwritten):
			wrong = fmt.Sprintf("%.40q has a control character: a word before it has a space, which ends a word in this "+
				"format, or the dimension is wrong; write the vectors as text, or words with _ for a space", word)
		case len(word) > maxWord:
			wrong = fmt.Sprintf("word longer than %d bytes: not a word2vec binary file, or damaged", maxWord)
		default:
			_, err = io.ReadFull(r, row)
		}
		for k := 0; k < d && err == nil && wrong == ""; k++ {
			x := math.Float32frombits(binary.LittleEndian.Uint32(row[4*k:]))
			if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
				wrong = fmt.Sprintf("%.40q: number %d is %v: must be finite", word, k+1, x)
			}
			b.vectors = append(b.vectors, x)
		}
		switch {
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			wrong = fmt.Sprintf("file ends here, header promises %d words", l.count)
		case err != nil: // it names the file
			return err
		}
		if wrong != "" {
			return fmt.Errorf("%s: word %d: %s", path, n, wrong)
		}
		b.words, b.bytes = append(b.words, word), b.bytes+len(word)+1+len(row)
		if len(b.words) == blockRows || n == l.count {
			if err := emit(b); err != nil {
				return err
			}
			b = block{line: n + 1}
		}
	}
	for {
		switch c, err := r.ReadByte(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case c != '\n' && c != '\r':
			return fmt.Errorf("%s: more data after the %d words of the header", path, l.count)
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
