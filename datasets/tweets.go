package datasets

import (
	"context"
	"fmt"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/internal/textfile"
)

func init() {
	Register(Definition{
		Name: "disaster-tweets", Title: "Disaster tweets", Doc: "tweets, about a disaster or not",
		Citation: "Kaggle, Natural Language Processing with Disaster Tweets", Needs: []string{"disaster-tweets"},
		Classes: []string{"no disaster", "disaster"}, Cleaning: CleanWords,
		Read: readTweets,
	})
}

// readTweets reads the train.csv of the Kaggle competition: columns text and
// target (0 or 1) among others.
func readTweets(ctx context.Context, q Request) (Rows, error) {
	path := q.File
	if path == "" {
		var err error
		if path, err = fetch.Locate(q.Root, "disaster-tweets", "tweets"); err != nil {
			return Rows{}, err
		}
	}
	f, err := textfile.Open(path)
	if err != nil {
		return Rows{}, err
	}
	defer f.Close()
	t, err := readTable(ctx, f, path, "csv", tableColumns{text: []string{"text"}, label: "target"})
	if err != nil {
		return Rows{}, err
	}
	rows := make([]Row, len(t.texts))
	for i := range rows {
		if t.labels[i] != "0" && t.labels[i] != "1" {
			return Rows{}, fmt.Errorf("%s: tweet %d: target %q: must be 0 or 1", path, i+1, t.labels[i])
		}
		rows[i] = Row{Text: t.texts[i], Label: int(t.labels[i][0] - '0')}
	}
	return Rows{Rows: rows, Source: path}, nil
}
