package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mldpbench/mechanisms"
	"mldpbench/stream"
)

func newMechanismsCommand() *cobra.Command {
	var space spaceOptions
	var epsilon float64
	cmd := &cobra.Command{
		Use:   "mechanisms",
		Short: "List mechanisms, variants, parameters and what each guarantees",
		Long: `Mechanisms builds every mechanism and variant over an embedding and prints its
guarantee per word there: metric, epsilon, delta, or "none" with the reason.
Where the guarantee holds between some words only, it prints between which.
Variants: proved is the definition with a proof; printed is the study's
pseudocode, or the source's own definition where nothing is proved; released is
what a package computes.`,
		Example: `  mldp mechanisms
  mldp mechanisms --embedding glove.6B.100d.txt --epsilon 10`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			env, err := space.environment(cmd.Context(), true, stream.FromUint64(0))
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintf(w, "MECHANISM\tVARIANT\tPARAMETERS\tGUARANTEE AT EPSILON %v\n", epsilon)
			for _, d := range mechanisms.Ordered() {
				for _, v := range d.Variants {
					s, err := mechanisms.Complete(mechanisms.Settings{Mechanism: d.Name, Variant: v, Epsilon: epsilon})
					if err != nil {
						return &exitError{exitUsage, err}
					}
					g, err := guaranteeOf(env, s, d.NewVector != nil)
					if err != nil {
						return err
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.Name, v, s.Parameters, g)
				}
			}
			if err := w.Flush(); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintln(out, "\nParameters (--param name=value) and sources:")
			for _, d := range mechanisms.Ordered() {
				fmt.Fprintf(out, "  %s: %s%s\n", d.Name, d.Source, facts(d))
				for _, p := range d.Parameters {
					fmt.Fprintf(out, "    %s: %s; %s\n", p.Name, p.Legal, p.Doc)
				}
			}
			return nil
		},
	}
	cmd.Flags().Float64Var(&epsilon, "epsilon", 10, "privacy parameter per word")
	space.addFlags(cmd)
	return cmd
}

// facts returns further properties of a definition in words.
func facts(d mechanisms.Definition) string {
	var all []string
	if d.Needs.Thesaurus {
		all = append(all, "needs a thesaurus")
	}
	if d.Needs.Corpus {
		all = append(all, "depends on the corpus")
	}
	if d.NewVector != nil {
		all = append(all, "releases vectors")
	}
	if d.Constant {
		all = append(all, "epsilon has no effect")
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// needsThesaurus reports whether a mechanism cannot be built without a
// thesaurus.
func needsThesaurus(mechanism string) bool {
	d, err := mechanisms.Find(mechanism)
	return err == nil && d.Needs.Thesaurus
}

// guaranteeOf returns the guarantee in one line, or why the mechanism does not
// exist.
func guaranteeOf(env mechanisms.Environment, s mechanisms.Settings, vector bool) (string, error) {
	var m interface{ Guarantee() mechanisms.Guarantee }
	var err error
	if vector {
		m, err = mechanisms.NewVector(env, s)
	} else {
		m, err = mechanisms.New(env, s)
	}
	if undefined := (*mechanisms.UndefinedError)(nil); errors.As(err, &undefined) {
		return undefined.Error(), nil
	}
	if errors.Is(err, mechanisms.ErrNoTexts) {
		return err.Error() + " (--restrict DATASET)", nil
	}
	if err != nil {
		return "", err
	}
	return m.Guarantee().String(), nil
}
