package datasets

import (
	"archive/tar"
	"cmp"
	"context"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets/table"
	"mldpbench/internal/list"
)

// record is a row of a file, with labels as the file has them. Of a pair of texts, second is the other one.
type record struct{ text, second, label, private, user string }

// layout reads a file; the errors of add come back with their place.
type layout func(ctx context.Context, path string, add func(record) error) error

// layouts are those of sets.yaml.
var layouts = map[string]layout{
	"reviews":   reviews,
	"news":      newsItems,
	"lexicon":   lexicon,
	"sentences": sentences,
}

// columns are those of a table: of text, joined by a space, and those of a second text, labels and users, "" for
// none.
type columns struct {
	texts                        []string
	second, label, private, user string
}

// inColumns is a table.
func inColumns(o table.Options, from columns) layout {
	kinds := []string{"second text", "label", "private label", "user"}
	columns := []string{from.second, from.label, from.private, from.user}
	texts := from.texts
	o.Columns = append(slices.Clone(texts), list.Map(columns, func(c string) string {
		return cmp.Or(c, texts[0])
	})...)
	return func(ctx context.Context, path string, add func(record) error) error {
		return table.Each(ctx, path, o, func(row table.Row) error {
			values, err := row.Strings(o.Columns)
			if err != nil {
				return err
			}
			own := values[len(texts):]
			for i, c := range columns {
				own[i] = strings.TrimSpace(own[i])
				if c == "" {
					own[i] = ""
				} else if own[i] == "" {
					return fmt.Errorf("empty %s in column %q", kinds[i], c)
				}
			}
			text := strings.Join(values[:len(texts)], " ")
			return add(record{
				text:    text,
				second:  own[0],
				label:   own[1],
				private: own[2],
				user:    own[3],
			})
		})
	}
}

// newsItems is a table "class","title","description" without a header, as AG
// News has it, or, as TSV, class, source and text.
func newsItems(ctx context.Context, path string, add func(record) error) error {
	texts := []string{"2", "3"}
	format := table.CSV
	if table.FormatOf(path) == table.TSV {
		texts = []string{"3"}
		format = table.TSV
	}
	read := inColumns(table.Options{Format: format, NoHeader: true}, columns{texts: texts, label: "1"})
	return read(ctx, path, func(r record) error {
		r.text = repairNews(r.text)
		return add(r)
	})
}

// brokenEntity matches the damaged HTML entities of the official files:
// " #36;10 million" for "$10 million", " quot;" for a quotation mark. Names that are
// also words are not matched.
var brokenEntity = regexp.MustCompile(` ?#(x[0-9a-fA-F]+|[0-9]+);|` +
	` (quot|amp|lt|gt|nbsp|hellip|lsquo|rsquo|ldquo|rdquo|mdash|ndash);`)

// repairNews undoes the two damages of the official files: a backslash where
// a line ended, and HTML entities without their ampersand. Tags stay.
func repairNews(text string) string {
	text = strings.ReplaceAll(text, `\`, " ")
	if strings.IndexByte(text, ';') < 0 {
		return text
	}
	return brokenEntity.ReplaceAllStringFunc(text, func(s string) string {
		entity := html.UnescapeString("&" + strings.TrimPrefix(s, " "))
		if s[0] == ' ' && s[1] != '#' {
			return " " + entity
		}
		return entity
	})
}

// reviews is a CSV with columns review and sentiment, or the official archive of
// IMDb, aclImdb_v1.tar.gz. Rows of the archive come as in the CSV: train/pos,
// train/neg, test/pos, test/neg, by id within each.
func reviews(ctx context.Context, path string, add func(record) error) error {
	if name := strings.TrimSuffix(strings.ToLower(path), ".gz"); !strings.HasSuffix(name, ".tar") {
		read := inColumns(table.Options{Format: table.CSV}, columns{texts: []string{"review"}, label: "sentiment"})
		return read(ctx, path, add)
	}
	f, err := table.OpenText(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return archived(ctx, f, path, add)
}

// reviewFile is the name of a labelled review in the archive.
var reviewFile = regexp.MustCompile(`(?:^|/)(train|test)/(pos|neg)/(\d+)_[^/]*\.txt$`)

// reviewLabels are the folders of the archive as the CSV calls them.
var reviewLabels = map[string]string{"pos": "positive", "neg": "negative"}

// review is a file of the archive.
type review struct {
	split, class, text string
	id                 int
}

// archived reads reviews from the archive, and adds them in the order of the CSV.
func archived(ctx context.Context, r io.Reader, name string, add func(record) error) error {
	var all []review
	t := tar.NewReader(r)
	for ctx.Err() == nil {
		header, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: damaged archive: %w", name, err)
		}
		m := reviewFile.FindStringSubmatch(header.Name)
		if m == nil || header.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(t)
		if err != nil {
			return fmt.Errorf("%s: damaged archive: %w", name, err)
		}
		id, _ := strconv.Atoi(m[3]) // digits
		all = append(all, review{
			split: m[1],
			class: m[2],
			text:  string(text),
			id:    id,
		})
	}
	slices.SortFunc(all, func(a, b review) int {
		if a.split != b.split {
			return cmp.Compare(b.split, a.split)
		}
		if a.class != b.class {
			return cmp.Compare(b.class, a.class)
		}
		return cmp.Compare(a.id, b.id)
	})
	for _, r := range all {
		if err := add(record{text: r.text, label: reviewLabels[r.class]}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return ctx.Err()
}

// lexicon is a list of the opinion lexicon: one word a line, comments start with a
// semicolon, ISO-8859-1 (as published) or UTF-8.
func lexicon(_ context.Context, path string, add func(record) error) error {
	return table.LinesOf(path, func(line string) error {
		line = strings.ToLower(strings.TrimSpace(line))
		switch {
		case line == "" || line[0] == ';':
			return nil
		case strings.ContainsAny(line, " \t"):
			return fmt.Errorf("%q: one word a line", line)
		}
		return add(record{text: line})
	})
}

// sentences is a file of labelled sentences, or a folder with one file per
// polarity (rt-polarity.neg, rt-polarity.pos).
func sentences(_ context.Context, path string, add func(record) error) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return table.LinesOf(path, func(line string) error { return sentence(line, add) })
	}
	for label, suffix := range []string{".neg", ".pos"} {
		found, err := filepath.Glob(filepath.Join(path, "*"+suffix))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("%s: want one file *%s, found %d", path, suffix, len(found))
		}
		err = table.LinesOf(found[0], func(line string) error {
			return sentence(fmt.Sprintf("%d\t%s", label, line), add)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sentence reads "label<TAB>text", "label text" (of a label such as "DESC:manner"
// the coarse half is used), or a tree of the Stanford Sentiment Treebank. A text
// may be empty: CR and MPQA have one such line each.
func sentence(line string, add func(record) error) error {
	line = strings.TrimRight(line, "\r ")
	if strings.TrimSpace(line) == "" {
		return nil
	}
	if line[0] == '(' {
		r, err := tree(line)
		if err != nil {
			return err
		}
		return add(r)
	}
	i := strings.IndexByte(line, '\t')
	if i < 0 {
		i = strings.IndexByte(line, ' ')
	}
	if i < 0 {
		return fmt.Errorf("%q: want a label, a tab and a text", line)
	}
	label, _, _ := strings.Cut(line[:i], ":")
	return add(record{text: strings.TrimSpace(line[i+1:]), label: label})
}

var (
	root    = regexp.MustCompile(`^\(\s*(\d+)\s.*\)$`)
	leaf    = regexp.MustCompile(`\(\s*\d+\s+([^()\s]+)\s*\)`)
	bracket = strings.NewReplacer("-LRB-", "(", "-RRB-", ")") // as the treebank writes them
)

// tree returns the label of the root and the leaves of "(3 (2 a) (4 b))".
func tree(line string) (record, error) {
	label := root.FindStringSubmatch(line)
	leaves := leaf.FindAllStringSubmatch(line, -1)
	if label == nil || leaves == nil || strings.Count(line, "(") != strings.Count(line, ")") {
		return record{}, fmt.Errorf("not a tree of the form (3 (2 word) (4 word))")
	}
	var words []string
	for _, l := range leaves {
		words = append(words, bracket.Replace(l[1]))
	}
	return record{text: strings.Join(words, " "), label: label[1]}, nil
}
