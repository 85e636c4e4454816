package experiments

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/atomicfile"
	"mldpbench/results"
	"mldpbench/results/compare"
)

const (
	// widestStep is the step of a measure of privacy between two points beyond
	// which a line across a level gets another point, and widestLoss that of
	// accuracy, in points: the error of one on a thousand texts.
	widestStep = 0.1
	widestLoss = 2
	// mostRounds limits how often points are added: each cuts at least a quarter off a step.
	mostRounds = 6
	// closest is the ratio of two ε that are not worth a point each.
	closest = 1.005
)

// AlignedFile is the name of the study with the ε that RunAligned added, next to
// its rows.
const AlignedFile = "aligned.yaml"

// Targets are where a study gets further points.
type Targets struct {
	Levels results.Levels // of privacy; none where they have no quantity
	Lost   []float64      // points of accuracy that a mechanism costs
}

// gaps are where the lines of a view are too long at the targets.
func (t Targets) gaps(p *results.Prepared) (gaps []compare.Gap) {
	if p.Levels = t.Levels; p.Levels.Quantity != "" {
		for _, level := range p.Levels.At {
			gaps = append(gaps, compare.Gaps(compare.Align(p, compare.Question{}, level), widestStep)...)
		}
	}
	for _, lost := range t.Lost {
		q := compare.Question{Privacy: "accuracy"}
		gaps = append(gaps, compare.Gaps(compare.AtLoss(p, q, lost), widestLoss)...)
	}
	return gaps
}

// RunAligned runs a study and then its mechanisms at further ε, until the
// measured points on either side of each target are at most a tenth of the
// measure of privacy, or two points of accuracy, apart, or six rounds have
// passed. Targets outside the measured points stay out of reach. The study with
// the added ε is written to AlignedFile in the folder of the run, and rerun makes
// the command of a unit from the file that holds it ("" for the study itself)
// and its key.
func RunAligned(ctx context.Context, s *study.Study, root string, o engine.Options, t Targets,
	rerun func(file, key string) string) (*engine.Summary, error) {
	o.Rerun = func(key string) string { return rerun("", key) }
	for round := 0; ; round++ {
		summary, err := Run(ctx, s, root, o)
		if err != nil || round == mostRounds {
			return summary, err
		}
		p, err := results.Prepare(results.Run{Name: s.Name, Rows: summary.Rows})
		if err != nil {
			return summary, err
		}
		if len(t.Lost) > 0 && len(compare.AtLoss(p, compare.Question{Privacy: "accuracy"}, t.Lost[0])) == 0 {
			return summary, fmt.Errorf("lost = %v: the study measures no accuracy", t.Lost)
		}
		next, added, err := narrowed(s, p, t.gaps(p))
		if err != nil || added == 0 {
			return summary, err
		}
		definition, err := next.YAML()
		if err != nil {
			return summary, err
		}
		file := filepath.Join(summary.Dir, AlignedFile)
		if err := atomicfile.WriteBytes(file, 0o644, definition); err != nil {
			return summary, err
		}
		if o.Log != nil {
			fmt.Fprintf(o.Log, "%d further ε, where points are far apart: %s\n", added, file)
		}
		o.Rerun = func(key string) string { return rerun(file, key) }
		s = next
	}
}

// narrowed is the study with further ε in the gaps of a view of its rows, and
// their number.
func narrowed(s *study.Study, p *results.Prepared, gaps []compare.Gap) (*study.Study, int, error) {
	measured, further := map[results.Instance][]float64{}, map[results.Instance][]float64{}
	for _, c := range p.Private() {
		measured[c.Instance()] = append(measured[c.Instance()], float64(c.Epsilon))
	}
	added := 0
	for _, g := range gaps {
		if e := measure.Rounded(g.Epsilon); !near(e, measured[g.Instance]) {
			measured[g.Instance] = append(measured[g.Instance], e)
			further[g.Instance] = append(further[g.Instance], e)
			added++
		}
	}
	if added == 0 {
		return nil, 0, nil
	}
	next, err := s.WithMechanisms(func(list []study.MechanismSpec) ([]study.MechanismSpec, error) {
		return atFurther(list, further)
	})
	return next, added, err
}

// atFurther are the mechanisms of a list at further ε of theirs.
func atFurther(list []study.MechanismSpec, further map[results.Instance][]float64) ([]study.MechanismSpec, error) {
	var more []study.MechanismSpec
	done := map[results.Instance]bool{}
	for _, m := range list {
		if m.Text != "" {
			continue // it was released at the ε that it has
		}
		settings, err := m.Expand()
		if err != nil {
			return nil, err
		}
		for _, x := range settings {
			spec := measure.Spec{Mechanism: x, KeepWords: m.KeepWords, Policy: m.Policy, OwnPolicy: m.Policy != ""}
			one := m
			one.Name, one.Variant, one.Variants, one.Parameters = x.Mechanism, x.Variant, nil, x.Parameters
			if m.Is() {
				one.Variant = ""
			}
			i := results.Instance{Mechanism: x.Mechanism, Variant: string(x.Variant), Parameters: spec.Parameters()}
			if one.Epsilons = further[i]; len(one.Epsilons) > 0 && !done[i] {
				more, done[i] = append(more, one), true
			}
		}
	}
	return more, nil
}

func near(e float64, others []float64) bool {
	return slices.ContainsFunc(others, func(o float64) bool { return e < o*closest && o < e*closest })
}
