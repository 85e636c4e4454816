package external

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"mldpbench/internal/check"
)

// grace is the time a process may take to end once its input is closed, or to
// exit once its output is.
const grace = 2 * time.Second

// process is one running command. It serves one request at a time.
type process struct {
	name   string // of the command, for errors
	cmd    *exec.Cmd
	in     io.WriteCloser
	pipe   io.ReadCloser // its standard output
	out    *bufio.Reader
	stderr tail
	hello  Hello
	id     uint64 // of the last request
	ended  bool
}

// start runs the command and reads its hello.
func start(ctx context.Context, args []string, o Options) (*process, error) {
	p := &process{name: o.who, cmd: exec.Command(args[0], args[1:]...)}
	p.cmd.Stderr, p.cmd.WaitDelay = &p.stderr, grace
	ownGroup(p.cmd)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.pipe, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(p.pipe, 1<<16)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	line, err := p.read(ctx, o.hello, "its hello")
	if err != nil {
		return nil, err
	}
	if p.hello, err = parseHello(line); err == nil && p.hello.Role != o.Role {
		err = fmt.Errorf("role = %q: must be %q here", p.hello.Role, o.Role)
	}
	if err != nil {
		return nil, p.wrong("its hello", err)
	}
	return p, nil
}

// ask sends a request and reads the answer, of which valid checks what is used.
// After an error that the command did not report itself the process has ended.
func (p *process) ask(ctx context.Context, q *Request, timeout time.Duration, valid func(Answer) error) (a Answer,
	err error) {
	p.id++
	q.ID = p.id
	line, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	if len(line) > MaxLine && q.Train == nil { // an attacker reads all training texts at once
		return a, fmt.Errorf("%s: a request of %d bytes: the limit is %d", p.name, len(line), MaxLine)
	}
	// A command may write before it has read everything. If writing fails, so does
	// reading.
	go func() { _, _ = p.in.Write(append(line, '\n')) }()
	what := fmt.Sprintf("the answer to request %d", p.id)
	reply, err := p.read(ctx, timeout, what)
	if err != nil {
		return a, err
	}
	a, own, err := parseAnswer(reply, p.hello.Role, p.id, valid)
	if own {
		return a, fmt.Errorf("%s: %s: %w%s", p.name, what, err, p.lastWords())
	}
	if err != nil {
		return a, p.wrong(what, err)
	}
	return a, nil
}

// read reads a line; the process ends if that takes longer than timeout, ctx is
// done or there is none.
func (p *process) read(ctx context.Context, timeout time.Duration, what string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stop := context.AfterFunc(limited, p.kill)
	line, err := readLine(p.out)
	switch {
	case !stop(): // too late, so what was read does not count
		_ = p.end(0)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s: %s: nothing within %v%s", p.name, what, timeout, p.lastWords())
	case errors.Is(err, io.EOF): // how it ended says more
		status := "exit status 0"
		if err := p.end(grace); err != nil {
			status = err.Error()
		}
		return nil, fmt.Errorf("%s: ended (%s) before %s%s", p.name, status, what, p.lastWords())
	case err != nil:
		return nil, p.wrong(what, err)
	}
	return line, nil
}

// wrong ends the process for an error in what it wrote.
func (p *process) wrong(what string, err error) error {
	_ = p.end(0)
	return fmt.Errorf("%s: %s: %w%s", p.name, what, err, p.lastWords())
}

// kill ends the process and everything it started, and what reads from it:
// something outside its group may still hold the pipe.
func (p *process) kill() {
	killGroup(p.cmd)
	_ = p.pipe.Close()
}

// end closes the input of the process, which asks it to end by itself, and ends
// it after some time. It returns how it ended.
func (p *process) end(after time.Duration) error {
	p.ended = true
	_ = p.in.Close()
	if after == 0 {
		p.kill()
	} else {
		defer time.AfterFunc(after, p.kill).Stop()
	}
	err := p.cmd.Wait()
	killGroup(p.cmd) // what it started and left
	return err
}

// readLine reads up to the next line end, at most MaxLine bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > MaxLine+1 {
			return nil, fmt.Errorf("a line longer than %d bytes", MaxLine)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // a rest without a line end is not a line
		}
	}
}

// tail keeps the last part of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 3 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b[max(0, len(b)-most):]...)
	t.last = append(t.last[:0], t.last[max(0, len(t.last)-most):]...)
	return len(b), nil
}

// lastWords returns the last lines of standard error, which say why, as a
// terminal may show them.
func (p *process) lastWords() string {
	const most = 20
	p.stderr.mu.Lock()
	defer p.stderr.mu.Unlock()
	text := strings.TrimSpace(check.Shown(strings.ReplaceAll(string(p.stderr.last), "\r", "")))
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return "\nthe end of its standard error:\n\t" + strings.Join(lines[max(0, len(lines)-most):], "\n\t")
}
