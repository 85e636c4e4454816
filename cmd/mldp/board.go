package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/experiments/submit"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/plots/report"
	"mldpbench/results"
	"mldpbench/results/compare"
)

func newBoardCommand() *cobra.Command {
	var out string
	var levels results.Levels
	cmd := command("board", "board REPOSITORY|RESULTS...", cobra.MinimumNArgs(1))
	outFlag(cmd.Flags(), &out, "", "of a repository the folder to write (default site), of results the page (default "+
		"board.html)")
	alignFlag(cmd.Flags(), &levels)
	return prints(cmd, func(_ *cobra.Command, args []string, a *answer) error {
		if len(args) == 1 && submit.IsRepository(args[0]) {
			out = cmp.Or(strings.TrimSuffix(out, ".html"), "site")
			if err := writeSite(args[0], out); err != nil {
				return err
			}
			a.wrote(out, filepath.Join(out, "index.html"))
			return nil
		}
		p, _, err := loadRuns(args)
		if err != nil {
			return err
		}
		out, p.Levels = cmp.Or(out, "board.html"), levels
		if err := atomicfile.Write(out, 0o644, func(w io.Writer) error {
			return report.WriteBoard(w, p, nil)
		}); err != nil {
			return err
		}
		a.wrote("", out)
		return nil
	})
}

// writeSite writes the pages of a repository.
func writeSite(repository, out string) error {
	dir, err := os.MkdirTemp("", "mldp-board-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all, err := submit.Board(repository, dir)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return check.Wrong("%s: no packages", repository)
	}
	write := func(name string, fill func(io.Writer) error) error {
		return atomicfile.Write(filepath.Join(out, filepath.FromSlash(name)), 0o644, fill)
	}
	var index []report.BoardLink
	for _, group := range submit.Tasks(all) {
		of := group[0].Of
		t := &report.BoardTask{Name: group[0].Task, Title: of.Title, About: of.About, Unit: of.Unit, Use: of.Use,
			Private: of.Private, Question: compare.Question{Use: of.Compare.Use, Privacy: of.Compare.Privacy},
			Levels: of.Compare.Levels}
		for _, e := range group {
			s := report.System{Name: e.Card.System, Link: e.Card.Link, Promise: e.Card.Promise, Unit: e.Card.Unit,
				Training: e.Card.Training, Authors: e.Card.Authors, State: e.State, Why: e.Why,
				Rests: "packages/" + e.Name + "/report.html"}
			p, err := results.Prepare(e.Run)
			if err != nil {
				return fmt.Errorf("%s: %w", e.Name, err)
			}
			copied := filepath.Join(out, submit.PackagesFolder, e.Name)
			if err := errors.Join(os.RemoveAll(copied), os.CopyFS(copied, os.DirFS(e.Dir))); err != nil {
				return err
			}
			if err := write(s.Rests, func(w io.Writer) error {
				return report.Write(w, report.Input{Prepared: p})
			}); err != nil {
				return err
			}
			t.Systems = append(t.Systems, s)
		}
		p, err := results.Prepare(submit.Join(group))
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		size := strings.NewReplacer("@", "-", "/", "-").Replace(strings.SplitN(t.Name, ":", 2)[0])
		link := report.BoardLink{Page: size + ".html", Name: t.Name, Title: of.Title, Systems: len(group)}
		if err := write(link.Page, func(w io.Writer) error { return report.WriteBoard(w, p, t) }); err != nil {
			return err
		}
		index = append(index, link)
	}
	return write("index.html", func(w io.Writer) error { return report.WriteIndex(w, index) })
}
