// Package plots draws records as figures.
//
// It believes that a figure is data plus one look: every kind of figure is a
// function from records (or plain series) to a Figure, and one theme draws
// them all, for the width of a journal's column, safe for colour-blind eyes
// and for grey paper. Every number carries its interval where there is one,
// generated data say so in the title, and a mechanism variant that guarantees
// nothing has a hollow marker and a dagger. A figure without data is not
// drawn: it is reported as skipped, with the reason.
//
// It stops at drawing: means, intervals and derived metrics come from package
// results.
package plots

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mldpbench/internal/atomicfile"
	"mldpbench/results"
)

// Skip says why a figure was not drawn.
type Skip struct {
	Name   string
	Reason string
}

// kind draws all figures of one kind that the records hold data for.
type kind struct {
	name string
	draw func(*study) ([]Figure, error)
}

// kinds are the figures of every study, in the order of the report. A new
// kind is one file and one line here.
var kinds = []kind{
	{"accuracy", accuracyFigures},
	{"deniability", deniabilityFigures},
	{"puc", pucFigures},
	{"puc-map", pucMaps},
	{"frontier", frontierFigures},
	{"aligned", alignedFigures},
	{"metrics", metricFigures},
	{"published", publishedFigures},
	{"throughput", throughputFigures},
	{"stages", stageFigures},
}

// errNoData is wrapped by kinds that find nothing to draw.
var errNoData = errors.New("no data")

// All returns the figures that the records hold data for, and what was left
// out.
func All(records []results.Record) ([]Figure, []Skip) {
	s := newStudy(results.Separate(results.Where(records, func(r results.Record) bool { return r.Quantity == "" })))
	var figures []Figure
	var skipped []Skip
	for _, k := range kinds {
		f, err := k.draw(s)
		if err == nil && len(f) == 0 {
			err = errNoData
		}
		if err != nil {
			skipped = append(skipped, Skip{k.name, err.Error()})
			continue
		}
		figures = append(figures, f...)
	}
	return figures, skipped
}

// Formats are the file formats of figures.
var Formats = []string{"png", "svg", "pdf"}

// Save writes figures into dir in the formats given and returns the paths.
func Save(dir string, figures []Figure, formats []string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range figures {
		for _, format := range formats {
			data, err := f.Render(format)
			if err != nil {
				return paths, fmt.Errorf("figure %s: %w", f.Name, err)
			}
			path := filepath.Join(dir, f.Name+"."+format)
			if err := atomicfile.WriteBytes(path, 0o644, data); err != nil {
				return paths, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}
