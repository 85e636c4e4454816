// Package reports keeps the tables of the reports: each is made anew from the
// committed records, and compared with the page (-update writes it). The text
// between them is the authors'.
package reports

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "mldpbench/experiments/measure" // names of its quantities
	"mldpbench/internal/list"
	"mldpbench/internal/records"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/published"
	"mldpbench/results/views"
)

var update = flag.Bool("update", false, "write the tables of the reports anew from the records; the text stays")

// TestEqualPrivacy: report 1.
func TestEqualPrivacy(t *testing.T) {
	const page = "1-equal-privacy.md"
	at := func(levels, name string) (*results.Prepared, []string) {
		p := records.View(t, name)
		var err error
		if p.Levels, err = results.ParseLevels(levels); err != nil {
			t.Fatal(err)
		}
		equal := views.Named(views.Tables(p, views.Builtin().Tables), "equal")
		return p, tableRows(equal[0])
	}
	extended, half := at("em=0.5", "extended")
	_, more := at("em=0.7", "extended")
	_, byPrior := at("e_m_full_corpus=0.5", "extended")
	axes, _ := at("em=0.5", "axes")
	classifiers, _ := at("em=0.5", "classifiers")
	onReviews, _ := at("em=0.5", "classifiers-imdb")
	compareWith(t, page, "At equal privacy", half)
	compareWith(t, page, "At E_M = 0.7", more)
	compareWith(t, page, "With the frequencies of the text", byPrior)
	compareWith(t, page, "The rank fix against each", againstRankFix(extended, 0.5, 0.7))
	compareWith(t, page, "Other classifiers", append(classifierRows("AG News", classifiers),
		classifierRows("IMDb", onReviews)...))
	compareWith(t, page, "The error of the error", errorRows(records.View(t, "few-draws"), extended,
		records.View(t, "grown", "grown-imdb")))
	compareWith(t, page, "A whole document", documentRows(axes))
}

// TestPublishedTables: report 2. What the printed text fits, and the papers' own
// arithmetic, are of commit 05dcc51, whose program computed them.
func TestPublishedTables(t *testing.T) {
	const page = "2-the-2024-tables.md"
	all := published.Compare(records.View(t, "replication", "replication-imdb", "comparative"))
	compareWith(t, page, "AG News", beside(all, published.AsRun, "agnews", texts...))
	compareWith(t, page, "IMDb", beside(all, published.AsRun, "imdb", texts...))
	compareWith(t, page, "As described", beside(all, published.AsDescribed, "agnews", "n_w", "s_w", "pp", "low_overlap",
		"accuracy train-only", "accuracy local"))
	compareWith(t, page, "50 and 300 dimensions", otherDimensions(records.View(t, "replication-local")))
	var counts []string
	for _, dataset := range []string{"agnews", "imdb"} {
		for _, q := range texts {
			q, _, _ = strings.Cut(q, " ")
			n := map[published.Verdict]int{}
			for _, k := range all {
				if k.As == published.AsRun && k.Dataset == dataset && k.Quantity == q {
					n[k.Verdict]++
					n[""]++
				}
			}
			counts = append(counts, fmt.Sprintf("| %s | %s | %d | %d | %d | %d | 0 |", results.DatasetTitle(dataset),
				map[string]string{"n_w": "N_w", "s_w": "S_w", "pp": "PP", "low_overlap": "LOW",
					"english_as_printed": "English %", "accuracy": "accuracy"}[q],
				n[""], n[published.Same], n[published.Near], n[published.Apart]))
		}
	}
	compareWith(t, page, "How many", counts)
}

// TestAttackers: report 4.
func TestAttackers(t *testing.T) {
	const page = "4-attackers.md"
	found := views.View{Name: "found", From: "cells", Rows: []string{"mechanism", "epsilon"}, Columns: []string{"quantity"},
		Split: []string{"dataset"}, Value: []string{"accuracy", "group:strongest", "average-10"}}
	auditor := found
	auditor.Value = []string{"attackers"}
	lost := found
	lost.From, lost.Rows, lost.Value = "equal", []string{"mechanism"}, []string{"group:strongest", "average-10"}
	alike := records.View(t, "attacks").Select(func(c results.Cell) bool { return c.Dataset == "agnews-agency" })
	alike.Levels = results.Levels{Quantity: "accuracy", At: []float64{85.3}}
	all := slices.Concat(views.Tables(records.View(t, "attacks"), []views.View{found}),
		views.Tables(records.View(t, "auditor"), []views.View{auditor}), views.Tables(alike, []views.View{lost}))
	for k, section := range []string{"The strongest attacker, AG News with agency", "The strongest attacker, spooky authors",
		"The auditor of a language model", "At five points of accuracy lost"} {
		if k >= len(all) {
			t.Fatalf("%d tables", len(all))
		}
		compareWith(t, page, section, tableRows(all[k]))
	}
}

// TestAudit: the bounds on the page of guarantees are those
// of the committed audit.
func TestAudit(t *testing.T) {
	audit, err := results.ReadAudit(filepath.Join("..", "reference", "audit-glove-100.csv"))
	if err != nil {
		t.Fatal(err)
	}
	on, found := pageRows(t, filepath.Join("..", "..", "docs", "guarantees.md"), "What the audit found"), 0
	for _, r := range audit {
		at := slices.Index([]float64{1, 5, 10}, r.Epsilon.Float())
		if at < 0 || !r.Lower.Known() {
			continue
		}
		bound := strconv.FormatFloat(math.Round(100*r.Lower.Float())/100, 'f', -1, 64)
		if math.IsInf(r.Lower.Float(), 1) {
			bound = "∞"
		}
		for row := range on {
			cells := strings.Split(strings.Trim(row, "|"), "|")
			if results.MechanismTitle(r.Mechanism) != cells[0] || r.Variant != cells[1] {
				continue
			}
			found++
			if got, _, _ := strings.Cut(cells[4+at], ","); got != bound {
				t.Errorf("%s (%s) at %v: the page has %s, the audit %s", r.Mechanism, r.Variant, r.Epsilon, got, bound)
			}
		}
	}
	if found < 40 {
		t.Errorf("%d bounds compared", found)
	}
}

// texts are the quantities of the study's code, with the setting of a classifier.
var texts = []string{"n_w", "s_w", "pp", "low_overlap", "english_as_printed", "accuracy train-only"}

// beside has ours/printed and the verdict of quantities at d = 100.
func beside(all []published.Number, how, dataset string, quantities ...string) (rows []string) {
	signs := map[published.Verdict]string{published.Same: "=", published.Near: "≈", published.Apart: "≠"}
	ours := map[string]published.Number{}
	var places []published.Place
	for _, k := range all {
		if k.As == how && k.Dataset == dataset && k.Dimension == 100 {
			ours[fmt.Sprint(k.Place, k.Quantity, k.Setting)] = k
			if !slices.Contains(places, k.Place) {
				places = append(places, k.Place)
			}
		}
	}
	for _, at := range places {
		row := "| " + results.MechanismTitle(at.Mechanism) + " | "
		if at.Epsilon > 0 {
			row += fmt.Sprint(at.Epsilon)
		}
		for _, q := range quantities {
			column, setting, _ := strings.Cut(q, " ")
			if at.Epsilon == 0 {
				setting = ""
			}
			digits := 1
			if column == "accuracy" || column == "english_as_printed" {
				digits = 2
			}
			printed, ok := published.Printed().Value(at, column)
			k, ran := ours[fmt.Sprint(at, column, setting)]
			switch text := strconv.FormatFloat(printed, 'f', digits, 64); {
			case !ok:
				row += " | –"
			case !ran:
				row += " | not run/" + text
			case k.Verdict == published.Undefined:
				row += " | undefined/" + text
			default:
				row += " | " + views.Number(k.Ours, digits) + "/" + text + " " + signs[k.Verdict]
			}
		}
		rows = append(rows, row+" |")
	}
	return rows
}

// otherDimensions are N_w, S_w without the word itself and PP of the study's code on
// AG News in 50 and 300 dimensions.
func otherDimensions(p *results.Prepared) (rows []string) {
	type place struct {
		mechanism string
		epsilon   results.Optional
	}
	texts := results.Texts(p.Private())
	for _, at := range results.Distinct(texts, func(c results.Cell) place { return place{c.Mechanism, c.Epsilon} }) {
		row := fmt.Sprintf("| %s | %v ", results.MechanismTitle(at.mechanism), at.epsilon)
		for _, of := range []func(results.Cell) float64{value("n_w"), results.Cell.SwOthers, value("pp")} {
			for _, d := range []int{50, 300} {
				own := results.Where(texts, func(c results.Cell) bool {
					return c.Mechanism == at.mechanism && c.Epsilon == at.epsilon && c.Dimension == d
				})
				row += fmt.Sprintf("| %.1f ", stats.Mean(results.Where(list.Map(own, of), func(v float64) bool {
					return !math.IsNaN(v)
				})))
			}
		}
		rows = append(rows, row+"|")
	}
	return rows
}

// value is that of a quantity, NaN where it was not measured.
func value(quantity string) func(results.Cell) float64 {
	return func(c results.Cell) float64 {
		if m, ok := c.At(quantity); ok {
			return m.Value.Float()
		}
		return math.NaN()
	}
}

// documentRows are the losses of documents of the cells near E_M = 0.5, at the parameters of extended.
func documentRows(p *results.Prepared) (rows []string) {
	for name, epsilon := range map[string]float64{"CMP": 8.9, "Mahalanobis": 9.39, "Vickrey, t=0.5": 17,
		"Rank fix, c=0.04": 17.9, "CusText, k=20": 7.17, "SanText": 3.08, "TEM": 3.08, "k-RR": 10.3, "1-Diffractor, lists=1": 1.1} {
		for _, c := range p.Cells {
			if p.Name(c.Place) != name || c.Epsilon.Float() != epsilon {
				continue
			}
			short, _, _ := strings.Cut(name, ",")
			row := fmt.Sprintf("| %s | %v ", short, epsilon)
			for _, quantity := range []string{"game_word", "epsilon_word", "bound_word", "game_topic", "epsilon_topic",
				"bound_topic"} {
				m, there := c.At("document_" + quantity)
				if quantity == "game_word" {
					row += fmt.Sprintf("| %.1f%% ", 100*float64(m.Part)/float64(m.Whole))
				}
				switch {
				case there && m.Value.Known():
					row += fmt.Sprintf("| %.2f ", m.Value.Float())
				case strings.Contains(m.Note, "infinite for 100"):
					row += "| infinite "
				default:
					row += "| – "
				}
			}
			rows = append(rows, rowOf(row+"|"))
		}
	}
	return rows
}

// againstRankFix are what the rank fix keeps more than each mechanism at levels
// of E_M, with * where they are told apart.
func againstRankFix(p *results.Prepared, levels ...float64) (rows []string) {
	cells := map[string][]string{}
	var names []string
	at := 0
	for _, level := range levels {
		for _, a := range compare.Align(p, compare.Question{}, level) {
			if a.Datasets > 0 {
				continue
			}
			fix := slices.IndexFunc(a.Lines, func(l compare.Line) bool { return strings.HasPrefix(l.Name, "Rank fix") })
			for i, l := range a.Lines {
				if !slices.Contains(names, l.Name) {
					names = append(names, l.Name)
				}
				for len(cells[l.Name]) < at {
					cells[l.Name] = append(cells[l.Name], "–")
				}
				x, ok := a.Pair(fix, i)
				text := "–"
				if ok {
					text = fmt.Sprintf("%+.1f ± %.1f", x.Difference, (x.High-x.Low)/2)
				}
				if x.Told {
					text += "*"
				}
				cells[l.Name] = append(cells[l.Name], text)
			}
			at++
		}
	}
	for _, name := range names {
		if c := cells[name]; slices.ContainsFunc(c, func(x string) bool { return x != "–" }) {
			short, _, _ := strings.Cut(name, ",")
			rows = append(rows, "| "+short+" | "+strings.Join(c, " | ")+" |")
		}
	}
	return rows
}

// classifierRows are the accuracies at E_M = 0.5 by classifier, and what the
// rank fix keeps more with * where it is told from the mechanism.
func classifierRows(dataset string, p *results.Prepared) (rows []string) {
	all := compare.Align(p, compare.Question{}, 0.5)
	plain := "| " + dataset + " | not privatised "
	for _, a := range all {
		plain += fmt.Sprintf("| %.1f ", a.Baseline)
	}
	for i, l := range all[0].Lines {
		short, _, _ := strings.Cut(l.Name, ",")
		row := "| " + dataset + " | " + short + " "
		for _, a := range all {
			l := a.Lines[i]
			fix := slices.IndexFunc(a.Lines, func(l compare.Line) bool { return strings.HasPrefix(l.Name, "Rank fix") })
			row += fmt.Sprintf("| %.1f ± %.1f", l.Value, (l.High-l.Low)/2)
			if x, _ := a.Pair(fix, i); x.Told {
				row += "*"
			}
			row += " "
		}
		rows = append(rows, row+"|")
	}
	return append(rows, plain+"|")
}

// errorRows are E_M learned from 10 draws, that of extended, and how far its guesses
// are, of cells near E_M = 0.5.
func errorRows(ten, extended, grown *results.Prepared) (rows []string) {
	of := func(p *results.Prepared, like results.Cell, quantity string) float64 {
		for _, c := range p.Cells {
			m, ok := c.At(quantity)
			if ok && m.Value.Known() && c.Dataset == like.Dataset && c.Instance() == like.Instance() &&
				c.Epsilon == like.Epsilon {
				return m.Value.Float()
			}
		}
		return math.NaN()
	}
	const uniform, corpus, distance = "e_m_full_uniform", "e_m_full_corpus", "e_m_full_distance"
	for _, c := range ten.Cells {
		if e := of(ten, c, uniform); e > 0.4 && e < 0.6 {
			rows = append(rows, fmt.Sprintf("| %s | %s | %v | %.3f | %.3f | %.3f | %.3f | %.3f |",
				results.DatasetTitle(c.Dataset), ten.Name(c.Place), c.Epsilon, e, of(extended, c, uniform), of(ten, c, corpus),
				of(extended, c, corpus), of(grown, c, distance)))
		}
	}
	return slices.Compact(rows)
}

// compareWith compares the rows of the tables in a section of a page, without their
// heads, with those that the records make.
func compareWith(t *testing.T, page, section string, blocks ...[]string) {
	t.Helper()
	if *update {
		rewrite(t, page, section, blocks...)
	}
	on, made := pageRows(t, page, section), map[string]bool{}
	for _, row := range slices.Concat(blocks...) {
		if made[rowOf(row)] = true; !on[rowOf(row)] {
			t.Errorf("%s: the page lacks %s", section, row)
		}
	}
	heads := 0
	for row := range on {
		if !made[row] {
			heads++
			t.Log(section, "has the row", row)
		}
	}
	if heads > len(blocks) {
		t.Errorf("%s: %d rows are not of the records", section, heads-len(blocks))
	}
}

// rewrite puts these rows below the heads of the tables of a section, where -update
// asks for it.
func rewrite(t *testing.T, page, section string, blocks ...[]string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), "\n## "+section+"\n")
	own, after, more := strings.Cut(rest, "\n## ")
	var out strings.Builder
	block, line := -1, 0 // of the block
	for text := range strings.Lines(own) {
		if !strings.HasPrefix(text, "|") {
			line = 0
		} else if line++; line == 1 {
			block++
		}
		if line < 3 {
			out.WriteString(text)
		}
		if line == 2 && block < len(blocks) {
			for _, row := range blocks[block] {
				out.WriteString("| " + strings.Join(cellsOf(row), " | ") + " |\n")
			}
		}
	}
	if block+1 != len(blocks) {
		t.Fatalf("%s, %s: %d tables, want %d", page, section, block+1, len(blocks))
	}
	if more {
		after = "\n## " + after
	}
	if err := os.WriteFile(page, []byte(before+"\n## "+section+"\n"+out.String()+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// pageRows are the rows of tables in a section of a page of results.
func pageRows(t *testing.T, name, section string) map[string]bool {
	t.Helper()
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "\n## "+section+"\n")
	if !found {
		t.Fatalf("%s has no section %q", name, section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	on := map[string]bool{}
	for _, line := range rowsOf(text) {
		on[line] = true
	}
	return on
}

// tableRows are those below the head, without footnotes.
func tableRows(t views.Table) []string {
	for _, row := range t.Rows {
		for j := range row {
			row[j].Notes = nil
		}
	}
	var b bytes.Buffer
	_ = t.Write(&b, "md") // a buffer takes everything
	return rowsOf(b.String())[1:]
}

func rowsOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = rowOf(line); strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|-") {
			lines = append(lines, line)
		}
	}
	return lines
}

// rowOf is a line of a Markdown table without the spaces that align it.
func rowOf(line string) string {
	if line = strings.TrimSpace(line); !strings.HasPrefix(line, "|") {
		return line
	}
	return "|" + strings.Join(cellsOf(line), "|") + "|"
}

// cellsOf are those of a line of a Markdown table.
func cellsOf(line string) []string {
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|"), "|")
	for i, c := range cells {
		cells[i] = strings.TrimSpace(c)
	}
	return cells
}
