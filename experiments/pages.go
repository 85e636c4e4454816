package experiments

import (
	"errors"
	"io"
	"path/filepath"

	"mldpbench/experiments/engine"
	"mldpbench/internal/atomicfile"
	"mldpbench/plots"
	"mldpbench/plots/report"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
	"mldpbench/results/views"
)

// runPages are what is written of a run beside its page, where there is some.
type runPages struct {
	levels  quantity.Levels // at which mechanisms are ranked
	figures string          // folder
	tables  []views.View    // in every format, before what leads
}

// writeRun writes the page of finished rows, which are not read back, and answers what
// they say.
func (o *Outcome) writeRun(s *engine.Summary, pages runPages) error {
	audited, err := results.ReadAudit(filepath.Join(s.Dir, auditFile))
	if err != nil {
		return err
	}
	run := results.Run{
		Name:  s.Dir,
		Rows:  s.Rows,
		Audit: audited,
	}
	addManifest(&run, &s.Manifest)
	measured, err := analysis.New(pages.levels, run)
	if err != nil {
		return err
	}
	o.Analysis = measured
	page := filepath.Join(s.Dir, "report.html")
	if err := writePage(page, report.Input{Analysis: measured}); err != nil {
		return err
	}
	o.note("rows are in %s", s.Dir)
	declared := views.Builtin()
	own := views.Tables(measured, pages.tables)
	files, err := views.Save(s.Dir, own, views.Formats)
	lead := views.Named(views.Tables(measured, declared.Tables), "equal")
	lead = lead[:min(1, len(lead))]
	if pages.levels.Quantity != "" {
		lead = views.Tables(measured, declared.Ranking)
	}
	o.tables(append(own, lead...)...)
	if err != nil {
		return err
	}
	o.Files = append(o.Files, files...)
	if text := views.Answer(measured); text != "" {
		o.say("%s", text)
	}
	o.recordWarnings(measured.Datasets)
	o.wrote(s.Dir, page)
	if pages.levels.Quantity != "" {
		if err := o.writeRanking(s.Dir, pages.levels.Quantity, lead); err != nil {
			return err
		}
	}
	if pages.figures == "" {
		return nil
	}
	drawn, _ := plots.All(measured, declared.Figures)
	saved, err := plots.Save(pages.figures, drawn, []string{"svg", "png"})
	o.noteRefused(saved)
	o.wrote(pages.figures, saved.Paths...)
	return err
}

// writeRanking writes the tables of a ranking for a paper, and the figure of utility over the
// quantity that is equal.
func (o *Outcome) writeRanking(folder, quantity string, ranking []views.Table) error {
	files, tablesErr := views.Save(folder, ranking, []string{"tex"})
	isFrontier := func(v views.View) bool { return v.Name == "frontier" }
	frontier := results.Where(views.Builtin().Figures, isFrontier)
	frontier[0].X = quantity
	frontier[0].Title = "{y} against {x}"
	drawn, _ := plots.All(o.Analysis, frontier)
	saved, figuresErr := plots.Save(folder, drawn, []string{"svg"})
	for _, f := range append(files, saved.Paths...) {
		o.wrote("", f)
	}
	return errors.Join(tablesErr, figuresErr)
}

// noteRefused notes which figures are missing in a format.
func (o *Outcome) noteRefused(saved plots.Saved) {
	for _, why := range saved.Refused {
		o.note("warning: %s", why)
	}
}

// writePage writes a page.
func writePage(path string, in report.Input) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		return report.Write(w, in)
	})
}
