package tables

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/compare"
)

// Attackers returns the first quantity of each attacker that some cell has, in
// the order of the registry.
func Attackers(cells []results.Cell) []results.Column {
	var columns []results.Column
	for _, q := range results.MeasuredColumns(cells) {
		if q.Attacker != "" && !slices.ContainsFunc(columns, func(o results.Column) bool {
			return o.Attacker == q.Attacker
		}) {
			columns = append(columns, q)
		}
	}
	return columns
}

// attacked are the cells of data sets that some attacker was run on; of a
// paper's figures, those of attackers.
func (s sheet) attacked() []results.Cell {
	has := map[string]bool{}
	for _, c := range s.Cells {
		has[c.Dataset] = has[c.Dataset] || found(c)
	}
	return results.Where(s.Cells, func(c results.Cell) bool {
		return found(c) || has[c.Dataset] && c.Panel == "" && !c.IsBaseline()
	})
}

// strongestTable is the table of the strongest attacker of each kind; the row
// names it.
const strongestTable = "strongest"

// Leading returns the quantities of the strongest attackers and of those that no
// other compares with, or of all where none were compared.
func Leading(cells []results.Cell) []results.Column {
	all := Attackers(cells)
	if strongest := strongestOf(all); len(strongest) > 0 {
		return strongest
	}
	return all
}

func strongestOf(attackers []results.Column) []results.Column {
	return results.Where(attackers, func(q results.Column) bool { return q.Table == strongestTable })
}

func found(c results.Cell) bool { return len(Attackers([]results.Cell{c})) > 0 }

// releases returns tables for each attacked data set, with a row for every
// release: the use of its text, what the strongest attackers find in it, which
// they are, and what each attacker finds.
func (s sheet) releases() []Table {
	var tables []Table
	all := s.attacked()
	for _, dataset := range results.Distinct(all, func(c results.Cell) string { return c.Dataset }) {
		own := inOrder(results.Where(all, func(c results.Cell) bool { return c.Dataset == dataset }))
		attackers := Attackers(own)
		if len(attackers) == 1 { // a single attacker: all its quantities
			attackers = results.Where(results.MeasuredColumns(own), func(q results.Column) bool { return q.Attacker != "" })
		}
		uses := results.Where(results.MeasuredColumns(own), func(q results.Column) bool {
			return q.Attacker == "" && !q.Derived && !slices.Contains([]string{"privacy", "exact", "adversary",
				"documents"}, q.Table)
		})
		strongest := strongestOf(attackers)
		if len(strongest) > 0 {
			strongest = append(results.Where(uses, func(q results.Column) bool { return q.Name == "accuracy" }), strongest...)
		}
		for _, kind := range []struct {
			name, title string
			columns     []results.Column
		}{{"strongest", "What the strongest attacker finds", strongest}, {"use", "What the released text is worth", uses},
			{"attackers", "What attackers find", attackers}} {
			if len(kind.columns) == 0 {
				continue
			}
			var shown []Column[results.Cell]
			for _, q := range kind.columns {
				shown = append(shown, Column[results.Cell]{Title: q.Heading(), Cell: ownOf(q)})
			}
			t := s.named(Slug(kind.name, dataset), kind.title+", "+results.DatasetTitle(dataset))
			for i, cells := range Pivot(&t, own, []Head[results.Cell]{s.mechanism(), byEpsilon}, shown, 0) {
				for k, q := range kind.columns {
					if m, ok := cells[0].At(q.Name); ok && q.Table == strongestTable && kind.name == strongestTable {
						t.Rows[i][2+k].Text += " " + m.Detail
					}
				}
			}
			t.Legend = "Means over repetitions ± half the width of one repetition's own 95% interval (over test " +
				"documents, words or users), which the mean over repetitions does not make narrower; none where the " +
				"number is exact or has no measured spread."
			if kind.name != "use" {
				s.ends(&t, own, kind.columns)
				t.Legend += " " + endsNote
			}
			tables = append(tables, t)
		}
	}
	return tables
}

const endsNote = "Plain text and guessing: what the same attacker finds in text as it was, and without it; a range " +
	"where releases differ in it, or in who is strongest."

// ends adds the two ends of the scale of each attacker: what it finds in plain text
// and what it finds by guessing, which may be another number for each release.
func (s sheet) ends(t *Table, own []results.Cell, columns []results.Column) {
	for _, end := range []struct {
		name string
		of   func(results.Measured) results.Float
	}{
		{"plain text", func(m results.Measured) results.Float { return m.Ceiling }},
		{"guessing", func(m results.Measured) results.Float { return m.Floor }},
	} {
		row := []string{end.name, ""}
		for _, q := range columns {
			least, most := math.Inf(1), math.Inf(-1)
			if v := compare.Plain(s.Prepared, own[0].Scene(), q.Name); q.Attacker == "" && end.name == "plain text" {
				least, most = v, v
			}
			for _, c := range own {
				if m, ok := c.At(q.Name); ok && end.of(m).Known() {
					least, most = min(least, float64(end.of(m))), max(most, float64(end.of(m)))
				}
			}
			text := NotMeasured
			if least <= most {
				text = FormatNumber(least, q.Digits)
				if high := FormatNumber(most, q.Digits); high != text {
					text += "–" + high
				}
			}
			row = append(row, text)
		}
		t.AddRow(row...)
	}
}

// attacks returns, for each data set with a use, what each attacker still learns
// (the strongest, where they were compared) where a mechanism costs pointsLost
// points of accuracy.
func (s sheet) attacks() []Table {
	var tables []Table
	all := s.attacked()
	columns := Leading(all)
	for _, dataset := range results.Distinct(all, func(c results.Cell) string { return c.Dataset }) {
		own := s.Select(func(c results.Cell) bool { return c.Dataset == dataset && c.Panel == "" && c.Has("accuracy") })
		if len(own.Cells) == 0 || len(columns) == 0 {
			continue
		}
		var byColumn []compare.Aligned // of the first scene
		for _, q := range columns {
			scenes := compare.AtLoss(own, compare.Question{Use: q.Name, Privacy: "accuracy"}, pointsLost)
			if len(scenes) == 0 {
				scenes = []compare.Aligned{{}}
			}
			byColumn = append(byColumn, scenes[0])
		}
		plain := compare.Plain(own, own.Cells[0].Scene(), "accuracy")
		if math.IsNaN(plain) {
			continue
		}
		t := s.named(Slug("attacks", dataset), fmt.Sprintf("What attackers still learn at %d points of accuracy lost, %s",
			pointsLost, results.DatasetTitle(dataset)))
		t.Header = []string{"mechanism", "ε about", "accuracy in %"}
		for _, q := range columns {
			t.Header = append(t.Header, q.Heading())
		}
		for _, i := range results.Instances(own.Private()) {
			t.Rows = append(t.Rows, s.attackRow(&t, own, byColumn, columns, i, plain-pointsLost))
		}
		use := results.MustColumn("accuracy")
		use.Digits = 1 // as everywhere at a level
		s.ends(&t, own.Private(), append([]results.Column{use}, columns...))
		t.Legend = "On the mechanism's own line of attack over accuracy. ≤, ≥: the loss lies beyond the ε that were " +
			"measured; the row is the nearest of them. ± is half a 95% interval over test documents, words or users; on the " +
			"line it also holds the error of accuracy. " + endsNote
		tables = append(tables, t)
	}
	return tables
}

// attackRow is a mechanism where it reaches a target of accuracy, or its nearest
// release.
func (s sheet) attackRow(t *Table, own *results.Prepared, at []compare.Aligned, columns []results.Column,
	i results.Instance, target float64) []TableCell {
	cells := results.Where(own.Cells, func(c results.Cell) bool { return c.Instance() == i })
	row := []TableCell{promiseCell(t, s.Labels[i], cells), {}, {Text: FormatNumber(target, 1)}}
	for k := range columns {
		text := NotMeasured
		for _, l := range at[k].Lines {
			if l.Instance == i && l.Reached {
				text, row[1].Text = Within(l, columns[k].Digits), fmt.Sprintf("%.3g", l.Epsilon)
			}
		}
		row = append(row, TableCell{Text: text})
	}
	if row[1].Text != "" {
		return row
	}
	groups := results.GroupCells(cells)
	distance := func(g results.Cells) float64 { return math.Abs(stats.Mean(g.Values("accuracy")) - target) }
	nearest := slices.MinFunc(groups, func(a, b results.Cells) int {
		if distance(a) < distance(b) {
			return -1
		}
		return 1
	})
	accuracy := stats.Mean(nearest.Values("accuracy"))
	row[2].Text = FormatNumber(accuracy, 1)
	if e := nearest.Cells[0].Epsilon; e.Known() {
		side := "≤ "
		if accuracy < target {
			side = "≥ "
		}
		row[1].Text = side + formatFloat(e)
	}
	for k, q := range columns {
		if x := nearest.Values(q.Name); len(x) > 0 {
			row[3+k].Text = withOwn(stats.Mean(x), nearest.Cells, q)
		}
	}
	return row
}
