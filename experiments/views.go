package experiments

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/results/quantity"

	"gonum.org/v1/plot/vg"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/plots"
	"mldpbench/plots/report"
	"mldpbench/results"
	"mldpbench/results/published"
	"mldpbench/results/views"
)

// Viewing says what of runs is shown, and where it is written.
type Viewing struct {
	Call
	Runs    []string        // results files, or folders of runs
	Levels  quantity.Levels // at which mechanisms are compared, where they are asked for
	Views   string          // YAML file with further tables and figures
	Only    []string        // tables or figures by beginning of name; none: all
	Formats []string
	Out     string // page, or folder of tables or figures; "" is in the first run's folder, or here
	Width   string // of figures on paper, with its unit; "" for the default
	Bare    bool   // figures have no title and notes
}

// viewing is a viewing in progress.
type viewing struct {
	Viewing
	*Outcome
	declared views.Views
}

// open reads runs and views, and completes the name of the output.
func (v Viewing) open(output string, formats []string) (*viewing, error) {
	for _, f := range v.Formats {
		if err := check.OneOf("format", f, formats...); err != nil {
			return nil, err
		}
	}
	declared, err := views.Load(v.Views)
	if err != nil {
		return nil, Usage(err)
	}
	open := &viewing{v, v.answer(), declared}
	if _, err := open.loadRuns(v.Levels, v.Runs...); err != nil {
		return nil, err
	}
	info, err := os.Stat(v.Runs[0])
	if v.Out == "" && err == nil && info.IsDir() {
		open.Out = filepath.Join(v.Runs[0], output)
	}
	open.Out = cmp.Or(open.Out, output) // what is made of a file of rows, which may lie among records, goes here
	return open, nil
}

// Report writes the page of runs.
func Report(_ context.Context, v Viewing) (*Outcome, error) {
	if err := v.mayWrite(v.Runs, v.Out); err != nil {
		return nil, err
	}
	o, err := v.open("report.html", nil)
	if err != nil {
		return nil, err
	}
	if err := writePage(o.Out, report.Input{Analysis: o.Analysis, Views: o.declared}); err != nil {
		return nil, err
	}
	o.wrote("", o.Out)
	return o.Outcome, nil
}

// Tables writes the tables of runs.
func Tables(_ context.Context, v Viewing) (*Outcome, error) {
	o, err := v.open("tables", views.Formats)
	if err != nil {
		return nil, err
	}
	all := append(views.Tables(o.Analysis, o.declared.Tables), published.Tables(o.Analysis.Prepared)...)
	all = results.Where(all, func(t views.Table) bool { return o.wants(t.Name) })
	names := list.Map(all, func(t views.Table) string { return t.Name })
	if err := o.mayReplace("table", names); err != nil {
		return nil, err
	}
	paths, err := views.Save(o.Out, all, o.Formats)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Runs[0], err)
	}
	return o.Outcome, o.list(paths)
}

// Figures draws the figures of runs.
func Figures(_ context.Context, v Viewing) (*Outcome, error) {
	theme, err := v.theme()
	if err != nil {
		return nil, err
	}
	o, err := v.open("figures", plots.Formats)
	if err != nil {
		return nil, err
	}
	all, skipped := plots.All(o.Analysis, o.declared.Figures)
	all = results.Where(all, func(f plots.Figure) bool { return o.wants(f.Name) })
	drawn := list.Map(all, func(f plots.Figure) plots.Figure { return f.In(theme) })
	names := list.Map(drawn, func(f plots.Figure) string { return f.Name })
	if err := o.mayReplace("figure", names); err != nil {
		return nil, err
	}
	saved, err := plots.Save(o.Out, drawn, o.Formats)
	o.noteRefused(saved)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Runs[0], err)
	}
	if err := o.list(saved.Paths); err != nil {
		return nil, err
	}
	if len(saved.Refused) > 0 && !slices.Contains(o.Formats, "svg") {
		return nil, fmt.Errorf("%d files are not drawn: letters that the font lacks are in an SVG only",
			len(saved.Refused))
	}
	if len(o.Only) == 0 {
		for _, name := range skipped {
			o.note("not drawn: %s: no cell has what it shows", name)
		}
	}
	return o.Outcome, nil
}

// theme is that of the figures.
func (v Viewing) theme() (plots.Theme, error) {
	theme := plots.Theme{Bare: v.Bare}
	if v.Width == "" {
		return theme, nil
	}
	width, err := vg.ParseLength(v.Width)
	if err != nil || width < vg.Inch || width > 20*vg.Inch {
		return theme, check.Wrong("width = %q: must be from 1in to 20in; examples: 3.4in, 86mm, 245pt", v.Width)
	}
	theme.Width = width
	return theme, nil
}

// wants reports whether a table or figure is among those asked for.
func (v Viewing) wants(name string) bool {
	hasBeginning := func(beginning string) bool { return strings.HasPrefix(name, beginning) }
	return len(v.Only) == 0 || slices.ContainsFunc(v.Only, hasBeginning)
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

// mayReplace refuses to replace files of these names that are not of an earlier such
// command, and that there are none.
func (v *viewing) mayReplace(kind string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("%s: no %s of this name, or nothing to show", v.Runs[0], kind)
	}
	ours := writtenFiles(v.Out)
	var others []string
	for _, name := range names {
		for _, format := range v.Formats {
			file := name + "." + format
			if _, wrote := ours[file]; !wrote {
				others = append(others, filepath.Join(v.Out, file))
			}
		}
	}
	return v.mayWrite(v.Runs, others...)
}

// list answers which files were written, and writes them to the list of the folder. What is of
// other runs is noted.
func (v *viewing) list(paths []string) error {
	v.wrote(v.Out, paths...)
	ours := writtenFiles(v.Out)
	runs := fmt.Sprintf("%.6x", sha256.Sum256([]byte(strings.Join(list.Map(v.Runs, absolute), "\n"))))
	now := list.Map(paths, filepath.Base)
	if left := v.left(ours, now, runs); len(left) > 0 {
		v.note("warning: in %s, but not of this run: %s", v.Out, strings.Join(left, ", "))
	}
	for _, file := range now {
		ours[file] = runs
	}
	var lines strings.Builder
	for _, file := range slices.Sorted(maps.Keys(ours)) {
		fmt.Fprintf(&lines, "%s\t%s\n", file, ours[file])
	}
	return atomicfile.WriteBytes(filepath.Join(v.Out, listFile), 0o644, []byte(lines.String()))
}

// left are the files of earlier commands in the folder that are not of these runs: those
// of others, and those that these would have written had they still what they show.
func (v *viewing) left(ours map[string]string, now []string, runs string) (left []string) {
	for _, file := range slices.Sorted(maps.Keys(ours)) {
		asked := len(v.Only) == 0 && slices.Contains(v.Formats, strings.TrimPrefix(filepath.Ext(file), "."))
		if _, err := os.Stat(filepath.Join(v.Out, file)); err != nil || slices.Contains(now, file) {
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
