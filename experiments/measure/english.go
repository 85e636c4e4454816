package measure

import (
	"context"

	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/results"
)

// The share of tokens in a word list.
func init() {
	Register(Measurement{
		Name:       "english",
		Version:    2,
		Setting:    true,
		Baseline:   true,
		Quantities: quantities("english", "english_as_printed"),
		Metric: study.Metric{
			Key: "english",
			Doc: "the share of tokens in a word list: words, nltk, or a file",
			New: func() any { return new(string) },
		},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && *q.Options.(*string) != "" },
		Needs: func(_ *Spec, q *Query) []lab.Resource {
			return []lab.Resource{lab.OfEnglish(*q.Options.(*string))}
		},
		Measure: measureEnglish,
	})
}

// measureEnglish is the share of private tokens that are words of a list:
// "words", that of the catalogue, "nltk" or a file (Meisenbacher et al. 2024, App. B.1).
// Tokens are lower case; with the list as printed, english does not match English,
// which the published table seems to use.
func measureEnglish(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	words, err := r.Lab.English(*q.Options.(*string))
	if err != nil {
		return nil, err
	}
	c, err := r.Compare(ctx, q.Setting)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	var rows []results.Row
	for _, by := range []struct {
		quantity string
		contains func(token string) bool
	}{{"english", words.Contains}, {"english_as_printed", words.ContainsAsPrinted}} {
		in := make([]int, len(c.After))
		total := make([]int, len(c.After))
		for i := range c.After {
			in[i] = list.Count(c.After[i], by.contains)
			total[i] = len(c.After[i])
		}
		rows = append(rows, row.Of(by.quantity, ofDocuments(in, total)))
	}
	return rows, nil
}
