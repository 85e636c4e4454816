package experiments

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mldpbench/experiments/lab"
	"mldpbench/experiments/plan"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/results"
	"mldpbench/stream"
)

// Auditing says which mechanisms are audited: one, a command, or all.
type Auditing struct {
	Call
	Instance
	Program  string // a command that is the mechanism, in place of one that is built in; "" for none
	Grid     bool   // all mechanisms and variants, with default parameters
	Epsilons []float64
	// Documents looks for pairs of texts, not of words: Epsilon is that of a document, and
	// Options.Samples are all texts that are privatised.
	Documents bool
	Options   audit.Options // without the seed
	Seed      uint64        // of pairs and samples
	Bag       int           // words of the bags that are audited; 0: single words are
}

// Audit looks for pairs of words at which a mechanism breaks its guarantee. Its outcome has a line for each mechanism
// as soon as it is judged, and comes with a Verdict where a guarantee is broken, or nothing could be judged.
func Audit(ctx context.Context, a Auditing) (*Outcome, error) {
	if a.Documents {
		return auditDocuments(ctx, a)
	}
	lines := auditLines{Outcome: a.answer()}
	if err := a.run(ctx, &lines); err != nil {
		return nil, err
	}
	lines.Records["audit"] = lines.judged
	breaches := list.Count(lines.judged, func(l auditLine) bool {
		return l.Violated && l.Promises
	})
	if breaches > 0 {
		return lines.Outcome, &Verdict{Violated, fmt.Sprintf("%d claimed guarantees are violated", breaches)}
	}
	isJudged := func(l auditLine) bool { return l.Lower.Known() }
	if !slices.ContainsFunc(lines.judged, isJudged) {
		return lines.Outcome, &Verdict{Nothing, "nothing was audited"}
	}
	isTelling := func(l auditLine) bool { return l.Lower.Known() && !l.blind }
	if !slices.ContainsFunc(lines.judged, isTelling) {
		return lines.Outcome, &Verdict{Nothing, "nothing could be found at this epsilon"}
	}
	return lines.Outcome, nil
}

// run audits each mechanism.
func (a Auditing) run(ctx context.Context, lines *auditLines) error {
	l := lab.New("") // of commands
	defer l.Close()
	options := a.Options
	options.Seed = stream.FromUint64(a.Seed)
	cells, env, err := a.cells(ctx, lines.call, l)
	if err != nil {
		return err
	}
	for _, s := range cells {
		report, err := a.one(ctx, env, s, options)
		if err != nil {
			return fmt.Errorf("%s %s at epsilon %v: %w", s.Mechanism, s.Variant, s.Epsilon, err)
		}
		row := plan.AuditRow(report, report.Settings.Parameters.String())
		row.EmbeddingFingerprint = env.Space.Fingerprint()
		row.Version = a.Version
		row.Seed = a.Seed
		if err := lines.judge(row, report); err != nil {
			return err
		}
	}
	return nil
}

// one audits an instance, of single words or of bags.
func (a Auditing) one(ctx context.Context, env mechanisms.Environment, s mechanisms.Settings,
	o audit.Options) (audit.Report, error) {
	if a.Bag > 0 {
		return audit.Bags(ctx, env, s, o, a.Bag)
	}
	return audit.Run(ctx, env, s, o)
}

// cells are the settings that are audited, with what they are built from. A command is audited by sampling word by
// word, which takes for granted that noise is drawn anew for every word.
func (a Auditing) cells(ctx context.Context, call Call, l *lab.Lab) ([]mechanisms.Settings, mechanisms.Environment,
	error) {
	seed := stream.FromUint64(a.Seed)
	if a.Grid {
		cells := audit.Cells(a.Epsilons)
		env, err := a.environmentFor(ctx, call, seed, cells)
		return cells, env, err
	}
	if a.Program == "" {
		s, env, err := a.open(ctx, call, seed)
		return []mechanisms.Settings{s}, env, err
	}
	s, err := commandSettings(a.Program)
	if err != nil {
		return nil, mechanisms.Environment{}, err
	}
	env, err := a.environment(ctx, call, seed)
	if err != nil {
		return nil, env, err
	}
	s.Epsilon = a.Epsilon
	env.Outside = l.WordByWord(ctx, env.Space)
	return []mechanisms.Settings{s}, env, nil
}

// auditLines are the verdicts on mechanisms, in an outcome as they are reached.
type auditLines struct {
	*Outcome
	judged []auditLine
}

// auditLine is a verdict, with what it rests on.
type auditLine struct {
	results.AuditRow
	Verdict string
	Worst   string
	blind   bool // whatever the mechanism does
}

// The verdict and what it rests on are long: they are below, line by line.
const auditColumns = "%-12s  %-8s  %7s  %-9s  %-7s  %10s"

// judge adds the verdict of a report.
func (l *auditLines) judge(row results.AuditRow, r audit.Report) error {
	if len(l.judged) == 0 {
		l.say(auditColumns, "mechanism", "variant", "epsilon", "guarantee", "method", "epsilon >=")
	}
	guarantee := "none"
	if r.Guarantee.Holds() {
		guarantee = r.Guarantee.Metric
	}
	bound := "-"
	if r.Method != audit.NoAudit {
		bound = strconv.FormatFloat(r.EpsilonLowerBound, 'g', 4, 64)
	}
	var rests []string
	if w := r.Worst; w.A != "" {
		rests = append(rests, fmt.Sprintf("worst pair %s/%s: %s", w.A, w.B, w.Event),
			fmt.Sprintf("log-ratio %.4g, allowed %.4g", w.LogRatio, w.Allowed))
	}
	if detects := r.DetectsText(); detects != "" {
		rests = append(rests, detects)
	}
	l.judged = append(l.judged, auditLine{row, r.Verdict(), strings.Join(rests, "; "), r.Blind != ""})
	verdict := strings.Join(append([]string{r.Verdict()}, rests...), "\n    ")
	l.say(auditColumns+"\n    %s", r.Settings.Mechanism, r.Settings.Variant,
		strconv.FormatFloat(r.Settings.Epsilon, 'g', -1, 64), guarantee, r.Method, bound,
		strings.ReplaceAll(verdict, "; ", "\n    "))
	return nil
}

// auditStudy audits the mechanisms of a study, whose verdicts are progress of a run, and writes them to a file.
func auditStudy(ctx context.Context, p *plan.Plan, call Call, file string) error {
	call.Show = call.logText
	lines := auditLines{Outcome: call.answer()}
	if err := p.Audit(ctx, call.Data, call.Version, audit.Options{}, lines.judge); err != nil {
		return err
	}
	return results.WriteAudit(file, list.Map(lines.judged, func(l auditLine) results.AuditRow {
		return l.AuditRow
	}))
}

// logText shows a line of text in the log.
func (c Call) logText(p Part) { fmt.Fprintln(c.Log, p.Text) }
