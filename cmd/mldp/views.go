package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/vg"

	"mldpbench/internal/check"
	"mldpbench/plots"
	"mldpbench/results"
	"mldpbench/results/published"
	"mldpbench/results/tables"
)

func newFiguresCommand() *cobra.Command {
	var v viewOptions
	var width, face string
	var metrics, only, formats []string
	var theme plots.Theme
	cmd := command("figures", "figures RESULTS...", cobra.MinimumNArgs(1))
	f := cmd.Flags()
	v.addFlags(f, "figures")
	f.StringSliceVar(&only, "only", nil, "figures by beginning of name: accuracy, frontier, metric-n-w…")
	f.StringSliceVar(&metrics, "metric", nil, "figures of these quantities: accuracy, n_w, em-uniform…")
	f.StringVar(&width, "width", "3.4in", "width on paper, with its unit")
	f.Float64Var(&theme.FontSize, "font-size", plots.FontSize, "label size in points; other texts are in proportion")
	f.StringVar(&face, "font", plots.Face, "Sans, Serif (as Times) or Mono")
	f.BoolVar(&theme.NoTitle, "no-title", false, "leave the title out")
	f.BoolVar(&theme.NoNotes, "no-notes", false, "leave the notes below out")
	f.StringSliceVar(&formats, "format", plots.Formats, "png, svg, pdf")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		for _, f := range formats {
			if err := check.OneOf("format", f, plots.Formats...); err != nil {
				return err
			}
		}
		if err := errors.Join(check.OneOf("font", face, plots.Faces...),
			check.Within("font-size", theme.FontSize, 4, 24)); err != nil {
			return err
		}
		plots.Face = face
		w, err := vg.ParseLength(width)
		if err == nil && (w < vg.Inch || w > 20*vg.Inch) {
			err = errors.New("must be from 1in to 20in")
		}
		if err != nil {
			return check.Wrong("width = %q: %v; examples: 3.4in, 86mm, 245pt", width, err)
		}
		theme.Width = w
		p, err := v.open(args)
		if err != nil {
			return err
		}
		for _, m := range metrics {
			if _, err := results.FindColumn(m); err != nil {
				return usage(err)
			}
			kind := strings.ReplaceAll(m, "_", "-")
			only = append(only, kind+"-", "metric-"+kind+"-", "attacks-"+kind+"-")
		}
		drawn, skipped := plots.All(p)
		drawn = named(drawn, only, func(f plots.Figure) string { return f.Name })
		if len(drawn) == 0 {
			return fmt.Errorf("%s: no figure could be drawn", args[0])
		}
		for i := range drawn {
			drawn[i] = drawn[i].In(theme)
		}
		paths, err := plots.Save(v.out, drawn, formats)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		if len(only) == 0 {
			for _, s := range skipped {
				fmt.Fprintf(cmd.ErrOrStderr(), "not drawn: %s: %s\n", s.Name, s.Reason)
			}
		}
		a.wrote(v.out, paths...)
		return nil
	})
}

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
