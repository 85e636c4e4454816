package results

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// Axis is a measure of privacy at whose levels mechanisms are compared.
type Axis struct {
	Name     string // as users write it: "em"
	Quantity string // that every cell has where its sources were measured
	title    string
	Phrase   string // of a level, with one number
	// sources are the quantities that it is made of, the better ones first. Those
	// of one list are alternatives.
	sources [][]string
	// attackers has the panel of attackers whose best success stands in where
	// none was chosen beforehand; nil for errors.
	attackers func(column string) bool
}

// The quantities of axes.
const (
	// EM is the error E_M over all words where every mechanism of the rows has
	// it, else over few candidates.
	EM       = "e_m"
	weighted = "e_m_weighted"
	distance = "e_m_distance"
	label    = "label_found"
	linked   = "documents_linked"
)

// Axes are all axes, the main one first.
var Axes = []Axis{
	{Name: "em", Quantity: EM, title: "E_M", Phrase: "an adversary's error of %g",
		sources: [][]string{{"e_m_full_uniform", "em-uniform"}, {"e_m_map"}}},
	{Name: "weighted", Quantity: weighted, title: "E_M, words as frequent as in the text",
		Phrase:  "an adversary's error of %g on words as frequent as in the text",
		sources: [][]string{{"e_m_full_corpus", "em-corpus"}}},
	{Name: "distance", Quantity: distance, title: "distance of guesses",
		Phrase:  "guesses at %g of the distance of two random words",
		sources: [][]string{{"e_m_full_distance"}}},
	{Name: "label", Quantity: label, title: "private label found",
		Phrase:  "a private label that is found in a share of %g",
		sources: [][]string{{"strongest-label"}}, attackers: func(column string) bool {
			return strings.HasPrefix(column, "attribute-") && strings.HasSuffix(column, "-accuracy")
		}},
	{Name: "linkage", Quantity: linked, title: "documents linked", Phrase: "documents that are linked in a share of %g",
		sources: [][]string{{"strongest-documents"}}, attackers: func(column string) bool {
			return strings.HasPrefix(column, "linkage-") && strings.HasSuffix(column, "-p1")
		}},
}

// axisColumns are the quantities of axes.
func axisColumns() []Column {
	return list.Map(Axes, func(a Axis) Column {
		c := Column{Name: a.Quantity, Title: a.title, Direction: Up, Digits: 3, Table: "axis", Derived: true}
		if a.OfAttackers() {
			c.Direction = Down
		}
		return c
	})
}

// AxisOf returns the axis of a quantity that axes are made into.
func AxisOf(quantity string) (Axis, bool) {
	i := slices.IndexFunc(Axes, func(a Axis) bool { return a.Quantity == quantity })
	if i < 0 {
		return Axis{}, false
	}
	return Axes[i], true
}

// Title is that of the quantity.
func (a Axis) Title() string { return MustColumn(a.Quantity).Title }

// OfAttackers reports whether the axis is the success of attackers, not an error
// over words.
func (a Axis) OfAttackers() bool { return a.attackers != nil }

// Levels are where mechanisms are compared: levels of one axis.
type Levels struct {
	Axis
	At []float64
}

// ParseLevels reads "em=0.5,0.8".
func ParseLevels(s string) (Levels, error) {
	name, list, _ := strings.Cut(s, "=")
	var names []string
	for _, a := range Axes {
		names = append(names, a.Name)
		if a.Name != name {
			continue
		}
		l := Levels{Axis: a}
		for _, text := range strings.Split(list, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				return l, fmt.Errorf("align = %q: level = %q: must be a number", s, text)
			}
			if err := check.Inside("level", v, 0, 1); err != nil {
				return l, fmt.Errorf("align = %q: %w", s, err)
			}
			l.At = append(l.At, v)
		}
		return l, nil
	}
	return Levels{}, fmt.Errorf("align = %q: must be AXIS=LEVEL,LEVEL…, AXIS one of %s", s, strings.Join(names, ", "))
}

// StatedErrors are the levels of E_M at which mechanisms are compared where a
// view asks for no others.
var StatedErrors = []float64{0.5, 0.8}

// Stated are the levels of a view.
func (p *Prepared) Stated() Levels {
	if p.Levels.Quantity == "" {
		return Levels{Axes[0], StatedErrors}
	}
	return p.Levels
}

// deriveAxes sets the quantities of axes in every cell. It reports whether EM is
// the error over all words.
func deriveAxes(cells []Cell) (full bool) {
	for _, a := range Axes {
		if a.attackers == nil {
			full = a.derive(cells) == 0 && a.Quantity == EM || full
			continue
		}
		for i := range cells {
			if m, ok := a.found(cells[i]); ok {
				cells[i].Set(a.Quantity, m)
			}
		}
	}
	return full
}

// found is the success of the strongest attacker: the one that was chosen on
// other documents where a study has that, else the best of those that were run.
func (a Axis) found(c Cell) (best Measured, ok bool) {
	if m, ok := c.first(a.sources[0]...); ok {
		return m, true
	}
	for name, m := range c.values {
		if a.attackers(name) && m.Value.Known() && (!ok || m.Value > best.Value ||
			m.Value == best.Value && name < best.Detail) {
			best, ok = m, true
			best.Detail = name
		}
	}
	return best, ok
}

// derive sets an error in every cell, from the best source that every mechanism
// with an error has, and returns the place of the source, −1 for none. An error
// among few candidates only shows how easy a guess among few is, and mechanisms
// that hide a word in a group then look as if they did not hide it. An error over
// all words, the first source, is measured once for a mechanism and ε and holds
// for all repetitions, models and settings.
func (a Axis) derive(cells []Cell) int {
	at := func(c Cell) Group {
		g := c.Group()
		g.Model, g.ModelParameters, g.Setting = "", "", ""
		return g
	}
	for i, source := range a.sources {
		known := map[Group]Measured{}
		for _, c := range cells {
			if m, ok := c.first(source...); ok {
				if _, again := known[at(c)]; !again {
					known[at(c)] = m
				}
			}
		}
		if len(known) == 0 {
			continue
		}
		everywhere := !slices.ContainsFunc(cells, func(c Cell) bool {
			_, ok := known[at(c)]
			_, has := c.first(slices.Concat(a.sources...)...)
			return !ok && has
		})
		if !everywhere && i < len(a.sources)-1 {
			continue
		}
		for j := range cells {
			c := &cells[j]
			if m, ok := c.first(source...); ok {
				c.Set(a.Quantity, m)
			} else if m, ok := known[at(*c)]; ok && i == 0 {
				c.Set(a.Quantity, m)
			}
		}
		return i
	}
	return -1
}

// first is the first of the quantities that a cell has.
func (c Cell) first(quantities ...string) (m Measured, ok bool) {
	for _, q := range quantities {
		if m, ok = c.At(q); ok && m.Value.Known() {
			return m, true
		}
	}
	return m, false
}
