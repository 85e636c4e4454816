package results

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// EM is the error E_M over all words: how often the best guess of a word is wrong.
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
			return l, fmt.Errorf("align = %q: level = %q: must be a number > 0 and < %.4g", s, text, most)
		}
		l.At = append(l.At, v)
	}
	return l, nil
}

// deriveError sets EM in every cell: it is measured once for a mechanism and ε and
// holds for all repetitions, models and settings.
func deriveError(cells []Cell) {
	known := map[Place]Measured{}
	for i := range cells {
		c := &cells[i]
		if m, _ := c.At("e_m_full_uniform"); m.Value.Known() {
			c.Set(EM, m)
		}
		if _, again := known[c.Group().Text()]; !again && c.Has(EM) {
			known[c.Group().Text()] = c.values[EM]
		}
	}
	for i := range cells {
		if m, ok := known[cells[i].Group().Text()]; ok && !cells[i].Has(EM) {
			cells[i].Set(EM, m)
		}
	}
}
