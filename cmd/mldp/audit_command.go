package main

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/mechanisms/external"
	"mldpbench/results"
	"mldpbench/stream"
)

// commandAudit audits a black box that is a command.
type commandAudit struct {
	command  commandOptions
	metric   string // metric to test, where the command declares nothing
	instance *instanceOptions
	options  audit.Options
	csvFile  string
}

func (a *commandAudit) addFlags(cmd *cobra.Command) {
	a.command.addFlags(cmd)
	cmd.Flags().StringVar(&a.metric, "metric", "", "test a --command that declares no guarantee against --epsilon "+
		"in this metric: euclidean or discrete")
}

// run prints one line each for repetition, freshness of the noise and the
// guarantee per word. The guarantee is sampled only where noise is fresh,
// because its bounds need independent samples.
func (a *commandAudit) run(cmd *cobra.Command, root stream.Seed) error {
	ctx, out, epsilon := cmd.Context(), cmd.OutOrStdout(), a.instance.epsilon
	if err := check.Positive("epsilon", epsilon); err != nil {
		return &exitError{exitUsage, err}
	}
	if a.metric != "" {
		if err := check.OneOf("metric", a.metric, "euclidean", "discrete"); err != nil {
			return &exitError{exitUsage, err}
		}
	}
	space := sync.OnceValues(func() (mechanisms.Environment, error) {
		return a.instance.space.environment(ctx, false, root)
	})
	vectors := func(w io.Writer) error {
		env, err := space()
		if err != nil {
			return err
		}
		return env.Space.WriteText(w)
	}
	first, err := a.command.open(ctx, vectors)
	if err != nil {
		return err
	}
	defer first.Close()
	m, err := first.At(epsilon)
	if err != nil {
		return err
	}
	h := first.Hello()
	fmt.Fprintf(cmd.ErrOrStderr(), "%s; version %q; declared per word, not proved here: %s\n",
		instanceName(m.Settings()), h.Version, m.Guarantee())
	var r mechanisms.Rewriter = m
	if !m.Guarantee().Holds() {
		if a.metric == "" {
			return fmt.Errorf("%s declares no guarantee: give the --metric of epsilon %v, against which to test it",
				h.Name, epsilon)
		}
		r = held{m, mechanisms.Guarantee{Metric: a.metric, Epsilon: epsilon, Reason: "not declared, but tested against"}}
	}
	env, err := space()
	if err != nil {
		return err
	}
	breaches := 0
	var broken *external.NotRepeatableError
	switch err := m.CheckRepeatable(ctx, sampleDocuments(env.Space.Vocabulary.Words(), root), root.Derive("repeat")); {
	case errors.As(err, &broken):
		breaches++
		fmt.Fprintf(out, "repetition: violated: %v\n", err)
	case err != nil:
		return err
	case !h.Repeatable:
		fmt.Fprintln(out, "repetition: the command declares that it cannot be repeated")
	default:
		fmt.Fprintln(out, "repetition: equal seeds gave equal text")
	}
	second, err := a.command.open(ctx, vectors)
	if err != nil {
		return err
	}
	defer second.Close()
	again, err := second.At(epsilon)
	if err != nil {
		return err
	}
	fresh, err := audit.Independence(ctx, m, again, env.Space.Vocabulary.Words(), a.options)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "fresh noise: %s\n", fresh.Verdict())
	if fresh.Shared {
		breaches++
	} else if err := a.promise(cmd, r, env, &breaches); err != nil {
		return err
	}
	if breaches > 0 {
		return &exitError{exitViolated, fmt.Errorf("%d declared promises are violated", breaches)}
	}
	return nil
}

// promise audits the command's guarantee by sampling word by word.
func (a *commandAudit) promise(cmd *cobra.Command, r mechanisms.Rewriter, env mechanisms.Environment,
	breaches *int) error {
	m, err := mechanisms.WordByWord(cmd.Context(), r, env.Space)
	if err != nil {
		return err
	}
	report, err := audit.Mechanism(cmd.Context(), m, env.Space, a.options)
	if err == nil {
		err = mechanisms.Err(m)
	}
	if err != nil {
		return err
	}
	if report.Breach() {
		*breaches++
	}
	if a.csvFile != "" {
		if err := results.WriteAudit(a.csvFile, []results.AuditRow{experiments.AuditRow(report,
			report.Settings.Parameters.String())}); err != nil {
			return err
		}
	}
	printAuditHeader(cmd.OutOrStdout())
	return printReport(cmd.OutOrStdout(), report)
}

// held is a rewriter with a guarantee given by the caller, against which it is
// tested.
type held struct {
	mechanisms.Rewriter
	guarantee mechanisms.Guarantee
}

func (h held) Guarantee() mechanisms.Guarantee { return h.guarantee }

// sampleDocuments returns a few documents of words drawn from a vocabulary.
func sampleDocuments(words []string, root stream.Seed) [][]string {
	const documents, tokens = 4, 20
	rng := root.Derive("sample").Rand()
	out := make([][]string, documents)
	for i := range out {
		for range tokens {
			out[i] = append(out[i], words[rng.IntN(len(words))])
		}
	}
	return out
}
