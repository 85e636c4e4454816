package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newManCommand writes the help of all commands as manual pages.
func newManCommand() *cobra.Command {
	cmd := command("man", "man FOLDER", cobra.ExactArgs(1))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := os.MkdirAll(args[0], 0o777); err != nil {
			return err
		}
		root := cmd.Root()
		root.DisableAutoGenTag = true
		if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: root.Version}, args[0]); err != nil {
			return err
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), args[0])
		return err
	}
	return cmd
}
