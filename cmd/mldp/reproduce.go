package main

import (
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
)

func init() { addCommand(studyGroup, newReproduceCommand) }

// newReproduceCommand lists what papers print or, where tables, figures or a data set
// are named, makes these.
func newReproduceCommand() *cobra.Command {
	r := experiments.Reproduction{Parse: parseRun}
	cmd := completes(command("reproduce", "[PAPER]"), experiments.Papers)
	f := cmd.Flags()
	for kind, short := range map[string]string{"table": "Table ", "figure": "Figure "} {
		f.Func(kind, "these `numbers`, as 3,6,7", func(numbers string) error {
			for n := range strings.SplitSeq(numbers, ",") {
				r.Items = append(r.Items, short+n)
			}
			return nil
		})
	}
	f.StringVar(&r.Dataset, "dataset", "", "of this data set alone, as the list names it")
	outFlag(f, &r.Out, "runs/reproduce", "folder of the runs, tables and figures")
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, args []string) (*experiments.Outcome, error) {
		r.Call = call
		r.Paper = strings.Join(args, "")
		return experiments.Reproduce(cmd.Context(), r)
	})
}
