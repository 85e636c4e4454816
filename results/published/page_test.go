package published

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	_ "mldpbench/experiments/measure" // names of its quantities
	"mldpbench/internal/records"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// TestReplicationPageFollowsItsRecords: the tables of the page are those that
// `mldp compare --published` makes from the committed records, all of their rows,
// and every printed number is in them.
func TestReplicationPageFollowsItsRecords(t *testing.T) {
	t.Parallel()
	p := records.View(t, "replication", "replication-imdb", "replication-fits", "replication-fits-imdb", "comparative")
	const page = "reports/2-the-2024-tables.md"
	comparePage(t, page, "How many", ReplicationTables(p), "replication")
	comparePage(t, page, "AG News", ReplicationTables(p), "replication-agnews")
	comparePage(t, page, "IMDb", ReplicationTables(p), "replication-imdb")
	comparePage(t, page, "What the printed text fits", ReplicationTables(p), "replication-fits-agnews",
		"replication-fits-imdb")
	comparePage(t, page, "SanText, by arithmetic", ReplicationTables(p), "replication-listed-agnews",
		"replication-listed-imdb")
	comparePage(t, page, "PP, by arithmetic", ReplicationTables(p), "replication-covered-agnews",
		"replication-covered-imdb")
	comparePage(t, page, "Where the numbers come from", ReplicationTables(p), "replication-causes")
	comparePage(t, page, "As described", Tables(p), "described-agnews-100")
	holdsRows(t, page, "50 and 300 dimensions", otherDimensions(records.View(t, "replication-local")))

	// The control: what would come out if the study's code did what the paper says.
	by, come, described, ofReviews := gridOf(t, Tables(p), "described-agnews-100"), 0, 0, 0
	for _, k := range Replicate(p) {
		if k.Metric != "n_w" && k.Metric != "s_w" {
			continue
		}
		if k.Dataset != "agnews" {
			if k.Verdict != Apart {
				ofReviews++
			}
			continue
		}
		if k.Verdict != Apart {
			come++
		}
		title := map[Metric]string{"n_w": "N_w", "s_w": "S_w"}[k.Metric]
		here, _, _ := strings.Cut(by[place{results.MechanismTitle(k.Mechanism), fmt.Sprint(k.Epsilon)}][title], "/")
		if v, err := strconv.ParseFloat(here, 64); err == nil { // undefined else
			other := k
			other.Here = v
			other.judge(noise * k.SD * math.Sqrt(1+1/float64(k.N)))
			if other.Verdict != Apart {
				described++
			}
		}
	}
	holds(t, page, fmt.Sprintf("%d of the 42 printed N_w and S_w come out of the study's own code within the noise of 25 "+
		"words, and %d of 42 of the mechanisms as described", come, described),
		fmt.Sprintf("By definition %d of the 42 would come out, by the code %d", described, come),
		fmt.Sprintf("On IMDb it is %d of 42", ofReviews))
	if n := len(Replicate(p)); n != 256 {
		t.Errorf("%d printed numbers, want 256", n)
	}

	// PP and LOW of AG News: by the code, with the fits, and with the arithmetic of PP.
	here, printed, covered := Covered(Replicate(p), Fits(p), "agnews")
	met := map[string]bool{} // each number once, whichever way meets it first
	count := func(all []Replicated) int {
		for _, k := range all {
			if k.Dataset == "agnews" && (k.Metric == "pp" || k.Metric == "low") && k.Verdict != Apart && k.N > 0 {
				met[fmt.Sprint(k.Place, k.Metric)] = true
			}
		}
		return len(met)
	}
	byCode, byFits, byArithmetic := count(Replicate(p)), count(Fits(p)), count(covered)
	near := func(all []Replicated) (within int) {
		for _, k := range all {
			if math.Abs(k.Here-k.Printed) <= 0.5+1e-9 {
				within++
			}
		}
		return within
	}
	english := func(name string) float64 {
		for _, c := range records.View(t, name).Cells {
			m, ok := c.At("english_as_printed")
			if ok && c.Dataset == "agnews-2024" && c.Mechanism == "cmp" && c.Epsilon == 1 {
				return float64(m.Value)
			}
		}
		return math.NaN()
	}
	hereToo, printedToo, reviews := Covered(Replicate(p), Fits(p), "imdb")
	holds(t, page, fmt.Sprintf("Of PP and LOW %d of 42 are within 1.5 points, %d with the two texts that fit and one "+
		"share of words without a vector", byCode, byArithmetic),
		fmt.Sprintf("(%d of 42 with these)", byFits),
		fmt.Sprintf("%.1f%% of it at hand, %.1f%% in print", here, printed),
		fmt.Sprintf("%d of %d numbers, those three among them, are then within half a point", near(covered), len(covered)),
		fmt.Sprintf("CMP at ε = 1 on AG News has %.2f where 15%% of the words have none (`--embedding glove.6B`), %.2f "+
			"where 10%% have none", english("replication-fewer"), english("replication")),
		fmt.Sprintf("%.1f%% and %.1f%% on IMDb, where it is %d of %d", hereToo, printedToo, near(reviews), len(reviews)))
}

// otherDimensions are N_w, S_w without the word itself and PP of the study's code on
// AG News in 50 and 300 dimensions.
func otherDimensions(p *results.Prepared) (rows []string) {
	type place struct {
		mechanism string
		epsilon   results.Float
	}
	texts := results.Texts(p.Private())
	for _, at := range results.Distinct(texts, func(c results.Cell) place { return place{c.Mechanism, c.Epsilon} }) {
		row := fmt.Sprintf("| %s | %v ", results.MechanismTitle(at.mechanism), at.epsilon)
		for _, of := range []func(results.Cells) []float64{
			printedNw.values, printedSw.values, printedPP.values,
		} {
			for _, d := range []int{50, 300} {
				own := results.Where(texts, func(c results.Cell) bool {
					return c.Mechanism == at.mechanism && c.Epsilon == at.epsilon && c.Dimension == d
				})
				row += fmt.Sprintf("| %.1f ", stats.Mean(of(results.Cells{Cells: own})))
			}
		}
		rows = append(rows, row+"|")
	}
	return rows
}

// TestAccuracyOfThreeTexts: how many printed accuracies of AG News are within two
// points of the mean over three texts, with five networks each.
func TestAccuracyOfThreeTexts(t *testing.T) {
	t.Parallel()
	mean, printed := map[Place]float64{}, map[Place]float64{}
	for _, name := range []string{"replication", "replication-2025", "replication-2026"} {
		numbers := 0
		for _, k := range Replicate(records.View(t, name)) {
			if k.Dataset == "agnews" && k.Metric == "accuracy" && k.N == 5 {
				mean[k.Place] += k.Here / 3
				printed[k.Place] = k.Printed
				numbers++
			}
		}
		if numbers != 22 {
			t.Errorf("%s: %d accuracies, want 22", name, numbers)
		}
	}
	near := 0
	for at, m := range mean {
		if math.Abs(m-printed[at]) <= 2 {
			near++
		} else {
			t.Logf("%v: %.2f, printed %.2f", at, m, printed[at])
		}
	}
	holds(t, "reports/2-the-2024-tables.md",
		fmt.Sprintf("the means over three texts are within two points for %d of 22", near))
}

// TestAuditPageFollowsItsRecords: the bounds on the page of guarantees are those
// of the committed audit.
func TestAuditPageFollowsItsRecords(t *testing.T) {
	t.Parallel()
	audit, err := results.ReadAudit(filepath.Join("..", "reference", "audit-glove-100.csv"))
	if err != nil {
		t.Fatal(err)
	}
	on, found := pageRows(t, filepath.Join("..", "docs", "guarantees.md"), "What the audit found"), 0
	for _, r := range audit {
		at := slices.Index([]float64{1, 5, 10}, float64(r.Epsilon))
		if at < 0 || !r.Lower.Known() {
			continue
		}
		bound := strconv.FormatFloat(math.Round(100*float64(r.Lower))/100, 'f', -1, 64)
		if math.IsInf(float64(r.Lower), 1) {
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

// TestClaimsFollowTheirRecords: every number with an interval in the claims of
// the comparative study is in a table that its records make.
func TestClaimsFollowTheirRecords(t *testing.T) {
	t.Parallel()
	var all []tables.Table
	for _, name := range []string{"comparative", "comparative-released", "comparative-local-50", "comparative-local-300"} {
		all = append(all, tables.All(records.View(t, name))...)
	}
	if n := foundIn(t, pageRows(t, "reports/2-the-2024-tables.md", "Five claims of the paper"), all); n != 12 {
		t.Errorf("%d numbers", n)
	}
}

var (
	update  = flag.Bool("update", false, "write the tables of the reports anew from the records; the text stays")
	writing sync.Mutex // of a report
)

// rewrite puts these rows below the heads of the tables of a section, where -update
// asks for it.
func rewrite(t *testing.T, page, section string, blocks ...[]string) {
	t.Helper()
	if !*update {
		return
	}
	writing.Lock()
	defer writing.Unlock()
	name := filepath.Join("..", page)
	data, err := os.ReadFile(name)
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
	if err := os.WriteFile(name, []byte(before+"\n## "+section+"\n"+out.String()+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// comparePage compares the rows of tables in a section of a page with those of
// the named tables.
func comparePage(t *testing.T, page, section string, all []tables.Table, names ...string) {
	t.Helper()
	var blocks [][]string
	for _, name := range names {
		if i := slices.IndexFunc(all, func(x tables.Table) bool { return x.Name == name }); i >= 0 {
			blocks = append(blocks, tableRows(all[i])[1:])
		}
	}
	rewrite(t, page, section, blocks...)
	on, made := pageRows(t, page, section), map[string]bool{}
	for _, table := range all {
		if !slices.Contains(names, table.Name) {
			continue
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == table.Name })
		for _, line := range tableRows(table) {
			made[line] = true
			if !on[line] {
				t.Errorf("the page lacks %s", line)
			}
		}
	}
	for line := range on {
		if !made[line] {
			t.Errorf("on the page, not of the records: %s", line)
		}
	}
	if len(names) > 0 {
		t.Errorf("no tables %q", names)
	}
}

// TestAttackersPageFollowsItsRecords: the tables of the page are those that `mldp
// tables` makes from the committed records, all of their rows, and what a better
// attacker finds now is in them.
func TestAttackersPageFollowsItsRecords(t *testing.T) {
	t.Parallel()
	const page = "reports/4-attackers.md"
	all := tables.All(records.View(t, "attacks"))
	comparePage(t, page, "The strongest attacker, AG News with agency", all, "strongest-agnews-agency")
	comparePage(t, page, "The strongest attacker, spooky authors", all, "strongest-spooky-authors")
	comparePage(t, page, "At five points of accuracy lost", all, "attacks-agnews-agency")
	comparePage(t, page, "The auditor of a language model", tables.All(records.View(t, "auditor")),
		"attackers-insuranceqa-users")
	if n := foundIn(t, pageRows(t, page, "What a better attacker changed"), all); n != 8 {
		t.Errorf("%d numbers of today", n)
	}
}

// TestAttackersProseFollowsItsRecords: the numbers in the text of the page.
func TestAttackersProseFollowsItsRecords(t *testing.T) {
	t.Parallel()
	p := records.View(t, "attacks")
	all := tables.All(p)
	var floor, ceiling, topicFloor, topicCeiling float64 // in %
	for _, c := range p.Cells {
		if c.Dataset != "agnews-agency" {
			continue
		}
		if m, ok := c.At("strongest-label"); ok {
			floor, ceiling = 100*float64(m.Floor), 100*float64(m.Ceiling)
		}
		if m, ok := c.At("accuracy"); ok && m.Ceiling.Known() {
			topicFloor, topicCeiling = float64(m.Floor), float64(m.Ceiling)
		}
	}
	const label, words, documents, ten = "private label found, strongest attacker", "words found, strongest attacker",
		"documents linked, strongest attacker", "words found from 10 releases"
	news, authors := gridOf(t, all, "strongest-agnews-agency"), gridOf(t, all, "strongest-spooky-authors")
	newsEach, authorsEach := gridOf(t, all, "attackers-agnews-agency"), gridOf(t, all, "attackers-spooky-authors")
	extremes := func(g grid, column string, keep func(place, float64) bool) (low, high float64) {
		low, high = math.Inf(1), math.Inf(-1)
		for at := range g {
			if x := g.value(t, at, column); keep(at, x) && at.mechanism != "Identity, printed" && at.mechanism != "Uniform" {
				low, high = min(low, x), max(high, x)
			}
		}
		return low, high
	}
	const e2 = "2"
	early := func(at place) bool { return at.epsilon == e2 && (at.mechanism == "TEM" || at.mechanism == "SanText") }
	late := func(at place, _ float64) bool { return !early(at) }
	uniform, plain := place{"Uniform", ""}, place{"Identity, printed", ""}

	cheap, _ := extremes(news, label, func(at place, _ float64) bool { return news.value(t, at, "accuracy in %") >= 80 })
	linkedNews, _ := extremes(news, documents, late)
	linkedAuthors, _ := extremes(authors, documents, late)
	firstWords, lastWords := extremes(news, words, func(at place, _ float64) bool {
		return slices.Contains([]place{{"CusText", "1"}, {"CMP", "8"}, {"Vickrey", "8"}, {"Mahalanobis", "8"},
			{"Rank fix", "8"}, {"k-th neighbour", "10"}}, at)
	})
	tenLow, tenHigh := extremes(news, ten, func(at place, _ float64) bool {
		return !early(at) && !(at.mechanism == "CusText" && at.epsilon != "4") && at != place{"1-Diffractor", "0.25"}
	})
	const bayes, adaptive = "private label found, Bayes with the channel", "private label found, adaptive n-grams"
	bayesLow, bayesHigh := extremes(authorsEach, bayes, late)
	trainedLow, trainedHigh := extremes(authorsEach, adaptive, late)
	maskedNews := func(g grid) (low, high float64) {
		return extremes(g, "words found by a masked model", func(place, float64) bool { return true })
	}
	mLow, mHigh := maskedNews(newsEach)
	aLow, aHigh := maskedNews(authorsEach)
	kth := place{"k-th neighbour", "24"}
	const joined, inContext = "words found by masked model and channel", "words found in context"
	gain := math.Inf(-1)
	for _, g := range []grid{newsEach, authorsEach} {
		for at := range g {
			if x := g.value(t, at, joined) - g.value(t, at, inContext); !math.IsNaN(x) {
				gain = max(gain, x)
			}
		}
	}
	lost := gridOf(t, all, "attacks-agnews-agency")
	reached := func(at place, _ float64) bool { return !strings.HasPrefix(at.epsilon, "≤") }
	lostLabelLow, lostLabelHigh := extremes(lost, label, reached)
	lostLow, lostHigh := extremes(lost, words, reached)

	var uniformWords float64
	wordsLow, wordsHigh := math.Inf(1), math.Inf(-1) // the best attacker that reads only words
	for at, cells := range newsEach {
		best := math.Inf(-1)
		for column := range cells {
			if strings.HasPrefix(column, "private label found, ") && column != label &&
				!strings.HasSuffix(column, "as written") && !strings.Contains(column, "punctuation") {
				best = max(best, newsEach.value(t, at, column))
			}
		}
		if at == uniform {
			uniformWords = best
		} else if at != plain {
			wordsLow, wordsHigh = min(wordsLow, best), max(wordsHigh, best)
		}
	}

	holds(t, "reports/4-attackers.md",
		fmt.Sprintf("finds the agency of %.0f to %.0f%%, more where", wordsLow, wordsHigh),
		fmt.Sprintf("finds it in %.0f%% of items or more after every mechanism that keeps 80%% of the topic (guessing "+
			"%.1f, text as published %.1f, known words unchanged %.1f)", math.Floor(cheap), floor, ceiling,
			news.value(t, plain, label)),
		fmt.Sprintf("the agency of %s of items and the author of %s of sentences (guessing 33.3)",
			news.interval(t, uniform, label), authors.interval(t, uniform, label)),
		fmt.Sprintf("find the agency of %.0f%% there, and of %.0f to %.0f%% behind", uniformWords, wordsLow, wordsHigh),
		fmt.Sprintf("the number of words alone links %.1f%% and %.1f%%", news.value(t, uniform, documents),
			authors.value(t, uniform, documents)),
		fmt.Sprintf("on tf-idf (%.1f%% on plain text)", topicCeiling),
		fmt.Sprintf("Five points below plain text (%.1f%%)", topicCeiling),
		fmt.Sprintf("the strongest attacker gains %.1f to %.1f%%", news.value(t, uniform, label),
			news.value(t, plain, label)),
		fmt.Sprintf("is a stronger one (%.1f to %.1f%%)", authors.value(t, uniform, label), authors.value(t, plain, label)),
		fmt.Sprintf("for %.1f%% or more of the released news items and %.1f%% or more of the sentences", linkedNews,
			linkedAuthors),
		fmt.Sprintf("an attacker names %.0f to %.0f%% of the news words", firstWords, lastWords),
		fmt.Sprintf("the k-th neighbour at ε = 24 returns %.1f%% of the words unchanged, and %.1f%% are named",
			newsEach.value(t, kth, "output unchanged"), news.value(t, kth, words)),
		fmt.Sprintf("give away %.0f to %.0f%% of the news words", tenLow, tenHigh),
		fmt.Sprintf("CusText at ε = 1 and 2 (%.0f and %.0f%%)", news.value(t, place{"CusText", "1"}, ten),
			news.value(t, place{"CusText", "2"}, ten)),
		fmt.Sprintf("1-Diffractor at 0.25 (%.0f%%)", news.value(t, place{"1-Diffractor", "0.25"}, ten)),
		fmt.Sprintf("probabilities finds %.0f to %.0f%% of them", bayesLow, bayesHigh),
		fmt.Sprintf("TEM and SanText at ε = 2: %.0f and %.0f%%", authorsEach.value(t, place{"TEM", e2}, bayes),
			authorsEach.value(t, place{"SanText", e2}, bayes)),
		fmt.Sprintf("one who trains on released text finds %.0f to %.0f%%", trainedLow, trainedHigh),
		fmt.Sprintf("finds the agency of %.0f to %.0f%%, with", lostLabelLow, lostLabelHigh),
		fmt.Sprintf("from one release differ: %.0f%% (k-th neighbour) to %.0f%% (k-RR)", lostLow, lostHigh),
		fmt.Sprintf("ε = 2 (%.1f and %.1f%% of the items, %.1f and %.1f%% of the sentences)",
			news.value(t, place{"TEM", e2}, documents), news.value(t, place{"SanText", e2}, documents),
			authors.value(t, place{"TEM", e2}, documents), authors.value(t, place{"SanText", e2}, documents)),
		fmt.Sprintf("at ε = 2 (%.0f to %.0f%%), which leave %.0f and %.0f%% of the topic where the most frequent one is "+
			"%.1f%%",
			news.value(t, place{"SanText", e2}, ten), news.value(t, place{"TEM", e2}, ten),
			news.value(t, place{"SanText", e2}, "accuracy in %"), news.value(t, place{"TEM", e2}, "accuracy in %"), topicFloor),
		fmt.Sprintf("adds up to %.0f points to them (k-th neighbour at ε = 24), but no more than %.0f point to",
			authorsEach.value(t, kth, joined)-authorsEach.value(t, kth, "output unchanged"), gain),
		fmt.Sprintf("Alone it names %.0f to %.0f%% of the news words and %.0f to %.0f%% of the authors' words",
			mLow, mHigh, aLow, aHigh))
}

// A grid has the rows of a table of attackers: the cells of a place by title.
type grid map[place]map[string]string

type place struct{ mechanism, epsilon string }

func gridOf(t *testing.T, all []tables.Table, name string) grid {
	t.Helper()
	i := slices.IndexFunc(all, func(x tables.Table) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("no table %s", name)
	}
	g := grid{}
	for _, row := range all[i].Rows {
		if row[0].Text == "plain text" || row[0].Text == "guessing" {
			continue // of no mechanism
		}
		cells := map[string]string{}
		for k, title := range all[i].Header {
			cells[title] = row[k].Text
		}
		g[place{row[0].Text, row[1].Text}] = cells
	}
	return g
}

// value is the first number of a cell in percent.
func (g grid) value(t *testing.T, at place, column string) float64 {
	t.Helper()
	text, ok := g[at][column]
	var x float64
	if _, err := fmt.Sscan(text, &x); !ok || err != nil {
		return math.NaN() // not measured here
	}
	if !strings.Contains(column, "%") {
		x *= 100
	}
	return x
}

// interval is "69.4 ± 3.3%".
func (g grid) interval(t *testing.T, at place, column string) string {
	t.Helper()
	var x, half float64
	if _, err := fmt.Sscanf(g[at][column], "%f ± %f", &x, &half); err != nil {
		t.Fatalf("%v, %s: %q", at, column, g[at][column])
	}
	return fmt.Sprintf("%.1f ± %.1f%%", 100*x, 100*half)
}

// holds fails where a page lacks a sentence, and returns the page.
func holds(t *testing.T, page string, sentences ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", page))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(data)), " ")
	for _, s := range sentences {
		if !strings.Contains(text, s) {
			t.Errorf("the page lacks %q", s)
		}
	}
	return string(data)
}

// foundIn counts the numbers with an interval in rows of a page, all of which
// some table must have.
func foundIn(t *testing.T, rows map[string]bool, all []tables.Table) (found int) {
	t.Helper()
	var made strings.Builder
	for _, table := range all {
		made.WriteString(strings.Join(tableRows(table), "\n"))
	}
	for row := range rows {
		for _, number := range regexp.MustCompile(`\d+\.\d+ ± \d+\.\d+`).FindAllString(row, -1) {
			found++
			if !strings.Contains(made.String(), number) {
				t.Errorf("no record has %s", number)
			}
		}
	}
	return found
}

// pageRows are the rows of tables in a section of a page of results.
func pageRows(t *testing.T, name, section string) map[string]bool {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", name))
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

func tableRows(t tables.Table) []string {
	var b bytes.Buffer
	_ = t.Write(&b, "md") // a buffer takes everything
	return rowsOf(b.String())
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
