package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/results"
	"mldpbench/results/tables"
)

// alignFlag holds the levels of privacy at which mechanisms are compared.
type alignFlag struct{ results.Levels }

func (a *alignFlag) add(cmd *cobra.Command) {
	var names []string
	for _, x := range results.Axes {
		names = append(names, x.Name)
	}
	cmd.Flags().Var(a, "align", "compare mechanisms at equal privacy: AXIS=LEVELS as in em=0.5,0.8; AXIS is one of "+
		strings.Join(names, ", "))
}

// Set reads "em=0.5,0.8".
func (a *alignFlag) Set(s string) (err error) {
	a.Levels, err = results.ParseLevels(s)
	return err
}

func (*alignFlag) Type() string { return "levels" }

func (a *alignFlag) String() string {
	if a.Quantity == "" {
		return ""
	}
	return a.Name + "=" + strings.Trim(strings.ReplaceAll(fmt.Sprint(a.At), " ", ","), "[]")
}

// compareMechanisms compares the mechanisms of joined results at equal privacy.
func compareMechanisms(w io.Writer, paths []string, levels results.Levels, format string) error {
	p, _, err := loadRuns(paths)
	if err != nil {
		return err
	}
	p.Levels = levels
	all := tables.Equal(p)
	if len(all) == 0 {
		return &exitError{exitNothing, fmt.Errorf("no two mechanisms were measured on both sides of %s", fmt.Sprintf(
			levels.Phrase, levels.At[0]))}
	}
	for _, t := range all {
		if err := t.Write(w, format); err != nil {
			return err
		}
	}
	return nil
}
