// Command mldp measures word-level metric differential privacy for text.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A pipe or a hung file system may keep the process from seeing the first
	// signal: the second one ends it.
	context.AfterFunc(ctx, stop)
	exit(func() int {
		defer stop()
		return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	})
}

// exit ends the process with the code of do, or that of a fault if it panics.
func exit(do func() int) {
	code := exitFault
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "mldp: internal error: %v\n%s", p, debug.Stack())
		}
		os.Exit(code)
	}()
	code = do()
}
