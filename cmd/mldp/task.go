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
	cmd := &cobra.Command{
		Use:   "task",
		Short: "List, print and check tasks, and print their documents",
		Long: `A task fixes all that rows of different people must share: data, cleaning, the
split of every text by its hash, measurements and attackers. It has a version,
and rows carry the hash of its file. NAME@VERSION, or NAME@VERSION/lite for the
small size, stands for its study in every command that takes a study; mechanisms
and epsilons are those of the submission. A task of your own is one such file.`,
		Example: `  mldp task list
  mldp task show generated-styles > my-task.yaml
  mldp run generated-styles@1/lite --mechanisms cmp,tem --epsilons 10 --out runs/mine`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTaskListCommand(), newTaskShowCommand(), newTaskCheckCommand(), newTaskTextsCommand())
	return cmd
}

func newTaskListCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the built-in tasks and whether their data is here",
		Long: "List prints name and version, whether the data is in the data folder, the unit of privacy, what is " +
			"useful and what is private.",
		Example: "  mldp task list",
		Args:    cobra.NoArgs,
	}
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
	cmd := &cobra.Command{
		Use:   "show TASK|FILE.yaml",
		Short: "Print a task, or the metadata of its data",
		Long: `Show prints the file of a task or, with --croissant, the metadata of its data as
JSON-LD of Croissant 1.0.`,
		Example: "  mldp task show generated-styles\n  mldp task show agnews-agency --croissant",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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
		},
	}
	cmd.Flags().BoolVar(&croissant, "croissant", false, "print JSON-LD for catalogues of data sets")
	return cmd
}

func newTaskCheckCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "check TASK|FILE.yaml",
		Short: "Check a task and print the hash of every split",
		Long: `Check reads a task strictly, compiles both sizes and reads its data. It prints
the task with the hash of its content, the units of each size with all built-in
mechanisms, and documents and SHA-256 of every split: on every machine the same.`,
		Example: "  mldp task check generated-styles",
		Args:    cobra.ExactArgs(1),
	}
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
	cmd := &cobra.Command{
		Use:   "texts TASK",
		Short: "Print the documents of a task for a system of your own",
		Long: `Texts prints the documents of a task as CSV: id, split, label, private label and
text. A system returns id and text of all of them; see mldp evaluate --task.`,
		Example: "  mldp task texts generated-styles@1/lite > original.csv",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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
		},
	}
	dataFlag(cmd.Flags(), &data)
	return cmd
}
