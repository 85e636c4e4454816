package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"mldpbench/datasets/fetch"
)

func init() {
	register2024("agnews-2024", "AG News (texts of 2024)", "news, 4 topics",
		[]string{"world", "sports", "business", "science"}, nil)
	register2024("imdb-2024", "IMDb (texts of 2024)", "film reviews, 2 classes of sentiment",
		[]string{"negative", "positive"}, readOfficialTrain2024)
}

// register2024 registers a data set of the texts that Meisenbacher et al. 2024
// published with their code, cleaned already: train and test files, the rows
// sorted by class. They keep their order. As the code splits them, the last
// fifth of the train rows is the validation set (of AG News all of one class).
// instead reads the train rows where their file is not at hand.
func register2024(name, title, doc string, classes []string,
	instead func(context.Context, Request) ([]Row, string, error)) {
	train := name + "-train"
	table := labelledCSV{text: "text", label: "label"}
	for i := range classes {
		table.labels = append(table.labels, []string{strconv.Itoa(i)})
	}
	d := Definition{
		Name: name, Title: title,
		Doc:     doc + ", as the comparative study's code reads them: cleaned, in its order, sorted by class",
		Needs:   []string{name},
		Classes: classes, Cleaning: CleanNone,
		Read: func(ctx context.Context, q Request) (Rows, error) {
			if q.File != "" {
				return Rows{}, fmt.Errorf("data set %s: is two files, train and test: put them into the folder "+
					"replication of the data folder", name)
			}
			out := Rows{InOrder: true}
			rows, source, err := table.readFile(ctx, "", q.Root, train, "texts")
			if errors.Is(err, fs.ErrNotExist) && instead != nil {
				rows, source, err = instead(ctx, q)
				out.Note = "train texts are official reviews cleaned here in the study's way, in the order that its " +
					"test texts have: its own train file is not at hand"
			}
			if err != nil {
				return Rows{}, err
			}
			for i := range rows {
				rows[i].Split = "train"
				if i >= len(rows)-len(rows)/5 {
					rows[i].Split = "validation"
				}
			}
			test, testSource, err := table.readFile(ctx, "", q.Root, name, "texts")
			if err != nil {
				return Rows{}, err
			}
			for i := range test {
				test[i].Split = "test"
			}
			out.Rows, out.Source = append(rows, test...), source+" + "+testSource
			return out, nil
		},
	}
	d.MoreNeeds = func(root string) []string {
		if _, err := fetch.Locate(root, train, "texts"); err != nil && instead != nil {
			return []string{"imdb", "wordnet"}
		}
		return []string{train}
	}
	Register(d)
}

// officialOrder2024 is the number of the k-th review of a class of an official
// half in the study's files: runs of 128 numbers, each from the last to the
// first.
func officialOrder2024(k int) int { return k/128*128 + 127 - k%128 }

// trainReviews2024 is the number of train reviews per class.
const trainReviews2024 = 5000

// readOfficialTrain2024 makes the study's IMDb train texts from the official
// train half.
func readOfficialTrain2024(ctx context.Context, q Request) ([]Row, string, error) {
	official, err := readIMDb(ctx, q)
	if err != nil {
		return nil, "", err
	}
	if len(official.Rows) != 2*imdbHalf || official.Rows[0].Split != "train" {
		return nil, "", fmt.Errorf("%s: the train texts of imdb-2024 need all 50,000 reviews in the official order",
			official.Source)
	}
	c, err := NewCleaner(CleanSentiment2024, q.Root)
	if err != nil {
		return nil, "", err
	}
	var rows []Row
	for label := range 2 {
		for k := range trainReviews2024 {
			r := official.Rows[(1-label)*imdbQuarter+officialOrder2024(k)] // positive reviews are first there
			rows = append(rows, Row{Text: strings.Join(c.Tokens(r.Text), " "), Label: label})
		}
	}
	return rows, official.Source, nil
}
