package experiments

import (
	"context"
	"fmt"

	"mldpbench/experiments/lab"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
)

// openPlan opens a study, changed by overrides, and divides it into units. Any error before anything is run is wrong
// usage, including a missing file.
func openPlan(ref, root string, overrides study.Overrides) (*plan.Plan, error) {
	s, err := Open(ref, root)
	if err != nil {
		return nil, Usage(err)
	}
	return planOf(s, overrides)
}

// planOf is a study, changed by overrides, divided into units.
func planOf(s *study.Study, overrides study.Overrides) (*plan.Plan, error) {
	s, err := s.Override(overrides)
	if err != nil {
		return nil, Usage(err)
	}
	p, err := plan.New(s)
	return p, Usage(err)
}

// noteStudy notes what may be a mistake, that nothing is privatised, and which of all
// mechanisms are left out.
func (o *Outcome) noteStudy(s *study.Study) {
	said := map[string]bool{}
	once := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !said[text] {
			said[text] = true
			o.note("%s", text)
		}
	}
	for _, part := range s.Parts() {
		if len(part.Mechanisms) == 0 && len(part.Models) > 0 {
			once("warning: mechanisms: the list is empty: nothing is privatised, only baselines are run")
		}
		for _, m := range part.Mechanisms {
			_, unread := part.Expand(m)
			for _, why := range unread {
				once("mechanisms: %s leaves one out: %v", m.Name, why)
			}
		}
	}
}

// StudyChecking asks whether a study can be run.
type StudyChecking struct {
	Call
	Study     string // name or file
	Overrides study.Overrides
}

// CheckStudy reads a study and divides it into units. It opens no data.
func CheckStudy(_ context.Context, c StudyChecking) (*Outcome, error) {
	o := c.answer()
	p, err := openPlan(c.Study, c.Data, c.Overrides)
	if err != nil {
		return nil, err
	}
	units, err := p.Engine(lab.New(""))
	if err != nil {
		return nil, err
	}
	o.noteStudy(p.Study)
	if repeated := units.Unique(); len(repeated) > 0 {
		o.note("warning: %d units repeat others and are run once, the first: %s", len(repeated), repeated[0])
	}
	o.Records["study"] = []struct {
		Study string
		Units int
	}{{p.Name, len(units.Units)}}
	o.say("%s: %d units", p.Name, len(units.Units))
	return o, nil
}
