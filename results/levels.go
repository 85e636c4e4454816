package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// EM is the error E_M over all words where every mechanism of the rows has it,
// else over few candidates: how often the best guess of a word is wrong.
const EM = "e_m"

// Levels are where mechanisms are compared: levels of one quantity.
type Levels struct {
	Quantity string
	At       []float64
}

// ParseLevels reads "em=0.5,0.8"; the quantity may be any column.
func ParseLevels(s string) (Levels, error) {
	name, list, _ := strings.Cut(s, "=")
	if name == "em" {
		name = EM
	}
	l := Levels{Quantity: name}
	c, err := FindColumn(name)
	if err != nil || c.Title == "" {
		return Levels{}, fmt.Errorf("align = %q: must be QUANTITY=LEVEL,LEVEL…, as em=0.5; mldp study keys lists the "+
			"quantities", s)
	}
	for _, text := range strings.Split(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		most := math.MaxFloat64
		if c.Share || c.Error {
			most = 1
		} else if c.Unit == "%" {
			most = 100
		}
		if err != nil || math.IsNaN(v) || v <= 0 || v >= most {
			if most < math.MaxFloat64 {
				return l, fmt.Errorf("align = %q: level = %q: must be a number > 0 and < %g", s, text, most)
			}
			return l, fmt.Errorf("align = %q: level = %q: must be a number > 0", s, text)
		}
		l.At = append(l.At, v)
	}
	return l, nil
}

// String is the text that ParseLevels reads.
func (l Levels) String() string {
	if l.Quantity == "" {
		return ""
	}
	var parts []string
	for _, v := range l.At {
		parts = append(parts, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strings.Replace(l.Quantity, EM, "em", 1) + "=" + strings.Join(parts, ",")
}

// errorsOver are the measurements of E_M, the better ones first: over all words, and
// among few candidates. Those of one list are alternatives.
var errorsOver = [][]string{{"e_m_full_uniform", "em-uniform"}, {"e_m_map"}}

// deriveError sets EM in every cell, from the best source that every mechanism
// with an error has. An error among few candidates only shows how easy a guess among
// few is, and mechanisms that hide a word in a group then look as if they did not hide
// it. An error over all words is measured once for a mechanism and ε and holds for all
// repetitions, models and settings.
func deriveError(cells []Cell) {
	at := func(c Cell) Place { return c.Group().Text() }
	for i, source := range errorsOver {
		known := map[Place]Measured{}
		for _, c := range cells {
			if m, ok := c.first(source...); ok {
				if _, again := known[at(c)]; !again {
					known[at(c)] = m
				}
			}
		}
		everywhere := len(known) > 0
		for _, c := range cells {
			_, ok := known[at(c)]
			_, has := c.first(slices.Concat(errorsOver...)...)
			everywhere = everywhere && (ok || !has)
		}
		if !everywhere && i < len(errorsOver)-1 {
			continue
		}
		for j := range cells {
			c := &cells[j]
			if m, ok := c.first(source...); ok {
				c.Set(EM, m)
			} else if m, ok := known[at(*c)]; ok && i == 0 {
				c.Set(EM, m)
			}
		}
		return
	}
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
