package views

import (
	"cmp"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
)

// Set is what stands in one table or figure of a view.
type Set struct {
	Name, Title string
	With        string // what it was split by, in words
	Items       []Item
}

// ofEach is the view of every quantity, each under its own name.
const ofEach = "values"

// Sets are those of a view: of all its quantities together where they are columns or rows, else of each, and of these
// one for each value of what splits the view, what it says and what differs between items of one cell.
func Sets(a *analysis.Analysis, v View) (all []Set) {
	if !slices.Contains(ofNumbers, v.From) {
		return split(a, v, v.where(a, sources[v.From](a, quantity.Quantity{})))
	}
	var ofAll []Item
	for _, q := range Quantities(a.Private(), slices.Concat(v.Value, v.Y)) {
		items := averaged(a, v.where(a, itemsOf(a, v, q)), v.Mean)
		switch {
		case v.takesTogether():
			ofAll = append(ofAll, items...)
		case v.Name == ofEach && v.figure() && q.Name == quantity.UsualUtility(): // it has a figure of its own
		default:
			all = append(all, split(a, v, items)...)
		}
	}
	if v.takesTogether() {
		return split(a, v, inOrder(ofAll))
	}
	return all
}

// takesTogether reports whether the quantities of a view stand in one table or figure.
func (v View) takesTogether() bool {
	if slices.Contains(slices.Concat(v.Rows, v.Columns), "quantity") {
		return true
	}
	return v.X == Epsilon && slices.Contains(v.Panel, "quantity")
}

// itemsOf are the items of a quantity in a view of numbers.
func itemsOf(a *analysis.Analysis, v View, q quantity.Quantity) []Item {
	if v.From == "regression" {
		return regressionItems(a, q, v.On)
	}
	items := sources[v.From](a, q)
	if v.From == "equal" && slices.Contains(v.Columns, "statistic") {
		items = append(items, differences(a, q)...)
	}
	return items
}

// inOrder puts items of several quantities in the order of their releases; the ends of an attacker's scale are last.
func inOrder(items []Item) []Item {
	releases := results.Distinct(items, Item.Instance)
	last := map[string]int{plainText: 1, guessing: 2}
	slices.SortStableFunc(items, func(a, b Item) int {
		byEnd := cmp.Compare(last[a.Name], last[b.Name])
		if byEnd != 0 {
			return byEnd
		}
		byRelease := slices.Index(releases, a.Instance()) - slices.Index(releases, b.Instance())
		if byRelease != 0 {
			return byRelease
		}
		return cmp.Compare(a.Epsilon.Float(), b.Epsilon.Float())
	})
	return items
}

// where keeps the items that a view is about, by the names of files or of print.
func (v View) where(a *analysis.Analysis, items []Item) []Item {
	return results.Where(items, func(i Item) bool {
		inFiles := map[string]string{"dataset": i.Dataset, "mechanism": i.Mechanism, "quantity": i.Quantity.Name,
			"space": i.Embedding}
		for coordinate, wanted := range v.Where {
			if !slices.Contains(wanted, inFiles[coordinate]) && !slices.Contains(wanted, Text(a, i, coordinate)) {
				return false
			}
		}
		return true
	})
}

// split makes one set for each value of what splits a view.
func split(a *analysis.Analysis, v View, items []Item) (all []Set) {
	by := splitBy(a, v, items)
	for _, set := range Group(a, items, by) {
		all = append(all, named(a, v, set, by, items))
	}
	return all
}

// splitBy are the coordinates that split a view: those that it names, and those in which items of one cell differ.
func splitBy(a *analysis.Analysis, v View, items []Item) []string {
	by := append([]string{"generated"}, v.Split...)
	position := slices.Concat(v.Rows, v.Columns)
	if v.figure() {
		by = append(by, "space", "task")
		position = slices.Concat(v.Curve, v.Panel, []string{"epsilon", "level"})
	}
	never := slices.Concat(position, []string{"repetition", "quantity"})
	for _, c := range coordinates {
		if slices.Contains(by, c) || slices.Contains(never, c) {
			continue
		}
		if collide(a, items, slices.Concat(by, position), c) {
			by = append(by, c)
		}
	}
	return by
}

// named names a set of a view: its name says what differs between the sets of the view, its title all.
func named(a *analysis.Analysis, v View, set Set, by []string, items []Item) Set {
	i := set.Items[0]
	names := []string{v.Name}
	if v.Name == ofEach {
		names[0] = i.Quantity.Name
	}
	var with []string
	for _, c := range by {
		text := Text(a, i, c)
		if text == "" {
			continue
		}
		if c != "level" || !strings.Contains(v.Title, "{level}") {
			with = append(with, text)
		}
		if c == "generated" {
			text = c
		}
		isAlwaysNamed := !v.figure() && (c == "generated" || c == "dataset")
		if isAlwaysNamed || differ(a, items, c) {
			names = append(names, text)
		}
	}
	set.Name = slug(names...)
	set.With = strings.Join(with, ", ")
	set.Title = strings.Join(append([]string{v.title(i)}, with...), ", ")
	return set
}

// title is that of the set of an item.
func (v View) title(i Item) string {
	x, err := quantity.Find(v.X)
	if err != nil {
		x.Title = "privacy parameter ε"
	}
	text := strings.NewReplacer("{value}", i.Quantity.Heading(), "{y}", i.Quantity.Heading(), "{x}", x.Heading(),
		"{level}", LevelOf(i.Privacy, i.At)).Replace(v.Title)
	return strings.ToUpper(text[:1]) + text[1:]
}

// differ reports whether items differ in a coordinate.
func differ(a *analysis.Analysis, items []Item, c string) bool {
	return slices.ContainsFunc(items, func(i Item) bool {
		return Text(a, i, c) != Text(a, items[0], c)
	})
}

// collide reports whether items of one cell differ in a coordinate.
func collide(a *analysis.Analysis, items []Item, by []string, c string) bool {
	if !differ(a, items, c) {
		return false
	}
	return slices.ContainsFunc(Group(a, items, by), func(cell Set) bool {
		return differ(a, cell.Items, c)
	})
}

// key is what items share that agree in some coordinates.
func key(a *analysis.Analysis, i Item, by []string) string {
	return strings.Join(list.Map(by, func(c string) string { return Text(a, i, c) }), "\x00")
}

// Group gathers items by some coordinates, in the order of the first of each. The title of each is what they share.
func Group(a *analysis.Analysis, items []Item, by []string) []Set {
	groups := list.Group(items, func(i Item) string { return key(a, i, by) })
	return list.Map(groups, func(own []Item) Set {
		k := key(a, own[0], by)
		title := strings.Trim(strings.ReplaceAll(k, "\x00", ", "), ", ")
		return Set{
			Name:  k,
			Title: title,
			Items: own,
		}
	})
}
