package measure

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/stream"
)

// of is the row of a repetition, which measurements of kind OfAllRepeats number
// themselves.
func of(r results.Row, repetition int, quantity string, m results.Measured) results.Row {
	r.Repetition = repetition
	return r.Of(quantity, m)
}

// labelled is the seed of one purpose in a figure of a paper, for the mechanism
// and ε of the release.
func labelled(r *Release, purpose string) stream.Seed {
	return r.Root().Derive(append([]string{purpose}, study.Labels(r.Mechanism)...)...)
}

// rightly is the share of examples that a classifier gets right, in percent.
func rightly(s Score) results.Measured {
	m := results.Number(100 * s.Accuracy())
	m.Part, m.Whole, m.Items = s.Correct, s.Total, results.NewOutcomes(s.Right)
	return m
}

// entry is the metric of a figure's options. What they must hold is not marked
// omitempty: numbers of at least the lower limit, and lists with an entry.
// dataset and model tell whether the scene must have one; more checks the rest.
func entry[T any](key string, dataset, model bool, more func(o *T, d *study.Design, at study.At) error) study.Metric {
	return study.Metric{Key: key, New: func() any { return new(T) },
		Check: func(options any, d *study.Design, at study.At) error {
			if dataset && len(d.Datasets) == 0 || model && len(d.Models) == 0 {
				return at(errors.New(key+": needs datasets, and a model where one is trained"), "")
			}
			for _, m := range d.Mechanisms {
				if m.Is() {
					return at(fmt.Errorf("%s: %s is measured of mechanisms that are built in", m.Name, key), "")
				}
			}
			v := reflect.ValueOf(options).Elem()
			for i := range v.NumField() {
				f := v.Type().Field(i)
				name, optional, _ := strings.Cut(f.Tag.Get("yaml"), ",")
				low, _, _ := strings.Cut(f.Tag.Get("limits"), ",")
				least, _ := strconv.Atoi(low) // tags are constants of this program
				var err error
				switch {
				case optional != "" || name == "-" || !f.IsExported():
				case f.Type.Kind() == reflect.Int:
					err = check.AtLeast(name, int(v.Field(i).Int()), least)
				case f.Type.Kind() == reflect.Slice:
					err = check.AtLeast("number of "+name, v.Field(i).Len(), 1)
				}
				if err != nil {
					return at(err, "%s", name)
				}
			}
			if more == nil {
				return nil
			}
			return more(options.(*T), d, at)
		}}
}

// inside checks that the entries of a list are above low and below high.
func inside(at study.At, name string, list []float64, low, high float64) error {
	for i, v := range list {
		if err := check.Inside(name, v, low, high); err != nil {
			return at(err, "%s[%d]", name, i)
		}
	}
	return nil
}
