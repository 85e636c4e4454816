//go:build unix

package main

import (
	"context"
	"os/signal"
	"syscall"
)

// drainSignal returns a channel that is closed on SIGUSR1, which batch
// systems send some time before they end a job.
func drainSignal() (drain <-chan struct{}, stop func()) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGUSR1)
	return ctx.Done(), stop
}
