package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/quantity"
	"mldpbench/results/views"
)

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// documents says on how much the numbers rest.
func documents(p *results.Prepared) string {
	var parts []string
	for _, d := range results.Distinct(p.Cells, func(c results.Cell) string {
		return c.Dataset
	}) {
		n := 0
		for _, c := range p.Cells {
			if c.Dataset == d {
				m, _ := c.At(quantity.UsualUtility())
				n = max(n, c.TestItems, m.Whole)
			}
		}
		text := results.DatasetTitle(d)
		if n > 0 && !strings.Contains(text, "test documents") {
			text += fmt.Sprintf(" (%s test documents)", views.Thousands(n))
		}
		parts = once(parts, text)
	}
	few, most := results.Repeated(p.Private())
	repetitions := count(most, "repetition")
	if few < most {
		repetitions = fmt.Sprintf("%d to %s", few, repetitions)
	}
	return strings.Join(append(parts, repetitions), ", ") + "."
}

// warnings are the footnotes that apply to the whole page, in words.
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
	versions := results.Distinct(results.Where(p.Cells, func(c results.Cell) bool {
		return c.Version != ""
	}),
		func(c results.Cell) string { return c.Version })
	if len(versions) > 1 {
		add("The results are of %d versions of mldp (%s): differences between them may come from code, not mechanism.",
			len(versions), strings.Join(versions, ", "))
	}
	switch few, _ := results.Repeated(p.Private()); {
	case few == 1:
		add("Some numbers are of one repetition, of which nothing is known of training: repeat at least three times.")
	case few > 0 && few < stats.FewRepetitions:
		add("Fewer than %d repetitions: intervals are wide and few differences can be told from chance.",
			stats.FewRepetitions)
	}
	for _, c := range p.Private() {
		for _, name := range c.Quantities() {
			m, _ := c.At(name)
			if !quantity.Must(name).OfEncoder || m.Detail != "sif" {
				continue
			}
			add("CS is based on averaged word vectors (sif), no sentence encoder: do not compare it with other " +
				"studies.")
		}
		if c.Policy == "keep" && c.Get("tokens_unknown").Float() > 0 {
			add("Words outside the embedding were kept unchanged: they are not protected at all.")
		}
	}
	for _, own := range results.ByInstance(p.Private()) {
		for _, text := range promiseWarnings(p.Name(own[0].Place), own) {
			add("%s", text)
		}
	}
	return out
}

// promiseWarnings are those of one mechanism: nothing or little promised, or
// undefined somewhere.
func promiseWarnings(name string, own []results.Cell) (out []string) {
	undefined := results.Where(own, func(c results.Cell) bool {
		return c.Status == results.StatusUndefined
	})
	if c, found := results.Unproved(own); found {
		reason := cmp.Or(c.GuaranteeReason, noneStated(c))
		out = append(out, fmt.Sprintf("%s has no guarantee: %s", name, sentence(reason)))
	}
	if scope := results.Scope(own); scope != "" {
		out = append(out, fmt.Sprintf("The guarantee of %s holds only %s", name, sentence(scope)))
	}
	if len(undefined) > 0 {
		out = append(out, fmt.Sprintf("%s is undefined at ε = %s on %s; for example, %s", name, epsilons(undefined),
			enumerate(undefined, func(c results.Cell) string {
				return results.DatasetTitle(c.Dataset)
			}),
			sentence(undefined[0].Reason)))
	}
	return out
}

// noneStated is the reason of a mechanism that a user made, "" of others.
func noneStated(c results.Cell) string {
	if c.Own() {
		return "it states none"
	}
	return ""
}

func sentence(s string) string {
	return strings.TrimSuffix(cmp.Or(s, "no reason is recorded"), ".") + "."
}
