package main

import (
	"context"
	"io"
)

// interruptible reads r until ctx ends. A read of standard input that waits for
// a terminal or a pipe cannot be cancelled, so it is abandoned.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	return out
}
