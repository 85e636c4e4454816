package views

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/analysis"
)

// Tables makes the tables of some views, those of which have rows.
func Tables(a *analysis.Analysis, views []View) (all []Table) {
	taken := map[string]bool{}
	for _, v := range views {
		all = append(all, tablesOf(a, v, Sets(a, v), taken)...)
	}
	return all
}

// tablesOf makes the tables of the sets of a view, those of which have rows, with names that are not taken.
func tablesOf(a *analysis.Analysis, v View, sets []Set, taken map[string]bool) (all []Table) {
	for _, set := range sets {
		t := pivot(a, v, set.Items)
		if len(t.Rows) == 0 {
			continue
		}
		t.Name = results.Unique(taken, set.Name)
		t.Title = set.Title
		all = append(all, t)
	}
	return all
}

// Named keeps the tables whose names have one of the beginnings.
func Named(all []Table, beginnings ...string) []Table {
	return results.Where(all, func(t Table) bool {
		return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(t.Name, b) })
	})
}

// Set is what stands in one table or figure of a view.
type Set struct {
	Name, Title string
	With        string // what it was split by, in words
	Items       []Item
}

// Sets are those of a view: of all its quantities together where they are columns or
// rows, else of each, and of these one for each value of what splits the view, what
// it says and what differs between items of one cell.
func Sets(s *analysis.Analysis, v View) (all []Set) {
	source := sources[v.From]
	if v.From == "regression" {
		source = func(s *analysis.Analysis, q results.Column) []Item { return regressionItems(s, q, v.On) }
	}
	if !slices.Contains(ofNumbers, v.From) {
		return split(s, v, v.where(s, source(s, results.Column{})))
	}
	together := slices.Contains(slices.Concat(v.Rows, v.Columns), "quantity") ||
		v.X == Epsilon && slices.Contains(v.Panel, "quantity")
	var one []Item
	for _, q := range Quantities(s.Private(), slices.Concat(v.Value, v.Y)) {
		items := source(s, q)
		if v.From == "equal" && slices.Contains(v.Columns, "statistic") {
			items = append(items, told(s, q)...)
		}
		if items = averaged(s, v.where(s, items), v.Mean); together {
			one = append(one, items...)
		} else if !(v.Name == ofEach && v.figure() && q.Name == "accuracy") { // which has a figure of its own
			all = append(all, split(s, v, items)...)
		}
	}
	if together {
		return split(s, v, inOrder(s, one))
	}
	return all
}

// ofEach is the view of every quantity, each under its own name.
const ofEach = "values"

// inOrder puts items of several quantities in the order of their releases.
func inOrder(s *analysis.Analysis, items []Item) []Item {
	releases := results.Distinct(items, Item.Instance)
	last := map[string]int{PlainText: 1, Guessing: 2}
	slices.SortStableFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(last[a.Name], last[b.Name]),
			slices.Index(releases, a.Instance())-slices.Index(releases, b.Instance()),
			cmp.Compare(a.Epsilon.Float(), b.Epsilon.Float()))
	})
	return items
}

// where keeps the items that a view is about, by the names of files or of print.
func (v View) where(s *analysis.Analysis, items []Item) []Item {
	return results.Where(items, func(i Item) bool {
		names := map[string]string{"dataset": i.Dataset, "mechanism": i.Mechanism, "quantity": i.Quantity.Name,
			"space": i.Embedding}
		for coordinate, wanted := range v.Where {
			if !slices.Contains(wanted, names[coordinate]) && !slices.Contains(wanted, Text(s, i, coordinate)) {
				return false
			}
		}
		return true
	})
}

// split makes one set for each value of what splits a view.
func split(s *analysis.Analysis, v View, items []Item) (all []Set) {
	by := append([]string{"generated"}, v.Split...)
	position := slices.Concat(v.Rows, v.Columns)
	if v.figure() {
		by = append(by, "space", "task")
		position = slices.Concat(v.Curve, v.Panel, []string{"epsilon", "level"})
	}
	for _, c := range coordinates {
		if !slices.Contains(by, c) && !slices.Contains(position, c) && c != "repetition" && c != "quantity" &&
			collide(s, items, append(slices.Clone(by), position...), c) {
			by = append(by, c)
		}
	}
	for _, own := range Group(s, items, by) {
		// The name says what differs between the sets of the view, the title all.
		i := own.Items[0]
		names, with := []string{v.Name}, []string{v.title(i)}
		if v.Name == ofEach {
			names[0] = i.Quantity.Name
		}
		for _, c := range by {
			text := Text(s, i, c)
			if text == "" {
				continue
			}
			if c != "level" || !strings.Contains(v.Title, "{level}") {
				with = append(with, text)
			}
			if c == "generated" {
				text = c
			}
			if !v.figure() && (c == "generated" || c == "dataset") || differ(s, items, c) {
				names = append(names, text)
			}
		}
		own.Name, own.Title, own.With = Slug(names...), strings.Join(with, ", "), strings.Join(with[1:], ", ")
		all = append(all, own)
	}
	return all
}

// title is that of the set of an item.
func (v View) title(i Item) string {
	x, err := results.FindColumn(v.X)
	if err != nil {
		x.Title = "privacy parameter ε"
	}
	text := strings.NewReplacer("{value}", i.Quantity.Heading(), "{y}", i.Quantity.Heading(), "{x}", x.Heading(),
		"{level}", LevelOf(i.Privacy, i.At)).Replace(v.Title)
	return strings.ToUpper(text[:1]) + text[1:]
}

func differ(s *analysis.Analysis, items []Item, c string) bool {
	return slices.ContainsFunc(items, func(i Item) bool { return Text(s, i, c) != Text(s, items[0], c) })
}

// collide reports whether items of one cell differ in a coordinate.
func collide(s *analysis.Analysis, items []Item, by []string, c string) bool {
	differs := func(cell Set) bool { return differ(s, cell.Items, c) }
	return differ(s, items, c) && slices.ContainsFunc(Group(s, items, by), differs)
}

func key(s *analysis.Analysis, i Item, by []string) string {
	return strings.Join(list.Map(by, func(c string) string { return Text(s, i, c) }), "\x00")
}

// Group gathers items by some coordinates, in the order of the first of each. The
// title of each is what they share.
func Group(s *analysis.Analysis, items []Item, by []string) []Set {
	return list.Map(list.Group(items, func(i Item) string { return key(s, i, by) }), func(own []Item) Set {
		k := key(s, own[0], by)
		return Set{Name: k, Title: strings.Trim(strings.ReplaceAll(k, "\x00", ", "), ", "), Items: own}
	})
}

// pivot makes one table.
func pivot(s *analysis.Analysis, v View, items []Item) Table {
	// A heading that is empty in every row is left out.
	rows := results.Where(v.Rows, func(c string) bool {
		return slices.ContainsFunc(items, func(i Item) bool { return Text(s, i, c) != "" })
	})
	t := Table{heads: len(rows), Legend: v.Legend, Header: list.Map(rows, heading)}
	columns := Group(s, items, v.Columns)
	if slices.Contains(v.Columns, "epsilon") {
		slices.SortStableFunc(columns, func(a, b Set) int {
			return cmp.Compare(a.Items[0].Epsilon.Float(), b.Items[0].Epsilon.Float())
		})
	}
	for _, c := range columns {
		if len(v.Columns) == 0 {
			c.Title = items[0].Quantity.Heading()
		}
		t.Header = append(t.Header, c.Title)
	}
	for _, own := range Group(s, items, v.Rows) {
		first := own.Items[0]
		row := list.Map(rows, func(c string) Cell {
			return Cell{Text: Text(s, first, c), Own: c == "mechanism" && first.Name == "" && first.Own()}
		})
		measured := v.From == "equal" // all mechanisms, those that do not reach a level too
		for _, column := range columns {
			cell := Cell{Text: NotMeasured}
			if at := slices.IndexFunc(own.Items, func(i Item) bool { return key(s, i, v.Columns) == column.Name }); at >= 0 {
				cell = t.cell(own.Items[at], v.Best)
			}
			row, measured = append(row, cell), measured || cell.Text != NotMeasured
		}
		if measured {
			t.Rows = append(t.Rows, row)
			t.hoist(row)
		}
	}
	if v.Beside != nil {
		t.Header = append(t.Header, v.Beside["title"])
		for i, r := range t.Rows {
			t.Rows[i] = append(r, Cell{Text: v.Beside[r[t.heads-1].Text]})
		}
	}
	t.explain(s, items)
	return t
}

// heading is that of a coordinate or of a quantity.
func heading(name string) string {
	if q, err := results.FindColumn(name); err == nil {
		return q.Title
	}
	return cmp.Or(map[string]string{"dataset": "data set", "epsilon": "ε"}[name], name)
}

// cell is an item as printed.
func (t *Table) cell(i Item, best bool) Cell {
	c := Cell{Text: i.Text, Best: best && i.Best, Tied: best && i.Tied, Notes: list.Map(i.Notes, t.Note)}
	if i.Statistic == "" && i.Text == "" {
		c.Text = Within(i.Value, i.Low, i.High, i.Quantity.Digits)
	}
	if !math.IsNaN(i.Value) && (i.Statistic != "" || i.Text == "") {
		c.Value, c.Low, c.High = i.Value, results.Float(i.Low), results.Float(i.High)
	}
	return c
}

// hoist moves a footnote that all numbers of a row have to its head.
func (t *Table) hoist(cells []Cell) {
	numbers := results.Where(cells[t.heads:], func(c Cell) bool { return c.Text != NotMeasured || len(c.Notes) > 0 })
	if len(numbers) < 2 {
		return
	}
	common := results.Where(numbers[0].Notes, func(n int) bool {
		return !slices.ContainsFunc(numbers, func(c Cell) bool { return !slices.Contains(c.Notes, n) })
	})
	cells[0].Notes = append(cells[0].Notes, common...)
	for j := t.heads; j < len(cells); j++ {
		cells[j].Notes = results.Where(cells[j].Notes, func(n int) bool { return !slices.Contains(common, n) })
	}
}

// explain adds to the legend what marks and quantities mean.
func (t *Table) explain(s *analysis.Analysis, items []Item) {
	add := func(there bool, text string) {
		if there && !strings.Contains(t.Legend, text) {
			t.Legend = strings.TrimSpace(t.Legend + " " + text)
		}
	}
	bars, unproved, scoped := false, false, false
	for _, i := range items {
		q, measured := i.Quantity, i.Privacy == "" && i.Statistic == ""
		if q.Explained != "" && (i.Whole > 0 || !strings.Contains(q.Explained, "{whole}")) {
			add(true, q.Title+": "+strings.ReplaceAll(q.Explained, "{whole}", Thousands(i.Whole))+".")
		}
		add(measured && q.Direction == results.Up, q.Title+": higher is better.")
		add(measured && q.Direction == results.Down, q.Title+": lower is better.")
		bars = bars || measured && i.High > i.Low
		name := Text(s, i, "mechanism")
		unproved = unproved || strings.Contains(name, results.UnprovedMark)
		scoped = scoped || strings.Contains(name, results.ScopeMark)
	}
	add(bars, "± is half the 95% interval over repetitions; of attackers, and of words and texts measured once, over "+
		"those.")
	add(unproved, results.UnprovedMark+" no guarantee.")
	add(scoped, results.ScopeMark+" a guarantee between some words only.")
}
