package main

import (
	"context"
	"io"
)

// interruptible reads r until ctx ends. A read of standard input that waits for
// a terminal or a pipe cannot be cancelled, so it is abandoned.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &interruptibleReader{ctx: ctx, source: r, buffer: make([]byte, 64<<10), done: make(chan readResult, 1)}
}

type readResult struct {
	n   int
	err error
}

type interruptibleReader struct {
	ctx    context.Context
	source io.Reader
	buffer []byte
	done   chan readResult
	left   []byte // of buffer, read but not yet returned
	err    error
}

func (r *interruptibleReader) Read(p []byte) (int, error) {
	if len(r.left) == 0 && r.err == nil {
		go func() {
			n, err := r.source.Read(r.buffer)
			r.done <- readResult{n, err}
		}()
		select {
		case got := <-r.done:
			r.left, r.err = r.buffer[:got.n], got.err
		case <-r.ctx.Done():
			r.err = r.ctx.Err()
		}
	}
	if len(r.left) == 0 {
		return 0, r.err
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}
