// Package fromfile reads text that was privatised elsewhere, by a program or a
// language model that nobody runs here, so that it can be measured beside the
// mechanisms that are.
//
// It believes what stands in the file and nothing else: which document a text
// belongs to is said by an id or by the order of rows, never guessed from the
// text, and what was promised for it is not known.
package fromfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Source says where the text lies.
type Source struct {
	// Path is a file, or a folder with one file per repetition, in the order
	// of their names.
	Path string
	// Format is "csv", "tsv", "jsonl" or "lines"; "" goes by the suffix.
	Format string
	// Columns hold the text, joined by a space; none for plain lines.
	Columns []string
	// ID is the column that says which document a row is. "" means that rows
	// are all documents in the order of their source.
	ID string
	// Repetition is the column that says which repetition a row is of, by any
	// name or number. "" means one repetition per file.
	Repetition string
}

// Text is what was read: repetitions of documents.
type Text struct {
	path        string
	byID        bool
	repetitions []repetition
	fingerprint string
}

type repetition struct {
	name  string
	texts []string       // in the order of the file
	at    map[string]int // row of an id; nil without ids
}

// Read reads all repetitions.
func Read(ctx context.Context, s Source) (*Text, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	if s.Repetition != "" && len(files) > 1 {
		return nil, fmt.Errorf("%s: a folder has one repetition per file: no column %q can say it", s.Path,
			s.Repetition)
	}
	t := &Text{path: s.Path, byID: s.ID != ""}
	h := sha256.New()
	for _, f := range files {
		found, err := s.read(ctx, f)
		if err != nil {
			return nil, err
		}
		t.repetitions = append(t.repetitions, found...)
	}
	fmt.Fprintf(h, "%t %d\n", t.byID, len(t.repetitions))
	for _, r := range t.repetitions {
		r.hash(h)
	}
	t.fingerprint = hex.EncodeToString(h.Sum(nil))
	return t, nil
}

// files are the files of the source in order.
func (s Source) files() ([]string, error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		return nil, fmt.Errorf("privatised text: %w", err)
	}
	if !info.IsDir() {
		return []string{s.Path}, nil
	}
	entries, err := os.ReadDir(s.Path) // sorted by name
	if err != nil {
		return nil, fmt.Errorf("privatised text: %w", err)
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(s.Path, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("privatised text: %s: no files", s.Path)
	}
	return files, nil
}

func (s Source) read(ctx context.Context, file string) ([]repetition, error) {
	format := s.Format
	if format == "" {
		format = datasets.FormatOf(file)
	}
	columns := slices.Clone(s.Columns)
	if format == datasets.Lines {
		if s.ID != "" || s.Repetition != "" {
			return nil, fmt.Errorf("%s: plain lines have no columns for an id or a repetition", file)
		}
		columns = nil
	}
	texts := max(1, len(columns))
	for _, c := range []string{s.ID, s.Repetition} {
		if c != "" {
			columns = append(columns, c)
		}
	}
	rows, err := datasets.ReadColumns(ctx, file, format, columns)
	if err != nil {
		return nil, err
	}
	byName := map[string]int{}
	var out []repetition
	for n, row := range rows {
		name := ""
		if s.Repetition != "" {
			if name = strings.TrimSpace(row[len(row)-1]); name == "" {
				return nil, fmt.Errorf("%s: row %d: no repetition in column %q", file, n+1, s.Repetition)
			}
		}
		i, ok := byName[name]
		if !ok {
			i = len(out)
			byName[name] = i
			out = append(out, repetition{name: name})
			if s.ID != "" {
				out[i].at = map[string]int{}
			}
		}
		r := &out[i]
		if s.ID != "" {
			id := strings.TrimSpace(row[texts])
			if _, twice := r.at[id]; twice || id == "" {
				return nil, fmt.Errorf("%s: row %d: id %q: must be there, and once in a repetition", file, n+1, id)
			}
			r.at[id] = len(r.texts)
		}
		r.texts = append(r.texts, strings.Join(row[:texts], " "))
	}
	slices.SortStableFunc(out, func(a, b repetition) int { return compareNames(a.name, b.name) })
	return out, nil
}

// compareNames orders numbers by value, before other names.
func compareNames(a, b string) int {
	x, ex := strconv.Atoi(a)
	y, ey := strconv.Atoi(b)
	switch {
	case ex == nil && ey == nil && x != y:
		return x - y
	case ex == nil && ey != nil:
		return -1
	case ex != nil && ey == nil:
		return 1
	}
	return strings.Compare(a, b)
}

func (r repetition) hash(h hash.Hash) {
	write := func(s string) { fmt.Fprintf(h, "%d:%s\n", len(s), s) }
	write(r.name)
	fmt.Fprintf(h, "%d\n", len(r.texts))
	if r.at == nil {
		for _, t := range r.texts {
			write(t)
		}
		return
	}
	for _, id := range slices.Sorted(maps.Keys(r.at)) {
		write(id)
		write(r.texts[r.at[id]])
	}
}

// Repetitions is how often every document is there.
func (t *Text) Repetitions() int { return len(t.repetitions) }

// Fingerprint is the hex SHA-256 of all texts with their ids or places: what a
// result made of them depends on.
func (t *Text) Fingerprint() string { return t.fingerprint }

// Guarantee says that nothing is known.
func (t *Text) Guarantee() mechanisms.Guarantee {
	return mechanisms.Guarantee{Reason: "text made elsewhere: what was promised for it is not known here"}
}

// Documents returns the text of documents in a repetition, counted from 0.
// rows are their places in a source of so many documents; ids, one for each
// document of the source, are needed where the text is by id, and nil where
// ids are the places themselves.
func (t *Text) Documents(repetition int, rows []int, source int, ids []string) ([]string, error) {
	if repetition < 0 || repetition >= len(t.repetitions) {
		return nil, fmt.Errorf("%s: repetition %d: it has %d", t.path, repetition+1, len(t.repetitions))
	}
	r := t.repetitions[repetition]
	if !t.byID && len(r.texts) != source {
		return nil, fmt.Errorf("%s: %d texts for %d documents: without an id column they must be as many, in "+
			"the same order",
			t.path, len(r.texts), source)
	}
	out := make([]string, len(rows))
	var missing []string
	for i, row := range rows {
		if row < 0 || row >= source {
			return nil, fmt.Errorf("%s: document %d of a source of %d", t.path, row, source)
		}
		at := row
		if t.byID {
			id := strconv.Itoa(row)
			if ids != nil {
				id = ids[row]
			}
			var ok bool
			if at, ok = r.at[id]; !ok {
				missing = append(missing, id)
				continue
			}
		}
		out[i] = r.texts[at]
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s: no text for %d of %d documents: ids %q and so on", t.path, len(missing), len(rows),
			missing[:min(3, len(missing))])
	}
	return out, nil
}

// Aligned says whether documents have the tokens of their originals one for
// one, as far as numbers tell: as many in every document. Where they have not,
// nothing that compares token by token is measured.
func Aligned(original, privatised [][]string) bool {
	if len(original) != len(privatised) {
		return false
	}
	for i := range original {
		if len(original[i]) != len(privatised[i]) {
			return false
		}
	}
	return true
}

// Rewriter gives the documents of a data set the text that was made for them
// elsewhere, whatever the seed.
type Rewriter struct {
	settings mechanisms.Settings
	path     string
	versions map[string][][]string // by the tokens of the original, in the order of the data set
}

var _ mechanisms.Rewriter = (*Rewriter)(nil)

// Rewriter is the text of a repetition, counted from 0, for all documents of a
// data set, in tokens as those of the data set; ids are as in Documents.
func (t *Text) Rewriter(s mechanisms.Settings, d *datasets.Dataset, ids []string, repetition int) (*Rewriter, error) {
	r := &Rewriter{settings: s, path: t.path, versions: map[string][][]string{}}
	for _, split := range d.Splits() {
		rows := make([]int, len(split.Documents))
		for i, x := range split.Documents {
			rows[i] = x.ID
		}
		texts, err := t.Documents(repetition, rows, d.SourceRows, ids)
		if err != nil {
			return nil, err
		}
		for i, x := range split.Documents {
			key := strings.Join(x.Tokens, " ")
			r.versions[key] = append(r.versions[key], d.Clean(texts[i]))
		}
	}
	return r, nil
}

// Settings are those that the text was read under.
func (r *Rewriter) Settings() mechanisms.Settings { return r.settings }

// Guarantee says that nothing is known.
func (r *Rewriter) Guarantee() mechanisms.Guarantee { return (*Text)(nil).Guarantee() }

// Aligned is false: whether tokens stayed in place, the text alone shows.
func (r *Rewriter) Aligned() bool { return false }

// Repeatable is true: the file does not change.
func (r *Rewriter) Repeatable() bool { return true }

// WholeText has all documents come in one call: those of equal tokens get their
// texts in the order of the data set.
func (r *Rewriter) WholeText() {}

// Rewrite looks documents up. Another text than those of the data set is an
// error: nobody privatised it.
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
