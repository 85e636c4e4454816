package published

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/internal/records"
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/tables"
)

// TestEqualPrivacyFollowsItsRecords: tables and counts of the page at equal
// privacy are those that `mldp compare --align` makes from the committed records.
func TestEqualPrivacyFollowsItsRecords(t *testing.T) {
	t.Parallel()
	const page = "reports/1-equal-privacy.md"
	at := func(levels, name string) (*results.Prepared, []tables.Table) {
		p := records.View(t, name)
		var err error
		if p.Levels, err = results.ParseLevels(levels); err != nil {
			t.Fatal(err)
		}
		return p, tables.Equal(p)
	}
	extended, all := at("em=0.5", "extended")
	comparePage(t, page, "At equal privacy", all, "equal")
	prior, byPrior := at("weighted=0.5", "extended")
	_, more := at("em=0.7", "extended")
	comparePage(t, page, "At E_M = 0.7", more, "equal")
	comparePage(t, page, "With the frequencies of the text", byPrior, "equal")
	_, attacked := at("label=0.7", "attacks")
	order := func(all []tables.Table, name string) tables.Table {
		t.Helper()
		i := slices.IndexFunc(all, func(x tables.Table) bool { return x.Name == "order" })
		if i < 0 {
			t.Fatal("no table of orders")
		}
		all[i].Name = name
		return all[i]
	}
	byAxes, onAxes := at("em=0.5", "axes")
	both := []tables.Table{order(all, "extended"), order(attacked, "attacks"), order(onAxes, "axes")}
	classifiers, byClassifier := at("em=0.5", "classifiers")
	both = append(both, order(byClassifier, "classifiers"))
	onReviews, byReviews := at("em=0.5", "classifiers-imdb")
	comparePage(t, page, "Where the order changes", both, "extended", "attacks", "axes", "classifiers")
	holdsRows(t, page, "The rank fix against each", againstRankFix(extended, 0.5, 0.7))
	holdsRows(t, page, "Other classifiers", append(classifierRows("AG News", classifiers),
		classifierRows("IMDb", onReviews)...))
	rows, least, most := errorRows(records.View(t, "few-draws"), extended, records.View(t, "grown", "grown-imdb"))
	holdsRows(t, page, "The error of the error", rows)
	if min(least["e_m_full_uniform"], least["e_m_full_corpus"]) < -0.05 { // measured on other draws, so but for noise
		t.Errorf("more draws raise E_M: %v", least)
	}

	documents := pageRows(t, page, "A whole document")
	for _, row := range documentRows(byAxes) {
		if !documents[row] {
			t.Errorf("the page lacks %s", row)
		}
	}
	if len(documents) != 9+1 {
		t.Errorf("%d rows of documents", len(documents))
	}

	var sentences []string
	told := func(p *results.Prepared) (parts []string) {
		for _, a := range compare.Align(p, compare.Question{}, 0.5) {
			n := len(results.Where(a.Pairs, func(x compare.Pair) bool { return x.Told }))
			parts = append(parts, fmt.Sprintf("%d of %d (%s)", n, len(a.Pairs), results.DatasetTitle(a.Dataset)))
		}
		return parts
	}
	sentences = append(sentences, fmt.Sprintf("10 draws are too kind by up to %.1f points, and by up to %.1f with the "+
		"text's frequencies", most["e_m_full_uniform"], most["e_m_full_corpus"]))
	for _, p := range []*results.Prepared{extended, prior} {
		parts := told(p)
		sentences = append(sentences, strings.Join(parts[:len(parts)-1], ", ")+" and "+parts[len(parts)-1])
	}
	for _, a := range compare.Align(extended, compare.Question{}, 0.5) {
		for _, l := range a.Lines {
			if l.Mechanism == "rank-fix" && a.Dataset == "imdb" {
				sentences = append(sentences, fmt.Sprintf("At ε = %.1f it reaches E_M = 0.5 on IMDb, for %.1f points of the "+
					"sentiment", l.Epsilon, a.Baseline-l.Value))
			}
		}
	}
	for sentence, p := range map[string]*results.Prepared{
		"the rank fix loses %[2]s points on AG News, CMP %[4]s": classifiers,
		"on IMDb it keeps %[1]s, CMP %[3]s, of %[5]s":           onReviews,
	} {
		for _, a := range compare.Align(p, compare.Question{}, 0.5) {
			if a.Task.Model != "encoder" {
				continue
			}
			var kept []any
			for _, name := range []string{"rank-fix", "cmp"} {
				i := slices.IndexFunc(a.Lines, func(l compare.Line) bool { return l.Mechanism == name })
				kept = append(kept, fmt.Sprintf("%.1f", a.Lines[i].Value), fmt.Sprintf("%.1f", a.Baseline-a.Lines[i].Value))
			}
			sentences = append(sentences, fmt.Sprintf(sentence, append(kept, fmt.Sprintf("%.1f", a.Baseline))...))
		}
	}
	fewest := math.Inf(1)
	for _, c := range records.View(t, "authors").Cells {
		if m, ok := c.At("document_game_author"); ok {
			fewest = min(fewest, 100*float64(m.Part)/float64(m.Whole))
		}
	}
	sentences = append(sentences, fmt.Sprintf("it was %.1f%% of rounds or more", math.Floor(10*fewest)/10))
	pairs, opposite := 0, 0
	for i, row := range both[0].Rows {
		var n, k int
		if i == len(both[0].Rows)-1 { // words of Product Reviews occur once each: both axes are the same
			continue
		}
		if _, err := fmt.Sscan(row[6].Text, &n); err == nil {
			_, _ = fmt.Sscan(row[7].Text, &k) // a number where the one before it is
			pairs, opposite = pairs+n, opposite+k
		}
	}
	for _, o := range append(both, order(byReviews, "classifiers-imdb")) {
		for _, row := range o.Rows {
			if reversed := row[9].Text; reversed != "" && reversed != "none" && reversed != "–" {
				t.Errorf("%s: a pair is reversed: %s", o.Name, reversed)
			}
		}
	}
	behind := func(p *results.Prepared, level float64) float64 {
		for _, a := range compare.Align(p, compare.Question{}, level) {
			for _, x := range a.Pairs {
				if a.Lines[x.A].Name == "CMP" && a.Lines[x.B].Name == "Rank fix, c=0.04" {
					return -x.Difference
				}
			}
		}
		return math.NaN()
	}
	byDistance, _ := at("distance=0.4", "axes")
	sentences = append(sentences, fmt.Sprintf("by %.2f points at E_M = 0.5 and by %.2f where", behind(byAxes, 0.5),
		behind(byDistance, 0.4)))
	sentences = append(sentences, fmt.Sprintf("means change places in %d of %d pairs", opposite, pairs))
	data := holds(t, page, sentences...)
	words := 0
	for line := range strings.Lines(data) {
		if !strings.HasPrefix(line, "|") {
			words += len(strings.Fields(line))
		}
	}
	if words > 1500 {
		t.Errorf("%d words outside of tables", words)
	}
}

// documentRows are the losses of documents of the cells near E_M = 0.5, at the parameters of extended.
func documentRows(p *results.Prepared) (rows []string) {
	for name, epsilon := range map[string]float64{"CMP": 8.9, "Mahalanobis": 9.39, "Vickrey, t=0.5": 17,
		"Rank fix, c=0.04": 17.9, "CusText, k=20": 7.17, "SanText": 3.08, "TEM": 3.08, "k-RR": 10.3, "1-Diffractor": 1.1} {
		for _, c := range p.Cells {
			if p.Name(c) != name || float64(c.Epsilon) != epsilon {
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
					row += fmt.Sprintf("| %.2f ", float64(m.Value))
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

// holdsRows: the tables of a section have these rows, and no others but heads.
func holdsRows(t *testing.T, page, section string, rows []string) {
	t.Helper()
	rewrite(t, page, section, rows)
	on := pageRows(t, page, section)
	for _, row := range rows {
		if !on[rowOf(row)] {
			t.Errorf("%s: the page lacks %s", section, row)
		}
	}
	if n := len(on) - 1; n != len(rows) { // the head
		t.Errorf("%s: %d rows, want %d", section, n, len(rows))
	}
}

// againstRankFix are what the rank fix keeps more than each mechanism at levels
// of E_M, with * where they are told apart.
func againstRankFix(p *results.Prepared, levels ...float64) (rows []string) {
	cells := map[string][]string{}
	var names []string
	at := 0
	for _, level := range levels {
		for _, a := range compare.Align(p, compare.Question{}, level) {
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
// are, of cells near E_M = 0.5; with the smallest and the largest difference in
// points of all cells.
func errorRows(ten, extended, grown *results.Prepared) (rows []string, least, most map[string]float64) {
	least, most = map[string]float64{}, map[string]float64{}
	of := func(p *results.Prepared, like results.Cell, quantity string) float64 {
		for _, c := range p.Cells {
			m, ok := c.At(quantity)
			if ok && m.Value.Known() && c.Dataset == like.Dataset && c.Instance() == like.Instance() &&
				c.Epsilon == like.Epsilon {
				return float64(m.Value)
			}
		}
		return math.NaN()
	}
	const uniform, corpus, distance = "e_m_full_uniform", "e_m_full_corpus", "e_m_full_distance"
	for _, c := range ten.Cells {
		row := fmt.Sprintf("| %s | %s | %v ", results.DatasetTitle(c.Dataset), ten.Name(c), c.Epsilon)
		for _, q := range []string{uniform, corpus} {
			before, after := of(ten, c, q), of(extended, c, q)
			row += fmt.Sprintf("| %.3f | %.3f ", before, after)
			least[q], most[q] = min(least[q], 100*(before-after)), max(most[q], 100*(before-after))
		}
		if e := of(ten, c, uniform); e > 0.4 && e < 0.6 {
			rows = append(rows, row+fmt.Sprintf("| %.3f |", of(grown, c, distance)))
		}
	}
	return slices.Compact(rows), least, most
}
