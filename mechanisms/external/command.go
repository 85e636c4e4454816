package external

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mattn/go-shellwords"

	"mldpbench/internal/list"
)

// Options of a command. The zero value of each field means its default.
type Options struct {
	Role Role // that it must have
	// Vectors writes the words and vectors of the mechanisms beside it, one word a
	// line, to the file that {vectors} in the command line stands for.
	Vectors func(io.Writer) error
	Who     string // what errors call it, "" for the command line
}

// Split splits a command line into words as a shell does, with quotes and
// backslashes. No shell is run, so anything only a shell can do is an error.
func Split(line string) ([]string, error) {
	parser := shellwords.NewParser()
	args, err := parser.Parse(line)
	switch {
	case err != nil:
		return nil, fmt.Errorf("command = %q: %w", line, err)
	case parser.Position >= 0:
		return nil, fmt.Errorf("command = %q: no shell is run, so it must be one command without ; & | < > or (): "+
			"quote them if they belong to a word", line)
	case len(args) == 0:
		return nil, fmt.Errorf("command = %q: must name a program", line)
	}
	return args, nil
}

// Command is a program that speaks the protocol, with one process for each
// concurrent request, that is one a worker. Close ends all of them.
type Command struct {
	Options
	args    []string      // with the file of {vectors}
	vectors string        // that file
	Hello   Hello         // its description of itself
	Key     string        // of its output; see keyOf
	free    chan *process // without a request
	asked   atomic.Uint64 // requests
}

// Open starts the command args, at least a program, once and reads its hello. ctx applies to this
// start only.
func Open(ctx context.Context, args []string, o Options) (*Command, error) {
	o.Who = cmp.Or(o.Who, "command "+strings.Join(args, " "))
	c := &Command{
		Options: o,
		args:    args,
		free:    make(chan *process, 1<<10),
	}
	err := c.writeVectors()
	if err == nil {
		var p *process
		if p, c.Hello, err = c.start(ctx); err == nil {
			c.free <- p
		}
	}
	if err == nil && o.Role != ModelRole { // its files may be large, and have a digest
		c.Key, err = keyOf(args, c.Hello)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// vectorsPlace stands for a file of vectors in a command line.
const vectorsPlace = "{vectors}"

// NamesVectors reports whether a command line asks for vectors.
func NamesVectors(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return strings.Contains(a, vectorsPlace)
	})
}

// writeVectors writes the file of {vectors}, where the command line names it.
func (c *Command) writeVectors() error {
	switch {
	case !NamesVectors(c.args):
		return nil
	case c.Vectors == nil:
		return fmt.Errorf("%s: there are no %s here", c.Who, vectorsPlace)
	}
	f, err := os.CreateTemp("", "mldp-vectors-*.txt")
	if err != nil {
		return err
	}
	c.vectors = f.Name()
	c.args = list.Map(c.args, func(a string) string {
		return strings.ReplaceAll(a, vectorsPlace, c.vectors)
	})
	return errors.Join(c.Vectors(f), f.Close())
}

// start starts a process and reads its hello.
func (c *Command) start(ctx context.Context) (p *process, h Hello, err error) {
	values, err := expanded(c.args)
	if err == nil {
		p, err = start(values)
	}
	if err != nil {
		return nil, h, fmt.Errorf("%s: %w", c.Who, err)
	}
	err = p.exchange(ctx, nil, func(line []byte) (err error) {
		h, err = parseHello(line, c.Role)
		return err
	})
	if err != nil {
		err = fmt.Errorf("%s: its hello: %w", c.Who, err)
	}
	return p, h, err
}

// ask asks a free process, or a new one if there is none; valid checks what is
// used of an answer.
func (c *Command) ask(ctx context.Context, q *Request, valid func(Answer) error) error {
	q.ID = c.asked.Add(1)
	line, err := json.Marshal(q)
	if err != nil {
		return err
	}
	var p *process
	select {
	case p = <-c.free:
	default:
		if p, _, err = c.start(ctx); err != nil {
			return err
		}
	}
	var refused error
	err = p.exchange(ctx, append(line, '\n'), func(line []byte) error {
		a, why, err := parseAnswer(line, q.ID)
		refused = why
		if err != nil || why != nil {
			return err
		}
		return valid(a)
	})
	if err == nil {
		c.free <- p
		if refused == nil {
			return nil
		}
		err = fmt.Errorf("%w%s", refused, p.stderr.said())
	}
	return fmt.Errorf("%s: its answer: %w", c.Who, err)
}

// Close ends the processes without a request.
func (c *Command) Close() (err error) {
	var all sync.WaitGroup
	for range len(c.free) {
		all.Go(func() { (<-c.free).end(grace) })
	}
	all.Wait()
	if c.vectors != "" {
		err = os.Remove(c.vectors)
		c.vectors = ""
	}
	return err
}
