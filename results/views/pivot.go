package views

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
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
		return slices.ContainsFunc(beginnings, func(b string) bool {
			return strings.HasPrefix(t.Name, b)
		})
	})
}

// pivot makes one table.
func pivot(a *analysis.Analysis, v View, items []Item) Table {
	// A heading that is empty in every row is left out.
	heads := results.Where(v.Rows, func(c string) bool {
		return slices.ContainsFunc(items, func(i Item) bool { return Text(a, i, c) != "" })
	})
	t := Table{
		heads:  len(heads),
		Legend: v.Legend,
		Header: list.Map(heads, heading),
	}
	columns := columnsOf(a, v, items)
	for _, c := range columns {
		t.Header = append(t.Header, c.Title)
	}
	for _, own := range Group(a, items, v.Rows) {
		row := headsOf(a, heads, own.Items[0])
		measured := v.From == "equal" // all mechanisms, those that do not reach a level too
		for _, column := range columns {
			cell := t.cellAt(a, v, own.Items, column)
			row = append(row, cell)
			measured = measured || cell.Text != NotMeasured
		}
		if measured {
			t.Rows = append(t.Rows, row)
			t.hoist(row)
		}
	}
	t.addBeside(v.Beside)
	t.explain(a, items)
	return t
}

// columnsOf are the columns of numbers of a table, those of ε in order.
func columnsOf(a *analysis.Analysis, v View, items []Item) []Set {
	columns := Group(a, items, v.Columns)
	if slices.Contains(v.Columns, "epsilon") {
		slices.SortStableFunc(columns, func(a, b Set) int {
			return cmp.Compare(a.Items[0].Epsilon.Float(), b.Items[0].Epsilon.Float())
		})
	}
	if len(v.Columns) == 0 {
		for i := range columns {
			columns[i].Title = items[0].Quantity.Heading()
		}
	}
	return columns
}

// headsOf are the cells that name the row of an item.
func headsOf(a *analysis.Analysis, heads []string, first Item) []Cell {
	return list.Map(heads, func(c string) Cell {
		own := c == "mechanism" && first.Name == "" && first.Own()
		return Cell{Text: Text(a, first, c), Own: own}
	})
}

// cellAt is the cell of a row's items in a column.
func (t *Table) cellAt(a *analysis.Analysis, v View, row []Item, column Set) Cell {
	at := slices.IndexFunc(row, func(i Item) bool {
		return key(a, i, v.Columns) == column.Name
	})
	if at < 0 {
		return Cell{Text: NotMeasured}
	}
	cell := t.cell(row[at])
	if v.Best {
		cell.Best = row[at].Best
		cell.Tied = row[at].Tied
	}
	return cell
}

// addBeside adds a further column of texts, by the last head of a row.
func (t *Table) addBeside(texts map[string]string) {
	if texts == nil {
		return
	}
	t.Header = append(t.Header, texts["title"])
	for i, r := range t.Rows {
		t.Rows[i] = append(r, Cell{Text: texts[r[t.heads-1].Text]})
	}
}

// heading is that of a coordinate or of a quantity.
func heading(name string) string {
	q, err := quantity.Find(name)
	if err == nil {
		return q.Title
	}
	switch name {
	case "dataset":
		return "data set"
	case "epsilon":
		return "ε"
	}
	return name
}

// cell is an item as printed.
func (t *Table) cell(i Item) Cell {
	c := Cell{Text: i.Text, Notes: list.Map(i.Notes, t.Note)}
	isValue := i.Statistic == "" && i.Text == ""
	if isValue {
		c.Text = within(i.Value, i.Low, i.High, i.Quantity.Digits)
	}
	if !math.IsNaN(i.Value) && (isValue || i.Statistic != "") {
		c.Value = i.Value
		c.Low = results.Float(i.Low)
		c.High = results.Float(i.High)
	}
	return c
}

// hoist moves a footnote that all numbers of a row have to its head.
func (t *Table) hoist(cells []Cell) {
	numbers := results.Where(cells[t.heads:], func(c Cell) bool {
		return c.Text != NotMeasured || len(c.Notes) > 0
	})
	if len(numbers) < 2 {
		return
	}
	common := results.Where(numbers[0].Notes, func(n int) bool {
		return !slices.ContainsFunc(numbers, func(c Cell) bool {
			return !slices.Contains(c.Notes, n)
		})
	})
	cells[0].Notes = append(cells[0].Notes, common...)
	for j := t.heads; j < len(cells); j++ {
		cells[j].Notes = results.Where(cells[j].Notes, func(n int) bool {
			return !slices.Contains(common, n)
		})
	}
}

// explain adds to the legend what marks and quantities mean.
func (t *Table) explain(a *analysis.Analysis, items []Item) {
	hasBars := false
	hasUnproved := false
	hasScoped := false
	for _, i := range items {
		isMeasured := i.Privacy == "" && i.Statistic == ""
		t.explainQuantity(i)
		if isMeasured && i.Quantity.Direction == quantity.Up {
			t.addLegend(i.Quantity.Title + ": higher is better.")
		}
		if isMeasured && i.Quantity.Direction == quantity.Down {
			t.addLegend(i.Quantity.Title + ": lower is better.")
		}
		name := Text(a, i, "mechanism")
		hasBars = hasBars || isMeasured && i.High > i.Low
		hasUnproved = hasUnproved || strings.Contains(name, results.UnprovedMark)
		hasScoped = hasScoped || strings.Contains(name, results.ScopeMark)
	}
	if hasBars {
		t.addLegend("± is half the 95% interval over repetitions; of attackers, and of words and texts measured " +
			"once, over those.")
	}
	if hasUnproved {
		t.addLegend(results.UnprovedMark + " no guarantee.")
	}
	if hasScoped {
		t.addLegend(results.ScopeMark + " a guarantee between some words only.")
	}
}

// explainQuantity adds to the legend what a quantity is, if that is known.
func (t *Table) explainQuantity(i Item) {
	q := i.Quantity
	if q.Explained == "" || i.Whole == 0 && strings.Contains(q.Explained, "{whole}") {
		return
	}
	t.addLegend(q.Title + ": " + strings.ReplaceAll(q.Explained, "{whole}", Thousands(i.Whole)) + ".")
}

// addLegend adds a sentence to the legend, once.
func (t *Table) addLegend(text string) {
	if !strings.Contains(t.Legend, text) {
		t.Legend = strings.TrimSpace(t.Legend + " " + text)
	}
}
