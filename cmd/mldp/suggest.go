package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// unknownCommand is the error of a command that a group does not have.
func unknownCommand(group *cobra.Command, name string) error {
	names := list.Map(group.Commands(), func(c *cobra.Command) string { return c.Name() })
	return fmt.Errorf("unknown command %q%s; %s --help lists all", name, check.Meant(name, names), group.CommandPath())
}

// unknownFlag adds the flag that was probably meant.
func unknownFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return fmt.Errorf("%w%s", err, check.Meant("--"+unknown.GetSpecifiedName(), names))
}

var flagGroup = regexp.MustCompile(`\[([^]]*)\]`)

// plainGroup says in words that flags exclude each other, or that one of them is
// needed.
func plainGroup(err error) error {
	if err == nil || !strings.Contains(err.Error(), "flags in the group [") {
		return err
	}
	groups := flagGroup.FindAllStringSubmatch(err.Error(), 2)
	given := strings.Fields(groups[len(groups)-1][1]) // of those that exclude each other; else all of the group
	if len(groups) == 2 {
		return fmt.Errorf("--%s: give only one of them", strings.Join(given, " and --"))
	}
	return fmt.Errorf("--%s is needed", strings.Join(given, " or --"))
}

// namesAbsentFile reports whether a command line names a file that is not there.
func namesAbsentFile(args []string, err error) bool {
	var missing *fs.PathError
	return errors.As(err, &missing) && errors.Is(err, fs.ErrNotExist) &&
		slices.ContainsFunc(args, func(arg string) bool { return strings.HasSuffix(arg, missing.Path) })
}

// namedAlike adds to the error of a file that is not there the name beside it
// that was probably meant.
func namedAlike(err error) error {
	var missing *fs.PathError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, _ := os.ReadDir(filepath.Dir(missing.Path)) // without a folder there are no names
	names := list.Map(entries, func(e os.DirEntry) string { return e.Name() })
	if meant := check.Meant(filepath.Base(missing.Path), names); meant != "" {
		return fmt.Errorf("%w%s", err, meant)
	}
	return err
}

// namedArguments lets a command name the argument that is missing or too many,
// as its line of use writes it.
func namedArguments(c *cobra.Command) {
	valid := c.Args
	if valid == nil || c.HasParent() && c.HasSubCommands() {
		if valid != nil {
			c.Args = func(c *cobra.Command, args []string) error {
				if len(args) > 0 {
					return unknownCommand(c, args[0])
				}
				return nil
			}
		}
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		err := valid(c, args)
		if err == nil || !c.HasParent() {
			return err
		}
		var named []string
		for _, word := range strings.Fields(c.Use)[1:] {
			if word[0] >= 'A' && word[0] <= 'Z' {
				named = append(named, word)
			}
		}
		if len(args) < len(named) {
			return fmt.Errorf("%s is missing: %s %s", named[len(args)], c.CommandPath(),
				strings.SplitN(c.Use, " ", 2)[1])
		}
		return fmt.Errorf("argument %q is one too many: %s", args[len(args)-1], c.UseLine())
	}
}

// strictHelp makes the help of an unknown command wrong usage.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() != "help" {
			continue
		}
		c.Run = nil
		c.RunE = func(_ *cobra.Command, args []string) error {
			topic, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return &exitError{exitUsage, unknownCommand(topic, rest[0])}
			}
			return topic.Help()
		}
	}
}
