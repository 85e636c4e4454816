package embeddings

import (
	"bufio"
	"io"
	"strconv"
)

// WriteText writes the space in the text form of GloVe, one word a line with its
// vector, with as many digits as give the same numbers again.
func (s *Space) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	var line []byte
	for id := range s.Len() {
		line = append(line[:0], s.Vocabulary.Word(WordID(id))...)
		for _, x := range s.Vector(WordID(id)) {
			line = strconv.AppendFloat(append(line, ' '), float64(x), 'g', -1, 32)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}
