package embeddings

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
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
		if err == nil {
			_, err = io.ReadFull(r, row)
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = fmt.Errorf("file ends here, header promises %d words", l.count)
			}
			return fmt.Errorf("%s: %w", at(path, "word", n), err)
		}
		b.words = append(b.words, word)
		for k := range d {
			x := math.Float32frombits(binary.LittleEndian.Uint32(row[4*k:]))
			if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("%s: %.40q: number %d is %v: must be finite", at(path, "word", n), word, k+1, x)
			}
			b.vectors = append(b.vectors, x)
		}
		if len(b.words) == blockRows || n == l.count {
			if err := emit(b); err != nil {
				return err
			}
			b = block{line: n + 1}
		}
	}
	for {
		switch c, err := r.ReadByte(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		case c != '\n' && c != '\r':
			return fmt.Errorf("%s: more data after the %d words of the header", path, l.count)
		}
	}
}

// binaryWord reads up to the space before a vector, dropping the line break
// that ends the row before.
func binaryWord(r *bufio.Reader) (string, error) {
	var word []byte
	for {
		c, err := r.ReadByte()
		switch {
		case err != nil:
			return "", err
		case c == ' ' && len(word) == 0:
			return "", errors.New("no word before the vector")
		case c == ' ':
			return string(word), nil
		case c == '\n' && len(word) == 0:
			continue
		case len(word) == maxWord:
			return "", fmt.Errorf("word longer than %d bytes: not a word2vec binary file, or damaged", maxWord)
		}
		word = append(word, c)
	}
}
