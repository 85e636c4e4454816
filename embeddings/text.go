package embeddings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

const (
	chunkLength = 1 << 20 // bytes of text parsed at once
	maxLine     = 1 << 24
)

// layout is that of rows of text.
type layout struct {
	first     int // line of the first row, from 1
	dimension int
	separator byte
}

// layoutOf finds the layout of rows from the first of them and the header, which is zero
// where the file has none.
func layoutOf(f *File, h header) (layout, error) {
	head, _ := f.Peek(sniffLength)
	row, _, _ := strings.Cut(string(head), "\n")
	row = strings.TrimRight(row, " \t\r")
	l := layout{first: 1, separator: ' '}
	if !strings.Contains(row, " ") {
		l.separator = '\t'
	}
	if h.dimension > 0 {
		l.first = 2
		l.dimension = h.dimension
	} else {
		l.dimension = len(strings.FieldsFunc(row, func(r rune) bool {
			return r == rune(l.separator)
		})) - 1
	}
	if l.dimension < 1 {
		return l, fmt.Errorf("%s:1: %.40q: want a word and its vector", f.Path, row)
	}
	return l, checkDimension(f.Path, l.dimension)
}

// readText reads rows of "word number … number", after a header or none.
func readText(f *File, add func(Rows) error) error {
	h, headed, err := readHeader(f)
	if err != nil {
		return err
	}
	l, err := layoutOf(f, h)
	if err != nil {
		return err
	}
	words := 0
	err = readRows(f, l, func(rows Rows) error {
		words += len(rows.Words)
		return add(rows)
	})
	if err != nil {
		return err
	}
	if headed && words != h.words {
		return fmt.Errorf("%s: header says %d words, file has %d", f.Path, h.words, words)
	}
	return nil
}

// textChunk is a part of a file, of whole lines.
type textChunk struct {
	data []byte
	line int  // of its first row
	last bool // of the file
}

// chunker cuts a file into chunks.
type chunker struct {
	file *File
	line int    // of the next chunk
	rest []byte // read, and of the next chunk
	end  error  // why there is none after those that were cut: io.EOF, or of reading
}

// next returns as many chunks as there are cores, fewer at the end.
func (c *chunker) next() (chunks []textChunk) {
	for len(chunks) < runtime.GOMAXPROCS(0) && c.end == nil {
		var data []byte
		data, c.rest, c.end = nextChunk(c.file, c.rest)
		if len(data) > 0 {
			chunks = append(chunks, textChunk{data, c.line, c.end != nil})
		}
		c.line += bytes.Count(data, []byte{'\n'})
	}
	return chunks
}

// readRows parses rows of text and adds them in order. While the cores parse some
// chunks, those before are added, and those after are read.
func readRows(f *File, l layout, add func(Rows) error) error {
	type parsed struct {
		Rows
		err error
	}
	file := &chunker{file: f, line: l.first}
	var waiting []parsed
	for chunks := file.next(); len(chunks)+len(waiting) > 0; {
		results := make([]parsed, len(chunks))
		var g sync.WaitGroup
		for i, c := range chunks {
			g.Go(func() { results[i].Rows, results[i].err = parseRows(c, f.Path, l) })
		}
		for _, p := range waiting {
			var err error
			if len(p.Words) > 0 {
				err = add(p.Rows)
			}
			if err == nil {
				err = p.err
			}
			if err != nil {
				g.Wait()
				return err
			}
		}
		chunks = file.next()
		g.Wait()
		waiting = results
	}
	if errors.Is(file.end, io.EOF) {
		return nil
	}
	return file.end
}

// nextChunk returns whole lines that begin with rest, and the beginning of
// the line after them. The last line of a file may lack its line break.
func nextChunk(r io.Reader, rest []byte) (chunk, tail []byte, err error) {
	buf := append(make([]byte, 0, len(rest)+chunkLength), rest...)
	for {
		for len(buf) < cap(buf) {
			n, err := r.Read(buf[len(buf):cap(buf)])
			buf = buf[:len(buf)+n]
			if err != nil {
				return buf, nil, err
			}
		}
		if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
			return buf[:i+1], buf[i+1:], nil
		}
		if len(buf) >= maxLine {
			return nil, nil, fmt.Errorf("line longer than %d bytes", maxLine)
		}
		buf = append(make([]byte, 0, 2*cap(buf)), buf...)
	}
}

// parseRows parses the rows of a chunk; the last line of the file may be empty. With
// an error it returns the rows before it.
func parseRows(c textChunk, path string, l layout) (Rows, error) {
	d := l.dimension
	data := c.data
	n := bytes.Count(data, []byte{'\n'}) + 1
	// A short line cannot hold a row: this bounds the allocation by the data.
	n = min(n, len(data)/(2*d)+1)
	rows := Rows{
		Line:    c.line,
		Bytes:   len(data),
		Words:   make([]string, 0, n),
		Vectors: numbersFor(n * d),
		spare:   true,
	}
	vector := make([]float32, d)
	for at := c.line; len(data) > 0; at++ {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		line = bytes.TrimRight(line, " \t\r")
		if len(line) == 0 && len(data) == 0 && c.last && at > 1 {
			break
		}
		word, ok := parseRow(vector, line, l.separator)
		if !ok {
			return rows, fmt.Errorf("%s:%d: %s", path, at, explainRow(string(line), d, l.separator))
		}
		rows.Words = append(rows.Words, string(word))
		rows.Vectors = append(rows.Vectors, vector...)
	}
	return rows, nil
}

// parseRow splits a line from its end: len(vector) numbers, then the word. It
// reports false for any other row, unless it is one word and the numbers with
// several separators between them; explainRow gives the reason.
func parseRow(vector []float32, line []byte, separator byte) (word []byte, ok bool) {
	if word, ok = parseStrict(vector, line, separator); ok {
		return word, true
	}
	fields := bytes.FieldsFunc(line, func(r rune) bool { return r == rune(separator) })
	if len(fields) != len(vector)+1 {
		return nil, false
	}
	for i, f := range fields[1:] {
		if vector[i], ok = parseNumber(f); !ok {
			return nil, false
		}
	}
	return fields[0], true
}

// parseStrict splits a line at single separators; a word may have some in it.
func parseStrict(vector []float32, line []byte, separator byte) (word []byte, ok bool) {
	end := len(line)
	for k := len(vector) - 1; k >= 0; k-- {
		i := bytes.LastIndexByte(line[:end], separator)
		if i < 0 {
			return nil, false
		}
		x, ok := parseNumber(line[i+1 : end])
		if !ok {
			return nil, false
		}
		vector[k] = x
		end = i
	}
	word = line[:end]
	if len(word) == 0 {
		return nil, false
	}
	// A word may contain separators, but a part of it that parses as a number
	// is far more likely a surplus number.
	if _, extra, found := bytes.Cut(word, []byte{separator}); found {
		for field := range bytes.SplitSeq(extra, []byte{separator}) {
			if _, err := strconv.ParseFloat(string(field), 32); err == nil {
				return nil, false
			}
		}
	}
	return word, true
}

// explainRow returns what is wrong with a row that parseRow rejected.
func explainRow(line string, d int, separator byte) string {
	fields := strings.Split(strings.TrimRight(line, " \t\r"), string(separator))
	for _, f := range fields[max(1, len(fields)-d):] {
		if _, ok := parseNumber([]byte(f)); !ok {
			return fmt.Sprintf("%.40q: %.40q is no finite number", fields[0], f)
		}
	}
	return fmt.Sprintf("%.40q has %d numbers: want a word and %d numbers", fields[0], len(fields)-1, d)
}
