// Package dataset is a template: copy it, and import it in cmd/mldp.
package dataset

import (
	"context"
	"fmt"

	"mldpbench/datasets"
)

// init registers a data set of 80 made-up texts, half of each class.
func init() {
	words := []string{"awful", "superb"}
	datasets.Register(datasets.Definition{
		Name:      "opinions",
		Title:     "Opinions",
		Doc:       "made up: who liked what",
		Generated: true,
		Classes:   []string{"bad", "good"},
		Sizes: datasets.Sizes{
			Train:      40,
			Validation: 10,
			Test:       10,
		},
		Cleaning: datasets.CleanWords,
		Read: func(context.Context, datasets.Request) (datasets.Rows, error) {
			rows := make([]datasets.Row, 80)
			for i := range rows {
				label := i % len(words)
				rows[i] = datasets.Row{Text: fmt.Sprintf("visit %d was %s", i, words[label]), Label: label}
			}
			return datasets.Rows{Rows: rows, Source: "generated"}, nil
		},
	})
}
