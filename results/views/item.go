package views

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
)

// Item is one number or text, with all that tables and figures go by.
type Item struct {
	results.Place
	Name             string  // of the mechanism where it is not the usual one
	Against          string  // the other mechanism of a pair
	At               float64 // the level at which mechanisms are compared, of the quantity Privacy; 0 for none
	Privacy          string
	Scope            string // what two runs are compared in, or the document of a text
	Over             string // the spaces that it is a mean over
	Term             string // of a regression
	Statistic        string // what is said of the quantity, where it is not its value: "p (Holm)"
	Quantity         quantity.Quantity
	Whole            int     // what a share is one of
	Value, Low, High float64 // NaN where not known
	Text             string  // instead of the number
	Best, Tied       bool
	Notes            []string
	Cells            []results.Cell // that it was computed from
}

// texts are the coordinates that views name, as printed.
var texts = map[string]func(*analysis.Analysis, Item) string{
	"dataset":    func(_ *analysis.Analysis, i Item) string { return i.datasetText() },
	"space":      func(a *analysis.Analysis, i Item) string { return cmp.Or(i.Over, a.SpaceName(i.Place)) },
	"mechanism":  func(a *analysis.Analysis, i Item) string { return cmp.Or(i.Name, a.MarkedName(i.Place)) },
	"epsilon":    func(_ *analysis.Analysis, i Item) string { return i.epsilonText() },
	"policy":     func(_ *analysis.Analysis, i Item) string { return i.Policy },
	"model":      func(a *analysis.Analysis, i Item) string { return modelText(a, i) },
	"setting":    func(_ *analysis.Analysis, i Item) string { return i.Setting },
	"generated":  func(_ *analysis.Analysis, i Item) string { return i.generatedText() },
	"repetition": func(_ *analysis.Analysis, i Item) string { return strconv.Itoa(i.Repetition) },
	"task":       func(a *analysis.Analysis, i Item) string { return a.TaskName(i.Place) },
	"level":      func(_ *analysis.Analysis, i Item) string { return LevelOf(i.Privacy, i.At) },
	"against":    func(_ *analysis.Analysis, i Item) string { return i.Against },
	"quantity":   func(_ *analysis.Analysis, i Item) string { return i.Quantity.Heading() },
	"statistic":  func(_ *analysis.Analysis, i Item) string { return i.Statistic },
	"scope":      func(_ *analysis.Analysis, i Item) string { return i.Scope },
	"term":       func(_ *analysis.Analysis, i Item) string { return i.Term },
}

// coordinates are their names, in the order in which they are said. What else makes other data is in the names of data
// sets: see results.Prepare.
var coordinates = []string{"dataset", "space", "mechanism", "epsilon", "policy", "model", "setting", "generated",
	"repetition", "task", "level", "against", "quantity", "statistic", "scope", "term"}

// Text is a coordinate of an item as printed.
func Text(a *analysis.Analysis, i Item, coordinate string) string { return texts[coordinate](a, i) }

func (i Item) datasetText() string {
	if i.Dataset == "" && i.Scope == "" {
		return "all"
	}
	return results.DatasetTitle(i.Dataset)
}

func (i Item) epsilonText() string { return strings.Trim(Short(i.Epsilon.Float()), NotMeasured) }

func (i Item) generatedText() string {
	if i.Generated {
		return "generated data"
	}
	return ""
}

// modelText is the classifier whatever the setting.
func modelText(a *analysis.Analysis, i Item) string {
	place := i.Place
	place.Setting = ""
	return a.TaskName(place)
}

// says is an item that says a text of a place and quantity.
func (i Item) says(statistic, text string) Item { return i.saysNumber(statistic, text, math.NaN()) }

// saysNumber is an item that says a number as it is written.
func (i Item) saysNumber(statistic, text string, number float64) Item {
	return i.saysWithin(statistic, text, number, math.NaN(), math.NaN())
}

// saysWithin is an item that says a number as it is written, with its interval.
func (i Item) saysWithin(statistic, text string, number, low, high float64) Item {
	i.Statistic = statistic
	i.Text = text
	i.Value = number
	i.Low = low
	i.High = high
	return i
}

// LevelOf names a level of a quantity; that of none is empty.
func LevelOf(name string, at float64) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%s = %s", quantity.Must(name).Title, Short(at))
}
