package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"mldpbench/datasets/table"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/progress"
	"mldpbench/mechanisms/privatize"
)

// inputOptions are the flags of the input format.
type inputOptions struct {
	format    string
	delimiter string
	columns   []string
	noHeader  bool
	encoding  string
	whole     bool
}

func (o *inputOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "of the input: lines, csv, tsv, jsonl, json or parquet (default: by the "+
		"file's suffix)")
	textFlags(f, &o.delimiter, &o.encoding)
	f.StringArrayVar(&o.columns, "column", nil, "column or field to privatise; may be repeated")
	f.BoolVar(&o.noHeader, "no-header", false, "the first row is data; --column is a number from 1")
}

// of are the options of an input.
func (o *inputOptions) of(name string) (table.Options, error) {
	to := table.Options{Name: name, Columns: o.columns, NoHeader: o.noHeader, Encoding: o.encoding, Whole: o.whole, Text: true,
		Delimiter: o.delimiter, Format: table.FormatOf(name)}
	if name == "-" {
		to.Name = "standard input"
	}
	if o.format != "" {
		to.Format = table.Format(o.format)
	}
	err := to.Check()
	if err != nil && to.Format != table.Lines && len(o.columns) == 0 {
		err = fmt.Errorf("%s: name the columns to privatise with --column (or give --format lines)", to.Name)
	}
	return to, err
}

// privatizeFile runs a file, or standard input, through s to a file or, with no
// name, to standard output.
func privatizeFile(cmd *cobra.Command, s *privatize.Stream, name, out string, o table.Options) error {
	ctx, in := cmd.Context(), interruptible(cmd.Context(), cmd.InOrStdin())
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		if in = file; o.Format != table.Parquet {
			var done func()
			in, done = progress.File(ctx, file)
			defer done()
		}
	}
	r, err := table.NewReader(in, o)
	if err != nil {
		return err
	}
	run := func(w io.Writer) error { return s.Run(ctx, r, w) }
	if out == "" {
		return run(cmd.OutOrStdout())
	}
	return atomicfile.Write(out, 0o644, func(w io.Writer) error {
		if o.Format == table.Parquet {
			return run(w)
		}
		return table.Compressed(w, out, run)
	})
}
