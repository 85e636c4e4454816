package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results/quantity"
)

// Cell is everything that was measured at one place in one repetition: a row of
// a wide table. It also has what was measured of the same release without a
// model or a setting.
type Cell struct {
	Place
	Promise
	Study            string
	Index            int
	Key              string // of its own first unit
	Status           string
	Reason           string
	Version, Machine string
	Program          string // fingerprint of a mechanism from outside; "" where it is not known

	values    map[string]Measured // by quantity
	resources map[string]string   // by quantity: fingerprints of what it was measured with, where they are known
}

// OtherResources names the programs, models and lists with which a quantity was measured
// in two cells, as far as they are known and differ.
func (c Cell) OtherResources(o Cell, quantity string) (names []string) {
	theirs := strings.Split(o.resources[quantity], "; ")
	for _, resource := range strings.Split(c.resources[quantity], "; ") {
		name, _, known := strings.Cut(resource, ":")
		other := slices.ContainsFunc(theirs, func(r string) bool {
			return strings.HasPrefix(r, name+":") && r != resource
		})
		if known && other {
			names = append(names, name)
		}
	}
	return names
}

// At returns a quantity with all that it rests on.
func (c Cell) At(quantity string) (Measured, bool) { m, ok := c.values[quantity]; return m, ok }

// Get returns a quantity, missing where it was not measured.
func (c Cell) Get(quantity string) Optional {
	if m, ok := c.values[quantity]; ok {
		return m.Value
	}
	return Missing
}

// Has reports whether a quantity was measured here.
func (c Cell) Has(quantity string) bool { return c.Get(quantity).Known() }

// Quantities lists the names of what was measured, in the order of the
// registry.
func (c Cell) Quantities() []string {
	return list.Map(quantity.Ordered(c.values), func(c quantity.Quantity) string {
		return c.Name
	})
}

// Set replaces a quantity of this cell; its copies are not changed.
func (c *Cell) Set(quantity string, m Measured) {
	c.values = maps.Clone(c.values)
	if c.values == nil {
		c.values = map[string]Measured{}
	}
	c.values[quantity] = m
}

// Cells are the repetitions of one cell.
type Cells struct {
	Place // their group
	Cells []Cell
}

// Values returns the values of a quantity over repetitions without missing ones.
func (c Cells) Values(quantity string) []float64 {
	var x []float64
	for _, r := range c.Cells {
		if v := r.Get(quantity); v.Known() {
			x = append(x, v.Float())
		}
	}
	return x
}

// GroupCells gathers cells by group, in the order of the first of each.
func GroupCells(cells []Cell) []Cells {
	return list.Map(list.Group(cells, Cell.Group), func(own []Cell) Cells {
		return Cells{own[0].Group(), own}
	})
}

// Texts keeps one cell for each privatised text, without its model and setting:
// what was measured of the text is the same for all of them.
func Texts(cells []Cell) []Cell {
	text := func(c Cell) Place {
		k := c.Text().Group()
		k.Repetition = c.Repetition
		return k
	}
	return list.Map(list.Group(cells, text), func(own []Cell) Cell {
		kept := own[0]
		kept.Place = kept.Text()
		for _, c := range own[1:] {
			for name, m := range c.values {
				if !kept.Has(name) && m.Value.Known() {
					kept.Set(name, m)
				}
			}
		}
		return kept
	})
}

// ByInstance gathers cells by instance in the order of their first appearance, those
// of one mechanism together.
func ByInstance(cells []Cell) [][]Cell {
	all := list.Group(cells, Cell.Instance)
	mechanisms := Distinct(all, func(own []Cell) string { return own[0].Mechanism })
	slices.SortStableFunc(all, func(a, b []Cell) int {
		return slices.Index(mechanisms, a[0].Mechanism) - slices.Index(mechanisms, b[0].Mechanism)
	})
	return all
}

// Distinct returns the values of f in order of appearance.
func Distinct[E any, T comparable](list []E, f func(E) T) []T {
	var values []T
	seen := map[T]bool{}
	for _, r := range list {
		if v := f(r); !seen[v] {
			seen[v] = true
			values = append(values, v)
		}
	}
	return values
}

// Unique is the name of a file, with a number where another has it already.
func Unique(taken map[string]bool, name string) string {
	own := name
	for i := 2; taken[own]; i++ {
		own = fmt.Sprintf("%s-%d", name, i)
	}
	taken[own] = true
	return own
}

// Where selects cells or rows.
func Where[E any](list []E, keep func(E) bool) []E {
	var kept []E
	for _, r := range list {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// Epsilons returns the ε of cells, ascending.
func Epsilons(cells []Cell) []float64 {
	values := Distinct(Where(cells, func(c Cell) bool { return c.Epsilon.Known() }),
		func(c Cell) float64 { return c.Epsilon.Float() })
	slices.Sort(values)
	return values
}

// UnprovedMark is that of a mechanism without a guarantee.
const UnprovedMark = "†"

// ScopeMark is that of a mechanism whose guarantee holds between some words only.
const ScopeMark = "‡"

// Unproved returns the first cell of a mechanism without a guarantee; one that a
// user made and that states none has none. One where the mechanism is undefined has
// no guarantee to report.
func Unproved(cells []Cell) (c Cell, found bool) {
	i := slices.IndexFunc(cells, func(c Cell) bool {
		return !c.IsBaseline() && c.Mechanism != "" && c.Status != StatusUndefined && c.GuaranteeMetric == ""
	})
	if i < 0 {
		return c, false
	}
	return cells[i], true
}

// Scope returns between which words the guarantee of cells of one mechanism
// holds, "" where it holds between any two. Groups differ between data sets; the
// first scope is used for all.
func Scope(cells []Cell) string {
	scopes := Distinct(Where(cells, func(c Cell) bool { return c.GuaranteeScope != "" }),
		func(c Cell) string { return c.GuaranteeScope })
	if len(scopes) > 1 {
		return scopes[0] + " (other words elsewhere: see the table of guarantees)"
	}
	return strings.Join(scopes, "")
}

// Mark is that of the guarantee of cells of one mechanism, "" for a full one.
func Mark(cells []Cell) string {
	switch _, found := Unproved(cells); {
	case found:
		return UnprovedMark
	case Scope(cells) != "":
		return ScopeMark
	}
	return ""
}

// Repeated returns the fewest and most repetitions of the privatised texts of some
// cells.
func Repeated(cells []Cell) (fewest, most int) {
	counts := list.Map(GroupCells(Texts(cells)), func(c Cells) int { return len(c.Cells) })
	if len(counts) == 0 {
		return 0, 0
	}
	return slices.Min(counts), slices.Max(counts)
}

// MeasuredQuantities returns the quantities with a title that some cell has.
func MeasuredQuantities(cells []Cell) []quantity.Quantity {
	met := map[string]bool{}
	for _, c := range cells {
		for name, m := range c.values {
			if m.Value.Known() {
				met[name] = true
			}
		}
	}
	return Where(quantity.Ordered(met), func(c quantity.Quantity) bool {
		return c.Title != ""
	})
}

// measuredHere are the cells that have a quantity, without those that inherited it where another one has its own.
func measuredHere(cells []Cell, quantity string) []Cell {
	all := Where(cells, func(c Cell) bool { return c.Has(quantity) })
	own := Where(all, func(c Cell) bool { return !c.values[quantity].Inherited })
	if len(own) > 0 {
		return own
	}
	return all
}

// ByRepetition returns the value of a quantity in each repetition: the mean
// over the cells of one repetition.
func ByRepetition(cells []Cell, quantity string) []float64 {
	measured := measuredHere(cells, quantity)
	slices.SortStableFunc(measured, func(a, b Cell) int {
		return cmp.Compare(a.Repetition, b.Repetition)
	})
	return list.Map(list.Group(measured, func(c Cell) int {
		return c.Repetition
	}), func(own []Cell) float64 {
		return stats.Mean(Cells{Cells: own}.Values(quantity))
	})
}

// Interval returns the 95% interval of a quantity: the measured one or, of a share
// of the items without one, that of Clopper and Pearson, in percent. Missing where
// neither is known.
func (c Cell) Interval(name string) (low, high Optional) {
	m, _ := c.At(name)
	if !m.Low.Known() && quantity.Must(name).Counted {
		i := stats.ClopperPearson(m.Part, m.Whole, 0.95)
		return Float(100 * i.Low), Float(100 * i.High)
	}
	return m.Low, m.High
}
