package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the Makefile; a plain `go install` falls back to the
// module version.
var version = ""

func mldpVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

func init() {
	commands = append(commands, func() *cobra.Command {
		return &cobra.Command{
			Use:     "version",
			Short:   "Print the version that is stored in records",
			Example: "  mldp version",
			Args:    cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "mldp", mldpVersion())
				return err
			},
		}
	})
}
