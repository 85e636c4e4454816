package analysis

import (
	"math"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// tracedScenes are the scenes with the line of each mechanism, at no level yet.
func tracedScenes(p *results.Prepared, use, privacy string) []Alignment {
	// The measure of privacy may have been taken in one repetition only.
	hasPrivacy := map[results.Place]bool{}
	for _, c := range p.Cells {
		if c.Has(privacy) {
			hasPrivacy[c.Group()] = true
		}
	}
	measured := results.Where(p.Private(), func(c results.Cell) bool {
		return c.Has(use) && hasPrivacy[c.Group()] && c.Status == results.StatusOK
	})
	return list.Map(list.Group(measured, results.Cell.Scene), func(own []results.Cell) Alignment {
		return traced(p, own, quantity.Must(use), quantity.Must(privacy))
	})
}

// traced is one scene with the line of each mechanism of its cells.
func traced(p *results.Prepared, own []results.Cell, use, privacy quantity.Quantity) Alignment {
	scene := own[0].Scene()
	a := Alignment{
		Place:    scene,
		Use:      use.Name,
		Privacy:  privacy.Name,
		Baseline: meanWithoutPrivatisation(p, scene, use),
		baseline: baselineOf(p, scene, use),
		use:      use,
		privacy:  privacy,
	}
	a.Generated = own[0].Generated
	for _, cells := range results.ByInstance(own) {
		instance := cells[0].Instance()
		l := Line{
			Place: a.Place,
			Name:  p.Name(instance),
			Cells: cells,
			curve: newCurve(cells, use, privacy),
		}
		l.Mechanism = instance.Mechanism
		l.Variant = instance.Variant
		l.Parameters = instance.Parameters
		l.Label = instance.Label
		a.Lines = append(a.Lines, l)
	}
	return a
}

// baselines are the cells of plain text that belong to a scene.
func baselines(p *results.Prepared, scene results.Place) []results.Cell {
	return results.Where(p.Cells, func(c results.Cell) bool {
		own := c.Scene()
		own.Setting = scene.Setting
		return c.IsBaseline() && own == scene
	})
}

// baselineOf is the estimate of a quantity without privatisation.
func baselineOf(p *results.Prepared, scene results.Place, use quantity.Quantity) estimate {
	return estimateOf(weigh([]share{{baselines(p, scene), 1}}, use))
}

// meanWithoutPrivatisation is a quantity of the baselines of a scene or, without any, the ceiling that its rows state;
// NaN where neither was measured.
func meanWithoutPrivatisation(p *results.Prepared, scene results.Place, use quantity.Quantity) float64 {
	values := (results.Cells{Cells: baselines(p, scene)}).Values(use.Name)
	if len(values) > 0 {
		return stats.Mean(values)
	}
	for _, c := range p.Cells {
		m, _ := c.At(use.Name)
		if c.Scene() == scene && m.Ceiling.Known() && m.Value.Known() {
			return m.Ceiling.Float()
		}
	}
	return math.NaN()
}

// Versions compares what was measured of every mechanism and ε as it is, pair by pair, at no common level: whether one
// version of a text does better than another says nothing about their mechanisms. Lines are in the order of the cells.
func (a *Analysis) Versions(name string) Alignment {
	use := quantity.Must(name)
	versions := Alignment{
		Use:     a.Use(name),
		Privacy: a.privacy,
		use:     use,
	}
	for _, g := range results.GroupCells(a.Private()) {
		if len(g.Values(name)) == 0 {
			continue
		}
		if len(versions.Lines) == 0 {
			versions.baseline = baselineOf(a.Prepared, g.Scene(), use)
		}
		at := weigh([]share{{g.Cells, 1}}, use)
		first := g.Cells[0]
		versions.Lines = append(versions.Lines, Line{
			Place:   first.Place,
			Name:    a.Name(first.Place),
			Cells:   g.Cells,
			Reached: true,
			Value:   at.mean(),
			Epsilon: first.Epsilon.Float(),
			at:      at,
		})
	}
	versions.compare()
	return versions
}

// Traces are what has a quantity, over the ε of each mechanism in each scene.
func Traces(p *results.Prepared, quantity string) [][]results.Cells {
	measured := results.Where(results.GroupCells(p.Private()), func(g results.Cells) bool {
		return len(g.Values(quantity)) > 0 && g.Epsilon.Known()
	})
	return list.Group(measured, func(g results.Cells) results.Place {
		g.Epsilon = results.Missing
		return g.Place
	})
}
