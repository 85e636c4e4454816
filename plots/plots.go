// Package plots draws records as figures.
//
// Every kind of figure is a function from records (or plain series) to a
// Figure, and one theme draws them all, for the width of a journal's column,
// readable for the colour-blind and in greyscale. Every number has its interval
// where there is one, titles mark generated data, and a mechanism variant that
// guarantees nothing has a hollow marker and a dagger. A figure without data is
// not drawn but reported as skipped, with the reason.
//
// Means, intervals and derived metrics come from package results.
package plots

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mldpbench/internal/atomicfile"
	"mldpbench/results"
)

// Skip is a figure that was not drawn, with the reason.
type Skip struct {
	Name   string
	Reason string
}

// kind draws all figures of one kind for which the records have data.
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

// errNoData is wrapped by errors of kinds that find nothing to draw.
var errNoData = errors.New("no data")

// All returns the figures for which the records have data, and those that were
// skipped.
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
