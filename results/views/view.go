// Package views makes tables of prepared results, as they are declared: rows by,
// columns by, values. The declarations of the program are in views.yaml, and a file
// of the user's adds to them. What is measured, what is kept at equal privacy and the
// tests of pairs are all items with the same coordinates, so that one pivot makes
// every table. Items that a table would put into one cell, because they differ in
// something that it does not name, make separate tables, whose titles name it.
// Numbers on real and on generated data are never in one table.
package views

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"mldpbench/results/quantity"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"mldpbench/internal/list"
	"mldpbench/internal/yamlnode"
	"mldpbench/results"
	"mldpbench/results/analysis"
)

// View declares a table or a figure. Its keys are the names of the fields in small letters: see views.yaml.
type View struct {
	Name, Title, Legend string
	From                string
	Where               map[string][]string
	Split               []string
	Mean                []string // coordinates that numbers are averaged over
	// Of a table.
	Rows, Columns, Value []string
	Best                 bool
	On                   []string          // of a regression
	Beside               map[string]string // a further column: its title, and a text by the last head of a row
	// Of a figure.
	X               string
	Y, Curve, Panel []string
	Note            string
	Log             bool // of y
}

// Views are declared tables and figures, and the tables of two runs compared, of an evaluation and
// of a run at equal privacy.
type Views struct{ Tables, Figures, Runs, Versions, Ranking []View }

//go:embed views.yaml
var builtin []byte

// Builtin are the views of the program.
func Builtin() Views {
	v, err := Parse("views.yaml", builtin)
	if err != nil {
		panic(err)
	}
	return v
}

// Load are the views of the program and, where a file is named, the user's after
// them.
func Load(path string) (Views, error) {
	all := Builtin()
	if path == "" {
		return all, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return all, err
	}
	own, err := Parse(path, data)
	all.Tables = append(all.Tables, own.Tables...)
	all.Figures = append(all.Figures, own.Figures...)
	return all, err
}

// Parse reads views; name is that of the file, for errors.
func Parse(name string, data []byte) (v Views, err error) {
	if err := unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("%s:%s", name, strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	for _, part := range []struct {
		kind  string
		list  []View
		check func(*View) error
	}{
		{"tables", v.Tables, (*View).checkTable},
		{"figures", v.Figures, (*View).checkFigure},
		{"runs", v.Runs, (*View).checkTable},
		{"versions", v.Versions, (*View).checkTable},
		{"ranking", v.Ranking, (*View).checkTable},
	} {
		for i := range part.list {
			if err := part.check(&part.list[i]); err != nil {
				return v, fmt.Errorf("%s: %s[%d]: %w", name, part.kind, i, err)
			}
		}
	}
	return v, nil
}

// unmarshal reads views; a title that looks like a number stays as it is written.
func unmarshal(data []byte, v *Views) error {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return err
	}
	for _, document := range file.Docs {
		if document.Body == nil {
			continue
		}
		ast.Walk(textKeys{}, document.Body)
		if err := yaml.NodeToValue(document.Body, v, yaml.Strict()); err != nil {
			return err
		}
	}
	return nil
}

// textKeys visits the keys of views that take text, and makes their values text.
type textKeys struct{}

// Visit implements ast.Visitor.
func (t textKeys) Visit(node ast.Node) ast.Visitor {
	entry, ok := node.(*ast.MappingValueNode)
	if ok && slices.Contains([]string{"name", "title", "legend", "note"}, entry.Key.GetToken().Value) {
		entry.Value = yamlnode.Text(entry.Value)
	}
	return t
}

// sources are where items come from; those of numbers are asked for each quantity.
var (
	sources = map[string]func(*analysis.Analysis, quantity.Quantity) []Item{
		"cells":      cellItems,
		"equal":      Equal,
		"pairs":      pairItems,
		"versions":   versionItems,
		"regression": none, // see Sets
		"examples":   exampleItems,
		"guarantees": guaranteeItems,
		"datasets":   datasetItems,
		"changes":    none, // see Compared
		"tests":      none,
	}
	ofNumbers = []string{"cells", "equal", "pairs", "versions", "regression"}
)

// none are the items of what one analysis does not have.
func none(*analysis.Analysis, quantity.Quantity) []Item { return nil }

// figure tells a figure from a table.
func (v View) figure() bool { return len(v.Y) > 0 }

// checkTable fills in what a table leaves open, and finds what is wrong with it.
func (v *View) checkTable() error {
	if err := v.checkNames(); err != nil {
		return err
	}
	if len(v.Value) == 0 {
		v.Value = []string{quantity.UsualUtility()}
	}
	if len(v.Rows) == 0 {
		return errors.New("rows is missing")
	}
	v.Title = cmp.Or(v.Title, "{value}")
	return checkQuantities(slices.Concat(v.Value, v.Y, v.regressors()))
}

// checkFigure fills in what a figure leaves open, and finds what is wrong with it.
func (v *View) checkFigure() error {
	if err := v.checkNames(); err != nil {
		return err
	}
	if len(v.Y) == 0 {
		return errors.New("y is missing")
	}
	quantities := slices.Concat(v.Value, v.Y)
	isOverLevels := v.From == "equal" || v.From == "pairs"
	switch {
	case isOverLevels && v.X != "" && v.X != Level:
		return fmt.Errorf("x = %q: what is compared at equal privacy is over its level", v.X)
	case isOverLevels:
		v.X = Level
		v.Title = cmp.Or(v.Title, "{y} at equal privacy")
	case v.From == "regression" || !slices.Contains(ofNumbers, v.From):
		return fmt.Errorf("from = %q: has no numbers to draw", v.From)
	case v.X != Epsilon:
		quantities = append(quantities, v.X)
	}
	v.Title = cmp.Or(v.Title, "{y} against {x}")
	return checkQuantities(append(quantities, v.regressors()...))
}

// checkNames finds what is wrong with the name of a view, its source and its coordinates.
func (v *View) checkNames() error {
	if v.Name == "" || v.Name != slug(v.Name) {
		return fmt.Errorf("name = %q: must be of small letters, digits and hyphens", v.Name)
	}
	v.From = cmp.Or(v.From, "cells")
	if _, ok := sources[v.From]; !ok {
		return fmt.Errorf("from = %q: must be one of %s", v.From, strings.Join(slices.Sorted(maps.Keys(sources)), ", "))
	}
	for _, part := range []struct {
		key   string
		names []string
	}{
		{"rows", v.Rows},
		{"columns", v.Columns},
		{"split", v.Split},
		{"curve", v.Curve},
		{"panel", v.Panel},
		{"mean", v.Mean},
		{"where", slices.Sorted(maps.Keys(v.Where))},
	} {
		for _, name := range part.names {
			if !slices.Contains(coordinates, name) {
				return fmt.Errorf("%s = %q: must be of %s", part.key, name, strings.Join(coordinates, ", "))
			}
		}
	}
	return nil
}

// regressors are the quantities that a regression is on.
func (v *View) regressors() []string {
	return results.Where(v.On, func(q string) bool { return q != Epsilon })
}

// checkQuantities finds a name that stands for no quantity.
func checkQuantities(names []string) error {
	for _, q := range names {
		_, err := quantity.Find(q)
		standsForSeveral := slices.Contains([]string{"each", "all", "attackers"}, q) || strings.HasPrefix(q, "group:")
		if err != nil && !standsForSeveral {
			return fmt.Errorf("%q is no quantity; mldp study keys lists them", q)
		}
	}
	return nil
}

// What a figure may be over, beside quantities: ε, and the level at which mechanisms are compared.
const (
	Epsilon = "epsilon"
	Level   = "level"
)

// Quantities are the columns that names stand for, of those that cells have.
func Quantities(cells []results.Cell, names []string) (out []quantity.Quantity) {
	measured := results.MeasuredQuantities(cells)
	for _, name := range names {
		out = append(out, quantitiesOf(measured, name)...)
	}
	return out
}

// quantitiesOf are the columns that one name stands for.
func quantitiesOf(measured []quantity.Quantity, name string) []quantity.Quantity {
	group, isGroup := strings.CutPrefix(name, "group:")
	switch {
	case isGroup:
		return results.Where(measured, func(c quantity.Quantity) bool {
			return c.Table == group
		})
	case name == "each":
		return results.Where(measured, func(c quantity.Quantity) bool {
			return c.Table == "" && c.Attacker == ""
		})
	case name == "all":
		return results.Where(measured, func(c quantity.Quantity) bool {
			return c.Table != "axis" && c.Table != "puc"
		})
	case name == "attackers":
		return attackers(measured)
	}
	column, err := quantity.Find(name)
	if err != nil {
		return nil
	}
	return []quantity.Quantity{column}
}

// attackers are the first quantity of each attacker, in the order of the registry: of
// the strongest ones where they were compared, and of a single attacker all.
func attackers(measured []quantity.Quantity) []quantity.Quantity {
	all := results.Where(measured, func(q quantity.Quantity) bool { return q.Attacker != "" })
	each := list.Group(all, func(q quantity.Quantity) string { return q.Attacker })
	if len(each) == 1 {
		return all
	}
	return list.Map(each, func(own []quantity.Quantity) quantity.Quantity { return own[0] })
}
