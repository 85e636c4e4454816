package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/mechanisms/external"
	"mldpbench/results"
	"mldpbench/stream"
)

// auditOptions are the flags of mldp audit.
type auditOptions struct {
	instance instanceOptions
	command  commandOptions
	metric   string // metric to test, where the command declares nothing
	options  audit.Options
	grid     bool
	epsilons []float64
	seed     uint64
	csvFile  string
}

func newAuditCommand() *cobra.Command {
	var o auditOptions
	cmd := command("audit", "")
	o.instance.addFlags(cmd)
	o.command.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.metric, "metric", "", "test a --command that declares no guarantee against --epsilon in this "+
		"metric: euclidean or discrete")
	f.BoolVar(&o.grid, "grid", false, "all mechanisms and variants, default parameters")
	f.Float64SliceVar(&o.epsilons, "epsilons", []float64{1, 5, 10}, "epsilons of the grid")
	f.Float64Var(&o.options.Alpha, "alpha", 1e-6, "probability of a false accusation, per line")
	countFlag(f, &o.options.Samples, "samples", 200_000, 1, "samples per word and test")
	countFlag(f, &o.options.Words, "count", 0, 1, "words to look at (default: 1000 exact, 300 sampled), spread over frequency, density and length")
	f.Uint64Var(&o.seed, "seed", 0, "seed of pairs and samples")
	f.StringVar(&o.csvFile, "csv", "", "write the lines to this file as well: "+
		"as audit.csv next to a study's records, its report shows them")
	cmd.MarkFlagsMutuallyExclusive("grid", "mechanism", "command")
	require(cmd, "grid|mechanism|command", "epsilon|grid", "embedding")
	return prints(cmd, func(cmd *cobra.Command, _ []string, a *answer) error {
		if err := mayWrite(cmd, reads(cmd), o.csvFile); err != nil {
			return err
		}
		o.options.Seed = stream.FromUint64(o.seed)
		lines := auditLines{to: a.text}
		breaches, err := 0, error(nil)
		if o.command.line != "" {
			breaches, err = o.black(cmd, a, &lines)
		} else {
			err = o.builtIn(cmd.Context(), &lines)
		}
		if err == nil && o.csvFile != "" && len(lines.rows) > 0 {
			err = results.WriteAudit(o.csvFile, lines.rows)
		}
		if err != nil {
			return err
		}
		a.add("audit", lines.shown)
		if breaches += lines.breaches; breaches > 0 {
			what := "claimed guarantees"
			if o.command.line != "" {
				what = "declared promises"
			}
			return &verdict{exitViolated, fmt.Sprintf("%d %s are violated", breaches, what)}
		}
		if !slices.ContainsFunc(lines.rows, func(r results.AuditRow) bool { return r.Lower.Known() }) {
			return &verdict{exitNothing, "nothing was audited"}
		}
		return nil
	})
}

// builtIn audits one mechanism, or all.
func (o *auditOptions) builtIn(ctx context.Context, lines *auditLines) (err error) {
	var env mechanisms.Environment
	cells := audit.Cells(o.epsilons)
	if o.grid {
		env, err = o.instance.space.environment(ctx, true, o.options.Seed)
	} else {
		cells = make([]mechanisms.Settings, 1)
		cells[0], env, err = o.instance.environment(ctx, o.options.Seed)
	}
	if err != nil {
		return err
	}
	return audit.Grid(ctx, env, cells, o.options, func(r audit.Report) error {
		row := experiments.AuditRow(r, r.Settings.Parameters.String())
		row.EmbeddingFingerprint, row.Version, row.Seed = env.Space.Fingerprint(), mldpVersion(), o.seed
		return lines.print(row, r)
	})
}

// black audits a command: repetition and, by sampling word by word, the
// guarantee. Its bounds take for granted that noise is drawn anew for every word.
// It returns the number of other promises that are broken.
func (o *auditOptions) black(cmd *cobra.Command, a *answer, lines *auditLines) (breaches int, err error) {
	ctx, epsilon, root := cmd.Context(), o.instance.epsilon, o.options.Seed
	if o.metric != "" {
		if err := check.OneOf("metric", o.metric, "euclidean", "discrete"); err != nil {
			return 0, err
		}
	}
	space := sync.OnceValues(func() (mechanisms.Environment, error) {
		return o.instance.space.environment(ctx, false, root)
	})
	vectors := func(w io.Writer) error {
		env, err := space()
		if err != nil {
			return err
		}
		return env.Space.WriteText(w)
	}
	first, m, err := o.command.open(ctx, epsilon, vectors)
	if err != nil {
		return 0, err
	}
	defer first.Close()
	h := first.Hello()
	fmt.Fprintf(cmd.ErrOrStderr(), "%s; version %q; declared per word, not proved here: %s\n",
		instanceName(m.Settings()), h.Version, m.Guarantee())
	if !m.Guarantee().Holds() && o.metric == "" {
		return 0, fmt.Errorf("%s declares no guarantee: give the --metric of epsilon %v, against which to test it",
			h.Name, epsilon)
	}
	env, err := space()
	if err != nil {
		return 0, err
	}
	tell := func(promise, verdict string) error {
		a.Tables["promises"] = append(a.Tables["promises"], map[string]any{"promise": promise, "verdict": verdict})
		_, err := fmt.Fprintf(a.text, "%s: %s\n", promise, verdict)
		return err
	}
	repetition, some := "equal seeds gave equal text", env.Space.Vocabulary.Words()
	some = some[:min(80, len(some))]
	var broken *external.NotRepeatableError
	switch err := m.CheckRepeatable(ctx, slices.Collect(slices.Chunk(some, 20)), nil, root.Derive("repeat")); {
	case errors.As(err, &broken):
		breaches++
		repetition = "violated: " + err.Error()
	case err != nil:
		return 0, err
	case !h.Repeatable:
		repetition = "the command declares that it cannot be repeated"
	}
	if err := tell("repetition", repetition); err != nil {
		return breaches, err
	}
	words, err := mechanisms.WordByWord(m, env.Space)
	if err != nil {
		return 0, err
	}
	if !m.Guarantee().Holds() {
		g := mechanisms.Guarantee{Metric: o.metric, Epsilon: epsilon, Reason: "not declared, but tested against"}
		if g.Distance, err = mechanisms.DistanceOf(env.Space, o.metric); err != nil {
			return 0, err
		}
		words = words.Promising(g)
	}
	report, err := audit.Mechanism(ctx, words, env.Space, o.options)
	if err != nil {
		return 0, err
	}
	return breaches, lines.print(experiments.AuditRow(report, report.Settings.Parameters.String()), report)
}

// auditStudy audits the mechanisms of a study, writes the results to a file and
// reports each.
func auditStudy(ctx context.Context, s *study.Study, root, file string, o audit.Options,
	log io.Writer) ([]results.AuditRow, error) {
	lines := auditLines{to: log, rows: []results.AuditRow{}}
	if err := experiments.Audit(ctx, s, root, mldpVersion(), o, lines.print); err != nil {
		return nil, err
	}
	return lines.rows, results.WriteAudit(file, lines.rows)
}

// auditLines prints verdicts as they are reached, and keeps them.
type auditLines struct {
	to       io.Writer
	rows     []results.AuditRow
	shown    []auditLine
	breaches int
}

// auditLine is a verdict of --json.
type auditLine struct {
	results.AuditRow
	Verdict string
	Worst   string
}

// The verdict and what it rests on are long: they are below, line by line.
const auditColumns = "%-12s  %-8s  %7s  %-9s  %-7s  %10s\n"

func (l *auditLines) print(row results.AuditRow, r audit.Report) error {
	if len(l.rows) == 0 {
		fmt.Fprintf(l.to, auditColumns, "mechanism", "variant", "epsilon", "guarantee", "method", "epsilon >=")
	}
	if r.Breach() {
		l.breaches++
	}
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
	l.rows = append(l.rows, row)
	l.shown = append(l.shown, auditLine{row, r.Verdict(), worst})
	_, err := fmt.Fprintf(l.to, auditColumns, r.Settings.Mechanism, r.Settings.Variant,
		strconv.FormatFloat(r.Settings.Epsilon, 'g', -1, 64), guarantee, r.Method, bound)
	said := r.Verdict() + "; "
	if r.Worst.A != "" {
		said += "worst pair "
	}
	_, below := fmt.Fprintf(l.to, "    %s\n", strings.ReplaceAll(strings.TrimSuffix(said+worst, "; "), "; ", "\n    "))
	return errors.Join(err, below)
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
