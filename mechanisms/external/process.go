package external

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"mldpbench/internal/check"
)

// grace is the time a process may take to end once its input is closed.
const grace = 2 * time.Second

// process is one running command. It serves one request at a time.
type process struct {
	in     io.WriteCloser
	out    *io.PipeReader // ends with an error that says how the process ended
	lines  *bufio.Scanner // of out
	stderr tail
	kill   context.CancelFunc
	gone   chan struct{} // closed when it has ended
}

// start runs a command.
func start(args []string) (*process, error) {
	life, kill := context.WithCancel(context.Background())
	out, pipe := io.Pipe()
	p := &process{
		out:   out,
		lines: lines(out),
		kill:  kill,
		gone:  make(chan struct{}),
	}
	cmd := exec.CommandContext(life, args[0], args[1:]...)
	ownGroup(cmd)
	cmd.Stdout = pipe
	cmd.Stderr = &p.stderr
	cmd.WaitDelay = grace
	cmd.Cancel = func() error { return killGroup(cmd) }
	var err error
	if p.in, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		kill()
		return nil, err
	}
	go func() {
		status := "exit status 0"
		if err := cmd.Wait(); err != nil {
			status = err.Error()
		}
		_ = killGroup(cmd) // what it started and left, if anything
		kill()
		_ = pipe.CloseWithError(fmt.Errorf("ended (%s)", status))
		close(p.gone)
	}()
	return p, nil
}

// exchange writes a line, or nothing, and gives the next line of the process to
// read. After an error, as when there is none or ctx is done, the process has ended.
func (p *process) exchange(ctx context.Context, line []byte, read func([]byte) error) error {
	stop := context.AfterFunc(ctx, func() { p.end(0) })
	// A command may write before it has read everything. If writing fails, so does
	// reading.
	go func() { _, _ = p.in.Write(line) }()
	answer, err := next(p.lines)
	if !stop() { // too late, so what was read does not count
		err = ctx.Err()
	} else if err == nil {
		err = read(answer)
	}
	if err != nil {
		p.end(0)
		err = fmt.Errorf("%w%s", err, p.stderr.said())
	}
	return err
}

// end closes the input of the process, which asks it to end by itself, and ends
// it and everything it started after some time.
func (p *process) end(after time.Duration) {
	_ = p.in.Close()
	defer time.AfterFunc(after, func() {
		p.kill()
		_ = p.out.Close() // nobody reads what it still writes
	}).Stop()
	<-p.gone
}

// lines reads lines of at most maxLine bytes; see next.
func lines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), maxLine+2) // with its end
	return s
}

// next returns the next line, or io.EOF.
func next(s *bufio.Scanner) ([]byte, error) {
	more := s.Scan()
	err := s.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("a line longer than %d bytes", maxLine)
	case err != nil:
		return nil, err
	case !more:
		return nil, io.EOF
	}
	return s.Bytes(), nil
}

// tail keeps the last part of what is written to it.
type tail struct {
	mu   sync.Mutex
	last []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 2 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	t.last = t.last[max(0, len(t.last)-most):]
	return len(b), nil
}

// said returns the last lines of standard error, which say why, as a terminal may
// show them.
func (t *tail) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(check.Shown(strings.ReplaceAll(string(t.last), "\r", "")))
	if text == "" {
		return ""
	}
	return "\nthe end of its standard error:\n\t" + strings.ReplaceAll(text, "\n", "\n\t")
}
