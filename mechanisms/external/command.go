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

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Options of a command. The zero value of each field means its default.
type Options struct {
	Start   time.Duration // until its hello; default 1 minute
	Request time.Duration // until the answer to a request; default 10 minutes
	Idle    time.Duration // a process idle for so long is ended, and restarted when needed; default 5 minutes
	Files   []string      // read by the command in addition to those on its command line; part of its identity
	Role    Role          // that it must have
	// Vectors writes the words and vectors of the mechanisms beside it, one word a
	// line, to the file that {vectors} in the command line stands for.
	Vectors func(io.Writer) error

	vectors string // that file
	who     string // what errors call it, "" for the command line
}

func (o *Options) complete() error {
	o.Start = cmp.Or(o.Start, time.Minute)
	o.Request = cmp.Or(o.Request, 10*time.Minute)
	o.Idle = cmp.Or(o.Idle, 5*time.Minute)
	return errors.Join(
		check.Positive("start timeout", o.Start.Seconds()),
		check.Positive("request timeout", o.Request.Seconds()),
		check.Positive("idle timeout", o.Idle.Seconds()),
	)
}

// Split splits a command line into words as a shell does, with quotes and
// backslashes. No shell is run, so anything only a shell can do is an error.
func Split(line string) ([]string, error) {
	parser := shellwords.NewParser()
	args, err := parser.Parse(line)
	if err != nil {
		return nil, fmt.Errorf("command = %q: %w", line, err)
	}
	if parser.Position >= 0 {
		return nil, fmt.Errorf("command = %q: no shell is run, so it must be one command without ; & | < > or (): "+
			"quote them if they belong to a word", line)
	}
	if len(args) == 0 {
		return nil, fmt.Errorf("command = %q: must name a program", line)
	}
	return args, nil
}

// Command is a program that speaks the protocol, with one process for each
// concurrent request. Close ends all of them.
type Command struct {
	args     []string
	options  Options
	hello    Hello
	identity Identity

	mu     sync.Mutex
	free   []*idle
	closed bool
}

// idle is a process without a request.
type idle struct {
	*process
	timer *time.Timer
}

// Open starts the command args once and reads its hello. ctx applies to this
// start only.
func Open(ctx context.Context, args []string, o Options) (*Command, error) {
	if len(args) == 0 || args[0] == "" {
		return nil, errors.New("command: must name a program")
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	c := &Command{args: slices.Clone(args), options: o}
	err := c.writeVectors()
	var files []NamedFile
	if err == nil {
		files, err = named(args, c.options)
	}
	var p *process
	if err == nil {
		p, err = start(ctx, c.args, c.options)
	}
	if err != nil {
		return nil, errors.Join(err, c.removeVectors())
	}
	c.hello = p.hello
	c.identity = Identity{
		Protocol: c.hello.Protocol, Command: c.args, Name: c.hello.Name, Version: c.hello.Version,
		Parameters: c.hello.Parameters.String(), Guarantee: c.hello.Guarantee,
		Repeatable: c.hello.Repeatable, Aligned: c.hello.AlignedTokens(), Input: c.hello.Input, Files: files,
		Role: c.hello.Role, Better: c.hello.Better,
	}
	c.release(p)
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
		return fmt.Errorf("command %s: there are no %s here", strings.Join(c.args, " "), vectorsPlace)
	}
	f, err := os.CreateTemp("", "mldp-vectors-*.txt")
	if err != nil {
		return err
	}
	c.options.vectors = f.Name()
	return errors.Join(c.options.Vectors(f), f.Close())
}

func (c *Command) removeVectors() error {
	if c.options.vectors == "" {
		return nil
	}
	if err := os.Remove(c.options.vectors); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil // closed twice
}

// Hello returns the command's description of itself.
func (c *Command) Hello() Hello { return c.hello }

// errClosed is the error of requests after Close.
var errClosed = errors.New("the command is closed")

// acquire returns an idle process and starts one if there is none.
func (c *Command) acquire(ctx context.Context) (*process, error) {
	for {
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return nil, errClosed
		}
		var last *idle
		if n := len(c.free); n > 0 {
			last, c.free = c.free[n-1], c.free[:n-1]
		}
		c.mu.Unlock()
		if last == nil {
			break
		}
		if last.timer.Stop() && !last.ended() {
			return last.process, nil
		}
		last.kill()
	}
	p, err := start(ctx, c.args, c.options)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(p.hello, c.hello) {
		p.kill()
		return nil, fmt.Errorf("command %s: its hello is not the one of its first start", p.name)
	}
	return p, nil
}

// release keeps a process for the next request.
func (c *Command) release(p *process) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		p.kill()
		return
	}
	defer c.mu.Unlock()
	i := &idle{process: p}
	i.timer = time.AfterFunc(c.options.Idle, func() {
		c.mu.Lock()
		at := slices.Index(c.free, i)
		if at >= 0 {
			c.free = slices.Delete(c.free, at, at+1)
		}
		c.mu.Unlock()
		i.close()
	})
	c.free = append(c.free, i)
}

// Restart ends all idle processes, so the next request gets a new one.
func (c *Command) Restart() {
	c.mu.Lock()
	free := c.free
	c.free = nil
	c.mu.Unlock()
	var all sync.WaitGroup
	for _, i := range free {
		i.timer.Stop()
		all.Go(i.close)
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
	return c.removeVectors()
}

// At returns the command as a mechanism at one epsilon.
func (c *Command) At(epsilon float64) (*Mechanism, error) {
	if err := check.Positive("epsilon", epsilon); err != nil {
		return nil, fmt.Errorf("%s: %w", c.hello.Name, err)
	}
	return &Mechanism{command: c, epsilon: epsilon}, nil
}

// Mechanism is a command at one epsilon. It is a mechanisms.Rewriter.
type Mechanism struct {
	command *Command
	epsilon float64
}

var _ mechanisms.Rewriter = (*Mechanism)(nil)

// Settings returns the settings, with the mechanism named as the command names
// it.
func (m *Mechanism) Settings() mechanisms.Settings {
	h := m.command.hello
	return mechanisms.Settings{Mechanism: h.Name, Variant: mechanisms.External, Epsilon: m.epsilon,
		Parameters: h.Parameters}
}

// Guarantee returns what the command declares.
func (m *Mechanism) Guarantee() mechanisms.Guarantee { return m.command.hello.GuaranteeAt(m.epsilon) }

// Aligned returns what the command declares; answers that are not aligned are
// then an error.
func (m *Mechanism) Aligned() bool { return m.command.hello.AlignedTokens() }

// Repeatable returns what the command declares; see CheckRepeatable.
func (m *Mechanism) Repeatable() bool { return m.command.hello.Repeatable }

// Input returns what the command reads. For Text, RewriteTexts sends it whole
// texts, and Rewrite sends tokens joined by spaces.
func (m *Mechanism) Input() Input { return m.command.hello.Input }

// Rewrite sends one request for all documents.
func (m *Mechanism) Rewrite(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	if m.Input() == Text {
		texts := list.Map(documents, func(d []string) string { return strings.Join(d, " ") })
		after, err := m.RewriteTexts(ctx, texts, seeds)
		return list.Map(after, strings.Fields), err
	}
	if len(documents) == 0 {
		return nil, nil
	}
	a, err := m.ask(ctx, &Request{Seeds: seedTexts(seeds), Documents: whole(documents)})
	return a.Documents, err
}

// RewriteTexts sends one request for whole texts and returns one text for each.
// The command must read Text.
func (m *Mechanism) RewriteTexts(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, error) {
	if m.Input() != Text {
		return nil, fmt.Errorf("%s reads tokens, not texts", m.command.hello.Name)
	}
	if len(texts) == 0 {
		return nil, nil
	}
	a, err := m.ask(ctx, &Request{Seeds: seedTexts(seeds), Texts: texts})
	return a.Texts, err
}

// whole writes an empty document as an empty list, not as null.
func whole(documents [][]string) [][]string {
	out := slices.Clone(documents)
	for i, d := range out {
		if d == nil {
			out[i] = []string{}
		}
	}
	return out
}

func (m *Mechanism) ask(ctx context.Context, q *Request) (Answer, error) {
	q.Epsilon = m.epsilon
	return m.command.ask(ctx, q)
}

func (c *Command) ask(ctx context.Context, q question) (Answer, error) {
	p, err := c.acquire(ctx)
	if err != nil {
		return Answer{}, err
	}
	a, gone, err := p.exchange(ctx, q, c.options.Request)
	if !gone {
		c.release(p)
	}
	return a, err
}

// NotRepeatableError means that a command declares to be repeatable but is not.
type NotRepeatableError struct {
	Command  string
	Document int
	First    []string
	Second   []string
}

func (e *NotRepeatableError) Error() string {
	return fmt.Sprintf("command %s: declares to be repeatable, but document %d came out as %.80q and, with the same "+
		"seed, as %.80q: "+
		"draw all randomness of a document from its seed, or declare \"repeatable\": false", e.Command, e.Document,
		strings.Join(e.First, " "), strings.Join(e.Second, " "))
}

// CheckRepeatable checks a command that declares to be repeatable. It requests
// the same documents twice: together, and then one by one, last first, from a
// new process. Equal seeds must give equal text both times. texts, if not nil,
// are the documents as they are written, for a command that reads Text.
func (m *Mechanism) CheckRepeatable(ctx context.Context, documents [][]string, texts []string,
	seed stream.Seed) error {
	if !m.Repeatable() || len(documents) == 0 {
		return nil
	}
	rewrite := m.Rewrite
	if texts != nil && m.Input() == Text {
		documents = list.Map(texts, func(t string) []string { return []string{t} })
		rewrite = func(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
			after, err := m.RewriteTexts(ctx, list.Map(documents, func(d []string) string { return d[0] }), seeds)
			return list.Map(after, func(t string) []string { return []string{t} }), err
		}
	}
	seeds := make([]stream.Seed, len(documents))
	for i := range seeds {
		seeds[i] = seed.At(uint64(i))
	}
	together, err := rewrite(ctx, documents, seeds)
	if err != nil {
		return err
	}
	m.command.Restart()
	for i := len(documents) - 1; i >= 0; i-- {
		alone, err := rewrite(ctx, documents[i:i+1], seeds[i:i+1])
		if err != nil {
			return err
		}
		if !slices.Equal(together[i], alone[0]) {
			return &NotRepeatableError{strings.Join(m.command.args, " "), i, together[i], alone[0]}
		}
	}
	return nil
}
