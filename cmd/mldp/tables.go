package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
	"mldpbench/results/published"
	"mldpbench/results/tables"
)

func newTablesCommand() *cobra.Command {
	var v viewOptions
	var only, selected, formats []string
	var compact, narrow bool
	cmd := command("tables", "tables RESULTS...", cobra.MinimumNArgs(1))
	f := cmd.Flags()
	v.addFlags(f, "tables")
	f.StringSliceVar(&only, "only", nil, "tables by beginning of name: accuracy, privacy, aligned…")
	f.StringSliceVar(&formats, "format", tables.Formats, "md, tex, csv")
	f.StringSliceVar(&selected, "select", nil, "names of rows, and words of headings of columns")
	f.BoolVar(&narrow, "narrow", false, "LaTeX for one column of a paper")
	f.BoolVar(&compact, "compact", false, "means only, without ± and notes")
	alignFlag(f, &v.levels)
	return prints(cmd, func(_ *cobra.Command, args []string, a *answer) error {
		for _, f := range formats {
			if err := check.OneOf("format", f, tables.Formats...); err != nil {
				return err
			}
		}
		p, err := v.open(args)
		if err != nil {
			return err
		}
		list := named(append(tables.All(p), published.Tables(p, published.DefaultMargin)...), only,
			func(t tables.Table) string { return t.Name })
		if len(list) == 0 {
			return fmt.Errorf("%s: no table of this name", args[0])
		}
		met := map[string]bool{}
		for i := range list {
			if list[i].Narrow = narrow; compact {
				list[i] = list[i].Compact()
			}
			if len(selected) > 0 {
				list[i] = list[i].Select(selected, met)
			}
		}
		for _, word := range selected {
			if !met[word] {
				return check.Wrong("select = %q: no row or column of these tables has this name", word)
			}
		}
		paths, err := tables.Write(v.out, list, formats)
		if err == nil {
			a.wrote(v.out, paths...)
		}
		return err
	})
}
