package results

import (
	"math"
	"strconv"
	"strings"

	"mldpbench/internal/check"
)

// EM is the error E_M over all words: how often the best guess of a word is wrong.
const EM = "em"

// Game is how often an adversary says which of two originals was released, the name of its metric too.
const Game = "game"

// Levels are where mechanisms are compared: levels of one quantity.
type Levels struct {
	Quantity string
	At       []float64
}

// ParseLevels reads "em=0.5,0.8" of an option, such as align. legal returns an error for a quantity that the option
// does not take, or the bounds that levels must be above and below.
func ParseLevels(option, text string, legal func(quantity string) (above, below float64, err error)) (Levels, error) {
	name, list, _ := strings.Cut(text, "=")
	if now := NameNow(name); now != name {
		return Levels{}, check.Wrong("%s = %q: %s is called %s now", option, text, name, now)
	}
	above, below, err := legal(name)
	if err != nil {
		return Levels{}, err
	}
	l := Levels{Quantity: name}
	for level := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(level), 64)
		if err != nil || math.IsNaN(v) || v <= above || v >= below {
			return l, check.Wrong("%s = %q: level = %q: must be a number > %.4g and < %.4g", option, text, level, above,
				below)
		}
		l.At = append(l.At, v)
	}
	return l, nil
}

// ParseAlign reads the levels of any quantity that has a title.
func ParseAlign(text string) (Levels, error) {
	return ParseLevels("align", text, func(quantity string) (above, below float64, err error) {
		c, err := FindColumn(quantity)
		if err != nil || c.Title == "" {
			return 0, 0, check.Wrong("align = %q: must be QUANTITY=LEVEL,LEVEL…, as em=0.5; mldp study keys lists the "+
				"quantities", text)
		}
		switch {
		case c.Share || c.Error:
			return c.Least, 1, nil
		case c.Unit == "%":
			return 0, 100, nil
		}
		return 0, math.MaxFloat64, nil
	})
}

// inheritOnce sets quantities that are measured once for a mechanism and ε in the cells of all other repetitions,
// models and settings.
func inheritOnce(cells []Cell) {
	for _, q := range Where(columns, func(q Column) bool { return q.Once }) {
		known := map[Place]Measured{}
		for _, c := range cells {
			group := c.Group().Text()
			if _, again := known[group]; !again && c.Has(q.Name) {
				known[group] = c.values[q.Name]
			}
		}
		for i := range cells {
			m, ok := known[cells[i].Group().Text()]
			if ok && !cells[i].Has(q.Name) {
				m.Inherited = true
				cells[i].Set(q.Name, m)
			}
		}
	}
}
