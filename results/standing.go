package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mldpbench/results/stats"
)

// StatedErrors are the errors of the adversary at which mechanisms are
// compared first.
var StatedErrors = []float64{0.5, 0.8}

// Standing is which mechanism with a guarantee keeps most accuracy, at the
// setting that keeps most among those that leave the MAP adversary an error E_M
// of at least Error.
type Standing struct {
	Dataset string
	Space   Space
	Task    Task
	Error   float64

	Baseline float64 // accuracy in %, NaN where not measured
	Entries  []Entry // best first
}

// Entry is a mechanism of a standing.
type Entry struct {
	stats.Ranked
	Instance
	Epsilon  Float
	Scope    string // between which words its guarantee holds, "" for any
	Accuracy stats.Summary
	EM, Nw   float64 // means
}

// Standings are those of records, by data set, space and task, at one error. A
// scene where no mechanism leaves that error has no entries. Refuted mechanisms
// do not compete: see Refute. One whose guarantee holds between some words only
// competes, and its Scope says so.
func Standings(records []Record, level float64) []Standing {
	records, _ = FullErrors(Where(records, func(r Record) bool { return r.Quantity == "" }))
	accuracy, em, nw := column("accuracy"), column("e_m_map"), column("n_w")
	names := Labels(records)
	type scene struct {
		dataset string
		Space
		Task
	}
	sceneOf := func(r Record) scene {
		return scene{r.Dataset, Space{r.Embedding, r.Dimension}, Task{r.Model, r.Setting}}
	}
	measured := Where(records, func(r Record) bool { return !r.IsBaseline() && accuracy.Get(r).Known() && em.Get(r).Known() })
	var out []Standing
	for _, at := range Distinct(measured, sceneOf) {
		own := Where(measured, func(r Record) bool { return sceneOf(r) == at && r.GuaranteeMetric != "" })
		base := Where(records, func(r Record) bool {
			return r.IsBaseline() && r.Dataset == at.dataset && r.Embedding == at.Embedding && r.Dimension == at.Dimension && r.Model == at.Model
		})
		s := Standing{Dataset: at.dataset, Space: at.Space, Task: at.Task, Error: level, Baseline: stats.Mean(Cells{Records: base}.Values(accuracy.Get))}
		best := map[Instance]Cells{}
		var order []Instance
		for _, c := range GroupCells(own) {
			i := c.Records[0].Instance()
			if stats.Mean(c.Values(em.Get)) < level {
				continue
			}
			old, seen := best[i]
			if !seen {
				order = append(order, i)
			}
			if !seen || stats.Mean(c.Values(accuracy.Get)) > stats.Mean(old.Values(accuracy.Get)) {
				best[i] = c
			}
		}
		var labels []string
		var means []float64
		for _, i := range order {
			labels, means = append(labels, names[i]), append(means, stats.Mean(best[i].Values(accuracy.Get)))
		}
		ranked, err := stats.Rank(labels, means, func(a, b int) (stats.Test, error) {
			return stats.Blocked([]stats.Sample{SampleOf(best[order[a]].Records)}, []stats.Sample{SampleOf(best[order[b]].Records)})
		}, true, rankLevel)
		if err != nil {
			continue // as many names as means, by construction
		}
		for _, r := range ranked {
			i := order[slices.Index(labels, r.Name)]
			c := best[i]
			s.Entries = append(s.Entries, Entry{r, i, c.Records[0].Epsilon, ScopeOf(c.Records), stats.Summarize(c.Values(accuracy.Get)), stats.Mean(c.Values(em.Get)), stats.Mean(c.Values(nw.Get))})
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Standing) int {
		return cmp.Or(strings.Compare(a.Dataset, b.Dataset), strings.Compare(a.Task.Model, b.Task.Model), strings.Compare(a.Task.Setting, b.Task.Setting), cmp.Compare(a.Space.Dimension, b.Space.Dimension))
	})
	return out
}

// Sentence says who keeps most, what separates it from the next, and what
// cannot be told apart from it.
func (s Standing) Sentence() string {
	on := fmt.Sprintf("On %s (%s, %s", DatasetTitle(s.Dataset), s.Space, s.Task.Model)
	if s.Task.Setting != "local" && s.Task.Setting != "" {
		on += ", " + s.Task.Setting
	}
	if len(s.Entries) == 0 {
		return fmt.Sprintf("%s), no mechanism with a guarantee leaves the adversary an error of at least %g.", on, s.Error)
	}
	first := s.Entries[0]
	text := fmt.Sprintf("%s), at an adversary's error of at least %g, %s keeps %.1f%% accuracy (ε = %g", on, s.Error, first.Name, first.Accuracy.Mean, float64(first.Epsilon))
	if s.Baseline == s.Baseline {
		text += fmt.Sprintf("; %.1f%% without privatisation", s.Baseline)
	}
	text += ")"
	if first.Scope != "" {
		text += ", whose guarantee holds only " + first.Scope
		if full := slices.IndexFunc(s.Entries, func(e Entry) bool { return e.Scope == "" }); full > 0 {
			e := s.Entries[full]
			text += fmt.Sprintf("; of those that promise something between any two words, %s keeps most, %.1f%% (ε = %g)", e.Name, e.Accuracy.Mean, float64(e.Epsilon))
		}
	}
	for _, e := range s.Entries[1:] {
		if slices.Contains(first.Worse, e.Name) {
			text += fmt.Sprintf(", %.1f points more than %s", first.Accuracy.Mean-e.Accuracy.Mean, e.Name)
			break
		}
	}
	if len(s.Entries) == 1 {
		text += ", the only mechanism with a guarantee that leaves this error"
	}
	switch open := first.Open; len(open) {
	case 0:
	case 1:
		text += "; " + open[0] + " is not distinguishable from it"
	default:
		text += "; " + strings.Join(open[:len(open)-1], ", ") + " and " + open[len(open)-1] + " are not distinguishable from it"
	}
	return text + "."
}

// repetitions behind the first entry.
func (s Standing) repetitions() int {
	if len(s.Entries) == 0 {
		return 0
	}
	return s.Entries[0].Accuracy.N
}

// Headline is a sentence for each data set at the first of StatedErrors: of its
// scenes that with most repetitions, then most mechanisms, tested on private
// text if there is a choice.
func Headline(records []Record) []string {
	chosen := map[string]Standing{}
	var order []string
	for _, s := range Standings(Separate(records), StatedErrors[0]) {
		old, seen := chosen[s.Dataset]
		if !seen {
			order = append(order, s.Dataset)
		}
		better := cmp.Or(cmp.Compare(s.repetitions(), old.repetitions()), cmp.Compare(len(s.Entries), len(old.Entries))) > 0 ||
			s.repetitions() == old.repetitions() && len(s.Entries) == len(old.Entries) && s.Task.Setting == "local" && old.Task.Setting != "local"
		if !seen || better {
			chosen[s.Dataset] = s
		}
	}
	var out []string
	for _, d := range order {
		out = append(out, chosen[d].Sentence())
	}
	return out
}

// StandingsTable lists the best of each data set and task at the stated errors:
// what to look at first.
func StandingsTable(records []Record) Table {
	t := Table{Name: "standings", Title: "Most accuracy at a stated error of the adversary",
		Header: []string{"data set", "space", "classifier", "E_M at least", "mechanism", "ε", "accuracy", "baseline", "E_M", "not told apart from it"}}
	for _, level := range StatedErrors {
		for _, s := range Standings(Separate(records), level) {
			row := []string{DatasetTitle(s.Dataset), s.Space.String(), s.Task.Model + " (" + s.Task.Setting + ")", fmt.Sprint(level)}
			if len(s.Entries) == 0 {
				row = append(row, "none with a guarantee", "", NotMeasured, FormatNumber(s.Baseline, 1), "", "")
			} else {
				e := s.Entries[0]
				name := e.Name
				if e.Scope != "" {
					name += ScopeMark
				}
				row = append(row, name, formatFloat(e.Epsilon), WithInterval(e.Accuracy, 1), FormatNumber(s.Baseline, 1), FormatNumber(e.EM, 2), e.OpenTo())
			}
			t.AddRow(row...)
		}
	}
	t.Legend = "Of the mechanisms with a guarantee, at the ε that keeps most accuracy among those that leave the MAP adversary at least this error (share of words that she gets wrong" + candidates(records) + "); mean ± half-width of the 95% t interval. Differences are tested as in the rank tables." +
		ScopeNote(records)
	return t
}

// ScopeMark follows the name of a mechanism whose guarantee holds between some
// words only, where there is no room to say between which.
const ScopeMark = "‡"

// ScopeNote explains the mark, where some record needs it.
func ScopeNote(records []Record) string {
	if slices.ContainsFunc(records, func(r Record) bool { return r.GuaranteeScope != "" }) {
		return " " + ScopeMark + " Its guarantee holds only between some words, those of one group or list: no full promise."
	}
	return ""
}

// Refute takes the guarantee from instances that an audit found in violation of
// it, in a copy: tables, figures and the report then treat them as what they
// are.
func Refute(records []Record, audit []AuditRow) []Record {
	refuted := map[Instance]bool{}
	for _, a := range audit {
		if a.Violated && a.Promises {
			refuted[a.Instance()] = true
		}
	}
	if len(refuted) == 0 {
		return records
	}
	out := slices.Clone(records)
	for i := range out {
		r := &out[i]
		if !refuted[r.Instance()] || r.GuaranteeMetric == "" {
			continue
		}
		r.GuaranteeReason = fmt.Sprintf("refuted by the audit: it claims %g times the %s distance", float64(r.GuaranteeEpsilon), r.GuaranteeMetric)
		r.GuaranteeScope = ""
		r.GuaranteeMetric, r.GuaranteeEpsilon, r.GuaranteeDelta, r.GuaranteeEuclidean = "", Missing, Missing, Missing
	}
	return out
}
