// Package plots draws prepared results as figures.
//
// Every kind of figure is a function from the cells of a prepared run to
// Figures over gonum's plotters, and one theme draws them all. A mechanism has
// one look everywhere (LookOf). Every number has its interval where there is
// one, titles mark generated data, and a mechanism variant that guarantees
// nothing has a hollow marker and a dagger. A figure without data is not drawn
// but reported as skipped, with the reason.
//
// A panel names at most eight mechanisms, the same ones in all figures of a run:
// first those that are best over most of the adversary's error, then those with a
// guarantee between any two words, then the others, each in the order of the
// registry. The rest are grey lines, which a page shows in full when asked.
// Mechanisms on which ε has no effect are references and do not count.
package plots

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"mldpbench/internal/atomicfile"
	"mldpbench/results"
)

// Skip is a figure that was not drawn, with the reason.
type Skip struct {
	Name   string
	Reason string
}

// kind draws all figures of one kind for which the cells have data.
type kind struct {
	name string
	draw func(*view) ([]Figure, error)
}

// kinds are the figures of a study, the ones that answer it first. A new kind
// is one function and one line here.
var kinds = []kind{
	{"frontier", frontierFigures},
	{"attacks", attackFigures},
	{"accuracy", accuracyFigures},
	{"papers", paperFigures},
	{"metric", metricFigures},
}

// All returns the figures of some kinds (none: every kind) for which the cells
// have data, and the kinds that were skipped. No two figures have one name.
func All(p *results.Prepared, wanted ...string) ([]Figure, []Skip) {
	v := newView(p)
	var figures []Figure
	var skipped []Skip
	taken := map[string]bool{}
	for _, k := range kinds {
		if len(wanted) > 0 && !slices.Contains(wanted, k.name) {
			continue
		}
		drawn, err := k.draw(v)
		if err == nil && len(drawn) == 0 {
			err = errNoData
		}
		if err != nil {
			skipped = append(skipped, Skip{k.name, err.Error()})
			continue
		}
		for _, f := range drawn {
			f.Kind = k.name
			f.Name = results.Unique(taken, f.Name)
			figures = append(figures, f)
		}
	}
	return figures, skipped
}

// Formats are the file formats of figures.
var Formats = []string{"png", "svg", "pdf"}

// Save writes figures into dir in the formats given and returns the paths. A
// figure without its title or notes has them in a text file beside it.
func Save(dir string, figures []Figure, formats []string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var paths []string
	save := func(name string, data []byte) error {
		path := filepath.Join(dir, name)
		paths = append(paths, path)
		return atomicfile.WriteBytes(path, 0o644, data)
	}
	for _, f := range figures {
		for _, format := range formats {
			data, err := f.Render(format)
			if err != nil {
				return paths, fmt.Errorf("figure %s: %w", f.Name, err)
			}
			if err := save(f.Name+"."+format, data); err != nil {
				return paths, err
			}
		}
		if f.theme.NoTitle || f.theme.NoNotes {
			if err := save(f.Name+".txt", []byte(f.Text())); err != nil {
				return paths, err
			}
		}
	}
	return paths, nil
}
