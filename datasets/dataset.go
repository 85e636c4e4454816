// Package datasets turns files into labelled token lists: one file per data
// set, text cleaning, sampling and splits. Embeddings are not part of it.
//
// A prepared data set is a value: the same request over the same source gives
// the same tokens, labels and splits, and so the same fingerprint, on every
// machine. Where a study leaves a choice open (which rows, which order), the
// choice is drawn from the request's seed alone. Readers neither repair nor
// de-duplicate, but Describe reports what they found.
package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"mldpbench/internal/list"
)

// Document is one labelled text.
type Document struct {
	ID     int      // row in the source, from 0, stable across samples
	Text   string   // as in the source; of a pair the first text
	Second string   // of a pair the second one
	Tokens []string // after cleaning and cutting; those of a second text follow
	First  int      // of a pair the number of tokens of its first text
	Label  int      // index into Dataset.Classes
	// Private is an index into Dataset.Privates, the label that an attacker
	// tries to infer; 0 where the data set has no private label.
	Private int
	User    string // who wrote it, "" where the source does not say
}

// Dataset is a prepared sample: cleaned, cut, split.
type Dataset struct {
	Name       string
	Title      string // for tables and plots; contains "generated" for generated sets
	Classes    []string
	Privates   []string // names of the private labels, nil for a data set without one
	Generated  bool     // the built-in generated corpus, never mixed with real data
	WordLevel  bool     // every document is one word (Product Reviews)
	Pairs      bool     // every document is two texts
	Source     string   // the file or folder read, "built in" for a generated set
	Note       string   // what a reader of results must know of the source, "" for nothing
	SourceRows int      // rows that the sample was drawn from
	Train      []Document
	Validation []Document
	Test       []Document
	// Fingerprint is the hex SHA-256 of classes, splits, row numbers, labels,
	// private labels, users and places of second texts where there are some, and tokens: equal
	// fingerprints mean equal tokens and labels, whatever layout the source had.
	Fingerprint string

	cleaner   *Cleaner
	maxTokens int
}

// Clean turns a text into tokens in the same way as the data set's, including
// the cut.
func (d *Dataset) Clean(text string) []string {
	t := d.cleaner.Tokens(text)
	if d.maxTokens > 0 && len(t) > d.maxTokens {
		t = t[:d.maxTokens:d.maxTokens]
	}
	return t
}

// Splits returns the three splits with their names, in order.
func (d *Dataset) Splits() []Split {
	return []Split{{splitNames[0], d.Train}, {splitNames[1], d.Validation}, {splitNames[2], d.Test}}
}

// Split is a named part of a data set.
type Split struct {
	Name      string
	Documents []Document
}

// Tokens returns the token lists of documents, in order, without copying.
func Tokens(documents []Document) [][]string {
	return list.Map(documents, func(d Document) []string { return d.Tokens })
}

// fingerprint hashes each text behind its length, so no two data sets are written
// alike.
func (d *Dataset) fingerprint() string {
	h := sha256.New()
	for _, c := range d.Classes {
		writeString(h, c)
	}
	for _, p := range d.Privates {
		writeString(h, p)
	}
	for _, s := range d.Splits() {
		fmt.Fprintf(h, "%s %d\n", s.Name, len(s.Documents))
		for _, doc := range s.Documents {
			fmt.Fprintf(h, "%d %d %d\n", doc.ID, doc.Label, len(doc.Tokens))
			if d.Pairs {
				fmt.Fprintf(h, "first %d\n", doc.First)
			}
			if d.Privates != nil {
				fmt.Fprintf(h, "private %d\n", doc.Private)
			}
			if doc.User != "" {
				writeString(h, doc.User)
			}
			for _, t := range doc.Tokens {
				writeString(h, t)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func writeString(h hash.Hash, s string) { fmt.Fprintf(h, "%d:%s\n", len(s), s) }
