package main

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// The help of a command is a file: the short form, a blank line, the long form,
// and examples.
//
//go:embed help
var help embed.FS

// command makes a command from its line of use and the name of its help.
func command(file, use string, args cobra.PositionalArgs) *cobra.Command {
	text, err := help.ReadFile("help/" + file + ".txt")
	if err != nil {
		panic(err) // an error of the program
	}
	short, rest, _ := strings.Cut(string(text), "\n\n")
	long, examples, _ := strings.Cut(rest, "\n\nExamples:\n")
	return &cobra.Command{Use: use, Short: short, Long: long, Example: strings.TrimRight(examples, "\n"), Args: args}
}

// group makes a command that only has others.
func group(name string, commands ...*cobra.Command) *cobra.Command {
	cmd := command(name, name, cobra.NoArgs)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
}
