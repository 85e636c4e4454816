package measure

import (
	"context"
	"fmt"
	"slices"

	"mldpbench/experiments/study"
	"mldpbench/models/attack"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

const strongestName = "strongest"

// panels in the order of tables.
var panels = []attack.Panel{attack.OneWord, attack.Label, attack.Linked}

var titles = map[attack.Panel]string{attack.OneWord: "words found", attack.Label: "private label found",
	attack.Linked: "documents linked"}

// contested returns the attackers of those panels that have two members or more.
func contested(names []string) []string {
	var all []string
	for _, p := range panels {
		var in []string
		for _, name := range names {
			d, _ := attack.Find(name) // it is registered
			if slices.ContainsFunc(d.Columns, func(c attack.Column) bool {
				return c.Panel == p
			}) {
				in = append(in, name)
			}
		}
		if len(in) > 1 {
			all = append(all, in...)
		}
	}
	return all
}

// contested are the attackers of a panel of two or more who can read what the mechanism
// released.
func (s *Spec) contested(names []string) []string {
	if !s.AsText() {
		return contested(names)
	}
	return contested(slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		d, _ := attack.Find(name) // it is registered
		return !d.OneRelease
	}))
}

// strongest reports, for each half of the test documents, the attacker of each
// panel that is best on the other half. It comes before the attackers, so
// tables lead with it.
func strongest() Measurement {
	m := Measurement{
		Name:    strongestName,
		Version: 3,
		Asked: func(_ *study.Study, scene *study.Scene) (any, bool) {
			members := contested(study.AttackerNames(scene.Attackers))
			if len(members) == 0 {
				return nil, false
			}
			o := newAttackOptions(scene, members...)
			o.Panel = slices.Sorted(slices.Values(members))
			return o, true
		},
		Applies: func(s *Spec, q *Query) bool {
			return hasText(s, q) && len(s.contested(q.Options.(*attackOptions).Panel)) > 0
		},
		Needs:   needsOfAttack,
		Measure: measureStrongest,
	}
	for _, p := range panels {
		name := strongestName + "-" + string(p)
		m.Quantities = append(m.Quantities, quantity.Quantity{
			Name:        name,
			Title:       titles[p] + ", strongest attacker",
			Direction:   quantity.Down,
			Digits:      3,
			Threshold:   0.05,
			Table:       strongestName,
			Attacker:    name,
			Share:       true,
			ShowsDetail: true,
		})
	}
	return m
}

// measureStrongest has a row of each panel on which two attackers or more found something.
func measureStrongest(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := q.Options.(*attackOptions)
	found, failures, err := r.attacks(ctx, q)
	if err != nil {
		return nil, err
	}
	members := r.contested(o.Panel)
	for _, name := range members {
		if err := failures[name]; err != nil {
			return nil, err
		}
	}
	var rows []results.Row
	for _, p := range panels {
		attempts := attemptsOn(p, found, members)
		if len(attempts) < 2 {
			continue
		}
		best, err := attack.FindStrongest(attempts, o.Attack.Resamples, o.Attack.Level,
			r.DataSeed().Derive(strongestName, string(p)))
		if err != nil {
			return nil, err
		}
		best.Outcome.Column = strongestName + "-" + string(p)
		best.Outcome.Note = fmt.Sprintf("%s, of %d attackers, each half of the documents by the choice of the other",
			best.Name, len(attempts))
		row := attackedRow(r.Row(q), best.Outcome)
		row.Detail = best.Name
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		return rows, nil
	}
	for _, x := range found { // none of the panels could read the release
		if _, in := attackerOf(x.Column, members); in != "" && x.Note != "" {
			return []results.Row{unmeasured(r.Row(q), strongestName+"-"+string(in), x.Note)}, nil
		}
	}
	return nil, fmt.Errorf("none of %d attackers found anything", len(members))
}

// attemptsOn are what the members of a panel found, where it is by item.
func attemptsOn(p attack.Panel, found []attack.Outcome, members []string) []attack.Attempt {
	var attempts []attack.Attempt
	for _, x := range found {
		attacker, in := attackerOf(x.Column, members)
		if len(x.Items) > 0 && in == p {
			attempts = append(attempts, attack.Attempt{Name: attacker, Outcome: x})
		}
	}
	return attempts
}

// attackerOf is the attacker with a column, and the column's panel.
func attackerOf(column string, names []string) (string, attack.Panel) {
	for _, name := range names {
		d, _ := attack.Find(name) // it is registered
		for _, c := range d.Columns {
			if c.Name == column {
				return name, c.Panel
			}
		}
	}
	return column, ""
}
