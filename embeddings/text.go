package embeddings

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

const (
	chunkLength = 1 << 20 // bytes of text parsed at once
	maxLine     = 1 << 24
)

// readText parses rows of "word number … number" and emits them in order. While
// the cores parse some chunks, those before are emitted, and those after are read.
func readText(r *bufio.Reader, path string, l layout, emit func(block) error) error {
	type chunk struct {
		data []byte
		line int // of its first row
		last bool
	}
	line, rest, end := 1, []byte(nil), error(nil)
	if l.header {
		line = 2
	}
	next := func() (chunks []chunk) {
		for len(chunks) < runtime.GOMAXPROCS(0) && end == nil {
			var data []byte
			data, rest, end = nextChunk(r, rest)
			if len(data) > 0 {
				chunks = append(chunks, chunk{data, line, end != nil})
			}
			line += bytes.Count(data, []byte{'\n'})
		}
		return chunks
	}
	type parsed struct {
		block
		err error
	}
	var waiting []parsed
	for chunks := next(); len(chunks)+len(waiting) > 0; {
		results := make([]parsed, len(chunks))
		var g sync.WaitGroup
		for i, c := range chunks {
			g.Go(func() { results[i].block, results[i].err = parseRows(c.data, path, c.line, l, c.last) })
		}
		for _, p := range waiting {
			err := emit(p.block)
			if err == nil {
				err = p.err
			}
			if err != nil {
				g.Wait()
				return err
			}
		}
		chunks = next()
		g.Wait()
		waiting = results
	}
	if errors.Is(end, io.EOF) {
		return nil
	}
	return end
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

// parseRows parses whole lines, the first of which has number first; the last of
// the file may be empty. With an error it returns the rows before it.
func parseRows(data []byte, path string, first int, l layout, last bool) (block, error) {
	d := l.dimension
	rows := bytes.Count(data, []byte{'\n'}) + 1
	// A short line cannot hold a row: this bounds the allocation by the data.
	rows = min(rows, len(data)/(2*d)+1)
	b := block{line: first, bytes: len(data), words: make([]string, 0, rows),
		vectors: make([]float32, 0, rows*d)}
	vector := make([]float32, d)
	for n := first; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		if line = bytes.TrimRight(line, " \t\r"); len(line) == 0 && len(data) == 0 && last && n > 1 {
			break
		}
		word, ok := parseRow(vector, line, l.separator)
		if !ok {
			return b, fmt.Errorf("%s:%d: %s", path, n, explainRow(string(line), d, l.separator))
		}
		b.words = append(b.words, string(word))
		b.vectors = append(b.vectors, vector...)
	}
	return b, nil
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
		if vector[i], ok = parseNumber(string(f)); !ok {
			return nil, false
		}
	}
	return fields[0], true
}

func parseStrict(vector []float32, line []byte, separator byte) (word []byte, ok bool) {
	end := len(line)
	for k := len(vector) - 1; k >= 0; k-- {
		i := bytes.LastIndexByte(line[:end], separator)
		if i < 0 {
			return nil, false
		}
		x, ok := parseNumber(string(line[i+1 : end]))
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

func parseNumber(field string) (float32, bool) {
	x, err := strconv.ParseFloat(field, 32)
	return float32(x), err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// explainRow returns what is wrong with a row that parseRow rejected.
func explainRow(line string, d int, separator byte) string {
	fields := strings.Split(strings.TrimRight(line, " \t\r"), string(separator))
	for _, f := range fields[max(1, len(fields)-d):] {
		if _, ok := parseNumber(f); !ok {
			return fmt.Sprintf("%.40q: %.40q is no finite number", fields[0], f)
		}
	}
	return fmt.Sprintf("%.40q has %d numbers: want a word and %d numbers", fields[0], len(fields)-1, d)
}
