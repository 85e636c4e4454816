package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mldpbench/results"
)

// matchedCells are the repetitions of one cell in both runs.
type matchedCells struct {
	before, after results.Cells
	exact         bool // equal seed and data
	sameDocuments bool
	// spread is that of the change of the quantity tested in one repetition, pooled; from nothing where training is not
	// known.
	spread spread
}

func (m *matchedCells) cell() results.Cell { return m.before.Cells[0] }

// shared are the repetitions that both runs have.
func (m *matchedCells) shared() (both [][2]results.Cell) {
	for _, x := range m.before.Cells {
		for _, y := range m.after.Cells {
			if x.Repetition == y.Repetition {
				both = append(both, [2]results.Cell{x, y})
			}
		}
	}
	return both
}

// unlike reports whether two fingerprints are known and differ.
func unlike(before, after string) bool { return before != "" && after != "" && before != after }

// withoutLabel is what a cell has in common with that of another run; its name in print is not part of it.
func withoutLabel(p results.Place) results.Place {
	p.Label = ""
	return p
}

// lacks are what makes a comparison less than whole: for each reason the names of what it is true of, each once.
type lacks map[string][]string

func (l lacks) add(reason, name string) {
	if !slices.Contains(l[reason], name) {
		l[reason] = append(l[reason], name)
	}
}

// reasons are sentences, in order.
func (l lacks) reasons() (all []string) {
	for reason, names := range l {
		all = append(all, fmt.Sprintf("%d %s, such as %s", len(names), reason, names[0]))
	}
	slices.Sort(all)
	return all
}

// match pairs the cells of two runs and reports those that have no partner.
func (c *Comparison) match(before, after *results.Prepared) (all []*matchedCells) {
	partners := map[results.Place]results.Cells{}
	for _, y := range results.GroupCells(after.Cells) {
		partners[withoutLabel(y.Place)] = y
	}
	lacking := lacks{}
	for _, x := range results.GroupCells(before.Cells) {
		first := x.Cells[0]
		key := withoutLabel(x.Place)
		y, found := partners[key]
		delete(partners, key)
		if !found {
			lacking.add("cells are in the first run only", c.place(first))
			continue
		}
		was := state(first)
		is := state(y.Cells[0])
		if was != is {
			broken := fmt.Sprintf("%s: %s in the first run, %s in the second", c.place(first), was, is)
			c.Broken = append(c.Broken, broken)
			continue
		}
		m := newMatch(x, y)
		c.addLacks(lacking, m)
		if m.exact {
			c.Exact++
		}
		all = append(all, m)
	}
	c.Cells = len(all)
	c.New = len(partners)
	if len(all) == 0 {
		c.Reasons = append(c.Reasons, "no cell is in both")
		return nil
	}
	c.Reasons = append(c.Reasons, lacking.reasons()...)
	slices.Sort(c.Reasons)
	return all
}

// newMatch is a cell of two runs. It is exact where nothing that makes its numbers differs.
func newMatch(before, after results.Cells) *matchedCells {
	a := before.Cells[0]
	b := after.Cells[0]
	m := &matchedCells{before: before, after: after}
	m.sameDocuments = a.DatasetFingerprint == b.DatasetFingerprint && a.TestItems == b.TestItems
	sameInputs := a.Seed == b.Seed && a.EmbeddingFingerprint == b.EmbeddingFingerprint && !unlike(a.Program, b.Program)
	repeatable := !a.Unrepeatable && !b.Unrepeatable
	m.exact = m.sameDocuments && sameInputs && repeatable && len(m.shared()) > 0
	return m
}

// addLacks adds what is other data, vectors or programs in the second run.
func (c *Comparison) addLacks(lacking lacks, m *matchedCells) {
	a := m.before.Cells[0]
	b := m.after.Cells[0]
	if a.Seed == b.Seed && !m.sameDocuments || a.TestItems != b.TestItems {
		lacking.add("data sets have other documents", results.DatasetTitle(a.Dataset))
	}
	if m.sameDocuments && unlike(a.EmbeddingFingerprint, b.EmbeddingFingerprint) {
		lacking.add("spaces have other vectors", cmp.Or(c.space(a.Place), a.Embedding))
	}
	if unlike(a.Program, b.Program) {
		lacking.add("mechanisms are another program or text", c.names[a.Instance()])
	}
	for _, q := range a.Quantities() {
		for _, other := range a.OtherResources(b, q) {
			lacking.add("programs, models or lists are others", other)
		}
	}
	if m.exact && len(m.shared()) < len(m.before.Cells) {
		lacking.add("cells have fewer repetitions in the second run", c.place(a))
	}
}

// state is whether a mechanism exists, and what it guarantees.
func state(c results.Cell) string {
	if c.Status != results.StatusOK {
		return c.Status
	}
	text := "guarantee " + strconv.Quote(c.GuaranteeMetric)
	if c.GuaranteeScope != "" {
		text += ", between some words only"
	}
	return text
}

// place names a cell.
func (c *Comparison) place(x results.Cell) string {
	parts := []string{results.DatasetTitle(x.Dataset), c.space(x.Place), c.names[x.Instance()]}
	if x.Epsilon.Known() {
		parts = append(parts, "ε="+x.Epsilon.String())
	}
	parts = append(parts, c.names[x.Task()])
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}
