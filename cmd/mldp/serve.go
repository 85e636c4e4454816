package main

import (
	"context"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

func newServeCommand() *cobra.Command {
	o := instanceOptions{}
	var words wordFlags
	var seed uint64
	var workers int
	cmd := command("serve", "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		options, err := words.options()
		if err != nil {
			return err
		}
		options.Workers = workers
		settings, env, err := o.environment(cmd.Context(), stream.FromUint64(seed))
		if err != nil {
			return err
		}
		m, err := mechanisms.New(env, settings)
		if err != nil {
			return err
		}
		options.Mechanism = m
		options.Vectors = env.Space.Fingerprint()
		s := &server{options}
		in := interruptible(cmd.Context(), cmd.InOrStdin())
		return external.Serve(cmd.Context(), in, cmd.OutOrStdout(), s.hello(env.Space), s.answer)
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	epsilon := f.Lookup("epsilon")
	epsilon.DefValue, epsilon.Usage = "1", "privacy parameter of the guarantee stated in the hello"
	o.epsilon = 1
	words.addFlags(f)
	f.Uint64Var(&seed, "seed", 0, "seed of the random choices when a mechanism is built")
	coresFlag(f, &workers)
	require(cmd, "mechanism", "embedding")
	return cmd
}

// server keeps the mechanism at the ε of the last request. It serves one request
// at a time.
type server struct{ options privatize.Options }

// hello describes the mechanism and its guarantee.
func (s *server) hello(space *embeddings.Space) external.Hello {
	g, settings := s.options.Mechanism.Guarantee(), s.options.Mechanism.Settings()
	p := &external.Promise{Metric: g.Metric, Delta: g.Delta, Reason: g.Reason}
	if g.Holds() {
		p.Factor = g.Epsilon / settings.Epsilon
	}
	parameters := mechanisms.Parameters{"variant": string(settings.Variant), "policy": string(s.options.Policy),
		"embedding": fmt.Sprintf("%s %dd", space.Name, space.Dimension)}
	maps.Copy(parameters, settings.Parameters)
	aligned := s.options.Policy != mechanisms.Drop
	return external.Hello{
		Name: settings.Mechanism, Version: "mldp " + mldpVersion(), Guarantee: p, Parameters: parameters,
		Repeatable: true, Aligned: &aligned,
	}
}

// answer privatises documents, or texts as mldp privatize does.
func (s *server) answer(ctx context.Context, q external.Request, seeds []stream.Seed) (a external.Answer, err error) {
	m, err := s.options.Mechanism.At(q.Epsilon)
	if err != nil {
		return a, fmt.Errorf("epsilon %v: %w", q.Epsilon, err)
	}
	s.options.Mechanism = m
	p := privatize.New(s.options)
	if q.Texts == nil {
		for i, d := range q.Documents {
			seeds[i] = p.Noise(seeds[i], "", d...)
		}
		a.Documents, err = mechanisms.PrivatizeText(ctx, m, q.Documents, mechanisms.TextOptions{Policy: s.options.Policy,
			Seeds: seeds, Workers: s.options.Workers})
		return a, err
	}
	for i, text := range q.Texts {
		seeds[i] = p.Noise(seeds[i], "", text)
	}
	var sum privatize.Summary
	a.Texts, sum, err = p.Texts(ctx, q.Texts, seeds)
	a.Words, a.Changed, a.Unknown = sum.Words, sum.Changed, sum.Unknown
	return a, err
}
