package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/progress"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/stream"
)

func newMechanismsCommand() *cobra.Command {
	var space spaceOptions
	var epsilon float64
	cmd := completes(command("mechanisms", "[NAME...]"), flagValues["mechanism"])
	cmd.Flags().Float64Var(&epsilon, "epsilon", 10, "privacy parameter per word")
	space.addFlags(cmd, study.GeneratedEmbedding, 0)
	return prints(cmd, func(cmd *cobra.Command, names []string, a *answer) error {
		for _, name := range names {
			if _, err := mechanisms.Find(name); err != nil {
				return usage(err)
			}
		}
		env, err := space.environment(cmd.Context(), true, stream.FromUint64(0))
		if err != nil {
			return err
		}
		var rows, parameters [][]any
		all := slices.DeleteFunc(mechanisms.Ordered(), func(d mechanisms.Definition) bool {
			return len(names) > 0 && !slices.Contains(names, d.Name)
		})
		bar := progress.Start(cmd.Context(), "mechanisms", len(all))
		defer bar.Close()
		for _, d := range all {
			bar.Add(1, d.Name)
			for _, v := range d.Variants {
				s, err := mechanisms.Complete(mechanisms.Settings{Mechanism: d.Name, Variant: v, Epsilon: epsilon})
				if err != nil {
					return usage(err)
				}
				_, g, err := audit.Open(env, s)
				if err != nil {
					return err
				}
				rows = append(rows, []any{d.Name, string(v), s.Parameters.String(), g.String()})
			}
			for _, p := range d.Parameters {
				if !p.Fixed {
					parameters = append(parameters, []any{d.Name, p.Name, p.Legal, p.Doc})
				}
			}
		}
		fmt.Fprintf(a.text, "Guarantees at epsilon %v:\n\n", epsilon)
		if err := a.table("mechanisms", []string{"mechanism", "variant", "parameters", "guarantee"}, rows); err != nil {
			return err
		}
		fmt.Fprint(a.text, "\nParameters (--mechanism \"NAME parameter=value\"):\n\n")
		if err := a.table("parameters", []string{"mechanism", "parameter", "values", "meaning"}, parameters); err != nil {
			return err
		}
		fmt.Fprint(a.text, "\nSources:\n\n")
		return a.table("sources", []string{"mechanism", "source"}, list.Map(all,
			func(d mechanisms.Definition) []any { return []any{d.Name, d.Source} }))
	})
}
