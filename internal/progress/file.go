package progress

import (
	"context"
	"io"
	"os"
)

// File shows how much of a file has been read, as Start does. done ends it.
func File(ctx context.Context, f *os.File) (r io.Reader, done func()) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, func() {}
	}
	total := max(1, int(info.Size()/kilobyte))
	w := &watched{file: f, bar: Start(ctx, "kB", total, float64(total))}
	return w, w.bar.Close
}

const kilobyte = 1000

type watched struct {
	file *os.File
	bar  *Reporter
	read int
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.file.Read(p)
	if more := (w.read+n)/kilobyte - w.read/kilobyte; more > 0 {
		w.bar.Add(more, float64(more), w.file.Name())
	}
	w.read += n
	return n, err
}
