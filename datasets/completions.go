package datasets

import (
	"context"
	"fmt"
	"strings"

	"mldpbench/internal/list"
)

// completions are those of sets.yaml.
var completions = map[string]func(q Request, rows *Rows) error{
	"official halves":  officialHalves,
	"agencies":         keepAgencies,
	"splits of 2024":   splits2024,
	"class is private": privateClass,
	"pseudo-users":     pseudoUsers,
	"shared answers":   sharedAnswers,
}

// imdbHalf and imdbQuarter are the sizes of the official halves (train, test)
// and of a class in them.
const (
	imdbHalf    = 25000
	imdbQuarter = imdbHalf / 2
)

// officialHalves sets the splits of a source that lists all reviews in the
// official order; one in any other order is a pool.
func officialHalves(_ Request, rows *Rows) error {
	if len(rows.Rows) != 2*imdbHalf {
		return nil
	}
	for i, r := range rows.Rows {
		if positive := i/imdbQuarter%2 == 0; positive != (r.Label == 1) {
			return nil
		}
	}
	for i := range imdbHalf {
		rows.Rows[i].Split = "train"
		rows.Rows[imdbHalf+i].Split = "test"
	}
	return nil
}

// privateClass makes the class the private label as well.
func privateClass(_ Request, rows *Rows) error {
	rows.Privates = rows.Classes
	for i, r := range rows.Rows {
		rows.Rows[i].Private = r.Label
	}
	return nil
}

// questionsPerUser is the number of questions of a pseudo-user.
const questionsPerUser = 150

// pseudoUsers invents users for the auditor of a language model: a user is a run
// of consecutive questions of one domain. The remaining questions at the end of a
// domain have no user.
func pseudoUsers(_ Request, rows *Rows) error {
	byClass := make([][]int, len(rows.Classes))
	for id, r := range rows.Rows {
		byClass[r.Label] = append(byClass[r.Label], id)
	}
	for class, ids := range byClass {
		for u := range len(ids) / questionsPerUser {
			for _, id := range ids[u*questionsPerUser : (u+1)*questionsPerUser] {
				rows.Rows[id].User = fmt.Sprintf("%s/%02d", rows.Classes[class], u)
			}
		}
	}
	return nil
}

// sharedAnswers moves the numbers of a question's answers from behind its text to its
// user: questions that share one are relevant to each other.
func sharedAnswers(_ Request, rows *Rows) error {
	for i := range rows.Rows {
		r := &rows.Rows[i]
		r.Text, r.User, _ = strings.Cut(r.Text, "\t")
	}
	return nil
}

// splits2024 keeps the order of the texts that Meisenbacher et al. 2024 published
// with their code, cleaned already: train and test files, the rows sorted by
// class. As the code splits them, the last fifth of the train rows is the
// validation set (of AG News all of one class).
func splits2024(_ Request, rows *Rows) error {
	train := list.Count(rows.Rows, func(r Row) bool { return r.Split == "train" })
	for i := train - train/5; i < train; i++ {
		rows.Rows[i].Split = "validation"
	}
	rows.InOrder = true
	return nil
}

// officialOrder2024 is the number of the k-th review of a class of an official
// half in the study's files: runs of 128 numbers, each from the last to the
// first.
func officialOrder2024(k int) int { return k/128*128 + 127 - k%128 }

// trainReviews2024 is the number of train reviews per class.
const trainReviews2024 = 5000

// officialTrain2024 makes the study's IMDb train texts from the official train
// half.
func officialTrain2024(ctx context.Context, q Request, out *Rows) (string, error) {
	imdb, err := Find("imdb")
	if err != nil {
		return "", err
	}
	official, err := imdb.Read(ctx, q)
	if err != nil {
		return "", err
	}
	if len(official.Rows) != 2*imdbHalf || official.Rows[0].Split != "train" {
		return "", fmt.Errorf("%s: the train texts of imdb-2024 need all 50,000 reviews in the official order",
			official.Source)
	}
	c, err := NewCleaner(CleanSentiment2024, q.Root)
	if err != nil {
		return "", err
	}
	for label := range 2 {
		for k := range trainReviews2024 {
			r := official.Rows[(1-label)*imdbQuarter+officialOrder2024(k)] // positive reviews are first there
			out.Rows = append(out.Rows, Row{
				Text:  strings.Join(c.Tokens(r.Text), " "),
				Label: label,
				Split: "train",
			})
		}
	}
	out.Note = "train texts are official reviews cleaned here in the study's way, in the order that its test texts " +
		"have: its own train file is not at hand"
	return official.Source, nil
}
