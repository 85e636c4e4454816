package datasets

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/table"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// setsYAML says what its entries mean.
//
//go:embed sets.yaml
var setsYAML []byte

// set is a data set in files.
type set struct {
	Definition `yaml:",inline"`
	Parts      []part     `yaml:"parts"`
	Layout     string     `yaml:"read"`
	Text       string     `yaml:"text"`
	Second     string     `yaml:"second"`
	Label      string     `yaml:"label"`
	Private    string     `yaml:"private"`
	User       string     `yaml:"user"`
	Labels     [][]string `yaml:"labels"`
	Then       string     `yaml:"then"`

	read layout
}

// part is a file of a data set.
type part struct {
	Entry string `yaml:"entry"`
	Part  string `yaml:"part"`
	Split string `yaml:"split"`
	Label string `yaml:"label"`
	// Official reads the official reviews of IMDb where the file is not at hand.
	Official bool `yaml:"official"`
}

// init registers the data sets of sets.yaml.
func init() {
	var sets []set
	if err := yaml.UnmarshalWithOptions(setsYAML, &sets, yaml.Strict()); err != nil {
		panic("sets.yaml: " + err.Error()) // embedded, and tested
	}
	for _, s := range sets {
		s.Parts = list.Map(s.Parts, func(p part) part { // entries of YAML may share a list
			p.Entry = cmp.Or(p.Entry, s.Name)
			return p
		})
		s.read = layouts[s.Layout]
		if s.Layout == "columns" {
			s.Pairs = s.Second != ""
			s.read = inColumns(table.Options{Format: table.CSV}, columns{
				texts:   []string{s.Text},
				second:  s.Second,
				label:   s.Label,
				private: s.Private,
				user:    s.User,
			})
		}
		s.Read = s.load
		s.Needs = s.needs
		if c, ok := corpora[s.Layout]; ok {
			s.Read = c.read
			s.Needs = nil
			s.Generated = true
			s.Doc += "; generated corpus: for tests and machines without data, not for findings"
		}
		Register(s.Definition)
	}
}

// needs are the entries of the catalogue that load reads.
func (s set) needs(root string) (names []string) {
	for _, p := range s.Parts {
		if _, err := fetch.Locate(root, p.Entry, p.Part); err != nil && p.Official {
			names = append(names, "imdb", "wordnet")
		} else if !slices.Contains(names, p.Entry) {
			names = append(names, p.Entry)
		}
	}
	return names
}

// labelled is what load has read, with the labels of rows as the files have them.
type labelled struct {
	Rows
	labels, privates []string
}

// load reads all rows of a set, or of the user's own file. Without known classes
// they are the distinct labels, sorted; without labels there is one.
func (s set) load(ctx context.Context, q Request) (Rows, error) {
	var all labelled
	var sources []string
	for _, p := range s.Parts {
		path, err := s.loadPart(ctx, q, p, &all)
		if err := errors.Join(err, ctx.Err()); err != nil {
			return Rows{}, err
		}
		sources = append(sources, path)
	}
	all.Source = strings.Join(sources, " + ")
	if err := all.number(s.Classes); err != nil {
		return all.Rows, err
	}
	if then := completions[s.Then]; then != nil {
		if err := then(q, &all.Rows); err != nil {
			return all.Rows, err
		}
	}
	return all.Rows, nil
}

// loadPart reads one file, and returns its path.
func (s set) loadPart(ctx context.Context, q Request, p part, all *labelled) (path string, err error) {
	path = q.File
	if path == "" {
		path, err = fetch.Locate(q.Root, p.Entry, p.Part)
	}
	before := len(all.Rows.Rows)
	if errors.Is(err, fs.ErrNotExist) && p.Official {
		path, err = officialTrain2024(ctx, q, &all.Rows)
	} else if err == nil {
		err = s.readPart(ctx, path, p, all)
	}
	if err == nil && len(all.Rows.Rows) == before {
		err = fmt.Errorf("%s: no rows", path)
	}
	return path, err
}

// readPart adds the rows of a file.
func (s set) readPart(ctx context.Context, path string, p part, all *labelled) error {
	known := s.classOf()
	return s.read(ctx, path, func(r record) error {
		label := r.label + p.Label
		class, ok := known[label]
		if s.Classes != nil && !ok {
			return fmt.Errorf("label %q: must be one of %q", label, slices.Sorted(maps.Keys(known)))
		}
		all.Rows.Rows = append(all.Rows.Rows, Row{
			Text:   r.text,
			Second: r.second,
			Label:  class,
			User:   r.user,
			Split:  p.Split,
		})
		all.labels = append(all.labels, label)
		all.privates = append(all.privates, r.private)
		return nil
	})
}

// classOf is the class of each label that a file may have: by default its name or its
// number.
func (s set) classOf() map[string]int {
	known := map[string]int{}
	for class, name := range s.Classes {
		labels := []string{name, strconv.Itoa(class)}
		if s.Labels != nil {
			labels = s.Labels[class]
		}
		for _, l := range labels {
			known[l] = class
		}
	}
	return known
}

// number gives the rows the classes, where these are not known those of their labels,
// and their private labels.
func (l *labelled) number(classes []string) (err error) {
	switch {
	case classes != nil:
		l.Classes = classes
	case l.labels[0] == "":
		l.Classes = []string{"all"}
	default:
		l.Classes, err = numbered(l.Source, l.labels, func(i, class int) {
			l.Rows.Rows[i].Label = class
		})
	}
	if err != nil || len(l.privates) == 0 || l.privates[0] == "" {
		return err
	}
	l.Privates, err = numbered(l.Source+": private label", l.privates, func(i, p int) {
		l.Rows.Rows[i].Private = p
	})
	return err
}

// ownDefinition is the definition of a table of the user's own.
func ownDefinition(q Request) (Definition, error) {
	switch {
	case q.Name == "" || q.File == "" || len(q.TextColumns) == 0:
		return Definition{}, fmt.Errorf("data set %s: a table of your own needs a name, a file and a text column",
			q.Name)
	case definitions.Has(q.Name):
		return Definition{}, fmt.Errorf("data set %s: the name is that of a built-in data set; give your table another",
			q.Name)
	}
	s := set{
		Definition: Definition{
			Name:     q.Name,
			Title:    q.Name,
			Cleaning: CleanWords,
		},
		Parts: []part{{}},
		read: inColumns(table.Options{Delimiter: q.Delimiter, Encoding: q.Encoding}, columns{
			texts:   q.TextColumns,
			label:   q.LabelColumn,
			private: q.PrivateColumn,
			user:    q.UserColumn,
		}),
	}
	s.Read = s.load
	return s.Definition, nil
}

// numbered returns the distinct labels, sorted, and sets the number of each
// row's.
func numbered(source string, labels []string, set func(row, class int)) ([]string, error) {
	classes := slices.Compact(slices.Sorted(slices.Values(labels)))
	if len(classes) < 2 {
		return nil, fmt.Errorf("%s: %d distinct labels %q: a task needs at least 2", source, len(classes), classes)
	}
	for _, c := range classes {
		if err := check.Name("label", c); err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
	}
	for i, l := range labels {
		class, _ := slices.BinarySearch(classes, l)
		set(i, class)
	}
	return classes, nil
}
