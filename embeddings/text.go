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

	"golang.org/x/sync/errgroup"
)

const (
	chunkLength = 1 << 20 // bytes of text parsed at once
	maxLine     = 1 << 24
)

// readText parses rows of "word number … number" in parallel and emits them
// in order.
func readText(r *bufio.Reader, path string, l layout, emit func(block) error) error {
	type parsed struct {
		b   block
		err error
	}
	var g errgroup.Group
	queue := make(chan chan parsed, 2*runtime.GOMAXPROCS(0))
	stop := make(chan struct{})
	g.Go(func() error {
		defer close(queue)
		workers := make(chan struct{}, runtime.GOMAXPROCS(0))
		line := 1
		if l.header {
			line = 2
		}
		var rest []byte
		for {
			chunk, tail, err := nextChunk(r, rest)
			rest = tail
			if err != nil && !errors.Is(err, io.EOF) {
				return fmt.Errorf("%s: after line %d: %w", path, line, err)
			}
			if len(chunk) > 0 {
				out := make(chan parsed, 1)
				select {
				case queue <- out:
				case <-stop:
					return nil
				}
				first := line
				line += bytes.Count(chunk, []byte{'\n'})
				workers <- struct{}{}
				go func() {
					b, err := parseRows(chunk, path, first, l, err != nil)
					out <- parsed{b, err}
					<-workers
				}()
			}
			if err != nil {
				return nil
			}
		}
	})
	var err error
	for out := range queue {
		p := <-out
		if err != nil {
			continue // drain
		}
		if err = emit(p.b); err == nil {
			err = p.err
		}
		if err != nil {
			close(stop)
		}
	}
	if readErr := g.Wait(); err == nil {
		err = readErr
	}
	return err
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

func trimLine(line string) string { return strings.TrimRight(line, " \t\r") }

// parseRows parses whole lines, the first of which has number first; the last of
// the file may be empty. With an error it returns the rows before it.
func parseRows(data []byte, path string, first int, l layout, last bool) (block, error) {
	d := l.dimension
	rows := bytes.Count(data, []byte{'\n'}) + 1
	// A short line cannot hold a row: this bounds the allocation by the data.
	rows = min(rows, len(data)/(2*d)+1)
	b := block{line: first, bytes: int64(len(data)), words: make([]string, 0, rows),
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
	line = trimLine(line)
	if line == "" {
		return fmt.Sprintf("empty line, want a word and %d numbers", d)
	}
	fields := strings.Split(line, string(separator))
	word, numbers := fields[0], fields[1:]
	if len(numbers) < d {
		return fmt.Sprintf("%.40q has %d numbers, want %d", word, len(numbers), d)
	}
	extra := len(numbers) - d
	for i, f := range numbers[extra:] {
		if _, ok := parseNumber(f); ok {
			continue
		}
		if x, err := strconv.ParseFloat(f, 32); err == nil || math.IsInf(x, 0) {
			return fmt.Sprintf("%.40q: number %d is %s: must be finite", word, i+1, f)
		}
		return fmt.Sprintf("%.40q: %.40q is not a number", word, f)
	}
	if extra == 0 {
		return fmt.Sprintf("no word before the %d numbers", d)
	}
	return fmt.Sprintf("%.40q has %d numbers, want %d", word, len(numbers), d)
}
