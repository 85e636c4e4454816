//go:build !unix

package main

// drainSignal never fires: this system has no SIGUSR1.
func drainSignal() (drain <-chan struct{}, stop func()) { return nil, func() {} }
