package measure

import (
	"context"
	"errors"
	"slices"
	"strings"

	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/metrics"
	"mldpbench/models/tfidf"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// MAP and MRR.
func init() {
	Register(Measurement{
		Name:     "retrieval",
		Version:  1,
		Baseline: true,
		Quantities: list.Map([]string{"map", "mrr"}, func(name string) quantity.Quantity {
			return quantity.Quantity{
				Name:      name,
				Title:     strings.ToUpper(name),
				Direction: quantity.Up,
				Digits:    3,
				Threshold: 0.02,
				Table:     "retrieval",
				Mean:      true,
			}
		}),
		Metric: study.Metric{
			Key: "retrieval",
			Doc: "how well plain documents that share an answer are found by a private one: MAP and MRR by " +
				"tf-idf; no options: {}",
			New: func() any { return &struct{}{} },
		},
		Measure: measureRetrieval,
	})
}

// measureRetrieval asks with private questions for plain ones that share an answer with
// them (Feyisetan et al. 2020, there for the answers). The answers of a document are its
// user, numbers between spaces; questions that share none are not asked.
func measureRetrieval(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	text, err := r.Text(ctx)
	if err != nil {
		return nil, err
	}
	var plain, private, answers [][]string
	of := map[string][]int{} // questions by answer
	for i, split := range r.Corpus.Splits() {
		for k, d := range split.Documents {
			answers = append(answers, strings.Fields(d.User))
			for _, a := range answers[len(plain)] {
				of[a] = append(of[a], len(plain))
			}
			plain = append(plain, r.Corpus.Tokens[i][k])
			private = append(private, nil)
			if text[i] != nil {
				private[len(plain)-1] = text[i][k]
			}
		}
	}
	index := tfidf.NewIndex(plain)
	var average, reciprocal []float64
	for i, own := range answers {
		relevant := slices.Concat(list.Map(own, func(a string) []int { return of[a] })...)
		slices.Sort(relevant)
		relevant = slices.DeleteFunc(slices.Compact(relevant), func(other int) bool {
			return other == i
		})
		if len(relevant) > 0 && private[i] != nil {
			ap, rr := metrics.Precision(index.Cosines(private[i]), relevant, i)
			average = append(average, ap)
			reciprocal = append(reciprocal, rr)
		}
	}
	if len(average) == 0 {
		return nil, errors.New("retrieval: no two documents share an answer, or none is private")
	}
	row := r.Row(q)
	return []results.Row{row.Of("map", meanOf(average)), row.Of("mrr", meanOf(reciprocal))}, nil
}
