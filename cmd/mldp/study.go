package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/docs"
	"mldpbench/experiments"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/experiments/task"
	"mldpbench/results"
)

func newStudyCommand() *cobra.Command {
	list := command("study-list", "list", cobra.NoArgs)
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
	show := command("study-show", "show NAME", cobra.ExactArgs(1))
	show.RunE = func(cmd *cobra.Command, args []string) error {
		source, err := experiments.Builtin.Source(args[0])
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(source)
		return err
	}
	return group("study", list, show, newStudyCheckCommand(), newStudyMetricsCommand(), newStudyKeysCommand())
}

// openStudy opens a study, changed by flags if there are any. Any error before
// anything is run is wrong usage, including a missing file.
func openStudy(ref string, flags *study.Overrides) (*study.Study, error) {
	s, err := openTaskOrStudy(ref, flags)
	if err == nil && flags != nil {
		s, err = s.Override(*flags)
	}
	if err == nil {
		_, err = experiments.Plan(s, lab.New(""), nil) // opens nothing
	}
	if err != nil {
		return nil, usage(err)
	}
	return s, nil
}

// openTaskOrStudy compiles a task whose data is there, or opens a study.
func openTaskOrStudy(ref string, flags *study.Overrides) (*study.Study, error) {
	if !task.Is(ref) {
		return experiments.Builtin.Open(ref)
	}
	t, size, err := task.Open(ref)
	if err == nil && flags != nil {
		err = t.Present(flags.Root)
	}
	if err != nil {
		return nil, err
	}
	return t.Study(size)
}

func newStudyCheckCommand() *cobra.Command {
	const usual = "usual/" // value of --data without a folder
	var data string
	cmd := command("study-check", "check STUDY|FILE.yaml", cobra.ExactArgs(1))
	cmd.Flags().StringVar(&data, "data", "", "open the data too, in the usual folder (MLDP_DATA, else the cache "+
		"folder) or with --data=DIR in DIR")
	cmd.Flags().Lookup("data").NoOptDefVal = usual
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		s, err := openStudy(args[0], nil)
		if err != nil {
			return err
		}
		plan, err := experiments.Plan(s, lab.New(""), nil)
		if err != nil {
			return err
		}
		if data != "" {
			if err := experiments.CheckData(cmd.Context(), s, strings.TrimPrefix(data, usual)); err != nil {
				return err
			}
		}
		warnBaselines(cmd.ErrOrStderr(), s)
		if repeated := plan.Unique(); len(repeated) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %d units repeat others and are run once, the first: %s\n",
				len(repeated), repeated[0])
		}
		a.add("study", []struct {
			Study string
			Units int
		}{{s.Name, len(plan.Units)}})
		_, err = fmt.Fprintf(a.text, "%s: %d units\n", s.Name, len(plan.Units))
		return err
	})
}

// warnBaselines says that a study privatises nothing, which may be a mistake.
func warnBaselines(w io.Writer, s *study.Study) {
	for _, part := range s.Parts() {
		if len(part.Mechanisms) == 0 && len(part.Models) > 0 {
			fmt.Fprintln(w, "warning: mechanisms: the list is empty: nothing is privatised, only baselines are run")
			return
		}
	}
}

func newStudyMetricsCommand() *cobra.Command {
	cmd := command("study-metrics", "metrics", cobra.NoArgs)
	return prints(cmd, func(_ *cobra.Command, _ []string, a *answer) error {
		var rows [][]any
		for _, c := range results.Columns() {
			if c.Title == "" {
				continue
			}
			var threshold any
			if c.Threshold > 0 {
				threshold = c.Threshold
			}
			of := "the text"
			switch {
			case c.Attacker != "":
				of = "attacker " + c.Attacker
			case c.OfModel:
				of = "the classifier"
			}
			better := map[results.Direction]string{results.Up: "higher", results.Down: "lower"}[c.Direction]
			rows = append(rows, []any{c.Name, c.Title, c.Unit, better, threshold, of})
		}
		return a.table("metrics", []string{"name", "title", "unit", "better", "threshold", "of"}, rows)
	})
}

func newStudyKeysCommand() *cobra.Command {
	cmd := command("study-keys", "keys", cobra.NoArgs)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		_, err := io.WriteString(cmd.OutOrStdout(), docs.StudyKeys)
		return err
	}
	return cmd
}
