package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mldpbench/results"
	"mldpbench/results/stats"
)

func short(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// summary is the first thing to read: what accuracy is left at each ε under
// the best mechanism that guarantees something.
func summary(records []results.Record) results.Table {
	t := results.Table{
		Header: []string{"Data set", "Classifier", "ε", "Highest", "Mechanism", "Baseline", "E_M", "N_w", "Space"},
		Legend: "Per data set and ε, the highest mean accuracy in % among the mechanisms that guarantee something, ± half a 95% t interval, with that mechanism’s N_w (runs that return the word, in %) and the MAP adversary’s error E_M. " +
			"Being first may be chance: the rank tables below test it. The same ε is not the same promise for all mechanisms: see the frontier and each mechanism’s guarantee.",
	}
	names := results.Labels(records)
	type place struct {
		results.Scene
		setting string
		epsilon float64
	}
	best := map[place]results.Cells{}
	var order []place
	for _, c := range results.GroupCells(records) {
		r := c.Records[0]
		if r.IsBaseline() || r.GuaranteeMetric == "" || !r.Epsilon.Known() || len(c.Values(accuracy)) == 0 {
			continue
		}
		p := place{c.Scene, c.Setting, float64(r.Epsilon)}
		old, seen := best[p]
		if !seen {
			order = append(order, p)
		}
		if !seen || stats.Summarize(c.Values(accuracy)).Mean > stats.Summarize(old.Values(accuracy)).Mean {
			best[p] = c
		}
	}
	slices.SortStableFunc(order, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.Dataset, b.Dataset), cmp.Compare(a.Dimension, b.Dimension),
			cmp.Compare(a.Model, b.Model), cmp.Compare(a.setting, b.setting), cmp.Compare(a.epsilon, b.epsilon))
	})
	for _, p := range order {
		c := best[p]
		r := c.Records[0]
		model := p.Model
		if p.setting != "local" {
			model += " (" + p.setting + ")"
		}
		t.AddRow(results.DatasetTitle(p.Dataset), model, short(p.epsilon), spread(c.Values(accuracy), 1), names[r.Instance()],
			decimals(float64(r.BaselineAccuracy), 1),
			spread(c.Values(func(r results.Record) results.Float { return r.EMMap }), 2),
			spread(c.Values(func(r results.Record) results.Float { return r.Nw }), 1), fmt.Sprintf("%s, %d", p.Embedding, p.Dimension))
	}
	return t
}

func accuracy(r results.Record) results.Float { return r.Accuracy }

func decimals(v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

func spread(values []float64, digits int) string {
	if len(values) == 0 {
		return "–"
	}
	s := stats.Summarize(values)
	if s.N < 2 {
		return decimals(s.Mean, digits)
	}
	return decimals(s.Mean, digits) + " ± " + decimals(s.HalfWidth(), digits)
}

// warnings are the footnotes that hold for the whole page.
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
		add("Some numbers are about text that mldp generated itself; tables and figures say which.")
	}
	for _, c := range results.GroupCells(records) {
		if !c.Records[0].IsBaseline() && len(c.Records) < stats.FewRepetitions {
			if len(c.Records) == 1 {
				add("One repetition: numbers stand without an interval.")
			} else {
				add(fmt.Sprintf("Fewer than %d repetitions: intervals are wide and few differences can be told from chance.", stats.FewRepetitions))
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
		if r.CS.Known() && r.CSEncoder == results.EncoderSIF {
			add("CS rests on averaged word vectors (sif), not on a sentence encoder: compare it with no other study.")
		}
		if r.EMStdError.Known() && r.EMStdError > 0 {
			add("Where a mechanism has no closed form, the inference error E_M was estimated by sampling, with the standard error in e_m_std_error.")
		}
		if r.Policy == "keep" && r.TokensUnknown > 0 {
			add("Words outside the embedding were kept as they are: they are not protected at all.")
		}
	}
	return append(out, undefined(records, names)...)
}

// undefined says once per mechanism where it does not exist.
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
