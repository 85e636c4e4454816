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

// Standing ranks the mechanisms with a guarantee by accuracy, each at the
// setting that keeps most accuracy among those that leave the MAP adversary an
// error E_M of at least Error. A guarantee between some words only is weaker
// than one between any two words, so mechanisms with such a guarantee are
// listed separately and do not compete.
type Standing struct {
	Dataset string
	Space   Space
	Task    Task
	Error   float64

	Baseline float64 // accuracy in %, NaN where not measured
	Entries  []Entry // best first
	Scoped   []Entry // those whose guarantee holds between some words only, best first
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

// Standings returns the standings of records, by data set, space and task, at
// one error. A scene where no mechanism leaves that error has no entries.
// Refuted mechanisms do not compete; see Refute.
func Standings(records []Record, level float64) []Standing {
	records, _ = FullErrors(Where(records, func(r Record) bool { return r.Quantity == "" }))
	accuracy, em := column("accuracy"), column("e_m_map")
	names := Labels(records)
	type scene struct {
		dataset string
		Space
		Task
	}
	sceneOf := func(r Record) scene {
		return scene{r.Dataset, Space{r.Embedding, r.Dimension}, Task{r.Model, r.Setting}}
	}
	measured := Where(records, func(r Record) bool {
		return !r.IsBaseline() && accuracy.Get(r).Known() && em.Get(r).Known()
	})
	var out []Standing
	for _, at := range Distinct(measured, sceneOf) {
		own := Where(measured, func(r Record) bool { return sceneOf(r) == at && r.GuaranteeMetric != "" })
		base := Where(records, func(r Record) bool {
			return r.IsBaseline() && r.Dataset == at.dataset && r.Embedding == at.Embedding &&
				r.Dimension == at.Dimension && r.Model == at.Model
		})
		s := Standing{Dataset: at.dataset, Space: at.Space, Task: at.Task, Error: level,
			Baseline: stats.Mean(Cells{Records: base}.Values(accuracy.Get))}
		full := Where(own, func(r Record) bool { return r.GuaranteeScope == "" })
		scoped := Where(own, func(r Record) bool { return r.GuaranteeScope != "" })
		s.Entries, s.Scoped = entries(full, names, level), entries(scoped, names, level)
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Standing) int {
		return cmp.Or(strings.Compare(a.Dataset, b.Dataset), strings.Compare(a.Task.Model, b.Task.Model),
			strings.Compare(a.Task.Setting, b.Task.Setting), cmp.Compare(a.Space.Dimension, b.Space.Dimension))
	})
	return out
}

// entries returns the mechanisms of records of one scene that leave an error of
// at least level, each where it keeps most accuracy, best first.
func entries(records []Record, names map[Instance]string, level float64) []Entry {
	accuracy, em, nw := column("accuracy"), column("e_m_map"), column("n_w")
	best := map[Instance]Cells{}
	var order []Instance
	for _, c := range GroupCells(records) {
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
		return stats.Blocked([]stats.Sample{SampleOf(best[order[a]].Records)},
			[]stats.Sample{SampleOf(best[order[b]].Records)})
	}, true, rankLevel)
	if err != nil {
		return nil // as many names as means, by construction
	}
	var out []Entry
	for _, r := range ranked {
		i := order[slices.Index(labels, r.Name)]
		c := best[i]
		out = append(out, Entry{r, i, c.Records[0].Epsilon, ScopeOf(c.Records), stats.Summarize(c.Values(accuracy.Get)),
			stats.Mean(c.Values(em.Get)), stats.Mean(c.Values(nw.Get))})
	}
	return out
}

// partial returns a sentence about the best scoped mechanism where it keeps
// more than the best of all others, else "".
func (s Standing) partial() string {
	if len(s.Scoped) == 0 || len(s.Entries) > 0 && s.Scoped[0].Accuracy.Mean <= s.Entries[0].Accuracy.Mean {
		return ""
	}
	e := s.Scoped[0]
	return fmt.Sprintf("%s%s keeps %.1f%% (ε = %g), but its guarantee holds only %s", inSentence(e.Name), ScopeMark,
		e.Accuracy.Mean, float64(e.Epsilon), e.Scope)
}

// inSentence writes "Vickrey, proved" as "Vickrey (proved)", for lists whose
// commas separate mechanisms.
func inSentence(name string) string {
	if mechanism, variant, found := strings.Cut(name, ", "); found {
		return mechanism + " (" + variant + ")"
	}
	return name
}

// Sentence states the best mechanism, its distance from the next, and the
// mechanisms that cannot be distinguished from it.
func (s Standing) Sentence() string {
	on := fmt.Sprintf("On %s (%s, %s", DatasetTitle(s.Dataset), s.Space, s.Task.Model)
	if s.Task.Setting != "local" && s.Task.Setting != "" {
		on += ", " + s.Task.Setting
	}
	partial := s.partial()
	if partial != "" {
		partial = " " + partial + "."
	}
	if len(s.Entries) == 0 {
		if partial != "" {
			return fmt.Sprintf("%s), no mechanism with a guarantee between any two words leaves the adversary an "+
				"error of at least %g.%s", on, s.Error, partial)
		}
		return fmt.Sprintf("%s), no mechanism with a guarantee leaves the adversary an error of at least %g.", on,
			s.Error)
	}
	first := s.Entries[0]
	text := fmt.Sprintf("%s), at an adversary's error of at least %g, %s keeps %.1f%% accuracy (ε = %g", on, s.Error,
		inSentence(first.Name), first.Accuracy.Mean, float64(first.Epsilon))
	if s.Baseline == s.Baseline {
		text += fmt.Sprintf("; %.1f%% without privatisation", s.Baseline)
	}
	text += ")"
	for _, e := range s.Entries[1:] {
		if slices.Contains(first.Worse, e.Name) {
			text += fmt.Sprintf(", %.1f points more than %s", first.Accuracy.Mean-e.Accuracy.Mean,
				inSentence(e.Name))
			break
		}
	}
	if len(s.Entries) == 1 {
		text += ", the only mechanism with a guarantee that leaves this error"
	}
	var open []string
	for _, name := range first.Open {
		open = append(open, inSentence(name))
	}
	switch len(open) {
	case 0:
	case 1:
		text += "; " + open[0] + " is not distinguishable from it"
	default:
		text += "; " + strings.Join(open[:len(open)-1], ", ") + " and " + open[len(open)-1] +
			" are not distinguishable from it"
	}
	return text + "." + partial
}

// repetitions behind the first entry.
func (s Standing) repetitions() int {
	if len(s.Entries) == 0 {
		return 0
	}
	return s.Entries[0].Accuracy.N
}

// leading returns the standings of one scene for each data set: the scene with
// most repetitions, then most mechanisms, tested on private text if there is a
// choice.
func leading(records []Record, level float64) []Standing {
	var out []Standing
	for _, s := range Standings(Separate(records), level) {
		i := slices.IndexFunc(out, func(o Standing) bool { return o.Dataset == s.Dataset })
		if i < 0 {
			out = append(out, s)
			continue
		}
		old := out[i]
		better := cmp.Or(cmp.Compare(s.repetitions(), old.repetitions()),
			cmp.Compare(len(s.Entries), len(old.Entries))) > 0 ||
			s.repetitions() == old.repetitions() && len(s.Entries) == len(old.Entries) && s.Task.Setting == "local" &&
				old.Task.Setting != "local"
		if better {
			out[i] = s
		}
	}
	return out
}

// Headline returns a sentence for each data set at the first of StatedErrors.
func Headline(records []Record) []string {
	var out []string
	for _, s := range leading(records, StatedErrors[0]) {
		out = append(out, s.Sentence())
	}
	return out
}

// standingsHeader heads the columns of a standing's row.
var standingsHeader = []string{"data set", "space", "classifier", "E_M at least", "mechanism", "ε", "accuracy",
	"baseline", "E_M", "not told apart from it"}

// addStanding appends the row of a standing, with a footnote where a mechanism
// with a partial guarantee keeps more.
func (t *Table) addStanding(s Standing) {
	row := []string{DatasetTitle(s.Dataset), s.Space.String(), s.Task.Model + " (" + s.Task.Setting + ")",
		fmt.Sprint(s.Error)}
	if len(s.Entries) == 0 {
		row = append(row, "none with a guarantee", "", NotMeasured, FormatNumber(s.Baseline, 1), "", "")
	} else {
		e := s.Entries[0]
		row = append(row, e.Name, formatFloat(e.Epsilon), WithInterval(e.Accuracy, 1), FormatNumber(s.Baseline, 1),
			FormatNumber(e.EM, 2), e.OpenTo())
	}
	t.AddRow(row...)
	if partial := s.partial(); partial != "" {
		cell := &t.Rows[len(t.Rows)-1][4]
		cell.Notes = append(cell.Notes, t.Note(partial+"."))
	}
}

// Brief returns the summary at the end of a run: the best of each data set at
// the stated errors, for one scene each and at most so many rows.
func Brief(records []Record, rows int) Table {
	full := Table{Header: standingsHeader}
	for _, level := range StatedErrors {
		for _, s := range leading(records, level) {
			full.addStanding(s)
		}
	}
	t := Table{Name: "brief", Title: "Most accuracy at a stated error of the adversary", Notes: full.Notes,
		Header: []string{"data set", "measured with", "E_M", "best with a guarantee", "ε", "accuracy in %", "baseline",
			"not told apart from it"}}
	for _, row := range full.Rows[:min(rows, len(full.Rows))] {
		with := row[1]
		with.Text += ", " + row[2].Text
		least, open := row[3], row[9]
		least.Text = "≥ " + least.Text
		if others := strings.Count(open.Text, ";") + 1; others > 3 {
			open.Text = fmt.Sprintf("%d others", others)
		}
		t.Rows = append(t.Rows, []TableCell{row[0], with, least, row[4], row[5], row[6], row[7], open})
	}
	if left := len(full.Rows) - len(t.Rows); left > 0 {
		t.Legend = fmt.Sprintf("Further rows on the page: %d.", left)
	}
	return t
}

// StandingsTable returns the main table: the best of each data set and task at
// the stated errors.
func StandingsTable(records []Record) Table {
	t := Table{Name: "standings", Title: "Most accuracy at a stated error of the adversary", Header: standingsHeader}
	for _, level := range StatedErrors {
		for _, s := range Standings(Separate(records), level) {
			t.addStanding(s)
		}
	}
	t.Legend = "Of the mechanisms with a guarantee, at the ε that keeps most accuracy among those that leave the " +
		"MAP adversary at least this error (share of words that it gets wrong" + candidates(records) +
		"); mean ± half-width of the 95% t interval. Differences are tested as in the rank tables."
	if note := ScopeNote(records); note != "" {
		t.Legend += note + " It is mentioned where it keeps more, but does not compete."
	}
	return t
}

// ScopeMark follows the name of a mechanism whose guarantee holds between some
// words only, where there is no room to say between which.
const ScopeMark = "‡"

// ScopeNote returns an explanation of the mark where some record needs it.
func ScopeNote(records []Record) string {
	if slices.ContainsFunc(records, func(r Record) bool { return r.GuaranteeScope != "" }) {
		return " " + ScopeMark + " Its guarantee holds only between some words, those of one group or list: " +
			"no full promise."
	}
	return ""
}

// Refute returns a copy of the records in which instances that an audit found
// in violation have no guarantee. Tables, figures and the report then treat
// them accordingly.
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
		r.GuaranteeReason = fmt.Sprintf("refuted by the audit: it claims %g times the %s distance",
			float64(r.GuaranteeEpsilon), r.GuaranteeMetric)
		r.GuaranteeScope = ""
		r.GuaranteeMetric, r.GuaranteeEpsilon, r.GuaranteeDelta, r.GuaranteeEuclidean = "", Missing, Missing, Missing
	}
	return out
}
