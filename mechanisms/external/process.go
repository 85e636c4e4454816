package external

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// grace is the time a process may take to end once its input is closed, or to
// exit once its output is.
const grace = 2 * time.Second

// process is one running command. It serves one request at a time.
type process struct {
	name   string // of the command, for errors
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File // its standard output
	reader *bufio.Reader
	stderr *tail
	done   chan struct{} // closed once it has ended
	status error         // of Wait, after done
	hello  Hello
	id     uint64 // of the last request
	end    sync.Once
}

// start runs the command and reads its hello.
func start(ctx context.Context, args []string, o Options) (*process, error) {
	p := &process{name: o.who, stderr: &tail{}, done: make(chan struct{})}
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Stderr, p.cmd.WaitDelay = p.stderr, grace
	ownGroup(p.cmd)
	// A pipe of our own: Wait must not close it before it is read.
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.out = childOut, out
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	started := make(chan error)
	go func() {
		// The system may end a command with the thread that started it: keep it.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.status = p.cmd.Wait()
			close(p.done)
		}
	}()
	err = <-started
	_ = childOut.Close() // the child has its own
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	p.reader = bufio.NewReaderSize(p.out, 1<<16)
	line, err := p.watched(ctx, o.Start, "its hello", p.readLine)
	if err == nil {
		if p.hello, err = parseHello(line); err == nil && p.hello.Role != o.Role {
			err = fmt.Errorf("role = %q: must be %q here", p.hello.Role, o.Role)
		}
		if err != nil {
			err = p.wrong("its hello", err)
		}
	}
	if err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

// exchange sends a request and reads the answer. After a fatal error, one
// that the command did not report itself, the process has ended.
func (p *process) exchange(ctx context.Context, q *Request, timeout time.Duration) (a Answer, fatal bool, err error) {
	p.id++
	q.ID = p.id
	line, err := json.Marshal(q)
	if err != nil {
		return a, false, err
	}
	if len(line) > MaxLine && p.hello.Role != AttackerRole { // an attacker reads all training texts at once
		return a, false, fmt.Errorf("%s: a request of %d bytes: the limit is %d", p.name, len(line), MaxLine)
	}
	what := fmt.Sprintf("the answer to request %d", p.id)
	answer, err := p.watched(ctx, timeout, what, func() ([]byte, error) {
		// A command that writes before it has read everything must not cause a
		// deadlock.
		written := make(chan struct{})
		go func() {
			_, _ = p.in.Write(append(line, '\n')) // if it fails, so does reading
			close(written)
		}()
		answer, err := p.readLine()
		if err != nil {
			p.kill() // ends the write
		}
		<-written
		return answer, err
	})
	if err != nil {
		p.kill()
		return a, true, err
	}
	a, own, err := parseAnswer(answer, p.hello, q)
	if err == nil {
		return a, false, nil
	}
	if !own {
		p.kill()
	}
	return a, !own, p.wrong(what, err)
}

// watched calls read and ends the process if that takes longer than timeout or
// ctx is done. Its errors describe how the process ended.
func (p *process) watched(ctx context.Context, timeout time.Duration, what string, read func() ([]byte, error)) ([]byte,
	error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stop := context.AfterFunc(limited, p.kill)
	line, err := read()
	if !stop() { // too late, so what was read does not count
		p.kill()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s: %s: nothing within %v%s", p.name, what, timeout, p.lastWords())
	}
	if err == nil {
		return line, nil
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		return nil, p.wrong(what, err)
	}
	select { // the exit status is more informative than the end of its output
	case <-p.done:
	case <-time.After(grace):
	}
	p.kill()
	status := "exit status 0"
	if p.status != nil {
		status = p.status.Error()
	}
	return nil, fmt.Errorf("%s: ended (%s) before %s%s", p.name, status, what, p.lastWords())
}

// wrong is an error about what the command wrote.
func (p *process) wrong(what string, err error) error {
	return fmt.Errorf("%s: %s: %w%s", p.name, what, err, p.lastWords())
}

// lastWords returns the last lines of standard error, which say why.
func (p *process) lastWords() string {
	lines := p.stderr.lines()
	if len(lines) == 0 {
		return ""
	}
	return "\nthe end of its standard error:\n\t" + strings.Join(lines, "\n\t")
}

func (p *process) readLine() ([]byte, error) { return readLine(p.reader) }

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

// kill ends the process and everything it started, at once. It may be called
// more than once.
func (p *process) kill() {
	p.end.Do(func() {
		killGroup(p.cmd)
		<-p.done
		// Something outside the group may still hold the other ends.
		_ = p.in.Close()
		_ = p.out.Close()
	})
}

// close ends the input of the process, which asks it to end by itself.
func (p *process) close() {
	_ = p.in.Close()
	select {
	case <-p.done:
	case <-time.After(grace):
	}
	p.kill()
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

const (
	tailBytes = 3 << 10
	tailLines = 20
)

// tail keeps the last part of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b[max(0, len(b)-tailBytes):]...)
	if over := len(t.last) - tailBytes; over > 0 {
		t.last = append(t.last[:0], t.last[over:]...)
	}
	return len(b), nil
}

// lines returns the last few lines, made printable.
func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for line := range strings.SplitSeq(strings.ToValidUTF8(string(t.last), "?"), "\n") {
		if line = strings.TrimRight(line, " \t\r"); line != "" {
			out = append(out, strings.Map(visible, line))
		}
	}
	return out[max(0, len(out)-tailLines):]
}

// visible removes control characters, so a command cannot send them to the
// terminal.
func visible(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return '?'
	}
	return r
}
