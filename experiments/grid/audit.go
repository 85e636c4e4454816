package grid

import (
	"context"
	"fmt"

	"mldpbench/experiments/lab"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
)

// Audit audits each mechanism of the study at each of its ε as the first of its
// cells runs it: on the words of that data set and embedding. Reports are
// passed on with the parameters by which records identify the instance.
func (s *Study) Audit(ctx context.Context, l *lab.Lab, o audit.Options,
	each func(parameters string, r audit.Report) error) error {
	cells, err := s.Cells()
	if err != nil {
		return err
	}
	p := &planned{lab: l}
	seen := map[string]bool{}
	for _, c := range cells {
		name := fmt.Sprint(c.Mechanism.Mechanism, c.Mechanism.Variant, c.Mechanism.Epsilon, c.parameters())
		if c.IsBaseline() || seen[name] {
			continue
		}
		seen[name] = true
		o.Seed = c.root().Derive("audit")
		r, err := p.audit(ctx, c, o)
		if err != nil {
			return fmt.Errorf("audit of %s: %w", c, err)
		}
		if err := each(c.parameters(), r); err != nil {
			return err
		}
	}
	return nil
}

func (p *planned) audit(ctx context.Context, c Cell, o audit.Options) (audit.Report, error) {
	corpus, space, err := p.open(ctx, c)
	if err != nil {
		return audit.Report{}, err
	}
	env, err := p.environment(ctx, c, corpus, space)
	if err != nil {
		return audit.Report{}, err
	}
	if kept := c.kept(); len(kept) > 0 {
		m, err := mechanisms.New(env, c.Mechanism)
		if err == nil {
			return audit.Mechanism(ctx, mechanisms.KeepWords(m, kept), env.Space, o)
		} // an error occurs again below, where it can be reported as a result
	}
	return audit.Run(ctx, env, c.Mechanism, o)
}
