package external

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Handler privatises the documents or texts of a request, which has one of them,
// an ε > 0 and a seed, or an id, for each.
type Handler func(ctx context.Context, q Request, seeds []stream.Seed) (Answer, error)

// Serve implements the other side of the protocol: it writes the hello and
// answers requests from in until there are no more. A request that cannot be
// answered gets an error as its answer. A line that is not a request ends the
// service, because no answer can be matched to it.
func Serve(ctx context.Context, in io.Reader, out io.Writer, h Hello, handle Handler) error {
	err := writeHello(out, h)
	if err != nil {
		return err
	}
	to := json.NewEncoder(out)
	requests := lines(in)
	for n := 1; ; n++ {
		line, err := next(requests)
		if errors.Is(err, io.EOF) {
			return ctx.Err()
		}
		var q Request
		if err == nil {
			err = decode(line, &q)
		}
		if err != nil {
			return fmt.Errorf("standard input:%d: %w", n, err)
		}
		seeds, err := q.seeds()
		var a Answer
		if err == nil {
			a, err = handle(ctx, q, seeds)
		}
		var undefined *mechanisms.UndefinedError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &undefined):
			a = Answer{Undefined: undefined.Reason}
		case err != nil:
			a = Answer{Error: err.Error()}
		}
		a.ID = &q.ID
		a.Documents = whole(a.Documents)
		if err := to.Encode(a); err != nil {
			return err
		}
	}
}

// writeHello writes the hello of a mechanism.
func writeHello(out io.Writer, h Hello) error {
	h.Protocol = Protocol
	return json.NewEncoder(out).Encode(h)
}

// seeds checks a request and returns its seeds.
func (q *Request) seeds() ([]stream.Seed, error) {
	seeds := make([]stream.Seed, len(q.Seeds))
	for i, s := range q.Seeds {
		data, err := hex.DecodeString(s)
		if err != nil || copy(seeds[i][:], data) != len(seeds[i]) || len(data) != len(seeds[i]) {
			return nil, fmt.Errorf("seed %d = %.80q: must be %d hexadecimal digits", i, s, 2*len(seeds[i]))
		}
	}
	n := len(q.Documents) + len(q.Texts)
	switch {
	case q.IDs != nil && (q.Seeds != nil || q.Documents != nil):
		return nil, errors.New("has ids: must have texts, and no seeds")
	case q.IDs != nil && len(q.IDs) != n:
		return nil, fmt.Errorf("%d ids for %d texts", len(q.IDs), n)
	case q.IDs == nil && len(seeds) != n:
		return nil, fmt.Errorf("%d seeds for %d documents", len(seeds), n)
	case q.Texts != nil && q.Documents != nil:
		return nil, errors.New("has documents and texts: must have one of them")
	}
	return seeds, check.Positive("epsilon", q.Epsilon)
}
