package quantity

import (
	"math"
	"strconv"
	"strings"

	"mldpbench/internal/check"
)

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
	return ParseLevels("align", text, func(name string) (above, below float64, err error) {
		c, err := Find(name)
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
