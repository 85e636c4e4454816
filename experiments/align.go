package experiments

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/compare"
)

const (
	// widestStep is the step of a share between two measured points beyond which a
	// line across a level gets another point, and widestPoints that of a percentage:
	// the error of one on a thousand texts.
	widestStep, widestPoints = 0.1, 2
	// mostRounds limits how often points are added: each cuts at least a quarter off a step.
	mostRounds = 6
	// closest is the ratio of two ε that are not worth a point each, farthest that of a
	// further ε to the last one, beyond an end.
	closest, farthest = 1.005, 4
)

// AlignedFile is the name of the study with the ε that RunAligned added, next to
// its rows.
const AlignedFile = "aligned.yaml"

// RunAligned runs a study and then its mechanisms at further ε: beyond the measured
// ones, where a level lies there, and between those on either side of it, until they
// are at most a tenth of a share, or two points of a percentage, apart and what is
// not known of the line between them is less than half of all else, or six rounds
// have passed. The study with the added ε is written to AlignedFile in the folder of
// the run.
func RunAligned(ctx context.Context, s *study.Study, root string, o engine.Options,
	levels results.Levels) (*engine.Summary, error) {
	for round := 0; ; round++ {
		summary, err := Run(ctx, s, root, o)
		if err != nil || round == mostRounds {
			return summary, err
		}
		p, err := results.Prepare(results.Run{Name: s.Name, Rows: summary.Rows})
		if err != nil {
			return summary, err
		}
		p.Levels = levels
		further := furtherOf(p)
		if len(further) == 0 {
			return summary, nil
		}
		s, err = s.WithMechanisms(func(list []study.MechanismSpec) []study.MechanismSpec {
			return atFurther(list, further)
		})
		if err != nil {
			return summary, err
		}
		definition, err := s.YAML()
		file := filepath.Join(summary.Dir, AlignedFile)
		if err == nil {
			err = atomicfile.WriteBytes(file, 0o644, definition)
		}
		if err != nil {
			return summary, err
		}
		if o.Log != nil {
			fmt.Fprintf(o.Log, "further ε for %d mechanisms at %s: %s\n", len(further), levels, file)
		}
	}
}

// furtherOf are the ε at which mechanisms are to be measured as well.
func furtherOf(p *results.Prepared) map[results.Place][]float64 {
	measured, further := map[results.Place][]float64{}, map[results.Place][]float64{}
	for _, c := range p.Private() {
		measured[c.Instance()] = append(measured[c.Instance()], c.Epsilon.Float())
	}
	for _, level := range p.Levels.At {
		for _, a := range compare.Align(p, compare.Question{}, level) {
			if a.Datasets > 0 {
				continue
			}
			for _, l := range a.Lines {
				i, e := l.Instance(), measure.Rounded(worthIt(a, l))
				near := func(o float64) bool { return e < o*closest && o < e*closest }
				if e > 0 && !slices.ContainsFunc(measured[i], near) {
					measured[i], further[i] = append(measured[i], e), append(further[i], e)
				}
			}
		}
	}
	return further
}

// worthIt is the ε that tells most of a line at a level; 0 if none is worth it.
func worthIt(a compare.Aligned, l compare.Line) float64 {
	points := list.Map(l.Points, func(p compare.Point) measure.Point {
		return measure.Point{Epsilon: p.Epsilon, Value: p.Privacy}
	})
	points = slices.DeleteFunc(points, func(p measure.Point) bool { return !(p.Epsilon > 0) })
	if len(points) == 0 {
		return 0
	}
	privacy, widest := results.MustColumn(a.Privacy), float64(widestStep)
	if privacy.Unit == "%" {
		widest = widestPoints
	}
	e, between := measure.NextEpsilon(points, a.At, farthest, 0.25, privacy.Direction == results.Up)
	first, last := points[0], points[len(points)-1]
	switch rest := math.Sqrt(max(0, l.Error*l.Error-l.OfLine*l.OfLine)); {
	case between == nil && len(points) > 1 && math.Abs(first.Value-last.Value) < 1e-9: // ε has no effect
		return 0
	case between != nil && math.Abs(between[0].Value-between[1].Value) <= widest && !(l.OfLine > rest/2):
		return 0
	}
	return e
}

// atFurther are the mechanisms of a checked list at further ε of theirs. Text was
// released at the ε that it has.
func atFurther(list []study.MechanismSpec, further map[results.Place][]float64) (more []study.MechanismSpec) {
	done := map[results.Place]bool{}
	for _, m := range list {
		settings, _ := m.Expand()
		for _, x := range settings {
			spec := measure.Spec{Mechanism: x, KeepWords: m.KeepWords, Label: m.Label}
			i, one := spec.Place().Instance(), m
			if m.Text != "" || len(further[i]) == 0 || done[i] {
				continue
			}
			one.Name, one.Variant, one.Parameters, one.Epsilons = x.Mechanism, x.Variant, x.Parameters, further[i]
			if m.Is() {
				one.Variant = ""
			}
			more, done[i] = append(more, one), true
		}
	}
	return more
}
