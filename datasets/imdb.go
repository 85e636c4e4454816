package datasets

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/table"
	"mldpbench/internal/list"
)

func init() {
	Register(Definition{
		Name: "imdb", Title: "IMDb", Doc: "film reviews, 2 classes of sentiment", Needs: []string{"imdb"},
		Classes:  []string{"negative", "positive"},
		Sizes:    Sizes{Train: 8000, Validation: 2000, Test: 2000}, // Meisenbacher et al. 2024, Table 2
		Cleaning: CleanSentiment, MaxTokens: 100,
		Read: readIMDb,
	})
}

// imdbHalf and imdbQuarter are the sizes of the official halves (train, test)
// and of a class in them.
const (
	imdbHalf    = 25000
	imdbQuarter = imdbHalf / 2
)

// maxReview bounds one review file; the longest real one has 14 kB.
const maxReview = 1 << 20

// reviewTable is a CSV of reviews.
var reviewTable = labelledCSV{"review", "sentiment", [][]string{{"negative"}, {"positive"}}}

// readIMDb reads the reviews from a CSV with columns review and sentiment, or
// from the official archive aclImdb_v1.tar.gz. Rows are numbered train/pos,
// train/neg, test/pos, test/neg, by id within each.
func readIMDb(ctx context.Context, q Request) (Rows, error) {
	source := q.File
	if source == "" {
		var err error
		if source, err = fetch.Locate(q.Root, "imdb", "reviews"); err != nil {
			return Rows{}, err
		}
	}
	if name := strings.ToLower(source); strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tar") {
		f, err := table.OpenText(source)
		if err != nil {
			return Rows{}, err
		}
		defer f.Close()
		rows, err := readReviewArchive(ctx, f, source)
		return Rows{Rows: rows, Source: source}, err
	}
	rows, err := reviewTable.read(ctx, source)
	markOfficialHalves(rows)
	return Rows{Rows: rows, Source: source}, err
}

// markOfficialHalves sets the splits of a table that lists all reviews in the
// official order; a table in any other order is a pool.
func markOfficialHalves(rows []Row) {
	if len(rows) != 2*imdbHalf {
		return
	}
	for i := range rows {
		if positive := i/imdbQuarter%2 == 0; positive != (rows[i].Label == 1) {
			return
		}
	}
	for i := range rows {
		rows[i].Split = [2]string{"train", "test"}[i/imdbHalf]
	}
}

// review is one file of the archive.
type review struct {
	part int // train/pos, train/neg, test/pos, test/neg
	id   int
	text string
}

var reviewParts = []string{"train/pos", "train/neg", "test/pos", "test/neg"}

// reviewOf parses ".../train/pos/123_9.txt"; ok is false for any other file,
// the unlabelled reviews among them.
func reviewOf(name string) (r review, ok bool) {
	dir, file := path.Split(name)
	r.part = slices.IndexFunc(reviewParts, func(p string) bool { return strings.HasSuffix("/"+dir, "/"+p+"/") })
	id, rest, found := strings.Cut(file, "_")
	var err error
	r.id, err = strconv.Atoi(id)
	return r, err == nil && found && strings.HasSuffix(rest, ".txt") && r.part >= 0
}

// inOrder numbers reviews as the CSV does.
func inOrder(reviews []review, name string) ([]Row, error) {
	if len(reviews) == 0 {
		return nil, fmt.Errorf("%s: no reviews: it has no files such as train/pos/0_9.txt", name)
	}
	slices.SortFunc(reviews, func(a, b review) int { return cmp.Or(a.part-b.part, a.id-b.id) })
	return list.Map(reviews, func(r review) Row {
		return Row{Text: r.text, Split: path.Dir(reviewParts[r.part]), Label: 1 - r.part%2}
	}), nil
}

func readReviewArchive(ctx context.Context, r io.Reader, name string) ([]Row, error) {
	var reviews []review
	t := tar.NewReader(r)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := t.Next()
		if err == io.EOF {
			return inOrder(reviews, name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: damaged archive: %w", name, err)
		}
		one, ok := reviewOf(h.Name)
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(t, maxReview+1))
		if err == nil && len(text) > maxReview {
			err = errors.New("a review of more than 1 MiB")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, h.Name, err)
		}
		one.text = string(text)
		reviews = append(reviews, one)
	}
}
