package experiments

import (
	"context"
	"errors"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
	"mldpbench/results/views"
	"mldpbench/stream"
)

// DataDescription asks what data sets hold as a study prepares them.
type DataDescription struct {
	Call
	Names []string          // none: all that are here
	Own   study.DatasetSpec // File, Text and Label of a file, which is the one of Names
	Set   []string          // key=value of a data set of a study
	Seed  uint64            // of the study, which determines the sample
}

// DescribeData prepares data sets as a study does, and tabulates them.
func DescribeData(ctx context.Context, d DataDescription) (*Outcome, error) {
	o := d.answer()
	names := d.Names
	all := len(names) == 0
	if all {
		names = datasets.Names()
	}
	if d.Own.File != "" && len(names) != 1 {
		return nil, check.Wrong("--file describes exactly one data set: give its NAME")
	}
	var p results.Prepared
	for _, name := range names {
		description, err := d.describe(ctx, name)
		var missing *fetch.MissingError
		if all && errors.As(err, &missing) {
			o.note("%s: not here; %s", name, missing.Hint())
			continue
		}
		if err != nil {
			return nil, err
		}
		p.Datasets = append(p.Datasets, description)
	}
	for _, d := range p.Datasets {
		for _, w := range d.Warnings {
			o.note("warning: data set %s: %s", d.Name, w)
		}
	}
	o.recordWarnings(p.Datasets)
	tables := views.Tables(analysis.Of(&p, quantity.Levels{}), views.Builtin().Tables)
	o.tables(views.Named(tables, "datasets")...)
	return o, nil
}

// describe loads a data set.
func (d DataDescription) describe(ctx context.Context, name string) (datasets.Description, error) {
	own := d.Own
	own.Name = name
	own, err := own.Set(d.Set)
	if err != nil {
		return datasets.Description{}, err
	}
	loaded, err := datasets.Load(ctx, own.Request(d.Data, stream.FromUint64(d.Seed).Derive("dataset")))
	if err != nil {
		return datasets.Description{}, err
	}
	return datasets.Describe(loaded), nil
}

// recordWarnings records what is odd about data sets.
func (o *Outcome) recordWarnings(all []datasets.Description) {
	type warning struct{ Dataset, Warning string }
	var warnings []warning
	for _, d := range all {
		for _, w := range d.Warnings {
			warnings = append(warnings, warning{d.Name, w})
		}
	}
	if len(warnings) > 0 {
		o.Records["warnings"] = warnings
	}
}
