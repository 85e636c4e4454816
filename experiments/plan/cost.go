package plan

import (
	"fmt"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/models"
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
	costPerUnit      = 0.02
	costPerDistance  = 6e-12 // one component of one distance, privatising one token
	costPerRow       = 5e-11 // the same, preparing a word whose outputs have a row of probabilities
	costPerRecurrent = 12e-6 // one token in training of an LSTM
	costPerLinear    = 3e-6  // one token in training of anything else
	costPerAttacked  = 8e-4  // one token of a data set, for the attackers of a release
)

// cost is called after the data are open. The units of one text and of one
// model share the work, which the first of them is charged for.
func (p *planner) cost(u *unit, first, trains bool) engine.Cost {
	for i, level := range costLevels(u.measurement.Name, u.place()) {
		if m, ok := p.costs[i][level]; ok {
			return engine.Cost{Seconds: max(costPerUnit, m.sum/m.n), Source: engine.FromRecords}
		}
	}
	size := p.lab.Size(u.spec.Sample())
	tokens := float64(size.All()) * float64(max(1, u.spec.Repetitions))
	seconds := costPerUnit
	if trains {
		perToken := costPerLinear
		if d, err := models.Find(u.query.Model.Name); err == nil && !d.Vectors {
			perToken = costPerRecurrent
		}
		seconds += perToken * tokens
	}
	if first && p.study.Protocol == study.Attacks {
		seconds += costPerAttacked * tokens
	}
	if d := u.spec.Definition(); first && d.Name != "" {
		components := float64(size.Words * u.spec.Dimension)
		if d.PerWord {
			seconds += costPerRow * components * float64(size.Words)
		} else {
			seconds += costPerDistance * components * tokens
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
	return weight
}
