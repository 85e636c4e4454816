package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/task"
	"mldpbench/internal/list"
	"mldpbench/results"
)

func newTaskCommand() *cobra.Command {
	return group("task", newTaskListCommand(), newTaskShowCommand(), newTaskCheckCommand(), newTaskTextsCommand())
}

func newTaskListCommand() *cobra.Command {
	var data string
	cmd := command("task-list", "list", cobra.NoArgs)
	dataFlag(cmd.Flags(), &data)
	return prints(cmd, func(_ *cobra.Command, _ []string, a *answer) error {
		var rows [][]any
		for _, name := range task.Names() {
			t, _, err := task.Open(name)
			if err != nil {
				return err
			}
			s, err := t.Study(task.Full)
			if err != nil {
				return err
			}
			missing, err := experiments.Missing(s, data, false)
			here := err == nil && len(missing) == 0 && t.Present(data) == nil
			rows = append(rows, []any{t.String(), here, t.Unit, t.Use, t.Private})
		}
		return a.table("tasks", []string{"task", "here", "unit", "use", "private"}, rows)
	})
}

func newTaskShowCommand() *cobra.Command {
	var croissant bool
	cmd := command("task-show", "show TASK|FILE.yaml", cobra.ExactArgs(1))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, _, err := task.Open(args[0])
		if err != nil {
			return usage(err)
		}
		text := t.Source()
		if croissant {
			if text, err = t.Croissant(); err != nil {
				return err
			}
			text = append(text, '\n')
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	cmd.Flags().BoolVar(&croissant, "croissant", false, "print JSON-LD for catalogues of data sets")
	return cmd
}

func newTaskCheckCommand() *cobra.Command {
	var data string
	cmd := command("task-check", "check TASK|FILE.yaml", cobra.ExactArgs(1))
	dataFlag(cmd.Flags(), &data)
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		t, _, err := task.Open(args[0])
		if err != nil {
			return usage(err)
		}
		var sizes [][]any
		for _, size := range []string{task.Lite, task.Full} {
			s, err := t.Study(size)
			if err != nil {
				return err
			}
			plan, err := experiments.Plan(s, lab.New(""), nil)
			if err != nil {
				return err
			}
			sizes = append(sizes, []any{t.Ref(size), len(plan.Units)})
		}
		if err := a.table("sizes", []string{"task", "units"}, sizes); err != nil {
			return err
		}
		splits, err := t.Splits(cmd.Context(), data)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.text)
		return a.table("splits", []string{"size", "split", "documents", "sha256"}, list.Map(splits,
			func(s task.Split) []any { return []any{s.Size, s.Name, s.Documents, s.SHA256} }))
	})
}

func newTaskTextsCommand() *cobra.Command {
	var data string
	cmd := command("task-texts", "texts TASK", cobra.ExactArgs(1))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, size, err := task.Open(args[0])
		if err != nil {
			return usage(err)
		}
		d, err := t.Load(cmd.Context(), data, size)
		if err != nil {
			return err
		}
		type line struct {
			ID      int    `csv:"id"`
			Split   string `csv:"split"`
			Label   string `csv:"label"`
			Private string `csv:"private"`
			Text    string `csv:"text"`
		}
		var lines []line
		for _, s := range d.Splits() {
			for _, x := range s.Documents {
				l := line{ID: x.ID, Split: s.Name, Label: d.Classes[x.Label], Text: x.Text}
				if len(d.Privates) > 0 {
					l.Private = d.Privates[x.Private]
				}
				lines = append(lines, l)
			}
		}
		return results.WriteRows(cmd.OutOrStdout(), lines)
	}
	dataFlag(cmd.Flags(), &data)
	return cmd
}
