package quantity

import (
	"slices"
	"strings"
)

// Quantities of commands have no entry in the registry: their names say what
// they are, because who reads the rows may not have the study.
const (
	attackerPrefix = "attacker:"
	accuracySuffix = ":accuracy"
	measuredPrefix = "measured:"
)

// OfAttacker is the name of the quantity of an attacker that is a command.
func OfAttacker(name string) string { return attackerPrefix + name + accuracySuffix }

// OfMeasurement is the name of the quantity of a measurement that is a
// command; better is "up", "down", or "" for neither.
func OfMeasurement(name, better string) string {
	return strings.TrimSuffix(measuredPrefix+name+":"+better, ":")
}

// ofCommand returns the quantity of a command, or of a composite.
func ofCommand(quantity string) (Quantity, bool) {
	if rest, ok := strings.CutPrefix(quantity, attackerPrefix); ok {
		name, known := strings.CutSuffix(rest, accuracySuffix)
		c := Quantity{
			Name:      quantity,
			Title:     "private label found, " + name,
			Direction: Down,
			Digits:    3,
			Threshold: 0.05,
			Table:     attackerPrefix + name,
			Attacker:  name,
			Share:     true,
		}
		return c, known && name != ""
	}
	rest, ok := strings.CutPrefix(quantity, measuredPrefix)
	if !ok {
		return ofPUC(quantity)
	}
	name, better, _ := strings.Cut(rest, ":")
	c := Quantity{
		Name:   quantity,
		Title:  name,
		Digits: 3,
	}
	switch better {
	case "":
		c.Direction = neither
	case "up":
		c.Direction = Up
	case "down":
		c.Direction = Down
	default:
		return Quantity{}, false
	}
	return c, name != ""
}

// Ordered are the quantities of some names: those of the registry in its order, then
// those of commands by name.
func Ordered[V any](names map[string]V) []Quantity {
	var all []Quantity
	for _, q := range registered {
		if _, met := names[q.Name]; met {
			all = append(all, q)
		}
	}
	ofRegistry := len(all)
	for name := range names {
		if c, ok := ofCommand(name); ok {
			all = append(all, c)
		}
	}
	slices.SortFunc(all[ofRegistry:], func(a, b Quantity) int {
		return strings.Compare(a.Name, b.Name)
	})
	return all
}
