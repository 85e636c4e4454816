package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"mldpbench/experiments/lab"
)

func newDataVectorsCommand(dir *string) *cobra.Command {
	var o describeOptions
	var embedding, out string
	cmd := &cobra.Command{
		Use:   "vectors NAME",
		Short: "Write the vectors of the words of a data set as text",
		Long: `Vectors writes what a built-in mechanism knows in a study: the vectors of the
words of the data set, one word a line with its numbers. A command of a study
that reads this file is compared on equal terms. The sample of documents, and so
the words, depends on the sizes and on --seed, which is that of the study.`,
		Example: `  mldp data vectors generated-news --embedding generated --dimension 50 --seed 1 -o generated.txt
  mldp data vectors mine --file reviews.csv --text body --label stars --embedding vectors.txt -o mine.txt`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
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
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&embedding, "embedding", "", embeddingHelp)
	outFlag(cmd.Flags(), &out, "", "file (default: standard output)")
	require(cmd, "embedding")
	return cmd
}
