package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/internal/params"
	"mldpbench/results"
)

func newStudyCommand() *cobra.Command {
	list := command("study-list", "")
	prints(list, func(_ *cobra.Command, _ []string, a *answer) error {
		var rows [][]any
		for _, name := range experiments.Builtin.Names() {
			s, err := experiments.Builtin.Open(name)
			if err != nil {
				return err
			}
			rows = append(rows, []any{s.Name, s.Title})
		}
		return a.table("studies", []string{"study", "title"}, rows)
	})
	show := completes(command("study-show", "NAME"), studies)
	show.RunE = func(cmd *cobra.Command, args []string) error {
		source, err := experiments.Builtin.Source(args[0])
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(source)
		return err
	}
	return group("study", list, show, newStudyCheckCommand(), newStudyKeysCommand())
}

// openStudy opens a study, changed by flags. Any error before anything is run is wrong usage, including a
// missing file.
func openStudy(ref, root string, flags study.Overrides) (*plan.Plan, error) {
	s, err := experiments.Open(ref, root)
	if err == nil {
		s, err = s.Override(flags)
	}
	if err != nil {
		return nil, usage(err)
	}
	p, err := plan.New(s)
	return p, usage(err)
}

func newStudyCheckCommand() *cobra.Command {
	var root string
	var o study.Overrides
	cmd := completes(command("study-check", "STUDY|FILE.yaml"), studies)
	dataFlag(cmd, &root)
	setFlag(cmd.Flags(), &o.Set)
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		s, err := openStudy(args[0], root, o)
		if err != nil {
			return err
		}
		plan, err := s.Engine(lab.New(""))
		if err != nil {
			return err
		}
		warnStudy(cmd.ErrOrStderr(), s.Study)
		if repeated := plan.Unique(); len(repeated) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %d units repeat others and are run once, the first: %s\n",
				len(repeated), repeated[0])
		}
		a.Tables["study"] = []map[string]any{{"study": s.Name, "units": len(plan.Units)}}
		_, err = fmt.Fprintf(a.text, "%s: %d units\n", s.Name, len(plan.Units))
		return err
	})
}

// warnStudy says what may be a mistake, that nothing is privatised, and which of all
// mechanisms are left out.
func warnStudy(w io.Writer, s *study.Study) {
	var said []string
	for _, part := range s.Parts() {
		if len(part.Mechanisms) == 0 && len(part.Models) > 0 {
			said = append(said, "warning: mechanisms: the list is empty: nothing is privatised, only baselines are run")
		}
		for _, m := range part.Mechanisms {
			_, unread := part.Expand(m)
			for _, why := range unread {
				said = append(said, fmt.Sprintf("mechanisms: %s leaves one out: %v", m.Name, why))
			}
		}
	}
	for _, text := range results.Distinct(said, func(s string) string { return s }) {
		fmt.Fprintln(w, text)
	}
}

func newStudyKeysCommand() *cobra.Command {
	cmd := command("study-keys", "")
	return prints(cmd, func(_ *cobra.Command, _ []string, a *answer) error {
		var keys, parameters, quantities [][]any
		for _, k := range study.Keys() {
			keys = append(keys, []any{k.Path, k.Kind(), k.Doc})
		}
		for _, p := range study.Parameters() {
			parameters = append(parameters, []any{p.Of, p.Name, params.FormatValue(p.Default), p.Legal, p.Doc})
		}
		for _, c := range results.Columns() {
			if c.Title == "" {
				continue
			}
			quantities = append(quantities, describe(c))
		}
		if err := a.table("keys", []string{"key", "value", "meaning"}, keys); err != nil {
			return err
		}
		fmt.Fprintln(a.text)
		columns := []string{"of", "parameter", "default", "values", "meaning"}
		if err := a.table("parameters", columns, parameters); err != nil {
			return err
		}
		fmt.Fprintln(a.text)
		columns = []string{"quantity", "title", "unit", "better", "threshold", "depends on"}
		return a.table("quantities", columns, quantities)
	})
}

// describe is the line of a quantity: its name, title, unit, which direction is better, the
// change that mldp check lets pass (nothing where it does not look), and what it depends on.
func describe(c results.Column) []any {
	better := ""
	switch c.Direction {
	case results.Up:
		better = "higher"
	case results.Down:
		better = "lower"
	}
	var threshold any
	if c.Threshold > 0 {
		threshold = c.Threshold
	}
	depends := "text"
	switch {
	case c.Attacker != "":
		depends = "attacker"
	case c.OfModel:
		depends = "model"
	case c.OfWords:
		depends = "words"
	}
	return []any{c.Name, c.Title, c.Unit, better, threshold, depends}
}
