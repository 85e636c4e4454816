package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
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
)

// verdictCodes are the exit codes of answers that are bad news.
var verdictCodes = map[experiments.VerdictKind]int{
	experiments.Changed:  exitFailure,
	experiments.Nothing:  exitNothing,
	experiments.Violated: exitViolated,
}

// Groups of commands, in the order of the help text.
const (
	privatiseGroup = "Privatise a text:"
	studyGroup     = "Run a study:"
	resultsGroup   = "Look at results, and help:"
	clusterGroup   = "Use a cluster:"
)

var groups = []string{privatiseGroup, studyGroup, resultsGroup, clusterGroup}

// commands are what makes each command, by group. The file of a command adds it.
var commands = map[string][]func() *cobra.Command{}

// addCommand adds a command to a group. It is called by the init of its file.
func addCommand(group string, make func() *cobra.Command) {
	commands[group] = append(commands[group], make)
}

// newRoot makes all commands; quiet is called where --quiet is given.
func newRoot(quiet func()) *cobra.Command {
	root := &cobra.Command{
		Use:   "mldp",
		Short: "Measure word-level metric differential privacy (MLDP) for text",
		Long: `mldp privatises text word by word under metric differential privacy, measures
the cost and the protection, and reruns the published studies.

Exit codes: 0 done, 1 failed, 2 wrong usage (also a file or a column that is not
there), 3 nothing could be compared or audited, 5 interrupted (finished work is
kept; the same command resumes), 6 an audit refutes a guarantee.`,
		Version:       mldpVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          arguments(""),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var silent, force, asJSON bool
	f := root.PersistentFlags()
	f.BoolVar(&silent, "quiet", false, "no progress, notes and warnings: errors and the result only")
	f.String("data", "", "data folder (default: MLDP_DATA, else the cache folder)")
	f.BoolVar(&force, "force", false, "replace files that are there, but never an input")
	f.BoolVar(&asJSON, "json", false, "the result as one JSON object, as docs/programs.md says")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkFlags(cmd); err != nil {
			return err
		}
		if asJSON && cmd.Annotations[printing] == "" {
			return check.Wrong("--json: %s has no result in JSON", cmd.CommandPath())
		}
		if silent {
			cmd.Root().SetErr(io.Discard) // errors are printed by run
			quiet()
		}
		return nil
	}
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	for _, group := range groups {
		root.AddGroup(&cobra.Group{ID: group, Title: group})
		for _, make := range commands[group] {
			c := make()
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		RunE: func(_ *cobra.Command, args []string) error {
			topic, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(topic, rest[0])
			}
			return topic.Help()
		},
	})
	walkCommands(root, complete)
	return root
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	display, ctx := progress.NewDisplay(context.WithValue(ctx, lineKey{}, append([]string{"mldp"}, args...)), stderr)
	root := newRoot(display.Silence)
	root.SetArgs(args)
	root.SetIn(stdin)
	out := &checkedOutput{to: stdout, before: func() {}}
	if f, ok := stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		out.before = display.Hide // the bar is on the same terminal
	}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if out.err != nil { // one error, of whatever was lost
		err = out.err
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "mldp:", check.Shown(err.Error()))
	return exitCode(err)
}

// exitCode is that of an error.
func exitCode(err error) int {
	var verdict *experiments.Verdict
	var wrong *check.Error
	switch {
	case errors.As(err, &verdict):
		return verdictCodes[verdict.Kind]
	case errors.Is(err, engine.ErrInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &wrong), errors.Is(err, fs.ErrNotExist):
		return exitUsage
	}
	return exitFailure
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
