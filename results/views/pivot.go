package views

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
)

// Tables makes the tables of some views, those of which have rows.
func Tables(p *results.Prepared, views []View) (all []Table) {
	s := NewSheet(p)
	taken := map[string]bool{}
	for _, v := range views {
		for _, items := range v.items(s) {
			for _, t := range s.split(v, items) {
				t.Name = results.Unique(taken, t.Name)
				all = append(all, t)
			}
		}
	}
	return all
}

// Named keeps the views whose tables have one of the beginnings; none keeps all.
func Named(all []Table, beginnings ...string) []Table {
	return results.Where(all, func(t Table) bool {
		return len(beginnings) == 0 ||
			slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(t.Name, b) })
	})
}

// items are those of a view: of all its quantities together where they are columns
// or rows, else of each.
func (v View) items(s Sheet) (sets [][]Item) {
	var one []Item
	switch v.From {
	case "guarantees":
		one = s.guarantees()
	case "datasets":
		one = s.datasets()
	default:
		make := map[string]func(results.Column) []Item{"cells": s.cells, "equal": s.equal, "pairs": s.pairs}[v.From]
		together := v.From != "pairs" && slices.Contains(slices.Concat(v.Rows, v.Columns), "quantity")
		quantities := v.Value
		if len(quantities) == 0 {
			quantities = []string{"accuracy"}
		}
		for _, q := range Quantities(s.Private(), quantities) {
			if items := make(q); together {
				one = append(one, items...)
			} else {
				sets = append(sets, v.where(s, items))
			}
		}
		if !together {
			return sets
		}
		one = s.inOrder(one)
	}
	return [][]Item{v.where(s, one)}
}

// inOrder puts items of several quantities in the order of their releases.
func (s Sheet) inOrder(items []Item) []Item {
	first := map[results.Place]int{}
	for k, i := range items {
		if _, met := first[i.Instance()]; !met {
			first[i.Instance()] = k
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int {
		end := map[string]int{"plain text": 1, "guessing": 2}
		return cmp.Or(cmp.Compare(end[a.Name], end[b.Name]), cmp.Compare(first[a.Instance()], first[b.Instance()]),
			cmp.Compare(a.Epsilon.Float(), b.Epsilon.Float()))
	})
	return items
}

// where keeps the items that a view is about, by the names of files or of print.
func (v View) where(s Sheet, items []Item) []Item {
	return results.Where(items, func(i Item) bool {
		for coordinate, wanted := range v.Where {
			own := map[string]string{"dataset": i.Dataset, "mechanism": i.Mechanism, "quantity": i.Quantity.Name,
				"space": i.Embedding}[coordinate]
			if !slices.Contains(wanted, own) && !slices.Contains(wanted, s.Text(i, coordinate)) {
				return false
			}
		}
		return true
	})
}

// split makes one table for each value of what splits a view: what it says, whether
// data are generated, and what differs between items of one cell.
func (s Sheet) split(v View, items []Item) (all []Table) {
	by := append([]string{"generated"}, v.Split...)
	position := slices.Concat(v.Rows, v.Columns)
	for _, c := range coordinates {
		if !slices.Contains(by, c) && !slices.Contains(position, c) && c != "repetition" &&
			s.collide(items, append(slices.Clone(by), position...), c) {
			by = append(by, c)
		}
	}
	keys, groups := s.group(items, by)
	for _, k := range keys {
		own := groups[k]
		t := s.pivot(v, own)
		if len(t.Rows) == 0 {
			continue
		}
		// The name says what differs between the tables of the view, the title all.
		names, title := []string{v.Name}, v.title(own[0])
		if v.Name == "values" {
			names = []string{own[0].Quantity.Name}
		}
		for _, c := range by {
			text := s.Text(own[0], c)
			if text == "" {
				continue
			}
			if c != "level" || !strings.Contains(v.Title, "{level}") {
				title += ", " + text
			}
			if c == "generated" {
				text = "generated"
			} else if c != "dataset" && s.distinct(items, c) < 2 {
				continue
			}
			names = append(names, text)
		}
		t.Name, t.Title = Slug(names...), strings.ToUpper(title[:1])+title[1:]
		all = append(all, t)
	}
	return all
}

func (v View) title(i Item) string {
	return strings.NewReplacer("{value}", cmp.Or(i.Use, i.Quantity.Heading()), "{level}", i.Level).Replace(v.Title)
}

func (s Sheet) distinct(items []Item, c string) int {
	return len(results.Distinct(items, func(i Item) string { return s.Text(i, c) }))
}

// collide reports whether items of one cell differ in a coordinate.
func (s Sheet) collide(items []Item, by []string, c string) bool {
	if c == "quantity" {
		by = append(by, "quantity")
	}
	first := map[string]string{}
	for _, i := range items {
		k, own := s.key(i, by), s.Text(i, c)
		if f, met := first[k]; met && f != own {
			return true
		}
		first[k] = own
	}
	return false
}

func (s Sheet) key(i Item, by []string) string {
	return strings.Join(list.Map(by, func(c string) string { return s.Text(i, c) }), "\x00")
}

// group gathers items by some coordinates, in the order of the first of each.
func (s Sheet) group(items []Item, by []string) (keys []string, groups map[string][]Item) {
	groups = map[string][]Item{}
	for _, i := range items {
		k := s.key(i, by)
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], i)
	}
	return keys, groups
}

// pivot makes one table.
func (s Sheet) pivot(v View, items []Item) Table {
	t := Table{heads: len(v.Rows), Legend: v.Legend}
	rows := s.dropEmpty(v.Rows, items)
	t.heads = len(rows)
	t.Header = append(t.Header, list.Map(rows, heading)...)
	columns, _ := s.group(items, v.Columns)
	slices.SortStableFunc(columns, compareNumbers)
	if len(v.Columns) == 0 {
		t.Header = append(t.Header, items[0].Quantity.Heading())
	} else {
		t.Header = append(t.Header, list.Map(columns, func(k string) string {
			return strings.Trim(strings.ReplaceAll(k, "\x00", ", "), ", ")
		})...)
	}
	keys, groups := s.group(items, v.Rows)
	for _, k := range keys {
		own := groups[k]
		var row []Cell
		for _, c := range rows {
			row = append(row, Cell{Text: s.Text(own[0], c), Own: c == "mechanism" && own[0].Name == "" && own[0].Own()})
		}
		measured := false
		for _, column := range columns {
			at := slices.IndexFunc(own, func(i Item) bool { return s.key(i, v.Columns) == column })
			cell := Cell{}
			if at >= 0 {
				cell = own[at].cell(&t, v.Best)
				measured = measured || cell.Text != NotMeasured
			} else {
				cell.Text = NotMeasured
			}
			row = append(row, cell)
		}
		if measured || v.From == "equal" {
			t.Rows = append(t.Rows, row)
			t.hoist(len(t.Rows) - 1)
		}
	}
	t.explain(s, items)
	return t
}

// dropEmpty leaves out a heading that is empty in every row.
func (s Sheet) dropEmpty(rows []string, items []Item) []string {
	return results.Where(rows, func(c string) bool {
		return slices.ContainsFunc(items, func(i Item) bool { return s.Text(i, c) != "" })
	})
}

func heading(coordinate string) string {
	return cmp.Or(map[string]string{"dataset": "data set", "epsilon": "ε"}[coordinate], coordinate)
}

// compareNumbers keeps the order of texts but sorts numbers.
func compareNumbers(a, b string) int {
	x, e1 := strconv.ParseFloat(a, 64)
	y, e2 := strconv.ParseFloat(b, 64)
	if e1 != nil || e2 != nil {
		return 0
	}
	return cmp.Compare(x, y)
}

// cell is an item as printed.
func (i Item) cell(t *Table, best bool) Cell {
	c := Cell{Text: i.Text}
	if c.Text == "" && i.Quantity.Title != "" && !(math.IsNaN(i.Value) && i.Low == 0 && i.High == 0) {
		c.Text = Within(i.Value, i.Low, i.High, i.Quantity.Digits)
	}
	if best {
		c.Best, c.Tied = i.Best, i.Tied
	}
	for _, n := range i.Notes {
		c.Notes = append(c.Notes, t.Note(n))
	}
	return c
}

// hoist moves a footnote that all numbers of a row have to its head.
func (t *Table) hoist(row int) {
	cells := t.Rows[row]
	var common []int
	numbers := 0
	for _, c := range cells[t.heads:] {
		if c.Text == NotMeasured && len(c.Notes) == 0 {
			continue
		}
		if numbers++; numbers == 1 {
			common = slices.Clone(c.Notes)
		}
		common = slices.DeleteFunc(common, func(n int) bool { return !slices.Contains(c.Notes, n) })
	}
	if numbers < 2 || len(common) == 0 {
		return
	}
	cells[0].Notes = append(cells[0].Notes, common...)
	for j := t.heads; j < len(cells); j++ {
		cells[j].Notes = slices.DeleteFunc(cells[j].Notes, func(n int) bool { return slices.Contains(common, n) })
	}
}

// explain adds to the legend what marks and quantities mean.
func (t *Table) explain(s Sheet, items []Item) {
	add := func(text string) {
		if text != "" && !strings.Contains(t.Legend, text) {
			t.Legend = strings.TrimSpace(t.Legend + " " + text)
		}
	}
	bars := false
	for _, i := range items {
		q := i.Quantity
		if q.Explained != "" && (i.Whole > 0 || !strings.Contains(q.Explained, "{whole}")) {
			add(q.Title + ": " + strings.ReplaceAll(q.Explained, "{whole}", Thousands(i.Whole)) + ".")
		}
		if better := map[results.Direction]string{results.Up: "higher", results.Down: "lower"}[q.Direction]; better != "" &&
			i.Level == "" {
			add(q.Title + ": " + better + " is better.")
		}
		bars = bars || i.Level == "" && i.High > i.Low
	}
	if bars {
		add("± is half the 95% interval over repetitions; of attackers, and of words and texts measured once, over those.")
	}
	text := strings.Join(list.Map(items, func(i Item) string { return s.Text(i, "mechanism") }), " ")
	if strings.Contains(text, results.UnprovedMark) {
		add(results.UnprovedMark + " guarantees nothing.")
	}
	if strings.Contains(text, results.ScopeMark) {
		add(results.ScopeMark + " guarantees something between some words only.")
	}
}
