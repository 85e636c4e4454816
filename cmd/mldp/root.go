package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
)

// Exit codes, stated in the root help and in the help of commands that use more than 0 and 1.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 5 // stopped by a signal; everything finished is kept
	exitViolated    = 6 // an audit refutes a claimed guarantee
)

// exitError passes a special exit code through cobra.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// require marks flags without which a command is not run.
func require(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		_ = cmd.MarkFlagRequired(name) // fails for an unknown flag only
	}
}

// commands is filled by the init function of each subcommand's file.
var commands []func() *cobra.Command

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mldp",
		Short: "Measure word-level metric differential privacy (MLDP) for text",
		Long: `mldp privatises text word by word under metric differential privacy, measures
the cost and the protection, and reruns the published studies.

Exit codes: 0 done, 1 failed, 2 wrong usage, 5 interrupted (finished work is
kept; the same command resumes). Commands with further codes list them.`,
		Version:       mldpVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(flagError)
	for _, c := range commands {
		root.AddCommand(c())
	}
	finish(root)
	return root
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	started := false
	mark(root, &started)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "mldp:", err)
	var e *exitError
	var parameter *check.Error
	switch {
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case !started, errors.As(err, &parameter):
		return exitUsage
	default:
		return exitFailure
	}
}
