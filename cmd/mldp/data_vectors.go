package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"mldpbench/experiments/lab"
)

func newDataVectorsCommand(dir *string) *cobra.Command {
	var o describeOptions
	var embedding, out string
	cmd := command("data-vectors", "vectors NAME", cobra.ExactArgs(1))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.request.Root = *dir
		d, err := o.load(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		c := lab.NewCorpus(d)
		wide, err := lab.OpenSpace(cmd.Context(), embedding, o.dimension, *dir, c.Has)
		if err != nil {
			return err
		}
		space, err := wide.Restrict(c.Has)
		if err != nil {
			return err
		}
		if err := output(cmd, out, space.WriteText); err != nil || out == "" {
			return err
		}
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d of %d words of %s, %d dimensions\n", out, space.Len(),
			len(c.Counts), d.Name, space.Dimension)
		return err
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&embedding, "embedding", "", embeddingHelp)
	outFlag(cmd.Flags(), &out, "", "file (default: standard output)")
	require(cmd, "embedding")
	return cmd
}
