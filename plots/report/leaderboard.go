package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/tables"
)

//go:embed leaderboard.gohtml
var leaderboardPage string

var leaderboard = template.Must(template.Must(tmpl.Clone()).New("leaderboard").Parse(leaderboardPage))

// WriteLeaderboard renders the mechanisms of joined results by the accuracy that
// they keep at stated errors of the adversary, and by what attackers learn, and
// says what each promises and whether the audit found it kept.
func WriteLeaderboard(w io.Writer, p *results.Prepared) error {
	v := struct {
		Style     template.CSS
		Script    template.JS
		Generated string
		Headline  []string
		Axis      string
		Explorer  explorer
		Attacks   []tables.Table
		Promises  []tables.Table
		Sources   []string
	}{Style: template.CSS(style), Script: template.JS(script), Generated: generated(p.Cells),
		Axis: tables.AxisNote(p, p.Stated().Quantity), Headline: tables.Headline(p),
		Attacks: tables.Attacks(p), Promises: tables.Promises(p)}
	e := &v.Explorer
	for _, title := range []string{results.MustColumn(p.Stated().Quantity).Title, "place", "95% bounds",
		"accuracy in %", "baseline",
		"N_w in %", "MIA AUC", "measured by"} {
		e.Columns = append(e.Columns, exploreColumn{title, true})
	}
	for _, level := range p.Stated().At {
		others := map[string][]compare.Aligned{}
		for _, q := range []string{"n_w", "mia_auc"} {
			others[q] = compare.Align(p, compare.Question{Use: q}, level)
		}
		atLevel := func(quantity string, s compare.Standing, l compare.Line) string {
			for _, a := range others[quantity] {
				if i := a.Index(l.Instance); i >= 0 && a.Dataset == s.Dataset && a.Space == s.Space && a.Task == s.Task {
					return tables.Within(a.Lines[i], results.MustColumn(quantity).Digits)
				}
			}
			return tables.NotMeasured
		}
		for _, s := range compare.Standings(p, compare.Question{}, level) {
			for i, x := range slices.Concat(s.Entries, s.Scoped) {
				place, bounds := fmt.Sprint(x.Place), fmt.Sprintf("%d–%d", x.Low, x.High)
				if i >= len(s.Entries) {
					place, bounds = tables.NotMeasured, tables.NotMeasured
				}
				by := source(x.Line.Cells)
				v.Sources = once(v.Sources, by)
				row := exploreRow{Dataset: results.DatasetTitle(s.Dataset), Mechanism: x.Line.Name,
					Epsilon: short(x.Line.Epsilon), Variant: variantName(x.Line.Cells[0]), Model: task(s.Task),
					Space: s.Space.String()}
				for _, text := range []string{fmt.Sprint(level), place, bounds, tables.Within(x.Line, 1),
					tables.FormatNumber(s.Baseline, 1), atLevel("n_w", s, x.Line), atLevel("mia_auc", s, x.Line), by} {
					row.Cells = append(row.Cells, exploreCell{text, true})
				}
				e.Rows = append(e.Rows, row)
			}
		}
	}
	if len(v.Attacks) > 0 {
		v.Sources = once(v.Sources, source(results.Where(p.Cells, func(c results.Cell) bool {
			return len(tables.Attackers([]results.Cell{c})) > 0
		})))
	}
	if len(e.Rows) == 0 && len(v.Attacks) == 0 {
		return fmt.Errorf("no mechanism with a guarantee has both an accuracy and an error of the adversary (%s) on both "+
			"sides of %g, and no attacker was measured together with a utility", results.MustColumn(p.Stated().Quantity).Title,
			p.Stated().At[0])
	}
	e.filter()
	return leaderboard.Execute(w, v)
}

// source returns the origin of the measurements: studies, and the versions of
// mldp that ran each.
func source(cells []results.Cell) string {
	type run struct {
		study, machine string
		seed           uint64
	}
	runOf := func(c results.Cell) run { return run{c.Study, c.Machine, c.Seed} }
	return enumerate(results.Distinct(cells, runOf), func(of run) string {
		own := results.Where(cells, func(c results.Cell) bool { return runOf(c) == of })
		return fmt.Sprintf("%s, seed %d, mldp %s, %s", of.study, of.seed,
			enumerate(own, func(c results.Cell) string { return c.Version }), of.machine)
	})
}
