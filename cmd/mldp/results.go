package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	"mldpbench/plots"
	"mldpbench/plots/report"
	"mldpbench/results"
	"mldpbench/results/published"
	"mldpbench/results/tables"
)

// auditFile is the name of the file with the audit of a study's mechanisms,
// next to its rows.
const auditFile = "audit.csv"

// loadRuns reads results files, or the folders of runs, and returns their
// joined view.
func loadRuns(paths ...string) (*results.Prepared, error) {
	var runs []results.Run
	for _, path := range paths {
		run, err := readRun(path)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	p, err := results.Prepare(runs...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths[0], err)
	}
	return p, nil
}

// beside is where a file made of results goes by default: into the folder of a
// run. A file of rows may lie among records, so what is made of it goes here.
func beside(path, name string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, name)
	}
	return name
}

// viewOptions are the flags of commands that write what results have.
type viewOptions struct {
	datasets, mechanisms []string
	levels               results.Levels
	out, files           string
	formats, known       []string
}

// addFlags adds those of a folder of such files, which have some of these formats.
func (o *viewOptions) addFlags(f *pflag.FlagSet, files string, formats []string) {
	o.files, o.known = files, formats
	f.StringSliceVar(&o.formats, "format", formats, strings.Join(formats, ", "))
	f.StringSliceVar(&o.datasets, "dataset", nil, "data sets (default: all)")
	f.StringSliceVar(&o.mechanisms, "mechanism", nil, "mechanisms (default: all)")
	outFlag(f, &o.out, "", "folder of the "+files+" (default: "+files+" in the first run's folder, or here)")
}

// open reads results, keeps the data sets and mechanisms chosen, with the
// baselines, and completes the name of the output, a folder.
func (o *viewOptions) open(paths []string) (*results.Prepared, error) {
	for _, f := range o.formats {
		if err := check.OneOf("format", f, o.known...); err != nil {
			return nil, err
		}
	}
	p, err := loadRuns(paths...)
	if err != nil {
		return nil, err
	}
	pick := func(what string, wanted []string, of func(results.Cell) string) error {
		names := results.Distinct(p.Cells, of)
		for _, w := range wanted {
			if !slices.Contains(names, w) {
				return check.Wrong("%s = %q: the results have %s", what, w, strings.Join(names, ", "))
			}
		}
		return nil
	}
	if err := errors.Join(pick("dataset", o.datasets, func(c results.Cell) string { return c.Dataset }),
		pick("mechanism", o.mechanisms, func(c results.Cell) string { return c.Mechanism })); err != nil {
		return nil, err
	}
	p = p.Select(func(c results.Cell) bool {
		return (len(o.datasets) == 0 || slices.Contains(o.datasets, c.Dataset)) &&
			(len(o.mechanisms) == 0 || c.IsBaseline() || slices.Contains(o.mechanisms, c.Mechanism))
	})
	p.Levels = o.levels
	o.out = cmp.Or(o.out, beside(paths[0], o.files))
	return p, nil
}

// wrote gives the answer of these files, and removes what the same command wrote
// here in these formats before and did not write now: tables of data sets that are
// no longer selected. A part of the files replaces no others.
func (o *viewOptions) wrote(a *answer, paths []string, part bool) error {
	const list = ".written"
	index := filepath.Join(o.out, list)
	before, err := os.ReadFile(index)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names := results.Distinct(paths, filepath.Base)
	for _, name := range strings.Fields(string(before)) {
		switch format := strings.TrimPrefix(filepath.Ext(name), "."); {
		case slices.Contains(names, name) || filepath.Base(name) != name:
		case part || !slices.Contains(o.formats, format):
			names = append(names, name)
		default:
			if err := os.Remove(filepath.Join(o.out, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	slices.Sort(names)
	a.wrote(o.out, paths...)
	return atomicfile.WriteBytes(index, 0o644, []byte(strings.Join(names, "\n")+"\n"))
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
	if run.Audit, err = results.ReadAudit(filepath.Join(dir, auditFile)); err != nil {
		return run, err
	}
	run.Examples, err = engine.ReadExamples(filepath.Join(dir, "examples.jsonl"))
	return run, err
}

// addManifest fills in the origin of a run from its manifest.
func addManifest(run *results.Run, m *engine.Manifest) {
	run.Command, run.Definition, run.Version, run.Machine = m.Command, m.Definition, m.Version, m.Machine
	run.Started = m.Started.Format("2 January 2006, 15:04 UTC")
	run.Datasets = m.Datasets
	var study struct {
		Title string `yaml:"title"`
	}
	if yaml.Unmarshal([]byte(m.Definition), &study) == nil { // the engine has read it once; a page needs only its rows
		run.Title = study.Title
	}
}

// writeOutputs writes the page of finished rows, which are not read back, and
// gives the answer. Audit is that of this run; if there is none, a file next to
// the rows is used.
func writeOutputs(a *answer, stderr io.Writer, s *engine.Summary, audit []results.AuditRow, examples bool,
	levels results.Levels) error {
	run := results.Run{Name: s.Dir, Rows: s.Rows, Examples: s.Examples, Audit: audit}
	addManifest(&run, &s.Manifest)
	if audit == nil {
		var err error
		if run.Audit, err = results.ReadAudit(filepath.Join(s.Dir, auditFile)); err != nil {
			return err
		}
	}
	p, err := results.Prepare(run)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(p.Cells, func(c results.Cell) bool { return c.Panel != "" }) { // figures of papers
		if err := atomicfile.Write(filepath.Join(s.Dir, "summary.csv"), 0o644, func(w io.Writer) error {
			return results.WriteRows(w, tables.Summarize(p))
		}); err != nil {
			return err
		}
	}
	p.Levels = levels
	page := filepath.Join(s.Dir, "report.html")
	if err := writePage(page, p, examples); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "rows are in %s\n", s.Dir)
	if err := a.brief(tables.Brief(p, briefRows)); err != nil {
		return err
	}
	for _, d := range p.Datasets {
		for _, w := range d.Warnings {
			a.Tables["warnings"] = append(a.Tables["warnings"], map[string]any{"dataset": d.Name, "warning": w})
		}
	}
	a.wrote(s.Dir, page)
	return nil
}

// briefRows limits the output of a run, with its heading, to ten lines.
const briefRows = 9

// writePage writes the page of a view.
func writePage(path string, p *results.Prepared, examples bool) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		return report.Write(w, report.Input{Prepared: p, Examples: examples})
	})
}

// isPage refuses the name of a page that would be taken for something else.
func isPage(name string) error {
	if ext := filepath.Ext(name); ext != "" && ext != ".html" && ext != ".htm" {
		return check.Wrong("out = %q: a page is HTML, so its name ends in .html; mldp figures draws %s", name,
			strings.Join(plots.Formats, ", "))
	}
	return nil
}

func newReportCommand() *cobra.Command {
	var out string
	var examples bool
	var levels results.Levels
	cmd := command("report", "report RESULTS...", cobra.MinimumNArgs(1))
	outFlag(cmd.Flags(), &out, "", "the page to write (default: report.html in the first run's folder, or here)")
	examplesFlag(cmd.Flags(), &examples)
	alignFlag(cmd.Flags(), &levels)
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		p, err := loadRuns(args...)
		if err := errors.Join(err, isPage(out)); err != nil {
			return err
		}
		if examples && len(p.Examples) == 0 {
			fmt.Fprintln(cmd.ErrOrStderr(), "no examples were kept: those of your own files need mldp run --examples")
		}
		p.Levels = levels
		out = cmp.Or(out, beside(args[0], "report.html"))
		if err := writePage(out, p, examples); err != nil {
			return err
		}
		a.wrote("", out)
		return nil
	})
}

func newFiguresCommand() *cobra.Command {
	var v viewOptions
	var width, face string
	var metrics, only []string
	var theme plots.Theme
	cmd := command("figures", "figures RESULTS...", cobra.MinimumNArgs(1))
	f := cmd.Flags()
	v.addFlags(f, "figures", plots.Formats)
	f.StringSliceVar(&only, "only", nil, "figures by beginning of name: accuracy, frontier, metric-n-w…")
	f.StringSliceVar(&metrics, "metric", nil, "figures of these quantities: accuracy, n_w, em-uniform…")
	f.StringVar(&width, "width", "3.4in", "width on paper, with its unit")
	f.Float64Var(&theme.FontSize, "font-size", plots.FontSize, "label size in points; other texts are in proportion")
	f.StringVar(&face, "font", plots.Face, "Sans, Serif (as Times) or Mono")
	f.BoolVar(&theme.NoTitle, "no-title", false, "leave the title out")
	f.BoolVar(&theme.NoNotes, "no-notes", false, "leave the notes below out")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
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
		drawn = results.Where(drawn, func(f plots.Figure) bool {
			return len(only) == 0 || slices.ContainsFunc(only, func(b string) bool { return strings.HasPrefix(f.Name, b) })
		})
		if len(drawn) == 0 {
			return fmt.Errorf("%s: no figure could be drawn", args[0])
		}
		for i := range drawn {
			drawn[i] = drawn[i].In(theme)
		}
		paths, err := plots.Save(v.out, drawn, v.formats)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		if len(only) == 0 {
			for _, s := range skipped {
				fmt.Fprintf(cmd.ErrOrStderr(), "not drawn: %s: %s\n", s.Name, s.Reason)
			}
		}
		return v.wrote(a, paths, len(only) > 0)
	})
}

func newTablesCommand() *cobra.Command {
	var v viewOptions
	var only, selected []string
	var narrow bool
	cmd := command("tables", "tables RESULTS...", cobra.MinimumNArgs(1))
	f := cmd.Flags()
	v.addFlags(f, "tables", tables.Formats)
	f.StringSliceVar(&only, "only", nil, "tables by beginning of name: accuracy, privacy, aligned…")
	f.StringSliceVar(&selected, "select", nil, "names of rows, and words of headings of columns")
	f.BoolVar(&narrow, "narrow", false, "LaTeX for one column of a paper")
	alignFlag(f, &v.levels)
	return prints(cmd, func(_ *cobra.Command, args []string, a *answer) error {
		p, err := v.open(args)
		if err != nil {
			return err
		}
		list := tables.Named(append(tables.All(p), published.Tables(p)...), only...)
		if len(list) == 0 {
			return fmt.Errorf("%s: no table of this name", args[0])
		}
		met := map[string]bool{}
		for i := range list {
			if list[i].Narrow = narrow; len(selected) > 0 {
				list[i] = list[i].Select(selected, met)
			}
		}
		for _, word := range selected {
			if !met[word] {
				return check.Wrong("select = %q: no row or column of these tables has this name", word)
			}
		}
		paths, err := tables.Write(v.out, list, v.formats)
		if err != nil {
			return err
		}
		return v.wrote(a, paths, len(only) > 0)
	})
}
