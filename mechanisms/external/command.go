package external

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-shellwords"

	"mldpbench/internal/list"
)

// Options of a command. The zero value of each field means its default.
type Options struct {
	Files []string // read by the command in addition to those on its command line; part of its key
	Role  Role     // that it must have
	// Vectors writes the words and vectors of the mechanisms beside it, one word a
	// line, to the file that {vectors} in the command line stands for.
	Vectors func(io.Writer) error

	who            string        // what errors call it, "" for the command line
	hello, request time.Duration // how long it may take; 10 minutes and an hour
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
	args    []string // with the file of {vectors}
	options Options
	hello   Hello
	key     string
	vectors string // the file of {vectors}

	mu     sync.Mutex
	free   []*process // without a request
	closed bool
}

// Open starts the command args once and reads its hello. ctx applies to this
// start only.
func Open(ctx context.Context, args []string, o Options) (*Command, error) {
	if len(args) == 0 || args[0] == "" {
		return nil, errors.New("command: must name a program")
	}
	o.hello, o.request = cmp.Or(o.hello, 10*time.Minute), cmp.Or(o.request, time.Hour)
	o.who = cmp.Or(o.who, "command "+strings.Join(args, " "))
	c := &Command{args: args, options: o}
	err := c.writeVectors()
	if err == nil {
		var p *process
		if p, err = start(ctx, c.args, o); err == nil {
			c.hello, c.free = p.hello, []*process{p}
			if o.Role != ModelRole { // its files may be large, and have a digest
				c.key, err = Key(args, o, c.hello)
			}
		}
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
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, vectorsPlace) })
}

// writeVectors writes the file of {vectors}, where the command line names it.
func (c *Command) writeVectors() error {
	if !NamesVectors(c.args) {
		return nil
	}
	if c.options.Vectors == nil {
		return fmt.Errorf("%s: there are no %s here", c.options.who, vectorsPlace)
	}
	f, err := os.CreateTemp("", "mldp-vectors-*.txt")
	if err != nil {
		return err
	}
	c.vectors = f.Name()
	c.args = list.Map(c.args, func(a string) string { return strings.ReplaceAll(a, vectorsPlace, f.Name()) })
	return errors.Join(c.options.Vectors(f), f.Close())
}

// Hello returns the command's description of itself.
func (c *Command) Hello() Hello { return c.hello }

// Key returns the key of its output; see the function.
func (c *Command) Key() string { return c.key }

// ask asks a free process, and starts one if there is none.
func (c *Command) ask(ctx context.Context, q *Request, valid func(Answer) error) (Answer, error) {
	p, err := c.take(ctx)
	if err != nil {
		return Answer{}, err
	}
	a, err := p.ask(ctx, q, c.options.request, valid)
	if p.ended {
		return a, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = p.end(0)
	} else {
		c.free = append(c.free, p)
	}
	return a, err
}

func (c *Command) take(ctx context.Context) (*process, error) {
	c.mu.Lock()
	closed, n := c.closed, len(c.free)
	var p *process
	if n > 0 {
		p, c.free = c.free[n-1], c.free[:n-1]
	}
	c.mu.Unlock()
	if closed {
		return nil, errors.New("the command is closed")
	}
	if p != nil {
		return p, nil
	}
	p, err := start(ctx, c.args, c.options)
	if err == nil && !reflect.DeepEqual(p.hello, c.hello) {
		err = p.wrong("its hello", errors.New("is not the one of its first start"))
	}
	return p, err
}

// Restart ends all free processes, so the next request gets a new one.
func (c *Command) Restart() {
	c.mu.Lock()
	free := c.free
	c.free = nil
	c.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range free {
		all.Go(func() { _ = p.end(grace) }) // whatever its exit status is
	}
	all.Wait()
}

// Close ends all processes; those with a request end once it is answered. Later
// requests fail.
func (c *Command) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.Restart()
	if err := os.Remove(c.vectors); c.vectors != "" && !errors.Is(err, fs.ErrNotExist) {
		return err // which is nil, or not that it was closed twice
	}
	return nil
}
