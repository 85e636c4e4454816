package datasets

import (
	"archive/tar"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/internal/textfile"
)

func init() {
	Register(Definition{
		Name: "imdb", Title: "IMDb", Doc: "film reviews, 2 classes of sentiment",
		Citation: "Maas et al. 2011", Needs: []string{"imdb"},
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

// readIMDb reads the reviews from a CSV with columns review and sentiment,
// from the official archive aclImdb_v1.tar.gz, or from the folder it unpacks
// to. In all layouts rows are numbered train/pos, train/neg, test/pos,
// test/neg, by id within each.
func readIMDb(ctx context.Context, q Request) (Rows, error) {
	source := q.File
	if source == "" {
		var err error
		if source, err = fetch.Locate(q.Root, "imdb", "reviews"); err != nil {
			return Rows{}, err
		}
	}
	info, err := os.Stat(source)
	if err != nil {
		return Rows{}, err
	}
	var rows []Row
	switch name := strings.ToLower(source); {
	case info.IsDir():
		rows, err = readReviewFolder(ctx, source)
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar"):
		rows, err = withFile(source, func(r io.Reader) ([]Row, error) { return readReviewArchive(ctx, r, source) })
	default:
		rows, err = withFile(source, func(r io.Reader) ([]Row, error) { return readReviewTable(ctx, r, source) })
	}
	if err != nil {
		return Rows{}, err
	}
	return Rows{Rows: rows, Source: source}, nil
}

func withFile(path string, read func(io.Reader) ([]Row, error)) ([]Row, error) {
	f, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}

func readReviewTable(ctx context.Context, r io.Reader, name string) ([]Row, error) {
	t := csv.NewReader(r)
	t.FieldsPerRecord, t.ReuseRecord = 2, true
	header, err := t.Read()
	if err != nil {
		return nil, csvError(name, err)
	}
	if header[0] != "review" || header[1] != "sentiment" {
		return nil, fmt.Errorf("%s:1: header %q, want review,sentiment", name, header)
	}
	var rows []Row
	err = eachRecord(ctx, t, name, func(f []string) error {
		label := slices.Index([]string{"negative", "positive"}, f[1])
		if label < 0 {
			return fmt.Errorf("sentiment %q: must be positive or negative", f[1])
		}
		rows = append(rows, Row{Text: strings.Clone(f[0]), Label: label})
		return nil
	})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s: no reviews", name)
	}
	if err != nil {
		return nil, err
	}
	markOfficialHalves(rows)
	return rows, nil
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

// review is one file of the official layout.
type review struct {
	split    string
	positive bool
	id       int
	text     string
}

// reviewOf parses ".../train/pos/123_9.txt"; ok is false for any other file,
// the unlabelled reviews among them.
func reviewOf(name string) (r review, ok bool) {
	dir, file := path.Split(name)
	dir, class := path.Split(strings.TrimSuffix(dir, "/"))
	_, r.split = path.Split(strings.TrimSuffix(dir, "/"))
	id, rest, found := strings.Cut(file, "_")
	n, err := strconv.Atoi(id)
	if err != nil || !found || !strings.HasSuffix(rest, ".txt") || class != "pos" && class != "neg" ||
		r.split != "train" && r.split != "test" {
		return r, false
	}
	r.id, r.positive = n, class == "pos"
	return r, true
}

// inOrder numbers reviews as the CSV does.
func inOrder(reviews []review, name string) ([]Row, error) {
	if len(reviews) == 0 {
		return nil, fmt.Errorf("%s: no reviews: it has no files such as train/pos/0_9.txt", name)
	}
	rank := func(r review) int {
		n := 0
		if r.split == "test" {
			n += 2
		}
		if !r.positive {
			n++
		}
		return n
	}
	slices.SortFunc(reviews, func(a, b review) int {
		if c := rank(a) - rank(b); c != 0 {
			return c
		}
		return a.id - b.id
	})
	rows := make([]Row, len(reviews))
	for i, r := range reviews {
		rows[i] = Row{Text: r.text, Split: r.split}
		if r.positive {
			rows[i].Label = 1
		}
	}
	return rows, nil
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
		if one.text, err = readReview(t); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, h.Name, err)
		}
		reviews = append(reviews, one)
	}
}

func readReviewFolder(ctx context.Context, dir string) ([]Row, error) {
	var reviews []review
	for _, part := range []string{"train/pos", "train/neg", "test/pos", "test/neg"} {
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(part)))
		if err != nil {
			return nil, fmt.Errorf("%s: not the aclImdb folder: %w", dir, err)
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			one, ok := reviewOf(path.Join(part, e.Name()))
			if !ok {
				continue
			}
			f, err := os.Open(filepath.Join(dir, filepath.FromSlash(part), e.Name()))
			if err != nil {
				return nil, err
			}
			one.text, err = readReview(f)
			f.Close()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name(), err)
			}
			reviews = append(reviews, one)
		}
	}
	return inOrder(reviews, dir)
}

func readReview(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxReview+1))
	if err == nil && len(b) > maxReview {
		err = errors.New("a review of more than 1 MiB")
	}
	return string(b), err
}
