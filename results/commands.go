package results

import (
	"maps"
	"slices"
	"strings"
)

// Quantities of commands have no entry in the registry: their names say what
// they are, because who reads the rows may not have the study.
const (
	attackerPrefix = "attacker:"
	measuredPrefix = "measured:"
)

// AttackerQuantity is the name of a quantity of an attacker that is a command;
// what is "accuracy", "f1", "advantage" or "accuracy-advantage".
func AttackerQuantity(name, what string) string { return attackerPrefix + name + ":" + what }

// MeasuredQuantity is the name of the quantity of a measurement that is a
// command; better is "up", "down", or "" for neither.
func MeasuredQuantity(name, better string) string {
	return strings.TrimSuffix(measuredPrefix+name+":"+better, ":")
}

// ofCommand returns the column of a quantity of a command.
func ofCommand(quantity string) (Column, bool) {
	if rest, ok := strings.CutPrefix(quantity, attackerPrefix); ok {
		name, what, _ := strings.Cut(rest, ":")
		title, ok := map[string]string{"accuracy": "private label found", "f1": "macro F1", "advantage": "advantage",
			"accuracy-advantage": "advantage in accuracy"}[what]
		return Column{Name: quantity, Title: title + ", " + name, Direction: Down, Digits: 3, Threshold: 0.05,
			Table: attackerPrefix + name, Attacker: name, Share: what == "accuracy"}, ok && name != ""
	}
	rest, ok := strings.CutPrefix(quantity, measuredPrefix)
	name, better, _ := strings.Cut(rest, ":")
	direction, known := map[string]Direction{"": Neither, "up": Up, "down": Down}[better]
	return Column{Name: quantity, Title: name, Direction: direction, Digits: 3}, ok && known && name != ""
}

// attackerQuantities are those of an attacker in the order of tables.
var attackerQuantities = []string{":accuracy", ":f1", ":advantage", ":accuracy-advantage"}

// ofCommands lists the quantities of commands that cells have: by name, the
// accuracy of an attacker before what follows from it.
func ofCommands(cells ...Cell) []string {
	met := map[string]bool{}
	for _, c := range cells {
		for name := range c.values {
			if _, ok := ofCommand(name); ok {
				met[name] = true
			}
		}
	}
	names := slices.Sorted(maps.Keys(met))
	rank := func(name string) int {
		return slices.IndexFunc(attackerQuantities, func(q string) bool { return strings.HasSuffix(name, q) })
	}
	slices.SortStableFunc(names, func(a, b string) int {
		i, j := strings.LastIndexByte(a, ':'), strings.LastIndexByte(b, ':')
		if a[:i] != b[:j] {
			return strings.Compare(a, b)
		}
		return rank(a) - rank(b)
	})
	return names
}
