package datasets

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/internal/check"
	"mldpbench/stream"
)

// Request selects a data set and how to prepare it. The zero value of every
// field except Name means the data set's own default.
type Request struct {
	// Name is a registered name, or any other name together with File and
	// TextColumns for the user's own table.
	Name string
	// Root is the data folder; "" means MLDP_DATA, then the user's cache. See
	// fetch.Root.
	Root string

	// File is a table of the user's own, of a format of package table, recognised by
	// its suffix. Without LabelColumn there is one class and no task.
	File        string
	Delimiter   string   // of CSV and TSV; "" is that of the format
	Encoding    string   // a name of the IANA, "" means UTF-8
	TextColumns []string // joined by a space
	LabelColumn string
	// PrivateColumn and UserColumn are the columns of the user's own table with
	// the private label and the author of a row; "" for none.
	PrivateColumn string
	UserColumn    string

	Sizes Sizes
	// Unbalanced keeps the shares that classes, and private labels in them,
	// have in the source.
	Unbalanced bool
	// ByHash splits by a hash of each text: a tenth is validation, a fifth is
	// test. Neither Seed nor the other texts change the split of one, and equal
	// texts share it; each size takes the smallest hashes.
	ByHash   bool
	Seed     stream.Seed // determines which rows are drawn, and their order
	Cleaning Cleaning    // "" means the data set's own
	// MaxTokens cuts documents after cleaning; 0 means the data set's own
	// limit, -1 none.
	MaxTokens int
}

// Load reads, samples, splits and cleans a data set. Unless the request says
// otherwise, the sample is balanced by class: each split takes equal numbers of every
// class (the first classes one more where the size does not divide), drawn without
// replacement from all rows. With all Sizes zero, also those of the data set's own
// sample, the whole source is used, with its own splits where it has them and otherwise
// 70/10/20 percent of each class; in its own order where that belongs to the data set
// (agnews-2024, imdb-2024).
func Load(ctx context.Context, q Request) (*Dataset, error) {
	d, err := definition(q)
	if err != nil {
		return nil, err
	}
	q.Sizes = cmp.Or(q.Sizes, d.Sizes)
	if err := q.check(); err != nil {
		return nil, fmt.Errorf("data set %s: %w", q.Name, err)
	}
	q.Cleaning = cmp.Or(q.Cleaning, d.Cleaning)
	q.MaxTokens = cmp.Or(q.MaxTokens, d.MaxTokens)
	cleaner, err := NewCleaner(q.Cleaning, q.Root)
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", q.Name, err)
	}
	if q.ByHash {
		q.Seed = stream.Seed{} // also of what a reader draws
	}
	rows, err := d.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	if rows.Classes == nil {
		rows.Classes = d.Classes
	}
	out := &Dataset{
		Name:       q.Name,
		Title:      d.Title,
		Classes:    rows.Classes,
		Privates:   rows.Privates,
		Generated:  d.Generated,
		WordLevel:  d.WordLevel,
		Pairs:      d.Pairs,
		Source:     rows.Source,
		Note:       rows.Note,
		SourceRows: len(rows.Rows),
		cleaner:    cleaner,
		maxTokens:  q.MaxTokens,
	}
	label := q.Name
	if len(q.TextColumns) > 0 { // the user's own: what it is called draws no rows
		label = ""
	}
	drawn := q
	drawn.Seed = q.Seed.Derive("sample", label)
	splits, err := split(rows, drawn)
	if err != nil {
		return nil, fmt.Errorf("data set %s (%s): %w", q.Name, rows.Source, err)
	}
	out.Train = splits[0]
	out.Validation = splits[1]
	out.Test = splits[2]
	if err := clean(ctx, out.Clean, splits[:]...); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(slices.Concat(splits[:]...), func(d Document) bool {
		return len(d.Tokens) > 0
	}) {
		return nil, fmt.Errorf("data set %s (%s): no document has a word left after the cleaning %q", q.Name,
			rows.Source, q.Cleaning)
	}
	out.Fingerprint = out.fingerprint()
	return out, nil
}

// check refuses sizes that are none.
func (q Request) check() error {
	if err := check.AtLeast("train size", q.Sizes.Train, 0); err != nil {
		return err
	}
	if err := check.AtLeast("validation size", q.Sizes.Validation, 0); err != nil {
		return err
	}
	if err := check.AtLeast("test size", q.Sizes.Test, 0); err != nil {
		return err
	}
	return check.AtLeast("max tokens", q.MaxTokens, -1)
}

// Needs returns the entries of the fetch catalogue that Load reads for a
// request.
func Needs(q Request) ([]string, error) {
	d, err := definition(q)
	if err != nil {
		return nil, err
	}
	var names []string
	if q.File == "" && d.Needs != nil {
		names = d.Needs(q.Root)
	}
	if ways[cmp.Or(q.Cleaning, d.Cleaning)].lemmas {
		names = append(names, "wordnet")
	}
	return names, nil
}

func definition(q Request) (Definition, error) {
	if err := check.Heading("data set", q.Name); err != nil {
		return Definition{}, err
	}
	if q.File != "" || q.LabelColumn != "" || len(q.TextColumns) > 0 || q.PrivateColumn != "" || q.UserColumn != "" {
		return ownDefinition(q)
	}
	return Find(q.Name)
}

// clean fills in the tokens of all documents, on all cores. The two texts of a pair are cleaned, and cut, alone.
func clean(ctx context.Context, tokens func(text string) []string, splits ...[]Document) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, docs := range splits {
		for part := range slices.Chunk(docs, 256) {
			g.Go(func() error {
				for i := range part {
					part[i].Tokens = tokens(part[i].Text)
					if part[i].Second != "" {
						part[i].First = len(part[i].Tokens)
						part[i].Tokens = slices.Concat(part[i].Tokens, tokens(part[i].Second))
					}
				}
				return ctx.Err()
			})
		}
	}
	return g.Wait()
}
