// Package plots draws prepared results as figures, as they are declared in package
// views: what is over what, a curve by, a panel by.
//
// One theme draws them all, over gonum's plotters. A mechanism has one look
// (lookOf), and no two that are named in one figure have one marker. Every number
// has its interval where there is one, by the rule of tables, titles mark generated
// data, and a mechanism that guarantees nothing has a hollow marker and a dagger. A
// figure without data is not drawn but reported as skipped.
//
// A panel names at most eight mechanisms, the same ones in all figures of a run: the
// user's own, then those that keep most at equal privacy. The rest are grey lines.
// Mechanisms on which ε has no effect are references, which do not count and do not
// stretch the axes.
package plots

import (
	"fmt"
	"os"
	"path/filepath"

	"mldpbench/internal/atomicfile"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/views"
)

// All returns the figures of some views for which the cells have data, and the
// names of the views that have none. No two figures have one name.
func All(a *analysis.Analysis, declared []views.View) (figures []Figure, skipped []string) {
	v := newView(a)
	taken := map[string]bool{}
	for _, d := range declared {
		drawn := v.figures(d)
		if len(drawn) == 0 {
			skipped = append(skipped, d.Name)
		}
		for _, f := range drawn {
			f.Name = results.Unique(taken, f.Name)
			figures = append(figures, f)
		}
	}
	return figures, skipped
}

// Formats are the file formats of figures.
var Formats = []string{"png", "svg", "pdf"}

// Saved is what Save wrote, and what it did not: "epsilon.png: the font lacks …".
type Saved struct{ Paths, Refused []string }

// Save writes figures into dir in the formats given. A figure without its title or notes
// has them in a text file beside it. One with letters that the font lacks is refused as
// PNG and PDF, which would leave them out; in an SVG they are of the reader's font.
func Save(dir string, figures []Figure, formats []string) (saved Saved, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return saved, err
	}
	save := func(name string, data []byte) error {
		path := filepath.Join(dir, name)
		saved.Paths = append(saved.Paths, path)
		return atomicfile.WriteBytes(path, 0o644, data)
	}
	for _, f := range figures {
		lacking := f.lacking()
		for _, format := range formats {
			if format != "svg" && lacking != "" {
				why := fmt.Sprintf("%s.%s: not drawn: the font lacks letters of its names, %s: take --format svg",
					f.Name, format, lacking)
				saved.Refused = append(saved.Refused, why)
				continue
			}
			data, err := f.Render(format)
			if err != nil {
				return saved, fmt.Errorf("figure %s: %w", f.Name, err)
			}
			if err := save(f.Name+"."+format, data); err != nil {
				return saved, err
			}
		}
		if f.theme.Bare {
			if err := save(f.Name+".txt", []byte(f.Title+"\n\n"+f.Caption+"\n")); err != nil {
				return saved, err
			}
		}
	}
	return saved, nil
}
