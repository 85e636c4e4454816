package measure

import (
	"context"

	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/metrics"
	"mldpbench/results"
)

func init() {
	Register(Measurement{
		Name: "english", Version: 1, Setting: true, Baseline: true, Columns: columns("english", "english_as_printed"),
		Metric: study.Metric{Key: "english", Doc: "the share of tokens in a word list: words, nltk, or a file",
			New: func() any { return new(string) }},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && *q.Options.(*string) != "" },
		Needs: func(_ *Spec, q *Query) []lab.Resource {
			return []lab.Resource{lab.OfEnglish(*q.Options.(*string))}
		},
		Measure: measureEnglish,
	})
}

// measureEnglish is the share of private tokens that are words of a list:
// "words", that of the catalogue, "nltk" or a file.
func measureEnglish(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	list, err := r.Lab.English(*q.Options.(*string))
	if err != nil {
		return nil, err
	}
	c, err := r.Compare(ctx, q.Setting)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	in, total := metrics.CountEnglish(c.After, list.Contains)
	printed, _ := metrics.CountEnglish(c.After, list.ContainsAsPrinted)
	return []results.Row{row.Of("english", percent(results.Share(in, total))),
		row.Of("english_as_printed", percent(results.Share(printed, total)))}, nil
}
