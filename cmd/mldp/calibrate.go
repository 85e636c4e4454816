package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
)

func init() { addCommand(privatiseGroup, newCalibrateCommand) }

// newCalibrateCommand finds the ε at which mechanisms reach a level of privacy.
func newCalibrateCommand() *cobra.Command {
	c := experiments.Calibration{Threads: runtime.GOMAXPROCS(0)}
	cmd := command("calibrate", "")
	f := cmd.Flags()
	f.StringVar(&c.Target, "target", "", "nw=SHARE, em=SHARE or, with --text, game=SHARE; several shares with commas")
	f.StringVar(&c.Text.Name, "text", "", "file whose words are those that are hidden, and guessed by who knows how "+
		"often each occurs; its format is that of its suffix")
	f.StringArrayVar(&c.Text.Columns, "column", nil, "of --text; may be repeated")
	textFlags(f, &c.Text.Delimiter, &c.Text.Encoding)
	f.StringSliceVar(&c.Mechanisms, "mechanism", nil, "mechanisms to calibrate (default: all that return words)")
	programFlag(cmd, &c.Program)
	vectorFlags(cmd, &c.Vectors, experiments.BestVectors, 10_000)
	countFlag(f, &c.Drawn, "count", 100, 1, "words drawn, for nw")
	countFlag(f, &c.Runs, "runs", 0, 0, "runs per word, where there is no closed form (default: 20; "+
		"of a text by its size)")
	f.Float64Var(&c.Tolerance, "tolerance", experiments.Tolerance,
		"how far above a target a value may be that ends its search")
	f.Uint64Var(&c.Seed, "seed", 2020, "seed")
	require(cmd, "target")
	cmd.MarkFlagsMutuallyExclusive("mechanism", "command")
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, _ []string) (*experiments.Outcome, error) {
		c.Call = call
		return experiments.Calibrate(cmd.Context(), c)
	})
}
