package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/plot/vg"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/plots"
	"mldpbench/plots/report"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/published"
	"mldpbench/results/views"
)

// auditFile is the name of the file with the audit of a study's mechanisms,
// next to its rows.
const auditFile = "audit.csv"

// loadRuns reads results files, or the folders of runs, and analyses them together at
// some levels; what a reader must know of it is said. Files that cannot be read are
// wrong usage; those without rows are not.
func loadRuns(stderr io.Writer, levels results.Levels, paths ...string) (*analysis.Analysis, error) {
	var runs []results.Run
	for _, path := range paths {
		run, err := readRun(path)
		if err != nil {
			return nil, usage(err)
		}
		runs = append(runs, run)
	}
	read, err := analysis.New(levels, runs...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths[0], err)
	}
	for _, w := range read.Warnings {
		fmt.Fprintf(stderr, "warning: %s\n", w)
	}
	return read, nil
}

// viewOptions are the flags of commands that write what results have.
type viewOptions struct {
	levels               results.Levels
	out, files, views    string
	only, formats, known []string
	declared             views.Views
}

// addFlags adds those of a folder of such files, which have some of these formats.
func (o *viewOptions) addFlags(f *pflag.FlagSet, files string, formats []string) {
	o.files, o.known = files, formats
	f.StringSliceVar(&o.formats, "format", formats, strings.Join(formats, ", "))
	f.StringSliceVar(&o.only, "only", nil, files+" by beginning of name: equal, frontier, accuracy, n-w…")
	f.StringVar(&o.views, "views", "", "YAML file with further "+files+", declared as in views.yaml")
	outFlag(f, &o.out, "", "folder of the "+files+" (default: "+files+" in the first run's folder, or here)")
}

// open reads results and completes the name of the output, a folder.
func (o *viewOptions) open(stderr io.Writer, paths []string) (*analysis.Analysis, error) {
	for _, f := range o.formats {
		if err := check.OneOf("format", f, o.known...); err != nil {
			return nil, err
		}
	}
	var err error
	if o.declared, err = views.Load(o.views); err != nil {
		return nil, usage(err)
	}
	read, err := loadRuns(stderr, o.levels, paths...)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(paths[0]); o.out == "" && err == nil && info.IsDir() {
		o.out = filepath.Join(paths[0], o.files)
	}
	o.out = cmp.Or(o.out, o.files) // what is made of a file of rows, which may lie among records, goes here
	return read, nil
}

// wants reports whether a table or figure is among those asked for.
func (o *viewOptions) wants(name string) bool {
	return len(o.only) == 0 || slices.ContainsFunc(o.only, func(b string) bool { return strings.HasPrefix(name, b) })
}

// listFile names, in a folder of tables or figures, what the program wrote there, and of
// which runs: "equal.tex<tab>digits of their paths", one a line.
const listFile = ".written"

// writtenFiles are the files of a list with their runs, "" where an earlier version did
// not say.
func writtenFiles(folder string) map[string]string {
	all := map[string]string{}
	list, _ := os.ReadFile(filepath.Join(folder, listFile)) // without it every file is in the way
	for line := range strings.Lines(string(list)) {
		file, runs, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if file != "" {
			all[file] = runs
		}
	}
	return all
}

// save writes files of these names in every format, but replaces none that is not of
// an earlier such command, and gives the answer. What is of other runs is named.
func (o *viewOptions) save(cmd *cobra.Command, args []string, a *answer, names []string,
	write func() ([]string, error)) error {
	if len(names) == 0 {
		return fmt.Errorf("%s: no %s of this name, or nothing to show", args[0], strings.TrimSuffix(o.files, "s"))
	}
	ours := writtenFiles(o.out)
	var others []string
	for _, name := range names {
		for _, format := range o.formats {
			file := name + "." + format
			if _, wrote := ours[file]; !wrote {
				others = append(others, filepath.Join(o.out, file))
			}
		}
	}
	if err := mayWrite(cmd, args, others...); err != nil {
		return err
	}
	paths, err := write()
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	a.wrote(o.out, paths...)
	runs := fmt.Sprintf("%.6x", sha256.Sum256([]byte(strings.Join(list.Map(args, absolute), "\n"))))
	now := list.Map(paths, filepath.Base)
	if left := o.left(ours, now, runs); len(left) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: in %s, but not of this run: %s\n", o.out, strings.Join(left, ", "))
	}
	for _, file := range now {
		ours[file] = runs
	}
	var lines strings.Builder
	for _, file := range slices.Sorted(maps.Keys(ours)) {
		fmt.Fprintf(&lines, "%s\t%s\n", file, ours[file])
	}
	return atomicfile.WriteBytes(filepath.Join(o.out, listFile), 0o644, []byte(lines.String()))
}

// left are the files of earlier commands in the folder that are not of these runs: those
// of others, and those that these would have written had they still what they show.
func (o *viewOptions) left(ours map[string]string, now []string, runs string) (left []string) {
	for _, file := range slices.Sorted(maps.Keys(ours)) {
		asked := len(o.only) == 0 && slices.Contains(o.formats, strings.TrimPrefix(filepath.Ext(file), "."))
		if _, err := os.Stat(filepath.Join(o.out, file)); err != nil || slices.Contains(now, file) {
			continue
		}
		if ours[file] != runs || asked {
			left = append(left, file)
		}
	}
	return left
}

// absolute is a path from the root, as it is where there is none.
func absolute(path string) string {
	if from, err := filepath.Abs(path); err == nil {
		return from
	}
	return path
}

// readRun reads the rows of a run and the other files of its folder, where
// present. Rows that are not those its manifest was written for are an error.
func readRun(path string) (run results.Run, err error) {
	file, err := results.File(path)
	if err != nil {
		return run, err
	}
	run.Name = path
	dir := filepath.Dir(file)
	if run.Rows, err = results.Read(file); err != nil {
		return run, err
	}
	if len(run.Rows) == 0 {
		return run, &verdict{exitNothing, file + ": no rows: nothing was measured"}
	}
	m, err := engine.ReadManifest(filepath.Join(dir, "manifest.json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if s, err := experiments.Builtin.Open(run.Rows[0].Study); err == nil {
			run.Title = s.Title
		}
	case err != nil:
		return run, err
	default:
		if err := m.Verify(file); err != nil {
			return run, err
		}
		addManifest(&run, m)
	}
	run.Audit, err = results.ReadAudit(filepath.Join(dir, auditFile))
	return run, err
}

// addManifest fills in the origin of a run from its manifest.
func addManifest(run *results.Run, m *engine.Manifest) {
	run.Command, run.Definition, run.Version, run.Machine = m.Command, m.Definition, m.Version, m.Machine
	run.Started = m.Started.Format("2 January 2006, 15:04 UTC")
	run.Datasets = m.Datasets
	var study struct {
		Title string             `yaml:"title"`
		PUC   *results.Composite `yaml:"puc"`
	}
	if yaml.Unmarshal([]byte(m.Definition), &study) == nil { // the engine has read it once; a page needs only its rows
		run.Title, run.PUC = study.Title, study.PUC
	}
}

// outcome is what writeOutputs writes beside the page of a run, where there is some.
type outcome struct {
	levels  results.Levels
	figures string       // a folder
	tables  []views.View // in every format, before what leads
}

// writeOutputs writes the page of finished rows, which are not read back, and
// gives the answer.
func writeOutputs(a *answer, stderr io.Writer, s *engine.Summary, o outcome) error {
	audited, err := results.ReadAudit(filepath.Join(s.Dir, auditFile))
	if err != nil {
		return err
	}
	run := results.Run{Name: s.Dir, Rows: s.Rows, Audit: audited}
	addManifest(&run, &s.Manifest)
	analysed, err := analysis.New(o.levels, run)
	if err != nil {
		return err
	}
	page := filepath.Join(s.Dir, "report.html")
	declared := views.Builtin()
	if err := writePage(page, report.Input{Analysis: analysed}); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "rows are in %s\n", s.Dir)
	own := views.Tables(analysed, o.tables)
	files, err := views.Save(s.Dir, own, views.Formats)
	lead := views.Named(views.Tables(analysed, declared.Tables), "equal")
	lead = lead[:min(1, len(lead))]
	if o.levels.Quantity != "" {
		lead = views.Tables(analysed, declared.Ranking)
	}
	if err := errors.Join(err, a.show(append(own, lead...)...)); err != nil {
		return err
	}
	a.Files = append(a.Files, files...)
	if text := views.Answer(analysed); text != "" {
		fmt.Fprintln(a.text, text)
	}
	a.warned(analysed.Datasets)
	a.wrote(s.Dir, page)
	if o.levels.Quantity != "" {
		files, err := views.Save(s.Dir, lead, []string{"tex"})
		frontier := results.Where(declared.Figures, func(v views.View) bool { return v.Name == "frontier" })
		frontier[0].X, frontier[0].Title = o.levels.Quantity, "{y} against {x}"
		drawn, _ := plots.All(analysed, frontier)
		saved, wrong := plots.Save(s.Dir, drawn, []string{"svg"})
		for _, f := range append(files, saved.Paths...) {
			a.wrote("", f)
		}
		if err = errors.Join(err, wrong); err != nil {
			return err
		}
	}
	if o.figures == "" {
		return nil
	}
	drawn, _ := plots.All(analysed, declared.Figures)
	saved, err := plots.Save(o.figures, drawn, []string{"svg", "png"})
	warnRefused(stderr, saved)
	a.wrote(o.figures, saved.Paths...)
	return err
}

// warnRefused says which figures are missing in a format.
func warnRefused(stderr io.Writer, saved plots.Saved) {
	for _, why := range saved.Refused {
		fmt.Fprintf(stderr, "warning: %s\n", why)
	}
}

// writePage writes a page.
func writePage(path string, in report.Input) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error { return report.Write(w, in) })
}

func newReportCommand() *cobra.Command {
	v := viewOptions{files: "report.html"}
	cmd := command("report", "RESULTS...")
	outFlag(cmd.Flags(), &v.out, "", "the page to write (default: report.html in the first run's folder, or here)")
	cmd.Flags().StringVar(&v.views, "views", "", "YAML file with further tables and figures")
	alignFlag(cmd.Flags(), &v.levels)
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		if err := mayWrite(cmd, args, v.out); err != nil {
			return err
		}
		read, err := v.open(cmd.ErrOrStderr(), args)
		if err != nil {
			return err
		}
		err = writePage(v.out, report.Input{Analysis: read, Views: v.declared})
		if err == nil {
			a.wrote("", v.out)
		}
		return err
	})
}

func newFiguresCommand() *cobra.Command {
	var v viewOptions
	var width string
	var theme plots.Theme
	cmd := command("figures", "RESULTS...")
	v.addFlags(cmd.Flags(), "figures", plots.Formats)
	cmd.Flags().StringVar(&width, "width", "",
		"width on paper, with its unit (default: 3.4in, of three panels and more 7in)")
	cmd.Flags().BoolVar(&theme.Bare, "bare", false, "leave title and notes to the text around the figure")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		if width != "" {
			w, err := vg.ParseLength(width)
			if err != nil || w < vg.Inch || w > 20*vg.Inch {
				return check.Wrong("width = %q: must be from 1in to 20in; examples: 3.4in, 86mm, 245pt", width)
			}
			theme.Width = w
		}
		read, err := v.open(cmd.ErrOrStderr(), args)
		if err != nil {
			return err
		}
		all, skipped := plots.All(read, v.declared.Figures)
		all = results.Where(all, func(f plots.Figure) bool { return v.wants(f.Name) })
		drawn := list.Map(all, func(f plots.Figure) plots.Figure { return f.In(theme) })
		names := list.Map(drawn, func(f plots.Figure) string { return f.Name })
		var saved plots.Saved
		err = v.save(cmd, args, a, names, func() ([]string, error) {
			var err error
			saved, err = plots.Save(v.out, drawn, v.formats)
			warnRefused(cmd.ErrOrStderr(), saved)
			return saved.Paths, err
		})
		if err == nil && len(saved.Refused) > 0 && !slices.Contains(v.formats, "svg") {
			err = fmt.Errorf("%d files are not drawn: letters that the font lacks are in an SVG only",
				len(saved.Refused))
		}
		for _, s := range skipped {
			if err == nil && len(v.only) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "not drawn: %s: no cell has what it shows\n", s)
			}
		}
		return err
	})
}

func newTablesCommand() *cobra.Command {
	var v viewOptions
	cmd := command("tables", "RESULTS...")
	v.addFlags(cmd.Flags(), "tables", views.Formats)
	alignFlag(cmd.Flags(), &v.levels)
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		read, err := v.open(cmd.ErrOrStderr(), args)
		if err != nil {
			return err
		}
		all := results.Where(append(views.Tables(read, v.declared.Tables), published.Tables(read.Prepared)...),
			func(t views.Table) bool { return v.wants(t.Name) })
		names := list.Map(all, func(t views.Table) string { return t.Name })
		return v.save(cmd, args, a, names, func() ([]string, error) { return views.Save(v.out, all, v.formats) })
	})
}
