package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mldpbench/internal/list"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/experiments"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/progress"
)

func newDataCommand() *cobra.Command {
	var dir string
	cmd := group("data", newDataListCommand(&dir), newDataFetchCommand(&dir), newDataVerifyCommand(&dir),
		newDataDescribeCommand(&dir), newDataVectorsCommand(&dir))
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
				sources = append(sources, []any{e.Name, "from", d.URL}, []any{e.Name, "checksum", d.Check()})
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
	return megabytes(n)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func newDataFetchCommand(dir *string) *cobra.Command {
	var yes bool
	var dimensions []int
	var mirror, from string
	cmd := completes(command("data-fetch", "[NAME...]"), func() []string {
		return append(list.Map(fetch.Catalogue(), func(e fetch.Entry) string { return e.Name }), studies()...)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if from != "" {
			return placeOwn(cmd, *dir, args, from)
		}
		if len(args) == 0 {
			args = []string{"comparative"}
		}
		entries, err := expand(args, dimensions, *dir)
		if err != nil {
			return usage(err)
		}
		if len(entries) == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "nothing is missing in %s\n", fetch.Root(*dir))
			return nil
		}
		f := newFetcher(*dir, yes, cmd.InOrStdin(), cmd.ErrOrStderr())
		f.Mirror = mirror
		return asOneLine(f.Fetch(cmd.Context(), entries))
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask before large downloads")
	cmd.Flags().IntSliceVar(&dimensions, "dimension", nil, "only these dimensions of an embedding or a study")
	cmd.Flags().StringVar(&mirror, "mirror", "", "folder to look in first (default: MLDP_MIRROR)")
	cmd.Flags().StringVar(&from, "from", "", "use this file, for data that only you may download")
	return cmd
}

// expand returns the entries for names: for a study, those that are missing.
func expand(names []string, dimensions []int, dir string) (out []fetch.Entry, err error) {
	for _, name := range names {
		var entries []fetch.Entry
		if slices.Contains(experiments.Builtin.Names(), name) || strings.HasSuffix(name, ".yaml") {
			var s *experiments.Planned
			if s, err = openStudy(name, dir, study.Overrides{}); err == nil {
				entries, err = s.Missing(dir)
				entries = slices.DeleteFunc(entries, func(e fetch.Entry) bool {
					_, d := study.DimensionSuffix(e.Name)
					return d > 0 && len(dimensions) > 0 && !slices.Contains(dimensions, d)
				})
			}
		} else {
			entries, err = fetch.Expand([]string{name}, dimensions)
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

// newFetcher shows progress on stderr and asks before large downloads unless
// yes is given.
func newFetcher(dir string, yes bool, stdin io.Reader, stderr io.Writer) *fetch.Fetcher {
	f := &fetch.Fetcher{
		Dir:      dir,
		Notice:   func(line string) { fmt.Fprintln(stderr, line) },
		Progress: downloadProgress(stderr),
	}
	if !yes {
		f.Confirm = confirmDownload(stdin, stderr)
	}
	return f
}

// oneLine keeps the causes of a failure in one message.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }
func (e oneLine) Unwrap() error { return e.error }

func asOneLine(err error) error {
	if err == nil {
		return nil
	}
	return oneLine{err}
}

// confirmDownload asks on a terminal and returns an error elsewhere.
func confirmDownload(in io.Reader, out io.Writer) func(int64) error {
	return func(bytes int64) error {
		f, ok := in.(*os.File)
		if !ok || !term.IsTerminal(int(f.Fd())) {
			return fmt.Errorf("this downloads about %s: say --yes", megabytes(bytes))
		}
		fmt.Fprintf(out, "This downloads about %s. Go on? [y/N] ", megabytes(bytes))
		answer, _ := bufio.NewReader(in).ReadString('\n')
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return errors.New("nothing downloaded")
		}
		return nil
	}
}

// downloadProgress shows the progress of downloads.
func downloadProgress(out io.Writer) func(string, int64) func(int64) {
	return func(file string, total int64) func(int64) {
		fmt.Fprintf(out, "getting %s (%s)\n", file, megabytes(total))
		bar, shown := progress.New(out, "MB", int(total/1e6), float64(total)), int64(0)
		return func(done int64) {
			if done < 0 {
				bar.Close()
			} else if more := int(done/1e6 - shown/1e6); more > 0 {
				bar.Add(more, float64(done-shown), file)
				shown = done
			}
		}
	}
}

// placeOwn copies a file that only the user may download into the data
// folder, after reading it.
func placeOwn(cmd *cobra.Command, dir string, args []string, from string) error {
	if len(args) != 1 {
		return check.Wrong("--from takes exactly one NAME")
	}
	entry, err := fetch.Find(args[0])
	if err != nil {
		return usage(err)
	}
	if _, err := datasets.Find(entry.Name); err != nil || len(entry.Downloads) > 0 {
		return check.Wrong("%s can be downloaded: leave --from out, or put the original file into a folder and set "+
			"MLDP_MIRROR to it", entry.Name)
	}
	if _, err := datasets.Load(cmd.Context(), datasets.Request{Name: entry.Name, Root: dir, File: from}); err != nil {
		return err
	}
	path, err := entry.Place(dir, from)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: in %s\n", entry.Name, path)
	return nil
}

func newDataVerifyCommand(dir *string) *cobra.Command {
	cmd := command("data-verify", "")
	return prints(cmd, func(cmd *cobra.Command, _ []string, a *answer) error {
		checks, err := (&fetch.Fetcher{Dir: *dir}).Verify(cmd.Context(), fetch.Catalogue())
		if err != nil {
			return err
		}
		if len(checks) == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "nothing to check in %s\n", fetch.Root(*dir))
			return nil
		}
		bad := 0
		var rows [][]any
		for _, c := range checks {
			row := []any{"ok", c.Path, nil}
			if c.Err != nil {
				row[0], row[2] = "differs", c.Err.Error()
				bad++
			}
			rows = append(rows, row)
		}
		if err := a.table("files", []string{"state", "file", "why"}, rows); err != nil {
			return err
		}
		if bad > 0 {
			return &verdict{exitFailure, fmt.Sprintf("%d of %d files are not the published ones", bad, len(checks))}
		}
		return nil
	})
}

// fetchOptions are the flags for a study's missing data.
type fetchOptions struct {
	fetch, yes bool
}

// provide downloads the data of a study with --fetch; otherwise its error tells
// how to get it.
func (o fetchOptions) provide(ctx context.Context, missing []fetch.Entry, dir string, stdin io.Reader,
	stderr io.Writer) error {
	switch {
	case len(missing) == 0:
		return nil
	case o.fetch:
		return asOneLine(newFetcher(dir, o.yes, stdin, stderr).Fetch(ctx, missing))
	}
	var names, download, byHand []string
	for _, e := range missing {
		names = append(names, e.Name)
		if len(e.Downloads) > 0 {
			download = append(download, e.Name)
		} else {
			byHand = append(byHand, e.Name+": "+e.Manual)
		}
	}
	steps := byHand
	if len(download) > 0 {
		command := "mldp data fetch " + strings.Join(download, " ")
		if dir != "" {
			command += " --data " + dir
		}
		steps = append([]string{"get it with: " + command}, byHand...)
	}
	return fmt.Errorf("not in %s: %s; %s", fetch.Root(dir), strings.Join(names, ", "), strings.Join(steps, "; "))
}
