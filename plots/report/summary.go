package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mldpbench/results"
	"mldpbench/results/stats"
)

func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// warnings returns the footnotes that apply to the whole page.
func warnings(records []results.Record) []string {
	names := results.Labels(records)
	var out []string
	add := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	switch generated(records) {
	case "generated data":
		add("All numbers are about text that mldp generated itself, not about real text.")
	case "partly generated data":
		add("Some numbers are about text that mldp generated itself; tables and figures mark which.")
	}
	versions := results.Distinct(results.Where(records, func(r results.Record) bool { return r.Version != "" }),
		func(r results.Record) string { return r.Version })
	if len(versions) > 1 {
		add(fmt.Sprintf("The records are of %d versions of mldp (%s): differences between them may come from code, "+
			"not mechanism.", len(versions), strings.Join(versions, ", ")))
	}
	for _, c := range results.GroupCells(records) {
		if !c.Records[0].IsBaseline() && len(c.Records) < stats.FewRepetitions {
			if len(c.Records) == 1 {
				add("One repetition: numbers have no interval.")
			} else {
				add(fmt.Sprintf("Fewer than %d repetitions: intervals are wide and few differences can be "+
					"told from chance.", stats.FewRepetitions))
			}
			break
		}
	}
	for _, r := range records {
		if r.IsBaseline() {
			continue
		}
		if r.Status != results.StatusUndefined && r.GuaranteeMetric == "" {
			add(fmt.Sprintf("%s guarantees nothing: %s", names[r.Instance()], sentence(r.GuaranteeReason)))
		}
		if r.GuaranteeScope != "" {
			own := results.Where(records, func(o results.Record) bool { return o.Instance() == r.Instance() })
			add(fmt.Sprintf("The guarantee of %s holds only %s", names[r.Instance()], sentence(results.ScopeOf(own))))
		}
		if r.CS.Known() && r.CSEncoder == results.EncoderSIF {
			add("CS is based on averaged word vectors (sif), no sentence encoder: do not compare it with other studies.")
		}
		if r.EMStdError.Known() && r.EMStdError > 0 {
			add("Where a mechanism has no closed form, the inference error E_M was estimated by sampling, with the " +
				"standard error in e_m_std_error.")
		}
		if r.Policy == "zero" {
			add("Under the policy zero, words without a vector take part as vectors of zeros: the guarantee covers " +
				"them; that the text has such words is not covered.")
		}
		if r.Policy == "keep" && r.TokensUnknown > 0 {
			add("Words outside the embedding were kept unchanged: they are not protected at all.")
		}
	}
	return append(out, undefined(records, names)...)
}

// undefined returns one note per mechanism about where it does not exist.
func undefined(records []results.Record, names map[results.Instance]string) []string {
	var out []string
	var seen []results.Instance
	for _, r := range records {
		i := r.Instance()
		if r.Status != results.StatusUndefined || slices.Contains(seen, i) {
			continue
		}
		seen = append(seen, i)
		var at, on []string
		for _, o := range records {
			if o.Instance() != i || o.Status != results.StatusUndefined {
				continue
			}
			if e := short(float64(o.Epsilon)); !slices.Contains(at, e) {
				at = append(at, e)
			}
			if d := results.DatasetTitle(o.Dataset); !slices.Contains(on, d) {
				on = append(on, d)
			}
		}
		out = append(out, fmt.Sprintf("%s is undefined at ε = %s on %s; for example, %s",
			names[i], strings.Join(at, ", "), strings.Join(on, ", "), sentence(r.Reason)))
	}
	return out
}

func sentence(s string) string {
	if s == "" {
		return "no reason is recorded."
	}
	return strings.TrimSuffix(s, ".") + "."
}

// spread formats a mean and the half-width of its interval.
func spread(values []float64, digits int) string {
	return results.WithInterval(stats.Summarize(values), digits)
}
