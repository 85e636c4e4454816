package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/experiments"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
)

func newDataCommand() *cobra.Command {
	var dir string
	cmd := group("data", newDataListCommand(&dir), newDataFetchCommand(&dir), newDataDescribeCommand(&dir))
	for _, c := range cmd.Commands() {
		dataFlag(c, &dir)
	}
	return cmd
}

func newDataListCommand(dir *string) *cobra.Command {
	var verbose bool
	cmd := command("data-list", "")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "licence, citation, addresses and checksums as well")
	return prints(cmd, func(_ *cobra.Command, _ []string, a *answer) error {
		folder := fetch.Root(*dir)
		if _, err := os.Stat(folder); err != nil {
			folder += " (does not exist)"
		}
		fmt.Fprintf(a.text, "data folder: %s\n\n", folder)
		var files, sets, sources [][]any
		for _, e := range fetch.Catalogue() {
			_, absent := e.Present(*dir)
			files = append(files, []any{e.Name, absent == nil, downloadSize(e), strings.Join(e.Studies, ","), e.What})
			sources = append(sources, []any{e.Name, "licence", e.Licence}, []any{e.Name, "cite", e.Citation})
			for _, d := range e.Downloads {
				sources = append(sources, []any{e.Name, "from", d.URL},
					[]any{e.Name, "SHA-256", cmp.Or(d.SHA256, "none is published")})
			}
			if e.Manual != "" {
				sources = append(sources, []any{e.Name, "by hand", e.Manual})
			}
		}
		if err := a.table("files", []string{"name", "here", "size", "studies", "what"}, files); err != nil {
			return err
		}
		if verbose {
			fmt.Fprintln(a.text)
			if err := a.table("sources", []string{"name", "of", "value"}, sources); err != nil {
				return err
			}
		}
		for _, name := range datasets.Names() {
			d, err := datasets.Find(name)
			if err != nil {
				return err
			}
			sets = append(sets, []any{name, d.Doc})
		}
		fmt.Fprintln(a.text)
		return a.table("datasets", []string{"data set", "what"}, sets)
	})
}

func downloadSize(e fetch.Entry) string {
	if len(e.Downloads) == 0 {
		return "by hand"
	}
	var n int64
	for _, d := range e.Downloads {
		n += d.Bytes
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func newDataFetchCommand(dir *string) *cobra.Command {
	cmd := completes(command("data-fetch", "[NAME...]"), func() []string {
		return append(list.Map(fetch.Catalogue(), func(e fetch.Entry) string { return e.Name }), studies()...)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			args = []string{"comparative"}
		}
		entries, err := expand(args, *dir)
		if err != nil {
			return usage(err)
		}
		if len(entries) == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "nothing is missing in %s\n", fetch.Root(*dir))
			return nil
		}
		return download(cmd.Context(), *dir, entries, cmd.ErrOrStderr())
	}
	return cmd
}

// expand returns the entries for names: for a study, those that are missing.
func expand(names []string, dir string) (out []fetch.Entry, err error) {
	for _, name := range names {
		var entries []fetch.Entry
		if slices.Contains(experiments.Builtin.Names(), name) || strings.HasSuffix(name, ".yaml") {
			var s *plan.Plan
			if s, err = openStudy(name, dir, study.Overrides{}); err == nil {
				entries, err = s.Missing(dir)
			}
		} else {
			entries, err = fetch.Expand(name)
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !slices.ContainsFunc(out, func(o fetch.Entry) bool { return o.Name == e.Name }) {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// download gets entries of the catalogue. The causes of a failure are one message.
func download(ctx context.Context, dir string, entries []fetch.Entry, stderr io.Writer) error {
	err := (&fetch.Fetcher{Dir: dir, Log: stderr}).Fetch(ctx, entries)
	if err == nil || !strings.Contains(err.Error(), "\n") {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// provide makes sure that the data of a study is there: with fetches it gets what
// is missing, otherwise its error tells how to get it.
func provide(ctx context.Context, missing []fetch.Entry, fetches bool, dir string, stderr io.Writer) error {
	if fetches || len(missing) == 0 {
		return download(ctx, dir, missing, stderr)
	}
	names := list.Map(missing, func(e fetch.Entry) string { return e.Name })
	command := "mldp data fetch " + strings.Join(names, " ")
	if dir != "" {
		command += " --data " + dir
	}
	return fmt.Errorf("not in %s: %s; get it with: %s", fetch.Root(dir), strings.Join(names, ", "), command)
}
