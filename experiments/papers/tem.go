package papers

import (
	"context"
	"fmt"
)

func init() { protocols["tem"] = func() Study { return &temStudy{} } }

// temStudy is the evaluation of Carvalho, Vasiloudis & Feyisetan 2023 ("TEM:
// High Utility Metric Differential Privacy on Text"): test accuracy (Figure
// 1a) and membership inference (Figure 1b) of a classifier trained on
// privatised text.
type temStudy struct {
	Header `yaml:",inline"`
	Curves []Curve        `yaml:"curves"`
	Panels []utilityPanel `yaml:"panels"`
}

func (s *temStudy) check() error {
	if _, err := expand(s.Curves); err != nil {
		return fmt.Errorf("curves: %w", err)
	}
	if len(s.Panels) == 0 {
		return fmt.Errorf("panels: must not be empty")
	}
	for i, p := range s.Panels {
		if err := p.check(); err != nil {
			return fmt.Errorf("panels[%d]: %w", i, err)
		}
	}
	return nil
}

func (s *temStudy) plan(ctx context.Context, lab *Lab) ([]Unit, error) {
	curves, err := expand(s.Curves)
	if err != nil {
		return nil, err
	}
	var units []Unit
	for _, p := range s.Panels {
		if !lab.wants("panels", p.Name) {
			continue
		}
		more, err := p.units(ctx, lab, curves, s.seed())
		if err != nil {
			return nil, err
		}
		units = append(units, more...)
	}
	return units, nil
}
