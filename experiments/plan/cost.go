package plan

import (
	"fmt"
	"slices"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/models"
	"mldpbench/models/attack"
	"mldpbench/results"
)

// costTable holds the mean seconds of earlier units at several levels of
// detail.
type costTable []map[string]costMean

type costMean struct{ sum, n float64 }

// costLevels describe a unit from the closest to the weakest similarity that
// still suggests a similar duration.
func costLevels(measurement string, p results.Place) []string {
	name, _, _ := strings.Cut(measurement, "@")
	what := fmt.Sprintf("%s %s %s %s %s", name, p.Mechanism, p.Variant, p.Model, p.Dataset)
	return []string{
		fmt.Sprintf("%s %d %s %s", what, p.Dimension, p.Setting, p.Epsilon),
		fmt.Sprintf("%s %d", what, p.Dimension),
		what,
	}
}

func newCostTable(rows []results.Row) costTable {
	t := costTable{{}, {}, {}}
	for _, r := range rows {
		if !r.Seconds.Known() {
			continue
		}
		for i, name := range costLevels(r.Measurement, r.Place) {
			m := t[i][name]
			t[i][name] = costMean{m.sum + float64(r.Seconds), m.n + 1}
		}
	}
	return t
}

// Rough seconds on one core; only used to divide units evenly where no earlier
// rows are given.
const (
	costPerUnit      = 0.003
	costPerDistance  = 6e-12 // one component of one distance, drawing one word
	costPerNoise     = 1e-8  // one component of noise, the same
	costPerWeight    = 2e-8  // one word of the space, the same where all of them are weighed
	costPerRow       = 5e-11 // one component of one distance, preparing a word whose outputs have a row of probabilities
	costPerRecurrent = 12e-6 // one token in training of an LSTM
	costPerEncoded   = 1e-4  // one token read by a sentence encoder
	costPerLinear    = 3e-6  // one token in training of anything else
	costPerEntry     = 1e-8  // one word and output of a channel, for one attacker who reads it
	costPerRead      = 2e-6  // one token of one release, for one attacker who finds the private label
)

// shares are the parts of common work for which a unit is charged: the first of
// the units that need it.
type shares struct{ text, model, attack bool }

// cost is called after the data are open. The units of one text and of one
// model share the work, which the first of them is charged for.
func (p *planner) cost(u *unit, first shares) engine.Cost {
	for i, level := range costLevels(u.measurement.Name, u.place()) {
		if m, ok := p.costs[i][level]; ok {
			return engine.Cost{Seconds: max(costPerUnit, m.sum/m.n), Source: engine.FromRecords}
		}
	}
	size := p.lab.Size(u.spec.Sample())
	tokens := float64(size.All()) * float64(max(1, u.spec.Repetitions))
	words, dimension := float64(size.Words), float64(u.spec.Dimension)
	d := u.spec.Definition()
	perDraw, perWord := 0.0, costPerRow*words*dimension
	if !d.PerWord {
		perDraw, perWord = costPerDistance*words*dimension+costPerNoise*dimension, 0
	}
	if d.Weighs {
		perDraw += costPerWeight * words
	}
	seconds := costPerUnit
	if first.model {
		perToken := costPerLinear
		switch d, err := models.Find(u.query.Model.Name); {
		case err == nil && d.Has(models.Encoder):
			perToken = costPerEncoded
		case err == nil && !d.Vectors:
			perToken = costPerRecurrent
		}
		seconds += perToken * tokens
	}
	if first.text && d.Name != "" {
		seconds += perDraw*tokens + perWord*words
	}
	if n := u.query.FullDraws(); n > 0 {
		seconds += perDraw*words*float64(n) + (perWord+costPerEntry*words)*words
	}
	if first.attack {
		attackers, o := u.query.Attackers()
		releases := tokens * float64(o.OwnReleases+o.TestReleases)
		seconds += perDraw*(words*float64(o.LearnDraws+o.MeasureDraws)+releases) + perWord*words
		for _, a := range attackers {
			if slices.Contains(a.Needs, attack.NeedsChannel) {
				seconds += costPerEntry * words * words
				if !d.PerWord { // it is learned from draws, by each of them
					seconds += costPerEntry * words * words
				}
			}
			if slices.Contains(a.Needs, attack.NeedsPrivate) {
				seconds += costPerRead * releases
			}
		}
	}
	return engine.Cost{Seconds: seconds, Source: engine.FromDefaults}
}

// memory is a generous estimate, in bytes, of a unit on top of shared data. It
// is called after the data are open.
func (p *planner) memory(u *unit) int64 {
	const process = 64 << 20
	const perToken = 64     // string header, ids, features
	const perWord = 8 << 10 // tables of the selection family
	const recurrentNet = 400 << 20
	const typicalWords = 30_000 // of a whole embedding
	size := lab.Size{Words: typicalWords}
	if u.spec.Dataset.Name != "" {
		size = p.lab.Size(u.spec.Sample())
	}
	weight := u.spec.Mechanism.Memory() + process + perToken*int64(size.All()) + perWord*int64(size.Words)
	if d, err := models.Find(u.query.Model.Name); err == nil && !d.Vectors {
		weight += recurrentNet
	}
	for _, r := range u.needs() {
		if r.Memory != nil {
			weight += r.Memory(p.lab)
		}
	}
	attackers, o := u.query.Attackers()
	if slices.ContainsFunc(attackers, func(a attack.Definition) bool {
		return slices.Contains(a.Needs, attack.NeedsModel) && slices.Contains(a.Needs, attack.NeedsChannel)
	}) { // the probabilities of all outputs that are masked, in the validation split too, for every word; and garbage
		weight += 2 * 8 * int64(o.Masked+o.Masked/3) * int64(size.Words)
	}
	return weight
}
