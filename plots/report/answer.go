package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/tables"
)

// answer is the first screen.
type answer struct {
	Question  string
	Data      string // documents and repetitions
	Table     tables.Table
	Attacks   *tables.Table // what attackers still learn
	Sentences []string
}

// mostRows is how many rows the first screen shows.
const mostRows = 10

func answerOf(p *results.Prepared) answer {
	private := p.Private()
	names := results.Distinct(private, func(c results.Cell) results.Instance { return c.Instance() })
	a := answer{Data: documents(p), Sentences: tables.Headline(p)}
	if t, ok := equalPrivacy(p); ok {
		a.Question = fmt.Sprintf("Which of %s keeps most accuracy at equal privacy?", count(len(names), "mechanism"))
		a.Table = t
		if attacks := tables.Attacks(p); len(attacks) > 0 {
			first := cut(attacks[0], mostRows)
			a.Attacks = &first
		}
		return a
	}
	a.Question = fmt.Sprintf("What was measured of %s.", count(len(names), "mechanism"))
	candidates := append(tables.Attacks(p), tables.Brief(p, mostRows))
	candidates = append(candidates, slices.DeleteFunc(tables.All(p), func(t tables.Table) bool {
		return strings.HasPrefix(t.Name, "datasets") || strings.HasPrefix(t.Name, "examples")
	})...)
	for _, t := range candidates {
		if len(t.Rows) > 0 {
			a.Table = cut(t, mostRows)
			break
		}
	}
	return a
}

// cut keeps the first rows of a table.
func cut(t tables.Table, rows int) tables.Table {
	if left := len(t.Rows) - rows; left > 0 {
		t.Rows = t.Rows[:rows]
		t.Legend = strings.TrimSpace(t.Legend + fmt.Sprintf(" %s below.", count(left, "further row")))
	}
	return t
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// documents says on how much the numbers rest.
func documents(p *results.Prepared) string {
	var parts []string
	for _, d := range results.Distinct(p.Cells, func(c results.Cell) string { return c.Dataset }) {
		if d == "" {
			continue
		}
		n := 0
		for _, c := range p.Cells {
			if c.Dataset == d {
				n = max(n, c.TestItems)
				if m, ok := c.At("accuracy"); ok {
					n = max(n, m.Whole)
				}
			}
		}
		text := results.DatasetTitle(d)
		if n > 0 && !strings.Contains(text, "test documents") {
			text += fmt.Sprintf(" (%s test documents)", thousands(n))
		}
		parts = append(parts, text)
	}
	few, most := math.MaxInt, 0
	for _, c := range results.GroupCells(results.Texts(p.Private())) {
		few, most = min(few, len(c.Cells)), max(most, len(c.Cells))
	}
	repetitions := count(most, "repetition")
	if few < most {
		repetitions = fmt.Sprintf("%d to %s", few, repetitions)
	}
	return strings.Join(append(parts, repetitions), ", ") + "."
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	if n >= 1000 {
		s = s[:len(s)-3] + "," + s[len(s)-3:]
	}
	return s
}

// equalPrivacy has a row per mechanism and a column per data set: accuracy at
// the first stated level of privacy that some mechanism reaches. The best
// of a data set is bold; those not told apart from it are underlined.
func equalPrivacy(p *results.Prepared) (tables.Table, bool) {
	for _, level := range p.Stated().At {
		standings := compare.Leading(compare.Standings(p, compare.Question{}, level))
		standings = results.Where(standings, func(s compare.Standing) bool { return len(s.Entries) > 0 })
		if len(standings) > 0 {
			return atLevel(standings, level), true
		}
	}
	return tables.Table{}, false
}

func atLevel(standings []compare.Standing, level float64) tables.Table {
	t := tables.Table{Name: "answer", Title: "Accuracy in % at " + tables.LevelOf(standings[0].Aligned),
		Header: []string{"mechanism"}}
	if standings[0].Privacy == results.EM {
		t.Title = fmt.Sprintf("Accuracy in %% where the adversary gets %g%% of words wrong (E_M = %g)", 100*level, level)
	}
	type line struct {
		name  string
		share []float64 // of the best, to sort by
		cells []tables.TableCell
	}
	var lines []line
	for k, s := range standings {
		t.Header = append(t.Header, results.DatasetTitle(s.Dataset))
		best := s.Entries[0]
		for _, e := range slices.Concat(s.Entries, s.Scoped) {
			name := e.Line.Name
			if e.Scope != "" {
				name += tables.ScopeMark
			}
			i := slices.IndexFunc(lines, func(l line) bool { return l.name == name })
			if i < 0 {
				i = len(lines)
				lines = append(lines, line{name: name, cells: slices.Repeat([]tables.TableCell{{Text: tables.NotMeasured}},
					len(standings))})
			}
			cell := tables.TableCell{Text: tables.Within(e.Line, 1), Best: e.Line.Name == best.Line.Name}
			if pair, tested := s.PairOf(best.Line.Name, e.Line.Name); e.Scope == "" && !cell.Best {
				cell.Above = !tested || !pair.Told
			}
			lines[i].cells[k] = cell
			lines[i].share = append(lines[i].share, e.Line.Value/best.Line.Value)
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		if d := stats.Mean(b.share) - stats.Mean(a.share); d != 0 {
			return int(math.Copysign(1, d))
		}
		return 0
	})
	for _, l := range lines[:min(mostRows, len(lines))] {
		t.Rows = append(t.Rows, append([]tables.TableCell{{Text: l.name}}, l.cells...))
	}
	baseline := []tables.TableCell{{Text: "not privatised"}}
	for _, s := range standings {
		baseline = append(baseline, tables.TableCell{Text: tables.FormatNumber(s.Baseline, 1)})
	}
	if len(t.Rows) == mostRows {
		t.Rows = t.Rows[:mostRows-1]
	}
	t.Rows = append(t.Rows, baseline)
	t.Legend = "Bold: the best with a guarantee between any two words. Underlined: not told apart from it (all pairs " +
		"tested, Holm, 5%). ± is half the 95% interval; – was not measured at this level."
	if left := len(lines) - (len(t.Rows) - 1); left > 0 {
		t.Legend += fmt.Sprintf(" %s in the tables below.", count(left, "further mechanism"))
	}
	if slices.ContainsFunc(lines, func(l line) bool { return strings.HasSuffix(l.name, tables.ScopeMark) }) {
		t.Legend += " " + tables.ScopeMark + " Its guarantee holds between some words only, and it does not compete."
	}
	return t
}

// warnings returns the footnotes that apply to the whole page.
func warnings(p *results.Prepared) []string {
	out := slices.Clone(p.Warnings)
	add := func(format string, a ...any) { out = once(out, fmt.Sprintf(format, a...)) }
	switch generated(p.Cells) {
	case "generated data":
		add("All numbers are about text that mldp generated itself, not about real text.")
	case "partly generated data":
		add("Some numbers are about text that mldp generated itself; tables and figures mark which.")
	}
	versions := results.Distinct(results.Where(p.Cells, func(c results.Cell) bool { return c.Version != "" }),
		func(c results.Cell) string { return c.Version })
	if len(versions) > 1 {
		add("The results are of %d versions of mldp (%s): differences between them may come from code, not mechanism.",
			len(versions), strings.Join(versions, ", "))
	}
	for _, c := range results.GroupCells(p.Private()) {
		if n := len(c.Cells); n == 1 && c.Panel == "" {
			add("Some numbers are of one repetition: their interval, if any, is over documents alone.")
		} else if n < stats.FewRepetitions && c.Panel == "" {
			add("Fewer than %d repetitions: intervals are wide and few differences can be told from chance.",
				stats.FewRepetitions)
		}
	}
	seen := map[results.Instance]bool{}
	for _, c := range p.Private() {
		if cs, ok := c.At("cs"); ok && cs.Detail == "sif" {
			add("CS is based on averaged word vectors (sif), no sentence encoder: do not compare it with other studies.")
		}
		if c.Policy == "zero" {
			add("Under the policy zero, words without a vector take part as vectors of zeros: the guarantee covers them; " +
				"that the text has such words is not covered.")
		}
		if c.Policy == "keep" && c.Get("tokens_unknown") > 0 {
			add("Words outside the embedding were kept unchanged: they are not protected at all.")
		}
		if i := c.Instance(); !seen[i] && c.Mechanism != "" {
			seen[i] = true
			own := results.Where(p.Private(), func(o results.Cell) bool { return o.Instance() == i })
			for _, text := range promiseWarnings(p.Labels[i], own) {
				add("%s", text)
			}
		}
	}
	return out
}

// promiseWarnings are those of one mechanism: nothing or little promised, or
// undefined somewhere.
func promiseWarnings(name string, own []results.Cell) (out []string) {
	undefined := results.Where(own, func(c results.Cell) bool { return c.Status == results.StatusUndefined })
	for _, c := range own {
		if c.Status != results.StatusUndefined && c.GuaranteeMetric == "" && (c.Panel == "" || c.GuaranteeReason != "") {
			out = append(out, fmt.Sprintf("%s guarantees nothing: %s", name, sentence(c.GuaranteeReason)))
			break
		}
	}
	if scope := compare.Scope(own); scope != "" {
		out = append(out, fmt.Sprintf("The guarantee of %s holds only %s", name, sentence(scope)))
	}
	if len(undefined) > 0 {
		out = append(out, fmt.Sprintf("%s is undefined at ε = %s on %s; for example, %s", name, epsilons(undefined),
			enumerate(undefined, func(c results.Cell) string { return results.DatasetTitle(c.Dataset) }),
			sentence(undefined[0].Reason)))
	}
	return out
}

func sentence(s string) string {
	if s == "" {
		return "no reason is recorded."
	}
	return strings.TrimSuffix(s, ".") + "."
}
