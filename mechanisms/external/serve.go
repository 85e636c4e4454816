package external

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Handler privatises the documents or texts of a request, each with its seed;
// without Texts a request with texts is answered by an error.
type Handler struct {
	Documents func(ctx context.Context, epsilon float64, documents [][]string, seeds []stream.Seed) ([][]string, error)
	Texts     func(ctx context.Context, epsilon float64, texts []string, seeds []stream.Seed) ([]string, Counts, error)
}

// Serve implements the other side of the protocol: it writes the hello and
// answers requests from in until there are no more. A request that cannot be
// answered gets an error as its answer. A line that is not a request ends the
// service, because no answer can be matched to it. Lines have at most MaxLine
// bytes.
func Serve(ctx context.Context, in io.Reader, out io.Writer, h Hello, handle Handler) error {
	h.Protocol = Protocol
	// The last request may lack its line end; empty lines are skipped.
	r, w := bufio.NewReaderSize(io.MultiReader(in, strings.NewReader("\n")), 1<<16), bufio.NewWriter(out)
	write := func(v any) error {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		_, _ = w.Write(append(line, '\n')) // errors stay until Flush
		return w.Flush()
	}
	if err := write(h); err != nil {
		return err
	}
	for n := 1; ; n++ {
		line, err := readLine(r)
		if errors.Is(err, io.EOF) {
			return ctx.Err()
		}
		if err == nil && len(line) == 0 {
			continue
		}
		var a Answer
		if err == nil {
			a, err = answer(ctx, line, handle)
		}
		if err != nil {
			return fmt.Errorf("standard input:%d: %w", n, err)
		}
		if err := write(a); err != nil {
			return err
		}
	}
}

// answer returns the answer to one line.
func answer(ctx context.Context, line []byte, handle Handler) (Answer, error) {
	q, seeds, err := parseRequest(line)
	a := Answer{ID: &q.ID}
	if err != nil {
		if q.ID == 0 {
			return a, err
		}
		a.Error = err.Error()
		return a, nil
	}
	var documents [][]string
	var texts []string
	if q.Texts == nil {
		documents, err = handle.Documents(ctx, q.Epsilon, q.Documents, seeds)
	} else if handle.Texts == nil {
		err = errors.New("takes documents, not texts")
	} else {
		texts, a.Counts, err = handle.Texts(ctx, q.Epsilon, q.Texts, seeds)
	}
	var undefined *mechanisms.UndefinedError
	switch {
	case ctx.Err() != nil:
		return a, ctx.Err()
	case errors.As(err, &undefined):
		a.Undefined = undefined.Reason
	case err != nil:
		a.Error = err.Error()
	case q.Texts == nil:
		a.Documents = whole(documents)
	default:
		a.Texts = texts
	}
	return a, nil
}
