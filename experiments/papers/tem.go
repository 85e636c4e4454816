package papers

import (
	"errors"
	"fmt"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
)

func init() { study.Register("tem", func() study.Body { return &temStudy{} }) }

// temStudy is the evaluation of Carvalho, Vasiloudis & Feyisetan 2023 ("TEM:
// High Utility Metric Differential Privacy on Text"): test accuracy (Figure
// 1a) and membership inference (Figure 1b) of a classifier trained on
// privatised text.
type temStudy struct {
	study.Header `yaml:",inline"`
	Mechanisms   []study.MechanismSpec `yaml:"mechanisms"`
	Panels       []utilityPanel        `yaml:"panels"`
}

// Check validates every value.
func (s *temStudy) Check(at study.At) error {
	if err := errors.Join(checkHeader(at, &s.Header), checkMechanisms(at, s.Mechanisms)); err != nil {
		return err
	}
	if len(s.Panels) == 0 {
		return at(errors.New("panels: must not be empty"), "panels")
	}
	for i := range s.Panels {
		if err := s.Panels[i].check(at, fmt.Sprintf("panels[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

// Override applies flags.
func (s *temStudy) Override(o study.Overrides) (study.Body, error) {
	c, named := *s, []string(nil)
	c.Panels = choose(o, &named, "panels", s.Panels, utilityPanel.name)
	return &c, refuse(o, named)
}

// Wants returns the resources that the study uses.
func (s *temStudy) Wants() lab.Wants { return wants(wantsOfUtility(s.Panels), s.Mechanisms) }

// Plan turns the study into units.
func (s *temStudy) Plan(l *lab.Lab) ([]engine.Unit, error) {
	all, err := curves(s.Mechanisms)
	if err != nil {
		return nil, err
	}
	var units []engine.Unit
	for _, p := range s.Panels {
		units = append(units, p.units(newPlace(&s.Header, l, p.Name, "utility"), all)...)
	}
	return units, nil
}
