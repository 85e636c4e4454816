package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/results"
	"mldpbench/stream"
)

func newAuditCommand() *cobra.Command {
	var o instanceOptions
	var options audit.Options
	var grid bool
	var epsilons []float64
	var seed uint64
	var csvFile string
	external := commandAudit{instance: &o}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Try to refute what a mechanism guarantees",
		Long: `Audit looks for two words and an event that distinguishes them better than
epsilon times their distance allows. Where probabilities are known it compares
all outputs of selected pairs of words. Elsewhere it samples: it selects the
most conspicuous events on one part of the samples and tests them on new samples
with Clopper–Pearson bounds, Bonferroni-corrected. A sampled verdict accuses a
sound mechanism with probability --alpha at most. "not refuted" is not a proof.
Variants without a guarantee are tested against the epsilon they are run at.

A guarantee that holds between some words only, such as those of one group, is
tested between these; a finding between other pairs does not violate it and is
shown as "outside".

One line per instance: what it guarantees, the lower bound found for epsilon,
the verdict, and the worst pair.

With --command it audits a black box (see docs/external.md): whether equal seeds give
equal text, whether noise is fresh for every word, document, request and
process, and whether the declared guarantee per word holds.

Exit codes: 0 no claimed guarantee is refuted, 6 one is violated, 1 failed,
2 wrong usage.`,
		Example: `  mldp audit --mechanism vickrey --variant printed --epsilon 5 --embedding generated --samples 20000
  mldp audit --command "python3 client.py krr vectors.txt" --embedding vectors.txt --epsilon 5 --samples 5000
  mldp audit --grid --embedding generated
  mldp audit --grid --epsilons 1,5,10 --embedding glove.6B --dimension 100 --restrict agnews`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if external.command.line != "" {
				options.Seed = stream.FromUint64(seed)
				external.options, external.csvFile = options, csvFile
				return external.run(cmd, options.Seed)
			}
			cells := audit.Cells(epsilons)
			if !grid {
				s, err := o.settings()
				if err != nil {
					return err
				}
				cells = []mechanisms.Settings{s}
			}
			root := stream.FromUint64(seed)
			env, err := o.space.environment(cmd.Context(), grid || needsThesaurus(o.mechanism), root)
			if err != nil {
				return err
			}
			options.Seed = root
			out := cmd.OutOrStdout()
			printAuditHeader(out)
			breaches := 0
			var rows []results.AuditRow
			err = audit.Grid(cmd.Context(), env, cells, options, func(r audit.Report) error {
				row := experiments.AuditRow(r, r.Settings.Parameters.String())
				row.EmbeddingFingerprint, row.Version, row.Seed = env.Space.Fingerprint(), mldpVersion(), seed
				rows = append(rows, row)
				if r.Breach() {
					breaches++
				}
				return printReport(out, r)
			})
			if err != nil {
				return err
			}
			if csvFile != "" {
				if err := results.WriteAudit(csvFile, rows); err != nil {
					return err
				}
			}
			if breaches > 0 {
				return &exitError{exitViolated, fmt.Errorf("%d claimed guarantees are violated", breaches)}
			}
			if !slices.ContainsFunc(rows, func(r results.AuditRow) bool { return r.Lower.Known() }) {
				return &exitError{exitNothing, errors.New("nothing was audited")}
			}
			return nil
		},
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&grid, "grid", false, "all mechanisms and variants, default parameters")
	f.Float64SliceVar(&epsilons, "epsilons", []float64{1, 5, 10}, "epsilons of the grid")
	f.Float64Var(&options.Alpha, "alpha", 1e-6, "probability of a false accusation, per line")
	f.IntVar(&options.Samples, "samples", 200_000, "samples per word and test")
	f.IntVar(&options.Words, "count", 0, "random words to pair (default 20 exact, 2 sampled)")
	f.IntVar(&options.Closest, "closest", 0, "closest pairs of the vocabulary (default 20 exact, 8 sampled)")
	f.Uint64Var(&seed, "seed", 0, "seed of pairs and samples")
	f.StringVar(&csvFile, "csv", "", "write the lines to this file as well: "+
		"as audit.csv next to a study's records, its report shows them")
	external.addFlags(cmd)
	cmd.MarkFlagsMutuallyExclusive("grid", "mechanism", "command")
	cmd.MarkFlagsOneRequired("grid", "mechanism", "command")
	return cmd
}

// auditStudy audits the mechanisms of a study, writes the results to a file and
// reports each.
func auditStudy(ctx context.Context, s *study.Study, root, file string, o audit.Options,
	log io.Writer) ([]results.AuditRow, error) {
	printAuditHeader(log)
	rows := []results.AuditRow{}
	err := experiments.Audit(ctx, s, root, mldpVersion(), o, func(row results.AuditRow, r audit.Report) error {
		rows = append(rows, row)
		return printReport(log, r)
	})
	if err != nil {
		return nil, err
	}
	return rows, results.WriteAudit(file, rows)
}

const auditLine = "%-12s  %-8s  %7s  %-11s  %-7s  %10s  %-29s  %s\n"

func printAuditHeader(w io.Writer) {
	fmt.Fprintf(w, auditLine, "mechanism", "variant", "epsilon", "guarantee", "method", "epsilon >=", "verdict",
		"worst pair: event")
}

func printReport(w io.Writer, r audit.Report) error {
	guarantee, bound, worst := "none", "-", ""
	if r.Guarantee.Holds() {
		guarantee = r.Guarantee.Metric
	}
	if r.Method != audit.NoAudit {
		bound = strconv.FormatFloat(r.EpsilonLowerBound, 'g', 4, 64)
		if r.Worst.A != "" {
			worst = describe(r.Worst)
		}
		if r.OutsideViolated {
			worst += "; outside: " + describe(r.Outside)
		}
	}
	if detects := r.DetectsText(); detects != "" {
		worst = strings.TrimPrefix(worst+"; "+detects, "; ")
	}
	_, err := fmt.Fprintf(w, auditLine, r.Settings.Mechanism, r.Settings.Variant,
		strconv.FormatFloat(r.Settings.Epsilon, 'g', -1, 64),
		guarantee, r.Method, bound, r.Verdict(), worst)
	return err
}

// describe returns the words, the event and the numbers of a finding.
func describe(f audit.Finding) string {
	more := ""
	if f.Outputs > len(f.Event) {
		more = fmt.Sprintf(" and %d more", f.Outputs-len(f.Event))
	}
	return fmt.Sprintf("%s/%s: %s%s; log-ratio %.4g, allowed %.4g",
		f.A, f.B, strings.Join(f.Event, " "), more, f.LogRatio, f.Allowed)
}
