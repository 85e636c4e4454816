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
	Label      string     `yaml:"label"`
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
		if s.read = layouts[s.Layout]; s.Layout == "columns" {
			s.read = inColumns(table.Options{Format: table.CSV}, []string{s.Text}, s.Label, "", "")
		}
		s.Read, s.Needs = s.load, s.needs
		if c, ok := corpora[s.Layout]; ok {
			s.Read, s.Needs, s.Generated = c.read, nil, true
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

// load reads all rows of a set, or of the user's own file. Without known classes
// they are the distinct labels, sorted; without labels there is one.
func (s set) load(ctx context.Context, q Request) (out Rows, err error) {
	known := map[string]int{}
	for c, name := range s.Classes {
		as := []string{name, strconv.Itoa(c)}
		if s.Labels != nil {
			as = s.Labels[c]
		}
		for _, l := range as {
			known[l] = c
		}
	}
	var labels, privates, sources []string
	for _, p := range s.Parts {
		path, err := q.File, error(nil)
		if path == "" {
			path, err = fetch.Locate(q.Root, p.Entry, p.Part)
		}
		before := len(out.Rows)
		if errors.Is(err, fs.ErrNotExist) && p.Official {
			path, err = officialTrain2024(ctx, q, &out)
		} else if err == nil {
			err = s.read(ctx, path, func(r record) error {
				label := r.label + p.Label
				class, ok := known[label]
				if s.Classes != nil && !ok {
					return fmt.Errorf("label %q: must be one of %q", label, slices.Sorted(maps.Keys(known)))
				}
				out.Rows = append(out.Rows, Row{Text: r.text, Label: class, User: r.user, Split: p.Split})
				labels, privates = append(labels, label), append(privates, r.private)
				return nil
			})
		}
		if err == nil && len(out.Rows) == before {
			err = fmt.Errorf("%s: no rows", path)
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return Rows{}, err
		}
		sources = append(sources, path)
	}
	out.Source = strings.Join(sources, " + ")
	if out.Classes = s.Classes; s.Classes == nil && labels[0] == "" {
		out.Classes = []string{"all"}
	} else if s.Classes == nil {
		out.Classes, err = numbered(out.Source, labels, func(i, class int) { out.Rows[i].Label = class })
	}
	if err == nil && len(privates) > 0 && privates[0] != "" {
		out.Privates, err = numbered(out.Source+": private label", privates, func(i, p int) { out.Rows[i].Private = p })
	}
	if then := completions[s.Then]; err == nil && then != nil {
		err = then(q, &out)
	}
	return out, err
}

// ownDefinition is the definition of a table of the user's own.
func ownDefinition(q Request) (Definition, error) {
	switch {
	case q.Name == "" || q.File == "" || len(q.TextColumns) == 0:
		return Definition{}, fmt.Errorf("data set %s: a table of your own needs a name, a file and a text column", q.Name)
	case definitions.Has(q.Name):
		return Definition{}, fmt.Errorf("data set %s: the name is that of a built-in data set; give your table another",
			q.Name)
	}
	s := set{Definition: Definition{Name: q.Name, Title: q.Name, Cleaning: CleanWords},
		Parts: []part{{}}, read: inColumns(table.Options{Delimiter: q.Delimiter, Encoding: q.Encoding}, q.TextColumns,
			q.LabelColumn, q.PrivateColumn, q.UserColumn)}
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
