package results

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

// AttackerQuantity is the name of the quantity of an attacker that is a command.
func AttackerQuantity(name string) string { return attackerPrefix + name + accuracySuffix }

// MeasuredQuantity is the name of the quantity of a measurement that is a
// command; better is "up", "down", or "" for neither.
func MeasuredQuantity(name, better string) string {
	return strings.TrimSuffix(measuredPrefix+name+":"+better, ":")
}

// ofCommand returns the column of a quantity of a command, or of a composite.
func ofCommand(quantity string) (Column, bool) {
	if rest, ok := strings.CutPrefix(quantity, attackerPrefix); ok {
		name, known := strings.CutSuffix(rest, accuracySuffix)
		c := Column{
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
	c := Column{Name: quantity, Title: name, Digits: 3}
	switch better {
	case "":
		c.Direction = neither
	case "up":
		c.Direction = Up
	case "down":
		c.Direction = Down
	default:
		return Column{}, false
	}
	return c, name != ""
}

// ordered are the columns of some names: those of the registry in its order, then
// those of commands by name.
func ordered[V any](names map[string]V) []Column {
	all := Where(columns, func(c Column) bool { _, met := names[c.Name]; return met })
	registered := len(all)
	for name := range names {
		if c, ok := ofCommand(name); ok {
			all = append(all, c)
		}
	}
	slices.SortFunc(all[registered:], func(a, b Column) int { return strings.Compare(a.Name, b.Name) })
	return all
}
