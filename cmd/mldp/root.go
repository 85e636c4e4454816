package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mldpbench/internal/check"
	"mldpbench/internal/progress"
)

// Exit codes, stated in the root help and in the help of commands that use more than 0 and 1.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNothing     = 3 // nothing was compared: unlike studies or data, missing cells, no test
	exitInterrupted = 5 // stopped by a signal; everything finished is kept
	exitViolated    = 6 // an audit refutes a claimed guarantee
	// A fault of the program. Go's own 2 would read as wrong usage, and a cluster
	// would give up the job.
	exitFault = 70
)

// exitError passes a special exit code through cobra.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage makes an error one of wrong usage.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}

// require marks flags without which a command is not run.
func require(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		_ = cmd.MarkFlagRequired(name) // fails for an unknown flag only
	}
}

// The groups of the help text.
const (
	groupUse     = "use"
	groupStudy   = "study"
	groupLook    = "look"
	groupCluster = "cluster"
)

// commands are all commands by group, in the order of the help text.
var commands = []struct {
	group, title string
	make         []func() *cobra.Command
}{
	{groupUse, "Privatise a text:", []func() *cobra.Command{newPrivatizeCommand, newExplainCommand,
		newCalibrateCommand, newMechanismsCommand, newAuditCommand, newServeCommand}},
	{groupStudy, "Run a study:", []func() *cobra.Command{newStudyCommand, newRunCommand, newEvaluateCommand,
		newCheckCommand, newCompareCommand, newDataCommand}},
	{groupLook, "Look at results, and help:", []func() *cobra.Command{newReportCommand, newTablesCommand,
		newFiguresCommand, newManCommand}},
	{groupCluster, "Use a cluster:", []func() *cobra.Command{newSlurmCommand, newStatusCommand, newMergeCommand}},
}

// renamed are the commands of earlier versions and what replaces them.
var renamed = map[string]string{
	"distribution": "explain --json", "deniability": "explain --runs 100", "nearest": "explain without --mechanism",
	"history": "compare with more than two runs", "metrics": "study metrics", "missing": "status",
	"bench": "run, whose tables state words per second", "version": "--version",
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mldp",
		Short: "Measure word-level metric differential privacy (MLDP) for text",
		Long: `mldp privatises text word by word under metric differential privacy, measures
the cost and the protection, and reruns the published studies.

Exit codes: 0 done, 1 failed, 2 wrong usage (also a file or a column that is not
there), 3 nothing could be compared or audited, 5 interrupted (finished work is
kept; the same command resumes), 6 an audit refutes a guarantee, 70 a fault of
mldp itself.`,
		Version:       mldpVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if now, ok := renamed[args[0]]; ok {
				return fmt.Errorf("%s is now: mldp %s", args[0], now)
			}
			return unknownCommand(c, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().Bool("quiet", false, "no progress, notes and warnings: errors and the result only")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	for _, g := range commands {
		root.AddGroup(&cobra.Group{ID: g.group, Title: g.title})
		for _, make_ := range g.make {
			c := make_()
			c.GroupID = g.group
			root.AddCommand(c)
		}
	}
	finish(root)
	return root
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	display, ctx := progress.NewDisplay(context.WithValue(ctx, lineKey{}, append([]string{root.Name()}, args...)), stderr)
	out := &checkedOutput{to: stdout, before: func() {}}
	if f, ok := stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		out.before = display.Hide // the bar is on the same terminal
	}
	root.SetOut(out)
	root.SetErr(stderr)
	started := false
	mark(root, display, &started)
	err := root.ExecuteContext(ctx)
	if out.err != nil { // one error, of whatever was lost, and never wrong usage
		err, started = out.err, true
	}
	absent := namesAbsentFile(args, err)
	err = namedAlike(plainGroup(err))
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "mldp:", check.Shown(err.Error()))
	var e *exitError
	var v *verdict
	var parameter *check.Error
	switch {
	case errors.As(err, &v):
		return v.code
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case !started, absent, errors.As(err, &parameter):
		return exitUsage
	default:
		return exitFailure
	}
}

type lineKey struct{}

// commandLine is what was typed, for records.
func commandLine(ctx context.Context) []string {
	line, _ := ctx.Value(lineKey{}).([]string) // none in a test of a part
	return line
}

// checkedOutput remembers that standard output could not be written, which most
// prints do not look at.
type checkedOutput struct {
	to     io.Writer
	before func()
	err    error
}

func (w *checkedOutput) Write(p []byte) (int, error) {
	w.before()
	n, err := w.to.Write(p)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("standard output: %w", err)
	}
	return n, err
}
