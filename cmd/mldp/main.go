// Command mldp measures word-level metric differential privacy for text.
package main

import (
	"context"
	"embed"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A pipe or a hung file system may keep the process from seeing the first
	// signal: the second one ends it.
	context.AfterFunc(ctx, stop)
	debug.SetTraceback("crash") // a fault ends with a signal: Go's own code 2 is that of wrong usage
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// version is set by the Makefile; a plain `go install` or `go build` falls back to
// the version of the module, which names the commit. A build outside Git has none.
var version = ""

func mldpVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// The help of a command is a file: the short form, a blank line, the long form,
// and examples.
//
//go:embed help
var help embed.FS

// command makes a command from the file of its help and the form of its arguments.
func command(file, form string) *cobra.Command {
	text, err := help.ReadFile("help/" + file + ".txt")
	if err != nil {
		panic(err) // an error of the program
	}
	return helped(file[strings.LastIndexByte(file, '-')+1:], form, string(text))
}

// helped makes a command from its name, the form of its arguments and the text of its help.
func helped(name, form, text string) *cobra.Command {
	short, rest, _ := strings.Cut(text, "\n\n")
	long, examples, _ := strings.Cut(rest, "\n\nExamples:\n")
	return &cobra.Command{
		Use:     strings.TrimSpace(name + " " + form),
		Short:   short,
		Long:    long,
		Example: strings.TrimRight(examples, "\n"),
		Args:    arguments(form),
	}
}

// group makes a command that only has others.
func group(name string, commands ...*cobra.Command) *cobra.Command {
	cmd := command(name, "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
}
