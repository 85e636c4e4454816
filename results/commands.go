package results

import (
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
// what is "accuracy", "f1" or "advantage".
func AttackerQuantity(name, what string) string { return attackerPrefix + name + ":" + what }

// MeasuredQuantity is the name of the quantity of a measurement that is a
// command; better is "up", "down", or "" for neither.
func MeasuredQuantity(name, better string) string {
	return strings.TrimSuffix(measuredPrefix+name+":"+better, ":")
}

// ofAttackers are the quantities of an attacker with their titles, in the order of
// tables; the first is a share.
var ofAttackers = [][2]string{{"accuracy", "private label found"}, {"f1", "macro F1"}, {"advantage", "advantage"}}

// ofCommand returns the column of a quantity of a command.
func ofCommand(quantity string) (Column, bool) {
	if rest, ok := strings.CutPrefix(quantity, attackerPrefix); ok {
		name, what, _ := strings.Cut(rest, ":")
		i := slices.IndexFunc(ofAttackers, func(a [2]string) bool { return a[0] == what })
		if i < 0 || name == "" {
			return Column{}, false
		}
		return Column{Name: quantity, Title: ofAttackers[i][1] + ", " + name, Direction: Down, Digits: 3, Threshold: 0.05,
			Table: attackerPrefix + name, Attacker: name, Share: i == 0}, true
	}
	rest, ok := strings.CutPrefix(quantity, measuredPrefix)
	if !ok {
		return Column{}, false
	}
	name, better, _ := strings.Cut(rest, ":")
	direction, known := map[string]Direction{"": Neither, "up": Up, "down": Down}[better]
	return Column{Name: quantity, Title: name, Direction: direction, Digits: 3}, known && name != ""
}

// ordered are the columns of some names: those of the registry in its order, then
// those of commands by name, of an attacker as in ofAttackers.
func ordered[V any](names map[string]V) []Column {
	all := Where(columns, func(c Column) bool { _, met := names[c.Name]; return met })
	registered := len(all)
	for name := range names {
		if c, ok := ofCommand(name); ok {
			all = append(all, c)
		}
	}
	slices.SortFunc(all[registered:], func(a, b Column) int {
		i, j := a.ofAttacker(), b.ofAttacker()
		if a.Attacker != b.Attacker || i < 0 || j < 0 {
			return strings.Compare(a.Name, b.Name)
		}
		return i - j
	})
	return all
}

// ofAttacker is the place in ofAttackers, −1 for none.
func (c Column) ofAttacker() int {
	return slices.IndexFunc(ofAttackers, func(a [2]string) bool {
		return c.Attacker != "" &&
			strings.HasSuffix(c.Name, ":"+a[0])
	})
}
