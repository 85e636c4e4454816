package main

import (
	"io"
	"os"

	"mldpbench/internal/progress"
)

// watch shows how much of a file has been read: continuously on a terminal,
// else every ten seconds.
func watch(file *os.File, name string, stderr io.Writer) (r io.Reader, done func()) {
	info, err := file.Stat()
	if err != nil || info.Size() < watchFrom {
		return file, func() {}
	}
	total := int(info.Size() / megabyte)
	w := &watched{file: file, name: name, bar: progress.New(stderr, "MB", total, float64(total))}
	return w, w.bar.Close
}

const (
	megabyte  = 1_000_000
	watchFrom = 20 * megabyte
)

type watched struct {
	file io.Reader
	name string
	bar  *progress.Reporter
	read int
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.file.Read(p)
	if full := (w.read + n) / megabyte; full > w.read/megabyte {
		more := full - w.read/megabyte
		w.bar.Add(more, float64(more), w.name)
	}
	w.read += n
	return n, err
}
