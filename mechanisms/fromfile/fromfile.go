// Package fromfile reads text that was privatised elsewhere, by a program or a
// language model that is not run here, so that it can be compared with the
// other mechanisms.
//
// It uses only what the file states: an id or the order of rows assigns a text
// to its document, which is never guessed from the text. The guarantee of such
// text is unknown.
package fromfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/datasets/table"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

// Source is the location and format of the text.
type Source struct {
	// Path is a file, or a folder with one file per repetition, in the order
	// of their names.
	Path string
	// The Columns hold the text, joined by a space; none for plain lines. Encoding is
	// that of a file that is not UTF-8, in which mldp privatize writes.
	table.Options
	// ID is the column with the id of the row's document. "" means that the
	// rows are all documents in the order of their source.
	ID string
}

// Text is the text that was read: repetitions of documents.
type Text struct {
	// Fingerprint is the hex SHA-256 of all texts with their ids or positions, which is
	// all that a result computed from them depends on.
	Fingerprint string
	path        string
	byID        bool
	repetitions []repetition
}

// repetition has the texts by the id of the document: without a column of ids,
// the number of the row, from 0. A row that has no text, not even an empty one,
// is not there.
type repetition struct {
	texts map[string]string
	rows  int
}

// Read reads all repetitions.
func Read(ctx context.Context, s Source) (*Text, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	t := &Text{path: s.Path, byID: s.ID != ""}
	h := sha256.New()
	fmt.Fprintf(h, "%t %d\n", t.byID, len(files))
	for _, f := range files {
		r, err := s.read(ctx, f)
		if err != nil {
			return nil, err
		}
		t.repetitions = append(t.repetitions, r)
		fmt.Fprintf(h, "0:\n%d\n", r.rows)
		if t.byID {
			for _, id := range slices.Sorted(maps.Keys(r.texts)) {
				fmt.Fprintf(h, "%d:%s\n%d:%s\n", len(id), id, len(r.texts[id]), r.texts[id])
			}
			continue
		}
		for n := range r.rows {
			text := r.texts[strconv.Itoa(n)]
			fmt.Fprintf(h, "%d:%s\n", len(text), text)
		}
	}
	t.Fingerprint = hex.EncodeToString(h.Sum(nil))
	return t, nil
}

// files returns the files of the source in order.
func (s Source) files() (files []string, err error) {
	if info, err := os.Stat(s.Path); err != nil || !info.IsDir() {
		return []string{s.Path}, err
	}
	names, err := fs.Glob(os.DirFS(s.Path), "[^.]*") // sorted
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("privatised text: no files in %s", s.Path)
	}
	return list.Map(names, func(name string) string {
		return filepath.Join(s.Path, name)
	}), err
}

// read reads a repetition. A file that cannot be read as UTF-8 is read in the encoding of
// the source, if it states one.
func (s Source) read(ctx context.Context, file string) (r repetition, err error) {
	o := table.Options{Delimiter: s.Delimiter, Columns: slices.Clone(s.Columns)}
	if table.FormatOf(file) == table.Lines {
		o.Columns = nil
	}
	texts := max(1, len(o.Columns))
	if s.ID != "" {
		o.Columns = append(o.Columns, s.ID)
	}
	rows, err := table.ReadNulls(ctx, file, o)
	if err != nil && s.Encoding != "" {
		o.Encoding = s.Encoding
		rows, err = table.ReadNulls(ctx, file, o)
	}
	r = repetition{map[string]string{}, len(rows)}
	for n, row := range rows {
		if row == nil {
			continue
		}
		id := strconv.Itoa(n)
		if s.ID != "" {
			id = strings.TrimSpace(row[texts])
		}
		if _, twice := r.texts[id]; twice || id == "" {
			return r, fmt.Errorf("%s: row %d: id %q: must be there, and once in a file", file, n+1, id)
		}
		r.texts[id] = strings.Join(row[:texts], " ")
	}
	return r, err
}

// Repetitions returns the number of texts per document.
func (t *Text) Repetitions() int { return len(t.repetitions) }

// Of returns the text of a row of a source, in a repetition counted from 1; false where there is
// none. ids are as in Rewriter.
func (t *Text) Of(row int, ids []string, repetition int) (string, bool) {
	text, ok := t.repetitions[repetition-1].texts[t.idOf(row, ids)]
	return text, ok
}

// idOf is the id of a row of a source; ids are as in Rewriter.
func (t *Text) idOf(row int, ids []string) string {
	if t.byID && ids != nil {
		return ids[row]
	}
	return strconv.Itoa(row)
}

// Rewriter maps the documents of a data set to the text that was made for them
// elsewhere, whatever the seed.
type Rewriter struct {
	settings mechanisms.Settings
	path     string
	versions map[string][][]string // by the tokens of the original, in the order of the data set
	Written  map[string]string     // as the file has them, by the text of the original
}

// Rewriter returns the text of a repetition, counted from 0, for all documents
// of a data set, tokenised like the data set. ids holds one id per row of the source;
// it is needed where the text has ids, and nil where the positions are the ids.
func (t *Text) Rewriter(s mechanisms.Settings, d *datasets.Dataset, ids []string, repetition int) (*Rewriter, error) {
	if repetition >= len(t.repetitions) {
		return nil, fmt.Errorf("%s: repetition %d: it has %d", t.path, repetition+1, len(t.repetitions))
	}
	from := t.repetitions[repetition]
	if !t.byID && from.rows != d.SourceRows {
		return nil, fmt.Errorf("%s: %d texts for %d documents: without an id column they must be as many, in "+
			"the same order", t.path, from.rows, d.SourceRows)
	}
	r := &Rewriter{
		settings: s,
		path:     t.path,
		versions: map[string][][]string{},
		Written:  map[string]string{},
	}
	for _, split := range d.Splits() {
		for _, x := range split.Documents {
			id := t.idOf(x.ID, ids)
			text, ok := from.texts[id]
			if !ok {
				return nil, fmt.Errorf("%s: no text for the document %q", t.path, id)
			}
			r.Written[x.Text] = text
			tokens := d.Clean(text)
			if len(tokens) != len(x.Tokens) {
				tokens = inPlace(d, x, text, tokens)
			}
			key := strings.Join(x.Tokens, " ")
			r.versions[key] = append(r.versions[key], tokens)
		}
	}
	return r, nil
}

// inPlace reads a text word by word as mldp privatize wrote it: where it has as
// many words as the original, but for contractions that were cut, each token of the
// original gets what its word became, also where that is a number or a sign, which
// cleaning removes. Otherwise, tokens are those of the cleaned text.
func inPlace(d *datasets.Dataset, original datasets.Document, text string, tokens []string) []string {
	before, after := privatize.Align(original.Text, text)
	var out, were []string
	for i, word := range before {
		was := d.Clean(word)
		is := d.Clean(after[i])
		if len(was) != len(is) {
			is = slices.Repeat([]string{strings.ToLower(after[i])}, len(was))
		}
		out = append(out, is...)
		were = append(were, was...)
	}
	if n := len(original.Tokens); len(out) >= n && slices.Equal(were[:n], original.Tokens) {
		return out[:n]
	}
	return tokens
}

// Settings are those under which the text was read.
func (r *Rewriter) Settings() mechanisms.Settings { return r.settings }

// Guarantee returns no guarantee, because none is known.
func (r *Rewriter) Guarantee() mechanisms.Guarantee {
	return mechanisms.Guarantee{Reason: "text made elsewhere: its guarantee is not known here"}
}

// Aligned is false: only the text itself shows whether tokens stayed in place.
func (r *Rewriter) Aligned() bool { return false }

// Repeatable is true: the file does not change.
func (r *Rewriter) Repeatable() bool { return true }

// WholeText requires all documents in one call: documents with equal tokens get
// their texts in the order of the data set.
func (r *Rewriter) WholeText() {}

// Rewrite looks documents up. A document that is not in the data set is an
// error, because no privatised text exists for it.
func (r *Rewriter) Rewrite(ctx context.Context, documents [][]string, _ []stream.Seed) ([][]string, error) {
	out := make([][]string, len(documents))
	met := map[string]int{}
	for i, d := range documents {
		key := strings.Join(d, " ")
		versions := r.versions[key]
		if len(versions) == 0 {
			return nil, fmt.Errorf("%s: holds no text for %.80q: only the documents of the data set were "+
				"privatised, once each", r.path, key)
		}
		out[i] = versions[met[key]%len(versions)]
		met[key]++
	}
	return out, ctx.Err()
}
