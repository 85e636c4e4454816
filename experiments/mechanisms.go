package experiments

import (
	"context"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/internal/progress"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/results"
	"mldpbench/stream"
)

// MechanismListing asks which mechanisms there are, and what each guarantees over some vectors.
type MechanismListing struct {
	Call
	Vectors
	Names   []string // none: all
	Epsilon float64
}

// ListMechanisms lists mechanisms with the guarantees of all their variants, their parameters and their sources.
func ListMechanisms(ctx context.Context, l MechanismListing) (*Outcome, error) {
	o := l.answer()
	for _, name := range l.Names {
		if _, err := mechanisms.Find(name); err != nil {
			return nil, Usage(err)
		}
	}
	all := slices.DeleteFunc(mechanisms.Ordered(), func(d mechanisms.Definition) bool {
		return len(l.Names) > 0 && !slices.Contains(l.Names, d.Name)
	})
	env, err := l.environmentFor(ctx, o.call, stream.FromUint64(0), settingsOf(all))
	if err != nil {
		return nil, err
	}
	guarantees, err := l.guarantees(ctx, env, all)
	if err != nil {
		return nil, err
	}
	var parameters, sources [][]any
	for _, d := range all {
		for _, p := range results.Where(d.Parameters, func(p mechanisms.Parameter) bool {
			return !p.Fixed
		}) {
			parameters = append(parameters, []any{d.Name, p.Name, p.Legal, p.Doc})
		}
		sources = append(sources, []any{d.Name, d.Source})
	}
	o.say("Guarantees at epsilon %v:\n", l.Epsilon)
	o.listing("mechanisms", []string{"mechanism", "variant", "parameters", "guarantee"}, guarantees)
	o.say("\nParameters (--mechanism \"NAME parameter=value\"):\n")
	o.listing("parameters", []string{"mechanism", "parameter", "values", "meaning"}, parameters)
	o.say("\nSources:\n")
	o.listing("sources", []string{"mechanism", "source"}, sources)
	return o, nil
}

// guarantees are the rows of each variant of mechanisms.
func (l MechanismListing) guarantees(ctx context.Context, env mechanisms.Environment,
	all []mechanisms.Definition) (rows [][]any, err error) {
	bar := progress.Start(ctx, "mechanisms", len(all))
	defer bar.Close()
	for _, d := range all {
		bar.Add(1, d.Name)
		for _, v := range d.Variants {
			s, err := mechanisms.Complete(mechanisms.Settings{
				Mechanism: d.Name,
				Variant:   v,
				Epsilon:   l.Epsilon,
			})
			if err != nil {
				return nil, Usage(err)
			}
			_, g, err := audit.Open(env, s)
			if err != nil {
				return nil, err
			}
			rows = append(rows, []any{d.Name, string(v), s.Parameters.String(), g.String()})
		}
	}
	return rows, nil
}

// settingsOf are those of mechanisms that tell what they are built from.
func settingsOf(all []mechanisms.Definition) []mechanisms.Settings {
	return list.Map(all, func(d mechanisms.Definition) mechanisms.Settings {
		return mechanisms.Settings{Mechanism: d.Name}
	})
}
