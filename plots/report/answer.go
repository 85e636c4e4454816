package report

import (
	"fmt"
	"slices"
	"strings"

	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// answer is the first screen.
type answer struct {
	Question string
	Data     string // documents and repetitions
	Table    tables.Table
	Attacks  *tables.Table // what attackers still learn
}

// mostRows is how many rows the first screen shows.
const mostRows = 10

func answerOf(p *results.Prepared, all []tables.Table) answer {
	private := p.Private()
	names := results.Distinct(private, func(c results.Cell) results.Instance { return c.Instance() })
	a := answer{Data: documents(p)}
	if t, ok := tables.AtFirstLevel(p, mostRows); ok {
		a.Question = fmt.Sprintf("Which of %s keeps most accuracy at equal privacy?", count(len(names), "mechanism"))
		a.Table = t
		if attacks := tables.Named(all, "attacks-"); len(attacks) > 0 {
			first := cut(attacks[0], mostRows)
			a.Attacks = &first
		}
		return a
	}
	a.Question = fmt.Sprintf("What was measured of %s.", count(len(names), "mechanism"))
	candidates := append(tables.Named(all, "attacks-"), tables.Brief(p, mostRows))
	candidates = append(candidates, results.Where(all, func(t tables.Table) bool {
		return !strings.HasPrefix(t.Name, "datasets")
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
			text += fmt.Sprintf(" (%s test documents)", tables.Thousands(n))
		}
		parts = append(parts, text)
	}
	few, most := results.Repeated(p.Private())
	repetitions := count(most, "repetition")
	if few < most {
		repetitions = fmt.Sprintf("%d to %s", few, repetitions)
	}
	return strings.Join(append(parts, repetitions), ", ") + "."
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
	for _, d := range p.Datasets {
		for _, w := range d.Warnings {
			add("Data set %s: %s.", d.Name, w)
		}
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
	if c, found := results.Unproved(own); found {
		out = append(out, fmt.Sprintf("%s guarantees nothing: %s", name, sentence(c.GuaranteeReason)))
	}
	if scope := results.Scope(own); scope != "" {
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
