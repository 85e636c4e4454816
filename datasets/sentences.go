package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/table"
	"mldpbench/internal/list"
)

// The sentence classification sets of the PrivEmb paper, as tables
// "label<TAB>text" or in the layouts of their authors.
func init() {
	polarity := []string{"negative", "positive"}
	for _, d := range []Definition{
		{Name: "mr", Title: "MR", Doc: "sentences of film reviews, 2 classes", Classes: polarity},
		{Name: "cr", Title: "CR", Doc: "sentences of customer reviews, 2 classes", Classes: polarity},
		{Name: "mpqa", Title: "MPQA", Doc: "phrases of opinion, 2 classes", Classes: polarity},
		{Name: "sst2", Title: "SST-2", Doc: "sentences of film reviews, 2 classes", Classes: polarity},
		{Name: "sst5", Title: "SST-5", Doc: "sentences of film reviews, 5 grades",
			Classes: []string{"very negative", "negative", "neutral", "positive", "very positive"}},
		{Name: "trec", Title: "TREC-6", Doc: "questions, 6 kinds of answer",
			Classes: []string{"DESC", "ENTY", "ABBR", "HUM", "LOC", "NUM"}},
	} {
		Register(ofSentences(d))
	}
	insurance := ofSentences(Definition{Name: "insuranceqa", Title: "InsuranceQA",
		Doc: "questions on 12 kinds of insurance", Cleaning: CleanWords})
	Register(insurance)
	Register(pseudoUsers(insurance))
}

// ofSentences completes a definition.
func ofSentences(d Definition) Definition {
	d.Needs, d.Cleaning = []string{d.Name}, cmp.Or(d.Cleaning, CleanNone)
	d.Read = func(ctx context.Context, q Request) (Rows, error) { return readSentences(ctx, q, d.Name, d.Classes) }
	return d
}

// questionsPerUser is the number of questions of a pseudo-user.
const questionsPerUser = 150

// pseudoUsers is InsuranceQA with invented users for the auditor of a language
// model: a user is a run of consecutive questions of one domain. The remaining
// questions at the end of a domain have no user.
func pseudoUsers(d Definition) Definition {
	read := d.Read
	d.Name, d.Title = d.Name+"-users", d.Title+" with pseudo-users"
	d.Doc += fmt.Sprintf("; pseudo-users: every %d consecutive questions of a kind", questionsPerUser)
	d.Read = func(ctx context.Context, q Request) (Rows, error) {
		rows, err := read(ctx, q)
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
		return rows, err
	}
	return d
}

// readSentences reads one file as a pool, or the parts train, validation and
// test where the catalogue has them and they are present.
func readSentences(ctx context.Context, q Request, name string, classes []string) (Rows, error) {
	parts := []string{""} // q.File
	if q.File == "" {
		entry, err := fetch.Find(name)
		if err != nil {
			return Rows{}, err
		}
		parts = slices.DeleteFunc([]string{"train", "validation", "test", "sentences"}, func(p string) bool {
			return entry.Accept[p] == nil
		})
	}
	var texts, labels, splits, sources []string
	for _, part := range parts {
		path, err := q.File, error(nil)
		if part != "" {
			path, err = fetch.Locate(q.Root, name, part)
		}
		before := len(texts)
		if err == nil {
			err = eachSentence(path, func(label, text string) {
				texts, labels = append(texts, text), append(labels, label)
				splits = append(splits, strings.TrimPrefix(part, "sentences"))
			})
		}
		if err == nil && len(texts) == before {
			err = fmt.Errorf("%s: no sentences", path)
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return Rows{}, err
		}
		sources = append(sources, path)
	}
	source := strings.Join(sources, " + ")
	out := Rows{Source: source}
	if classes == nil {
		out.Rows = list.Map(texts, func(text string) Row { return Row{Text: text} })
		var err error
		out.Classes, err = numbered(source, labels, func(i, class int) {
			out.Rows[i].Label, out.Rows[i].Split = class, splits[i]
		})
		return out, err
	}
	for i := range texts {
		c := slices.Index(classes, labels[i])
		if n, err := strconv.Atoi(labels[i]); c < 0 && err == nil && n >= 0 && n < len(classes) {
			c = n // in two of the layouts classes are numbers
		}
		if c < 0 {
			return Rows{}, fmt.Errorf("%s: sentence %d: label %q: must be one of %q or its number from 0", source, i+1,
				labels[i], classes)
		}
		out.Rows = append(out.Rows, Row{Text: texts[i], Label: c, Split: splits[i]})
	}
	return out, nil
}

// eachSentence reads a file of labelled sentences, or a folder with one file
// per polarity (rt-polarity.neg, rt-polarity.pos).
func eachSentence(path string, add func(label, text string)) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		f, err := table.OpenText(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return parseSentences(f, path, add)
	}
	for label, suffix := range []string{".neg", ".pos"} {
		found, err := filepath.Glob(filepath.Join(path, "*"+suffix))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("%s: want one file *%s, found %d", path, suffix, len(found))
		}
		err = table.LinesOf(found[0], func(line string) error {
			if line = strings.TrimSpace(table.Latin1(line)); line != "" {
				add(strconv.Itoa(label), line)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// parseSentences reads "label<TAB>text", "label text" (of a label such as
// "DESC:manner" the coarse half is used), or a tree of the Stanford Sentiment
// Treebank, one per line. A text may be empty: CR and MPQA have one such line
// each.
func parseSentences(r io.Reader, name string, add func(label, text string)) error {
	return table.EachLine(r, name, func(line string) error {
		line = strings.TrimRight(table.Latin1(line), "\r ")
		if strings.TrimSpace(line) == "" {
			return nil
		}
		if line[0] == '(' {
			label, text, err := parseTree(line)
			if err == nil {
				add(label, text)
			}
			return err
		}
		i := strings.IndexByte(line, '\t')
		if i < 0 {
			i = strings.IndexByte(line, ' ')
		}
		if i < 0 {
			return fmt.Errorf("%q: want a label, a tab and a text", line)
		}
		label, _, _ := strings.Cut(line[:i], ":")
		add(label, strings.TrimSpace(line[i+1:]))
		return nil
	})
}

// parseTree returns the label of the root and the leaves of "(3 (2 a) (4 b))".
func parseTree(line string) (label, text string, err error) {
	bad := fmt.Errorf("not a tree of the form (3 (2 word) (4 word))")
	var leaves []string
	depth := 0
	fields := strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(line))
	for i, f := range fields {
		switch {
		case f == "(":
			depth++
		case f == ")":
			if depth--; depth < 0 || depth == 0 && i != len(fields)-1 {
				return "", "", bad
			}
		case i > 0 && fields[i-1] == "(":
			if label == "" {
				label = f
			}
		case depth == 0:
			return "", "", bad
		default:
			switch f { // how the treebank writes brackets
			case "-LRB-":
				f = "("
			case "-RRB-":
				f = ")"
			}
			leaves = append(leaves, f)
		}
	}
	if depth != 0 || label == "" || len(leaves) == 0 {
		return "", "", bad
	}
	return label, strings.Join(leaves, " "), nil
}
