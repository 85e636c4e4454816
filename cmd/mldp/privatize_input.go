package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/datasets/table"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
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
	missing   string
}

func (o *inputOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "of the input: lines, csv, tsv, jsonl, json or parquet (default: by the "+
		"file's suffix)")
	textFlags(f, &o.delimiter, &o.encoding)
	f.StringArrayVar(&o.columns, "column", nil, "column or field to privatise; may be repeated")
	f.BoolVar(&o.noHeader, "no-header", false, "the first row is data; --column is a number from 1")
	f.StringVar(&o.missing, "missing", "fail", "for JSON objects without the field of --column: fail, or keep them "+
		"as they are")
}

// inputFile is one input and where its output goes.
type inputFile struct {
	name    string // "-" is standard input
	out     string // "" is standard output
	options table.Options
}

// files pairs inputs with outputs.
func (o *inputOptions) files(args []string, out string) ([]inputFile, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	folder := len(args) > 1
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		folder = true
	} else if folder && err == nil {
		return nil, check.Wrong("--out %s is a file: several inputs need a folder", out)
	}
	if folder && out == "" {
		return nil, check.Wrong("several inputs need --out with a folder")
	}
	var files []inputFile
	seen := map[string]string{}
	for _, name := range args {
		f := inputFile{name: name, out: out}
		var err error
		if f.options, err = o.of(name); err != nil {
			return nil, usage(err)
		}
		if !folder {
			err = f.options.CheckOutput(out)
		}
		if err != nil {
			return nil, err
		}
		if folder {
			if name == "-" {
				return nil, check.Wrong("standard input has no file name for the folder of --out")
			}
			f.out = filepath.Join(out, filepath.Base(name))
		}
		if other, dup := seen[f.out]; dup {
			return nil, check.Wrong("%s and %s would both be written to %s", other, name, f.out)
		}
		seen[f.out] = name
		files = append(files, f)
	}
	return files, nil
}

// of are the options of an input.
func (o *inputOptions) of(name string) (table.Options, error) {
	to := table.Options{Name: name, Columns: o.columns, NoHeader: o.noHeader, Encoding: o.encoding, Whole: o.whole, Text: true,
		Delimiter: o.delimiter, Format: table.FormatOf(name), KeepMissing: o.missing == "keep"}
	err := check.OneOf("missing", o.missing, "fail", "keep")
	switch {
	case err != nil:
	case name == "-":
		to.Name = "standard input"
	case o.format == "":
		err = table.CheckName(name)
	}
	if o.format != "" {
		to.Format = table.Format(o.format)
	}
	if err == nil {
		err = to.Check()
		if err != nil && to.Format != table.Lines && len(o.columns) == 0 {
			err = fmt.Errorf("%s: name the columns to privatise with --column (or give --format lines)", to.Name)
		}
	}
	return to, err
}

// privatize runs one file through s.
func (f inputFile) privatize(cmd *cobra.Command, s *privatize.Stream) error {
	ctx, in := cmd.Context(), interruptible(cmd.Context(), cmd.InOrStdin())
	if f.name != "-" {
		file, err := os.Open(f.name)
		if err != nil {
			return err
		}
		defer file.Close()
		if in = file; f.options.Format != table.Parquet {
			var done func()
			in, done = progress.File(ctx, file)
			defer done()
		}
	}
	r, err := table.NewReader(in, f.options)
	if err != nil {
		return err
	}
	run := func(w io.Writer) error { return s.Run(ctx, r, w) }
	if f.out == "" {
		return run(cmd.OutOrStdout())
	}
	return atomicfile.Write(f.out, 0o644, func(w io.Writer) error {
		if f.options.Format == table.Parquet {
			return run(w)
		}
		return table.Compressed(w, f.out, run)
	})
}
