package main

import (
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mldpbench/internal/check"
)

// mayWrite returns an error where one of the files that a command is to write is one that
// it reads, is named twice, or is there already, was not written by it and --force is not
// given. Files that do not exist, pipes and empty files are in nobody's way.
func mayWrite(cmd *cobra.Command, reads []string, writes ...string) error {
	force, err := cmd.Flags().GetBool("force")
	if err != nil {
		return err
	}
	for i, path := range writes {
		info, err := os.Stat(path)
		if slices.Contains(writes[:i], path) && path != "" {
			return check.Wrong("%s is to be written twice: give two names", path)
		}
		if path == "" || err != nil || !info.Mode().IsRegular() {
			continue
		}
		for _, read := range reads {
			if other, err := os.Stat(read); err == nil && os.SameFile(info, other) {
				return check.Wrong("%s is read by this command: choose another name for what it writes", path)
			}
		}
		if info.Size() > 0 && !force {
			return check.Wrong("%s is there already: choose another name, or say --force", path)
		}
	}
	return nil
}

// screen is the terminal that a command writes to, of no width where it is none.
func screen(out io.Writer) (width int) {
	if checked, ok := out.(*checkedOutput); ok {
		if f, ok := checked.to.(*os.File); ok {
			width, _, _ = term.GetSize(int(f.Fd())) // 0 of what is no terminal
		}
	}
	return width
}
