//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// drainSignal returns a channel that is closed on SIGUSR1, which batch
// systems send some time before they end a job.
func drainSignal() (drain <-chan struct{}, stop func()) {
	received, closed := make(chan os.Signal, 1), make(chan struct{})
	quit := make(chan struct{})
	signal.Notify(received, syscall.SIGUSR1)
	go func() {
		select {
		case <-received:
			close(closed)
		case <-quit:
		}
	}()
	return closed, func() {
		signal.Stop(received)
		close(quit)
	}
}
