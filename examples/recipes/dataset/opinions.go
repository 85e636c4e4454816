// Package dataset is a template: copy it, and import it in cmd/mldp.
package dataset

import (
	"context"
	"fmt"

	"mldpbench/datasets"
)

func init() {
	datasets.Register(datasets.Definition{
		Name: "opinions", Title: "Opinions", Doc: "made up: who liked what", Generated: true,
		Classes: []string{"bad", "good"}, Sizes: datasets.Sizes{Train: 40, Validation: 10, Test: 10},
		Cleaning: datasets.CleanWords,
		Read: func(context.Context, datasets.Request) (datasets.Rows, error) {
			rows := make([]datasets.Row, 80)
			for i := range rows {
				rows[i] = datasets.Row{Text: fmt.Sprintf("visit %d was %s", i, []string{"awful", "superb"}[i%2]), Label: i % 2}
			}
			return datasets.Rows{Rows: rows, Source: "generated"}, nil
		},
	})
}
