package main

import (
	"context"
	"fmt"
	"maps"
	"math"

	"github.com/spf13/cobra"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

func newServeCommand() *cobra.Command {
	o := instanceOptions{}
	o.space.written = true
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
		s := &server{options}
		in := interruptible(cmd.Context(), cmd.InOrStdin())
		return external.Serve(cmd.Context(), in, cmd.OutOrStdout(), s.hello(env.Space),
			external.Handler{Documents: s.documents, Texts: s.texts})
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

func (s *server) at(epsilon float64) error {
	m, err := s.options.Mechanism.At(epsilon)
	if err != nil {
		return fmt.Errorf("epsilon %v: %w", epsilon, err)
	}
	s.options.Mechanism = m
	return nil
}

// hello describes the mechanism and its guarantee.
func (s *server) hello(space *embeddings.Space) external.Hello {
	g, settings := s.options.Mechanism.Guarantee(), s.options.Mechanism.Settings()
	p := &external.Promise{Metric: g.Metric, Delta: g.Delta, Reason: g.Reason}
	if g.Holds() {
		p.Factor = g.Epsilon / settings.Epsilon
		if math.Abs(p.Factor-1) < 1e-15 {
			p.Factor = 1
		}
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

func (s *server) documents(ctx context.Context, epsilon float64, documents [][]string, seeds []stream.Seed) ([][]string,
	error) {
	if err := s.at(epsilon); err != nil {
		return nil, err
	}
	return mechanisms.PrivatizeText(ctx, s.options.Mechanism, documents, mechanisms.TextOptions{Policy: s.options.Policy,
		Seeds: seeds, Workers: s.options.Workers})
}

// texts reads and writes as mldp privatize does.
func (s *server) texts(ctx context.Context, epsilon float64, texts []string, seeds []stream.Seed) ([]string,
	external.Counts, error) {
	if err := s.at(epsilon); err != nil {
		return nil, external.Counts{}, err
	}
	p, err := privatize.New(s.options)
	if err != nil {
		return nil, external.Counts{}, err
	}
	after, sum, err := p.Texts(ctx, texts, seeds)
	return after, external.Counts{Words: sum.Words, Changed: sum.Changed, Unknown: sum.Unknown}, err
}
