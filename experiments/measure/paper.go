package measure

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/models/attack"
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

func init() {
	auditor, _ := attack.Find("auditor") // it is registered
	Register(Measurement{
		Name: "user-audit", Version: 1, Of: OfAllRepeats, Baseline: true, Columns: attackColumns(auditor),
		Metric: entry("user_audit", true, false, func(o *attack.AuditOptions, _ *study.Design, at study.At) error {
			complete, err := attack.Options{Audit: *o}.Complete()
			*o = complete.Audit
			return at(err, "")
		}),
		Applies: hasText, Measure: measureUserAudit,
	})
}

// measureUserAudit is an auditor of a language model, against ε: Feyisetan et
// al. 2020, Tables 3 and 4. The data set has users. Its policy should be random:
// unknown words that are kept name their users.
func measureUserAudit(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	options, err := attack.Options{Audit: *q.Options.(*attack.AuditOptions)}.Complete() // of the rest
	if err != nil {
		return nil, err
	}
	l := attack.NewLexicon(r.Space.Vocabulary)
	s := attack.Situation{Options: options, DataSeed: r.Root(), Workers: q.Threads, Words: r.Space.Len(),
		Seed: labelled(r, "private"),
		Release: func(_ context.Context, documents [][]int32, _ stream.Seed) ([][]int32, error) {
			return documents, nil
		}}
	var m *mechanisms.Mechanism
	if !r.IsBaseline() {
		if m, err = r.Words(ctx); err != nil {
			return nil, err
		}
		l = attack.NewLexicon(m.Vocabulary())
	}
	for _, d := range slices.Concat(r.Corpus.Train, r.Corpus.Validation, r.Corpus.Test) {
		s.Train = append(s.Train, attack.Document{Words: l.IDs(d.Tokens), User: d.User})
	}
	if m != nil {
		attack.Attacked(&s, m, r.Space.Space, r.Policy, l)
	}
	s.Embedding = l.Embedding(r.Space.Space)
	outcomes, err := attack.RunAll(ctx, []string{"auditor"}, s)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	row.Repetition, row.XName = 1, "epsilon"
	return list.Map(outcomes, func(x attack.Outcome) results.Row { return Attacked(row, x) }), nil
}
