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

	"mldpbench/datasets/fetch"
	"mldpbench/experiments"
	"mldpbench/experiments/submit"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/plots"
	"mldpbench/plots/report"
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/published"
	"mldpbench/results/tables"
)

func newSubmitCommand() *cobra.Command {
	var card, own, out string
	cmd := command("submit", "submit DIR", cobra.ExactArgs(1))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if card == "" {
			_, err := io.WriteString(cmd.OutOrStdout(), submit.EmptyCard)
			return err
		}
		p, err := submit.Submit(args[0], card, own, out)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s, %d files; check it with: mldp verify %s\n", p.Task, len(p.Files), out)
		_, err = fmt.Fprintln(cmd.OutOrStdout(), out)
		return err
	}
	cmd.Flags().StringVar(&card, "card", "", "the system card: who made it, what it promises, per which unit, what it saw")
	cmd.Flags().StringVar(&own, "task", "", "file of the task, where it is not built in")
	outFlag(cmd.Flags(), &out, "submission.zip", "the package to write")
	return cmd
}

func newVerifyCommand() *cobra.Command {
	var o submit.Options
	var quick bool
	var receipts string
	cmd := command("verify", "verify PACKAGE...", cobra.MinimumNArgs(1))
	f := cmd.Flags()
	dataFlag(f, &o.Root)
	f.StringVar(&receipts, "receipt", "", "repository of packages in whose verified.json accepted ones are noted")
	f.BoolVar(&quick, "quick", false, "only check files, card, task, study and rows")
	workersFlag(f, &o.Workers)
	f.IntVar(&o.Samples, "audit-samples", 200_000, "of an audit that a package holds: as it was made with")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) (err error) {
		o.Version, o.Log = mldpVersion(), cmd.ErrOrStderr()
		verified := map[string]string{}
		if receipts != "" {
			if verified, err = submit.Receipts(receipts); err != nil {
				return err
			}
		}
		refused := 0
		var lines []packageLine
		for _, name := range args {
			line, digest, err := verifyOne(cmd, name, o, quick)
			var r *submit.Refusal
			switch {
			case errors.As(err, &r):
				refused++
				line = packageLine{Package: name, State: "refused", Why: err.Error()}
				fmt.Fprintf(a.text, "%s: %v\n", name, err)
			case err != nil:
				return fmt.Errorf("%s: %w", name, err)
			default:
				verified[digest] = o.Version
				fmt.Fprintf(a.text, "%s: %s: %s, %d rows, %d answers on test items\n", name, line.State, line.Study, line.Rows,
					line.Items)
			}
			lines = append(lines, line)
		}
		a.add("packages", lines)
		if receipts != "" && !quick {
			if err := submit.WriteReceipts(receipts, verified); err != nil {
				return err
			}
		}
		if refused > 0 {
			return &verdict{exitFailure, fmt.Sprintf("refused: %d of %d", refused, len(args))}
		}
		return nil
	})
}

// packageLine is what was found of a package.
type packageLine struct {
	Package, State, Study string
	Rows, Items           int
	Why                   string // it was refused
}

// inside calls do with a temporary folder to unpack to, in another one that is
// empty: names of files in what others wrote are looked up in the current folder
// and in the data folder, so there is nothing but the latter. The paths are made
// absolute before.
func inside(do func(dir string) error, paths ...*string) (err error) {
	for _, p := range paths {
		if *p != "" {
			*p, err = filepath.Abs(*p)
		}
		if err != nil {
			return err
		}
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mldp-package-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	empty := filepath.Join(dir, "empty")
	if err := cmp.Or(os.Mkdir(empty, 0o755), os.Chdir(empty)); err != nil {
		return err
	}
	return errors.Join(do(filepath.Join(dir, "unpacked")), os.Chdir(here))
}

func verifyOne(cmd *cobra.Command, name string, o submit.Options, quick bool) (line packageLine, digest string,
	err error) {
	line.Package, o.Root = name, fetch.Root(o.Root)
	err = inside(func(dir string) error {
		// What is parsed before it is computed finds files in the data folder of --data as well.
		if err := os.Setenv("MLDP_DATA", o.Root); err != nil {
			return err
		}
		digest, err = line.verify(cmd, name, dir, o, quick)
		return err
	}, &name, &o.Root)
	return line, digest, err
}

// verify checks a package and, unless quick, computes it again.
func (line *packageLine) verify(cmd *cobra.Command, name, dir string, o submit.Options, quick bool) (digest string,
	err error) {
	c, err := submit.Check(name, dir)
	if err != nil {
		return "", err
	}
	line.State, line.Study, line.Rows, line.Items = submit.Claimed, c.Package.Study, len(c.Run.Rows), c.Items
	if quick {
		return c.Digest, nil
	}
	if c.Of != nil {
		if err := c.Of.Present(o.Root); err != nil {
			return "", err
		}
	}
	missing, err := experiments.Missing(c.Study, o.Root, false)
	if err != nil {
		return "", fmt.Errorf("%v: what a package names is looked up in the data folder only, %s", err, o.Root)
	}
	err = fetchOptions{}.provide(cmd.Context(), missing, o.Root, nil, nil)
	if err == nil {
		err = c.Verify(cmd.Context(), o)
	}
	line.State = submit.Recomputed
	return c.Digest, err
}

func newArtifactCommand() *cobra.Command {
	var out string
	cmd := command("artifact", "artifact STUDY|RUN", cobra.ExactArgs(1))
	outFlag(cmd.Flags(), &out, "artifact", "folder of the artefact")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		dir := args[0]
		if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err != nil {
			dir = filepath.Join("runs", args[0])
		}
		p, err := loadRuns(dir)
		if err != nil {
			return err
		}
		made, err := submit.MakeArtifact(dir, out, func(to string) error {
			all := append(tables.All(p), published.Tables(p)...)
			if _, err := tables.Write(filepath.Join(to, "tables"), all, []string{"md", "csv"}); err != nil {
				return err
			}
			drawn, _ := plots.All(p)
			if _, err := plots.Save(filepath.Join(to, "figures"), drawn, []string{"svg"}); err != nil {
				return err
			}
			return writePage(filepath.Join(to, "report.html"), p, false)
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%d files; check it with: mldp verify %s\n", len(made.Files), out)
		a.wrote("", out)
		return nil
	})
}

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
		p, err := loadRuns(args...)
		if err := errors.Join(err, isPage(out)); err != nil {
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
	return inside(func(dir string) error { return writeSiteIn(repository, dir, out) }, &repository, &out)
}

// writeSiteIn unpacks the packages into dir.
func writeSiteIn(repository, dir, out string) error {
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
