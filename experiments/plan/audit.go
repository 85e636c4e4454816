package plan

import (
	"context"
	"fmt"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
)

// Audit audits each mechanism of a study at each of its ε as the first of its
// releases runs it: on the words of that data set and embedding. Reports are
// passed on with the place by which rows identify the instance. Mechanisms from
// outside are left out: nobody can look into them.
func Audit(ctx context.Context, s *study.Study, l *lab.Lab, o audit.Options,
	each func(spec measure.Spec, fingerprint string, r audit.Report) error) error {
	p, err := newPlanner(s, l)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, u := range p.units {
		spec := u.spec
		name := engine.MakeID(study.Labels(spec.Mechanism), spec.Parameters())
		if spec.IsBaseline() || spec.Mechanism.Mechanism == "" || spec.Mechanism.Epsilon == 0 ||
			spec.Mechanism.Outside != nil || seen[name] {
			continue
		}
		seen[name] = true
		spec.Repetition = max(1, spec.Repetition)
		o.Seed = spec.Root().Derive("audit")
		releases, err := measure.Open(ctx, l, []measure.Spec{spec}, [3]bool{}, 1)
		if err != nil {
			return err
		}
		r := releases[spec.Repetition]
		report, err := auditOne(ctx, r, o)
		if err != nil {
			return fmt.Errorf("audit of %s: %w", &u, err)
		}
		if err := each(spec, r.Space.Fingerprint(), report); err != nil {
			return err
		}
	}
	return nil
}

func auditOne(ctx context.Context, r *measure.Release, o audit.Options) (audit.Report, error) {
	env, err := r.Environment(ctx)
	if err != nil {
		return audit.Report{}, err
	}
	if kept := r.Kept(); len(kept) > 0 {
		if m, err := mechanisms.New(env, r.Mechanism); err == nil {
			return audit.Mechanism(ctx, mechanisms.KeepWords(m, kept), env.Space, o)
		} // an error occurs again below, where it can be reported as a result
	}
	return audit.Run(ctx, env, r.Mechanism, o)
}
