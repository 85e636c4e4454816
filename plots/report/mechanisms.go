package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// mechanism is the page's section on one mechanism.
type mechanism struct {
	Name     string // anchor
	Title    string
	Source   string
	Variants []variant
}

type variant struct {
	Title  string
	Holds  bool
	Scoped bool // between some words only
	Exists bool // false: undefined at every ε
	Reason string
	Texts  []sample
}

// sample is one document under a variant.
type sample struct {
	Dataset  string
	Original string
	Outputs  []output
}

type output struct {
	Epsilon string
	Words   []word
}

type word struct {
	Text string
	Kept bool // unchanged
}

// sections collects sources, reasons and examples by mechanism.
func sections(in Input) []mechanism {
	var out []mechanism
	for _, i := range results.Instances(in.Private()) {
		if i.Mechanism == "" {
			continue
		}
		if n := len(out); n == 0 || out[n-1].Name != "mechanism-"+i.Mechanism {
			m := mechanism{Name: "mechanism-" + i.Mechanism, Title: results.MechanismTitle(i.Mechanism)}
			if d, err := mechanisms.Find(i.Mechanism); err == nil {
				m.Source = d.Source
			}
			out = append(out, m)
		}
		last := &out[len(out)-1]
		last.Variants = append(last.Variants, describe(in, i))
	}
	slices.SortFunc(out, func(a, b mechanism) int { return cmp.Compare(a.Title, b.Title) })
	return out
}

func describe(in Input, i results.Instance) variant {
	v := variant{Title: i.Variant}
	if i.Parameters != "" {
		v.Title = strings.TrimSpace(v.Title + ", " + i.Parameters)
	}
	for _, r := range in.Cells {
		if r.Instance() != i {
			continue
		}
		v.Exists = v.Exists || r.Status != results.StatusUndefined
		v.Holds, v.Scoped = v.Holds || r.GuaranteeMetric != "", v.Scoped || r.GuaranteeScope != ""
		if v.Reason == "" && r.GuaranteeReason != "" && r.Status != results.StatusUndefined {
			v.Reason = tables.Capitalised(sentence(r.GuaranteeReason))
		}
	}
	if in.Examples {
		v.Texts = samples(in.Prepared.Examples, i)
	}
	return v
}

// samples returns the first document of each data set that is available for all
// ε.
func samples(examples []results.Example, i results.Instance) []sample {
	type source struct {
		dataset   string
		embedding string
		dimension int
		document  int
	}
	outputs := map[source][]results.Example{}
	var order []source
	most := map[string]int{} // ε per document, by data set
	for _, x := range examples {
		if (results.Instance{Mechanism: x.Mechanism, Variant: x.Variant, Parameters: x.Parameters}) != i {
			continue
		}
		s := source{x.Dataset, x.Embedding, x.Dimension, x.Document}
		if outputs[s] == nil {
			order = append(order, s)
		}
		outputs[s] = append(outputs[s], x)
		most[x.Dataset] = max(most[x.Dataset], len(outputs[s]))
	}
	var out []sample
	done := map[string]bool{}
	for _, s := range order {
		if done[s.dataset] || len(outputs[s]) < most[s.dataset] || len(strings.Fields(outputs[s][0].Original)) < 2 {
			continue
		}
		done[s.dataset] = true
		x := outputs[s]
		slices.SortFunc(x, func(a, b results.Example) int { return cmp.Compare(a.Epsilon, b.Epsilon) })
		t := sample{Dataset: fmt.Sprintf("%s, %s, %d dimensions", results.DatasetTitle(s.dataset), s.embedding,
			s.dimension), Original: excerpt(x[0].Original)}
		for _, e := range x {
			t.Outputs = append(t.Outputs, output{short(e.Epsilon), markKept(excerpt(e.Original), excerpt(e.Privatised))})
		}
		out = append(out, t)
	}
	return out
}

// excerpt keeps the first 60 words.
func excerpt(s string) string {
	words := strings.Fields(s)
	if len(words) > 60 {
		return strings.Join(words[:60], " ") + " …"
	}
	return strings.Join(words, " ")
}

// markKept marks the words that are unchanged. Under the policy drop positions
// no longer match, and nothing is marked.
func markKept(original, privatised string) []word {
	a, b := strings.Fields(original), strings.Fields(privatised)
	var out []word
	for i, w := range b {
		out = append(out, word{w, len(a) == len(b) && a[i] == w && w != "…"})
	}
	return out
}
