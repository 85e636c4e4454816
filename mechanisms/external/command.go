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
	Files   []string      // read by the command in addition to those on its command line; part of its identity
	Role    Role          // that it must have
	// Vectors writes the words and vectors of the mechanisms beside it, one word a
	// line, to the file that {vectors} in the command line stands for.
	Vectors func(io.Writer) error

	who string // what errors call it, "" for the command line
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
// concurrent request, that is one a worker. Close ends all of them.
type Command struct {
	args     []string // as written
	run      []string // with the file of {vectors}
	options  Options
	hello    Hello
	identity Identity

	mu     sync.Mutex
	free   []*process // without a request
	closed bool

	vectors string // the file of {vectors}
}

// Open starts the command args once and reads its hello. ctx applies to this
// start only.
func Open(ctx context.Context, args []string, o Options) (*Command, error) {
	if len(args) == 0 || args[0] == "" {
		return nil, errors.New("command: must name a program")
	}
	o.Start, o.Request = cmp.Or(o.Start, time.Minute), cmp.Or(o.Request, 10*time.Minute)
	c := &Command{args: slices.Clone(args), run: slices.Clone(args), options: o}
	o.who = cmp.Or(o.who, "command "+strings.Join(args, " "))
	c.options.who = o.who
	identity, err := Unstarted(args, o)
	if err == nil {
		err = c.writeVectors()
	}
	if err != nil {
		return nil, err
	}
	p, err := start(ctx, c.run, c.options)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.hello = p.hello
	c.identity = Identity{
		Protocol: c.hello.Protocol, Command: c.args, Name: c.hello.Name, Version: c.hello.Version,
		Parameters: c.hello.Parameters.String(), Guarantee: c.hello.Guarantee,
		Repeatable: c.hello.Repeatable, Aligned: c.hello.AlignedTokens(), Input: c.hello.Input, Files: identity.Files,
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
		return fmt.Errorf("%s: there are no %s here", c.options.who, vectorsPlace)
	}
	f, err := os.CreateTemp("", "mldp-vectors-*.txt")
	if err != nil {
		return err
	}
	c.vectors = f.Name()
	c.run = list.Map(c.args, func(a string) string { return strings.ReplaceAll(a, vectorsPlace, f.Name()) })
	return errors.Join(c.options.Vectors(f), f.Close())
}

// Hello returns the command's description of itself.
func (c *Command) Hello() Hello { return c.hello }

// acquire returns a free process and starts one if there is none.
func (c *Command) acquire(ctx context.Context) (*process, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, errors.New("the command is closed")
	}
	for n := len(c.free); n > 0; n = len(c.free) {
		p := c.free[n-1]
		if c.free = c.free[:n-1]; !p.ended() {
			c.mu.Unlock()
			return p, nil
		}
		p.kill()
	}
	c.mu.Unlock()
	p, err := start(ctx, c.run, c.options)
	if err == nil && !reflect.DeepEqual(p.hello, c.hello) {
		p.kill()
		err = fmt.Errorf("%s: its hello is not the one of its first start", p.name)
	}
	return p, err
}

// release keeps a process for the next request.
func (c *Command) release(p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		p.kill()
		return
	}
	c.free = append(c.free, p)
}

// Restart ends all free processes, so the next request gets a new one.
func (c *Command) Restart() {
	c.mu.Lock()
	free := c.free
	c.free = nil
	c.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range free {
		all.Go(p.close)
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
	a, err := m.command.ask(ctx, &Request{Epsilon: m.epsilon, Seeds: seedTexts(seeds), Documents: whole(documents)})
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
	a, err := m.command.ask(ctx, &Request{Epsilon: m.epsilon, Seeds: seedTexts(seeds), Texts: texts})
	return a.Texts, err
}

// whole writes an empty document as an empty list, not as null.
func whole(documents [][]string) [][]string {
	return list.Map(documents, func(d []string) []string { return append([]string{}, d...) })
}

func (c *Command) ask(ctx context.Context, q *Request) (Answer, error) {
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
type NotRepeatableError struct{ text string }

func (e *NotRepeatableError) Error() string { return e.text }

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
			return &NotRepeatableError{fmt.Sprintf("%s: declares to be repeatable, but document %d came out as %.80q and, with "+
				"the same seed, as %.80q: draw all randomness of a document from its seed, or declare \"repeatable\": false",
				m.command.options.who, i, strings.Join(together[i], " "), strings.Join(alone[0], " "))}
		}
	}
	return nil
}
