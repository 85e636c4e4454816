package experiments

import (
	"context"
	"io"
	"os"
	"slices"

	"mldpbench/internal/check"
)

// mayWrite returns an error where one of the files that a use case is to write is one that
// it reads, is named twice, or is there already, was not written by it and may not be
// replaced. Files that do not exist, pipes and empty files are in nobody's way.
func (c Call) mayWrite(reads []string, writes ...string) error {
	for i, path := range writes {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if slices.Contains(writes[:i], path) {
			return check.Wrong("%s is to be written twice: give two names", path)
		}
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		for _, read := range reads {
			if other, err := os.Stat(read); err == nil && os.SameFile(info, other) {
				return check.Wrong("%s is read by this command: choose another name for what it writes", path)
			}
		}
		if info.Size() > 0 && !c.Force {
			return check.Wrong("%s is there already: choose another name, or say --force", path)
		}
	}
	return nil
}

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
