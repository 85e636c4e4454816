package tables

import (
	"fmt"
	"slices"
	"strings"

	"mldpbench/results"
)

// All builds every table that a prepared view allows. Numbers on generated and
// on real data are never in the same table.
func All(p *results.Prepared) []Table {
	var all []Table
	add := func(tables ...Table) { all = append(all, tables...) }
	for _, s := range sheets(p) {
		add(s.datasets())
		add(s.releases()...)
		add(s.attacks()...)
		for _, task := range results.Tasks(s.Cells) {
			own := s.task(task)
			add(s.grids(own, true, task.Model, task.Setting)...)
			add(s.alignment(task)...)
			add(s.promises(task)...)
		}
		add(s.shared()...)
		add(s.grids(results.Texts(s.plain()), false)...)
		add(s.order(), s.figures(), s.guarantees())
	}
	add(auditTable(p))
	all = results.Where(all, func(t Table) bool { return len(t.Rows) > 0 })
	taken := map[string]bool{}
	for i := range all {
		all[i].Name = results.Unique(taken, all[i].Name)
	}
	return all
}

// Named keeps the tables whose names have one of the beginnings; none keeps all.
func Named(all []Table, beginnings ...string) []Table {
	return results.Where(all, func(t Table) bool {
		return len(beginnings) == 0 ||
			slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(t.Name, b) })
	})
}

// sheets divides a view into real data, which comes first, and generated data.
func sheets(p *results.Prepared) []sheet {
	var out []sheet
	for _, generated := range []bool{false, true} {
		own := p.Select(func(c results.Cell) bool { return c.Generated == generated })
		own.Datasets = results.Where(p.Datasets, func(d results.DatasetDescription) bool {
			return d.Generated == generated
		})
		out = append(out, sheet{own, generated})
	}
	return out
}

// plain are the cells that are not points of a paper's figure.
func (s sheet) plain() []results.Cell {
	return results.Where(s.Cells, func(c results.Cell) bool { return c.Panel == "" })
}

// texts are the privatised texts, whatever the classifier.
func (s sheet) texts() []results.Cell {
	return results.Texts(results.Where(s.plain(), func(c results.Cell) bool { return !c.IsBaseline() }))
}

// task are the cells of a classifier in a setting, with its baselines, whose
// setting stands for all.
func (s sheet) task(t results.Task) []results.Cell {
	return results.Where(s.plain(), func(c results.Cell) bool {
		return c.Model == t.Model && (c.Setting == t.Setting || c.IsBaseline())
	})
}

// grids returns one table per quantity with a separate table: of the classifier
// of a task, or of the text.
func (s sheet) grids(cells []results.Cell, ofModel bool, task ...string) []Table {
	task = slices.DeleteFunc(task, func(t string) bool { return t == "" })
	private := results.Where(cells, func(c results.Cell) bool { return !c.IsBaseline() })
	var tables []Table
	for _, q := range results.MeasuredColumns(private) {
		if q.OfModel != ofModel || q.Table != "" || q.Attacker != "" || q.Name == results.EM {
			continue
		}
		t := s.named(Slug(append([]string{q.Name}, task...)...),
			Capitalised(strings.Join(append([]string{q.Heading()}, task...), ", ")))
		s.grid(&t, cells, q)
		t.Legend = "Mean ± half-width of the 95% t interval over repetitions (none of one)."
		if best := map[results.Direction]string{results.Up: "highest", results.Down: "lowest"}[q.Direction]; best != "" {
			t.Legend += fmt.Sprintf(" Bold: %s mean of a column and data set; underlined: above the baseline.", best)
		}
		if q.Derived {
			t.Legend += " Composite of utility and privacy: Meisenbacher et al. 2024, eq. 4; α is the " +
				"weight of utility."
			t.Legend += encoderNote(cells)
		}
		tables = append(tables, t)
	}
	return tables
}

// encoderNote names the encoder of CS, which its detail states.
func encoderNote(cells []results.Cell) (note string) {
	measured := results.Where(cells, func(c results.Cell) bool { return c.Has("cs") })
	for _, e := range results.Distinct(measured, func(c results.Cell) string { m, _ := c.At("cs"); return m.Detail }) {
		note += fmt.Sprintf(" CS by cs_encoder=%s", e)
		if e == "sif" { // there is no sentence encoder
			note += ": smooth-inverse-frequency means of word vectors, not a sentence encoder; not comparable with " +
				"published CS"
		}
		note += "."
	}
	return note
}

// textTables are the tables of quantities that share one, with what is said of
// them where units and directions are not enough.
var textTables = []struct{ name, title, legend string }{
	{"privacy", "Privacy metrics", ""}, {"exact", "Exact metrics", ""}, {"documents", "Documents metrics", ""},
	{"adversary", "What an adversary learns", "E_M: the adversary's expected error, 0–1, uniform prior over the " +
		"candidates, higher is better; it is an upper bound where it is Monte Carlo, and the lower bound is " +
		"next to it. Full vocabulary: every word is a candidate, measured once; with fewer the problem is easier. " +
		"Euclidean: mean distance of the guess. L_M: expected loss of utility. MIA AUC: 0.5 is an attack that guesses."},
}

// shared returns the tables of quantities that share a table, one per data set
// and group of columns.
func (s sheet) shared() []Table {
	var tables []Table
	texts := s.texts()
	for _, of := range textTables {
		for _, dataset := range results.Distinct(texts, func(c results.Cell) string { return c.Dataset }) {
			cells := results.Where(texts, func(c results.Cell) bool { return c.Dataset == dataset })
			columns := results.Where(results.MeasuredColumns(cells), func(q results.Column) bool { return q.Table == of.name })
			if len(columns) == 0 {
				continue
			}
			cells = results.Where(cells, func(c results.Cell) bool {
				return c.Status == results.StatusUndefined ||
					slices.ContainsFunc(columns, func(q results.Column) bool { return c.Has(q.Name) })
			})
			var shown []Column[results.Cell]
			for _, sp := range results.Spaces(cells) {
				for _, q := range columns {
					shown = append(shown, Column[results.Cell]{Group: sp.String(), Title: q.Title, Cell: noted(q),
						Of: func(c results.Cell) bool { return c.Space() == sp }})
				}
			}
			t := s.named(Slug(of.name, dataset), of.title+", "+results.DatasetTitle(dataset))
			Pivot(&t, inOrder(cells), []Head[results.Cell]{s.mechanism(), byEpsilon}, shown, 0)
			if t.Legend = of.legend; t.Legend == "" {
				t.Legend = explain(columns) + " Mean ± half-width of the 95% t interval over repetitions (none of one)." +
					encoderNote(cells)
			}
			tables = append(tables, t)
		}
	}
	return tables
}

// explain returns units and directions of columns.
func explain(columns []results.Column) string {
	var parts []string
	for _, c := range columns {
		text := c.Heading()
		if way := map[results.Direction]string{results.Up: "higher", results.Down: "lower"}[c.Direction]; way != "" {
			text += " (" + way + " is better)"
		}
		if c.Explained != "" {
			text += ": " + c.Explained
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ") + "."
}

// noted is meanOf with a footnote on how the number was found.
func noted(q results.Column) func(*Table, []results.Cell) TableCell {
	return func(t *Table, own []results.Cell) TableCell {
		cell := meanOf(q)(t, own)
		if len(own) == 0 || q.How == nil {
			return cell
		}
		if m, ok := own[0].At(q.Name); ok && m.Value.Known() {
			cell.Notes = append(cell.Notes, t.Note(q.How(m)))
		}
		return cell
	}
}
