//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestSecondSignalEnds runs a command that opens a pipe to which nobody writes:
// it cannot see the first signal, and the second one ends it.
func TestSecondSignalEnds(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mldp := exec.Command(self, "data", "describe", "x", "--text", "text", "--file", pipe)
	mldp.Args[0] = "mldp"
	mldp.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir)
	var stderr bytes.Buffer
	mldp.Stderr = &stderr
	if err := mldp.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mldp.Wait() }()
	// The pipe can be opened as soon as mldp waits for it; then mldp waits for
	// data.
	var writer *os.File
	for i := 0; writer == nil; i++ {
		if writer, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err != nil {
			writer = nil
			time.Sleep(50 * time.Millisecond)
		}
		if i == 1200 {
			t.Fatalf("the pipe is not read: %v: %s", err, &stderr)
		}
	}
	defer writer.Close()
	if err := mldp.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("ended before the second signal: %v: %s", err, &stderr)
	case <-time.After(time.Second):
	}
	if err := mldp.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		_ = mldp.Process.Kill()
		<-ended
		t.Error("the second signal did not end it")
	}
}
