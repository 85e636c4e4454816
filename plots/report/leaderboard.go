package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"mldpbench/results"
)

//go:embed leaderboard.gohtml
var leaderboardPage string

var leaderboard = template.Must(template.Must(tmpl.Clone()).New("leaderboard").Parse(leaderboardPage))

// WriteLeaderboard renders the mechanisms of merged results by the accuracy that
// they keep at stated errors of the adversary, and by what attackers learn, and
// says what each promises and whether the audit found it kept.
func WriteLeaderboard(w io.Writer, records []results.Record, audit []results.AuditRow) error {
	records = results.Separate(records)
	v := struct {
		Style     template.CSS
		Script    template.JS
		Generated string
		Headline  []string
		Explorer  explorer
		Attacks   []results.Table
		Promises  []results.Table
		Sources   []string
	}{Style: template.CSS(style), Script: template.JS(script), Generated: generated(records),
		Headline: results.Headline(records), Attacks: results.AttackTables(records),
		Promises: results.PromiseTables(records, audit)}
	e := &v.Explorer
	for _, title := range []string{"E_M at least", "place", "95% bounds", "accuracy in %", "baseline", "E_M",
		"N_w in %", "MIA AUC", "measured by"} {
		e.Columns = append(e.Columns, exploreColumn{title, true})
	}
	mia, err := results.FindColumn("mia_auc")
	if err != nil {
		return err
	}
	for _, level := range results.StatedErrors {
		for _, s := range results.Standings(records, level) {
			for i, x := range append(slices.Clone(s.Entries), s.Scoped...) {
				place, bounds := fmt.Sprint(x.Place), x.Places()
				if i >= len(s.Entries) {
					place, bounds = results.NotMeasured, results.NotMeasured
				}
				own := results.Where(records, func(r results.Record) bool {
					return r.Instance() == x.Instance && r.Epsilon == x.Epsilon && r.Dataset == s.Dataset &&
						r.Model == s.Task.Model && r.Setting == s.Task.Setting &&
						r.Embedding == s.Space.Embedding && r.Dimension == s.Space.Dimension
				})
				by := source(own)
				if !slices.Contains(v.Sources, by) {
					v.Sources = append(v.Sources, by)
				}
				variant := x.Variant
				if x.Scope != "" {
					variant += scopedVariant
				}
				row := exploreRow{
					Dataset: results.DatasetTitle(s.Dataset), Mechanism: x.Name, Epsilon: short(float64(x.Epsilon)),
					Variant: variant,
					Model:   s.Task.Model + " (" + s.Task.Setting + ")", Space: s.Space.String(),
					Idle: x.Nw > idleAbove,
				}
				for _, text := range []string{
					fmt.Sprint(level), place, bounds, results.WithInterval(x.Accuracy, 1),
					results.FormatNumber(s.Baseline, 1),
					results.FormatNumber(x.EM, 2), results.FormatNumber(x.Nw, 1),
					spread(results.Cells{Records: own}.Values(mia.Get), 3), by,
				} {
					row.Cells = append(row.Cells, exploreCell{text, true})
				}
				e.Rows = append(e.Rows, row)
			}
		}
	}
	if len(v.Attacks) > 0 {
		attacked := results.Where(records, func(r results.Record) bool { return r.Chance.Known() && r.Quantity != "" })
		v.Sources = append(v.Sources, source(attacked))
	}
	if len(e.Rows) == 0 && len(v.Attacks) == 0 {
		return fmt.Errorf("no mechanism with a guarantee has both an accuracy and an error of the adversary "+
			"(e_m_map) of at least %g, and no attacker was measured together with a utility", results.StatedErrors[0])
	}
	if len(e.Rows) > 0 {
		e.Filters = e.filters(epsilonTexts(records))
	}
	return leaderboard.Execute(w, v)
}

// source returns the origin of the measurements: studies, and the versions of
// mldp that ran each.
func source(records []results.Record) string {
	type run struct {
		study, machine string
		seed           uint64
	}
	runOf := func(r results.Record) run { return run{r.Study, r.Machine, r.Seed} }
	return enumerate(results.Distinct(records, runOf), func(of run) string {
		own := results.Where(records, func(r results.Record) bool { return runOf(r) == of })
		versions := enumerate(own, func(r results.Record) string { return r.Version })
		return fmt.Sprintf("%s, seed %d, mldp %s, %s", of.study, of.seed, versions, of.machine)
	})
}
