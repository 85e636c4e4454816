// Package views makes tables of prepared results, as they are declared: rows by,
// columns by, values. The declarations of the program are in views.yaml, and a file
// of the user's adds to them. What is measured, what is kept at equal privacy and the
// tests of pairs are all items with the same coordinates, so that one pivot makes
// every table. Items that a table would put into one cell, because they differ in
// something that it does not name, make separate tables, whose titles name it.
// Numbers on real and on generated data are never in one table.
package views

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"mldpbench/results"
)

// View declares a table or a figure.
type View struct {
	Name   string              `yaml:"name"`
	Title  string              `yaml:"title"`
	Where  map[string][]string `yaml:"where"`
	Split  []string            `yaml:"split"`
	Legend string              `yaml:"legend"`

	// Of a table.
	From    string   `yaml:"from"`
	Rows    []string `yaml:"rows"`
	Columns []string `yaml:"columns"`
	Value   []string `yaml:"value"`
	Best    bool     `yaml:"best"`

	// Of a figure.
	X     string   `yaml:"x"`
	Y     []string `yaml:"y"`
	Curve []string `yaml:"curve"`
	Panel []string `yaml:"panel"`
	Note  string   `yaml:"note"`
}

// Views are declared tables and figures.
type Views struct {
	Tables  []View `yaml:"tables"`
	Figures []View `yaml:"figures"`
}

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
// them; one of the same name replaces it.
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
	if err != nil {
		return all, err
	}
	replace := func(list, own []View) []View {
		for _, v := range own {
			if i := slices.IndexFunc(list, func(o View) bool { return o.Name == v.Name }); i >= 0 {
				list[i] = v
			} else {
				list = append(list, v)
			}
		}
		return list
	}
	return Views{replace(all.Tables, own.Tables), replace(all.Figures, own.Figures)}, nil
}

// Parse reads views; name is that of the file, for errors.
func Parse(name string, data []byte) (v Views, err error) {
	d := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := d.Decode(&v); err != nil && !errors.Is(err, io.EOF) {
		return v, fmt.Errorf("%s:%s", name, strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	for i := range v.Tables {
		if err := v.Tables[i].check(false); err != nil {
			return v, fmt.Errorf("%s: tables[%d]: %w", name, i, err)
		}
	}
	for i := range v.Figures {
		if err := v.Figures[i].check(true); err != nil {
			return v, fmt.Errorf("%s: figures[%d]: %w", name, i, err)
		}
	}
	return v, nil
}

// sources are where items come from.
var sources = []string{"cells", "equal", "pairs", "guarantees", "datasets"}

// check fills in what a view leaves open.
func (v *View) check(figure bool) error {
	if v.From == "" {
		v.From = sources[0]
	}
	if v.Name == "" || v.Name != Slug(v.Name) {
		return fmt.Errorf("name = %q: must be of small letters, digits and hyphens", v.Name)
	}
	if !slices.Contains(sources, v.From) {
		return fmt.Errorf("from = %q: must be one of %s", v.From, strings.Join(sources, ", "))
	}
	for key, names := range map[string][]string{"rows": v.Rows, "columns": v.Columns, "split": v.Split, "curve": v.Curve,
		"panel": v.Panel} {
		for _, n := range names {
			if !slices.Contains(coordinates, n) {
				return fmt.Errorf("%s = %q: must be of %s", key, n, strings.Join(coordinates, ", "))
			}
		}
	}
	for n := range v.Where {
		if !slices.Contains(coordinates, n) {
			return fmt.Errorf("where = %q: must be of %s", n, strings.Join(coordinates, ", "))
		}
	}
	values := v.Value
	if figure {
		if values = append([]string{v.X}, v.Y...); len(v.Y) == 0 {
			return errors.New("y is missing")
		}
	} else if len(v.Rows) == 0 {
		return errors.New("rows is missing")
	}
	if v.Title == "" {
		v.Title = map[bool]string{false: "{value}", true: "{y} against {x}"}[figure]
	}
	for _, q := range values {
		if _, err := results.FindColumn(q); err != nil && q != "each" && q != "all" && q != "attackers" && q != Epsilon &&
			!strings.HasPrefix(q, "group:") {
			return fmt.Errorf("%q is no quantity; mldp study keys lists them", q)
		}
	}
	return nil
}

// Epsilon is the name of the quantity ε of figures.
const Epsilon = "epsilon"

// Quantities are the columns that names stand for, of those that cells have.
func Quantities(cells []results.Cell, names []string) (out []results.Column) {
	measured := results.MeasuredColumns(cells)
	for _, name := range names {
		switch group, ok := strings.CutPrefix(name, "group:"); {
		case ok:
			out = append(out, results.Where(measured, func(c results.Column) bool { return c.Table == group })...)
		case name == "each":
			out = append(out, results.Where(measured, func(c results.Column) bool {
				return c.Table == "" && c.Attacker == ""
			})...)
		case name == "all":
			out = append(out, results.Where(measured, func(c results.Column) bool { return c.Table != "axis" })...)
		case name == "attackers":
			out = append(out, Attackers(cells)...)
		default:
			if c, err := results.FindColumn(name); err == nil {
				out = append(out, c)
			}
		}
	}
	return out
}

// Attackers are the first quantity of each attacker that some cell has, in the
// order of the registry: of the strongest ones where they were compared, and of a
// single attacker all.
func Attackers(cells []results.Cell) (columns []results.Column) {
	all := results.Where(results.MeasuredColumns(cells), func(q results.Column) bool { return q.Attacker != "" })
	for _, q := range all {
		if !slices.ContainsFunc(columns, func(o results.Column) bool { return o.Attacker == q.Attacker }) {
			columns = append(columns, q)
		}
	}
	if len(columns) == 1 {
		return all
	}
	return columns
}
