// Package analysis answers what rows are asked: which mechanism has most use at equal privacy, by how much, and whether
// chance could have made the difference; and what changed between two runs.
//
// An Analysis is made once, from rows and the levels of privacy that are asked for. The sentence, tables, figures, the
// page and JSON all read it, so that the same question has one answer. A difference that is not found is reported with
// the difference that could have been found, and two mechanisms are called equivalent only where a test says so. Of one
// repetition nothing is known of training, so nothing is tested. The package renders nothing.
package analysis

import (
	"slices"
	"sync"
	"sync/atomic"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// Analysis is what rows say of mechanisms at some levels of privacy. It does not change; what compares mechanisms by a
// quantity is worked out when it is first read, once.
type Analysis struct {
	*results.Prepared
	levels  func() quantity.Levels
	privacy string                   // the quantity of the levels
	names   map[results.Place]string // with the marks of their guarantees
	mutex   sync.Mutex
	lines   map[string][]Alignment // of each scene, at no level, by the quantity of use
	aligned map[comparison][]Alignment
}

// comparison is what mechanisms are compared by, and where.
type comparison struct {
	use   string
	level float64
}

var made atomic.Int64

// Made is how many analyses there were in this process: of one run there is one.
func Made() int64 { return made.Load() }

// New analyses the rows of runs at the levels that are asked for; without any at those that the mechanisms reach.
func New(levels quantity.Levels, runs ...results.Run) (*Analysis, error) {
	prepared, err := results.Prepare(runs...)
	if err != nil {
		return nil, err
	}
	return Of(prepared, levels), nil
}

// Of analyses prepared rows.
func Of(prepared *results.Prepared, levels quantity.Levels) *Analysis {
	made.Add(1)
	a := &Analysis{
		Prepared: prepared,
		levels:   func() quantity.Levels { return levels },
		privacy:  levels.Quantity,
		names:    map[results.Place]string{},
		lines:    map[string][]Alignment{},
		aligned:  map[comparison][]Alignment{},
	}
	isGuaranteed := func(c results.Cell) bool { return c.GuaranteeMetric != "" }
	guaranteed := slices.ContainsFunc(prepared.Cells, isGuaranteed)
	for _, own := range list.Group(prepared.Cells, results.Cell.Instance) {
		instance := own[0].Instance()
		a.names[instance] = prepared.Name(instance)
		if guaranteed || !instance.Own() { // of own ones alone it is known
			a.names[instance] += results.Mark(own)
		}
	}
	if levels.Quantity == "" {
		a.levels = sync.OnceValue(a.reachedLevels)
		a.privacy = quantity.UsualPrivacy()
	}
	return a
}

// MarkedName is the printed name of a place's mechanism, with the mark of its guarantee.
func (a *Analysis) MarkedName(at results.Place) string { return a.names[at.Instance()] }

// Levels are those that were asked for or, without any, those that the mechanisms reach.
func (a *Analysis) Levels() quantity.Levels { return a.levels() }

// reachedLevels are the levels of E_M that stand where none is asked for: 0.5 and 0.8 as far as two mechanisms reach
// them on one data set, else the one that most mechanisms reach.
func (a *Analysis) reachedLevels() quantity.Levels {
	scenes := a.traced(quantity.UsualUtility())
	reached := func(level float64) int {
		reaches := func(l Line) bool {
			_, ok := l.reaches(level)
			return ok
		}
		most := 0
		for _, s := range scenes {
			most = max(most, list.Count(s.Lines, reaches))
		}
		return most
	}
	levels := quantity.Levels{Quantity: quantity.UsualPrivacy()}
	for _, level := range []float64{0.5, 0.8} {
		if reached(level) > 1 {
			levels.At = append(levels.At, level)
		}
	}
	if len(levels.At) > 0 {
		return levels
	}
	fewer := func(a, b float64) int { return reached(a) - reached(b) }
	byDistance := []float64{0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2, 0.9, 0.1} // of equal ones that nearest to 0.5
	most := slices.MaxFunc(byDistance, fewer)
	if reached(most) > 0 {
		levels.At = []float64{most}
	}
	return levels
}

// Use is the quantity that mechanisms are compared by where another one was meant: that itself, or the
// usual privacy where the levels are those of the quantity; the usual utility for "".
func (a *Analysis) Use(name string) string {
	switch name {
	case a.privacy:
		return quantity.UsualPrivacy()
	case "":
		return a.Use(quantity.UsualUtility())
	}
	return name
}

// traced are the scenes with the line of each mechanism over a quantity, at no level.
func (a *Analysis) traced(use string) []Alignment {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.tracedLocked(use)
}

func (a *Analysis) tracedLocked(use string) []Alignment {
	scenes, ok := a.lines[use]
	if !ok {
		scenes = tracedScenes(a.Prepared, use, a.privacy)
		a.lines[use] = scenes
	}
	return scenes
}

// Alignments compares mechanisms by a quantity at a level of privacy, in every scene (data set, space, task), and over
// the data sets of a space and task. See Alignment for how.
func (a *Analysis) Alignments(quantity string, level float64) []Alignment {
	use := a.Use(quantity)
	asked := comparison{use, level}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	aligned, ok := a.aligned[asked]
	if !ok {
		aligned = align(a.tracedLocked(use), level)
		a.aligned[asked] = aligned
	}
	return aligned
}
