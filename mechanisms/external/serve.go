package external

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"mldpbench/internal/check"
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
// service, because no answer can be matched to it.
func Serve(ctx context.Context, in io.Reader, out io.Writer, h Hello, handle Handler) error {
	h.Protocol = Protocol
	to := json.NewEncoder(out)
	if err := to.Encode(h); err != nil {
		return err
	}
	// The last request may lack its line end; empty lines are skipped.
	r := bufio.NewReaderSize(io.MultiReader(in, strings.NewReader("\n")), 1<<16)
	for n := 1; ; n++ {
		line, err := readLine(r)
		if errors.Is(err, io.EOF) {
			return ctx.Err()
		}
		if err == nil && len(line) == 0 {
			continue
		}
		var q Request
		if err == nil {
			err = decode(line, &q)
		}
		if err != nil {
			return fmt.Errorf("standard input:%d: %w", n, err)
		}
		a, err := handle.answer(ctx, q)
		var undefined *mechanisms.UndefinedError
		switch a.ID = &q.ID; {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &undefined):
			a = Answer{ID: &q.ID, Undefined: undefined.Reason}
		case err != nil:
			a = Answer{ID: &q.ID, Error: err.Error()}
		}
		if err := to.Encode(a); err != nil {
			return err
		}
	}
}

func (h Handler) answer(ctx context.Context, q Request) (a Answer, err error) {
	n, seeds := len(q.Documents)+len(q.Texts), make([]stream.Seed, len(q.Seeds))
	for i, s := range q.Seeds {
		data, err := hex.DecodeString(s)
		if err != nil || copy(seeds[i][:], data) != len(seeds[i]) || len(data) != len(seeds[i]) {
			return a, fmt.Errorf("seed %d = %.80q: must be %d hexadecimal digits", i, s, 2*len(seeds[i]))
		}
	}
	if err := check.Positive("epsilon", q.Epsilon); err != nil {
		return a, err
	}
	switch {
	case len(seeds) != n:
		return a, fmt.Errorf("%d seeds for %d documents", len(seeds), n)
	case q.Texts == nil:
		documents, err := h.Documents(ctx, q.Epsilon, q.Documents, seeds)
		return Answer{Documents: whole(documents)}, err
	case q.Documents != nil:
		return a, errors.New("has documents and texts: must have one of them")
	case h.Texts == nil:
		return a, errors.New("takes documents, not texts")
	}
	a.Texts, a.Counts, err = h.Texts(ctx, q.Epsilon, q.Texts, seeds)
	return a, err
}
