package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mldpbench/experiments"
	"mldpbench/plots"
	"mldpbench/results/views"
)

func init() {
	addCommand(resultsGroup, newReportCommand)
	addCommand(resultsGroup, newTablesCommand)
	addCommand(resultsGroup, newFiguresCommand)
}

// viewFlags are those of a folder of tables or figures, which have some of these formats.
func viewFlags(f *pflag.FlagSet, to *experiments.Viewing, files string, formats []string) {
	f.StringSliceVar(&to.Formats, "format", formats, strings.Join(formats, ", "))
	f.StringSliceVar(&to.Only, "only", nil, files+" by beginning of name: equal, frontier, accuracy, n-w…")
	f.StringVar(&to.Views, "views", "", "YAML file with further "+files+", declared as in views.yaml")
	outFlag(f, &to.Out, "", "folder of the "+files+" (default: "+files+" in the first run's folder, or here)")
}

// newReportCommand writes the page of runs.
func newReportCommand() *cobra.Command {
	var v experiments.Viewing
	cmd := command("report", "RESULTS...")
	f := cmd.Flags()
	outFlag(f, &v.Out, "", "the page to write (default: report.html in the first run's folder, or here)")
	f.StringVar(&v.Views, "views", "", "YAML file with further tables and figures")
	alignFlag(f, &v.Levels)
	return answersOfRuns(cmd, &v, experiments.Report)
}

// newFiguresCommand draws the figures of runs.
func newFiguresCommand() *cobra.Command {
	var v experiments.Viewing
	cmd := command("figures", "RESULTS...")
	f := cmd.Flags()
	viewFlags(f, &v, "figures", plots.Formats)
	f.StringVar(&v.Width, "width", "",
		"width on paper, with its unit (default: 3.4in, of three panels and more 7in)")
	f.BoolVar(&v.Bare, "bare", false, "leave title and notes to the text around the figure")
	return answersOfRuns(cmd, &v, experiments.Figures)
}

// newTablesCommand writes the tables of runs.
func newTablesCommand() *cobra.Command {
	var v experiments.Viewing
	cmd := command("tables", "RESULTS...")
	f := cmd.Flags()
	viewFlags(f, &v, "tables", views.Formats)
	alignFlag(f, &v.Levels)
	return answersOfRuns(cmd, &v, experiments.Tables)
}

// answersOfRuns prints what is shown of the runs of the arguments.
func answersOfRuns(cmd *cobra.Command, v *experiments.Viewing,
	show func(context.Context, experiments.Viewing) (*experiments.Outcome, error)) *cobra.Command {
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, args []string) (*experiments.Outcome, error) {
		v.Call = call
		v.Runs = args
		return show(cmd.Context(), *v)
	})
}
