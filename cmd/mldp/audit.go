package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/experiments/lab"
	"mldpbench/experiments/plan"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/results"
	"mldpbench/stream"
)

// auditOptions are the flags of mldp audit.
type auditOptions struct {
	instance instanceOptions
	command  commandOptions
	options  audit.Options
	grid     bool
	epsilons []float64
	seed     uint64
}

func newAuditCommand() *cobra.Command {
	var o auditOptions
	cmd := command("audit", "")
	o.instance.addFlags(cmd)
	o.command.addFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.grid, "grid", false, "all mechanisms and variants, default parameters")
	f.Float64SliceVar(&o.epsilons, "epsilons", []float64{1, 5, 10}, "epsilons of the grid")
	f.Float64Var(&o.options.Alpha, "alpha", 1e-6, "probability of a false accusation, per line")
	countFlag(f, &o.options.Samples, "samples", 200_000, 1, "samples per word and test")
	countFlag(f, &o.options.Words, "count", 0, 1,
		"words to look at (default: 1000 exact, 300 sampled), spread over frequency, density and length")
	f.Uint64Var(&o.seed, "seed", 0, "seed of pairs and samples")
	cmd.MarkFlagsMutuallyExclusive("grid", "mechanism", "command")
	require(cmd, "grid|mechanism|command", "epsilon|grid", "embedding")
	return prints(cmd, func(cmd *cobra.Command, _ []string, a *answer) error {
		o.options.Seed = stream.FromUint64(o.seed)
		lines := auditLines{to: a.text}
		if err := o.run(cmd.Context(), &lines); err != nil {
			return err
		}
		a.add("audit", lines.shown)
		breaches := list.Count(lines.shown, func(l auditLine) bool { return l.Violated && l.Promises })
		if breaches > 0 {
			return &verdict{exitViolated, fmt.Sprintf("%d claimed guarantees are violated", breaches)}
		}
		switch {
		case !slices.ContainsFunc(lines.shown, func(l auditLine) bool { return l.Lower.Known() }):
			return &verdict{exitNothing, "nothing was audited"}
		case !slices.ContainsFunc(lines.shown, func(l auditLine) bool { return l.Lower.Known() && !l.blind }):
			return &verdict{exitNothing, "nothing could be found at this epsilon"}
		}
		return nil
	})
}

// run audits one mechanism, all, or a command: that by sampling word by word, which
// takes for granted that noise is drawn anew for every word.
func (o *auditOptions) run(ctx context.Context, lines *auditLines) error {
	var env mechanisms.Environment
	var err error
	cells := audit.Cells(o.epsilons)
	switch {
	case o.grid:
		env, err = o.instance.space.environment(ctx, true, o.options.Seed)
	case o.command.line != "":
		if cells, err = o.command.settings(); err != nil {
			return err
		}
		l := lab.New("")
		defer l.Close()
		env, err = o.instance.space.environment(ctx, false, o.options.Seed)
		cells[0].Epsilon, env.Outside = o.instance.epsilon, l.WordByWord(ctx, env.Space)
	default:
		cells = make([]mechanisms.Settings, 1)
		cells[0], env, err = o.instance.environment(ctx, o.options.Seed)
	}
	if err != nil {
		return err
	}
	for _, s := range cells {
		report, err := audit.Run(ctx, env, s, o.options)
		if err != nil {
			return fmt.Errorf("%s %s at epsilon %v: %w", s.Mechanism, s.Variant, s.Epsilon, err)
		}
		row := plan.AuditRow(report, report.Settings.Parameters.String())
		row.EmbeddingFingerprint, row.Version, row.Seed = env.Space.Fingerprint(), mldpVersion(), o.seed
		if err := lines.print(row, report); err != nil {
			return err
		}
	}
	return nil
}

// auditStudy audits the mechanisms of a study, writes the results to a file and
// reports each.
func auditStudy(ctx context.Context, p *plan.Plan, root, file string, log io.Writer) error {
	lines := auditLines{to: log}
	if err := p.Audit(ctx, root, mldpVersion(), audit.Options{}, lines.print); err != nil {
		return err
	}
	return results.WriteAudit(file, list.Map(lines.shown, func(l auditLine) results.AuditRow { return l.AuditRow }))
}

// auditLines prints verdicts as they are reached, and keeps them.
type auditLines struct {
	to    io.Writer
	shown []auditLine
}

// auditLine is a verdict of --json, with what it rests on.
type auditLine struct {
	results.AuditRow
	Verdict string
	Worst   string
	blind   bool // whatever the mechanism does
}

// The verdict and what it rests on are long: they are below, line by line.
const auditColumns = "%-12s  %-8s  %7s  %-9s  %-7s  %10s\n"

func (l *auditLines) print(row results.AuditRow, r audit.Report) error {
	if len(l.shown) == 0 {
		fmt.Fprintf(l.to, auditColumns, "mechanism", "variant", "epsilon", "guarantee", "method", "epsilon >=")
	}
	guarantee, bound := "none", "-"
	if r.Guarantee.Holds() {
		guarantee = r.Guarantee.Metric
	}
	if r.Method != audit.NoAudit {
		bound = strconv.FormatFloat(r.EpsilonLowerBound, 'g', 4, 64)
	}
	var said []string
	if w := r.Worst; w.A != "" {
		said = append(said, fmt.Sprintf("worst pair %s/%s: %s", w.A, w.B, w.Event),
			fmt.Sprintf("log-ratio %.4g, allowed %.4g", w.LogRatio, w.Allowed))
	}
	if detects := r.DetectsText(); detects != "" {
		said = append(said, detects)
	}
	l.shown = append(l.shown, auditLine{row, r.Verdict(), strings.Join(said, "; "), r.Blind != ""})
	_, err := fmt.Fprintf(l.to, auditColumns+"    %s\n", r.Settings.Mechanism, r.Settings.Variant,
		strconv.FormatFloat(r.Settings.Epsilon, 'g', -1, 64), guarantee, r.Method, bound,
		strings.ReplaceAll(strings.Join(append([]string{r.Verdict()}, said...), "\n    "), "; ", "\n    "))
	return err
}
