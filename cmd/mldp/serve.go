package main

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

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
		s := &server{}
		var err error
		if s.options, err = words.options(); err != nil {
			return err
		}
		s.options.Workers = workers
		if s.settings, s.env, err = o.environment(cmd.Context(), stream.FromUint64(seed)); err != nil {
			return err
		}
		m, err := s.at(s.settings.Epsilon)
		if err != nil {
			return err
		}
		in := interruptible(cmd.Context(), cmd.InOrStdin())
		return external.Serve(cmd.Context(), in, cmd.OutOrStdout(), s.hello(m),
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

// server keeps the instances of one mechanism, one for each requested epsilon.
// It serves one request at a time.
type server struct {
	settings  mechanisms.Settings
	env       mechanisms.Environment
	options   privatize.Options // without the mechanism
	instances map[float64]*mechanisms.Mechanism
}

// mostInstances bounds the memory used for a client that keeps requesting new
// epsilons.
const mostInstances = 16

func (s *server) at(epsilon float64) (*mechanisms.Mechanism, error) {
	if m, ok := s.instances[epsilon]; ok {
		return m, nil
	}
	settings := s.settings
	settings.Epsilon = epsilon
	m, err := mechanisms.New(s.env, settings)
	if err != nil {
		return nil, err
	}
	if s.instances == nil || len(s.instances) == mostInstances {
		s.instances = map[float64]*mechanisms.Mechanism{}
	}
	s.instances[epsilon] = m
	return m, nil
}

// hello describes the mechanism and its guarantee at the epsilon of m.
func (s *server) hello(m *mechanisms.Mechanism) external.Hello {
	g := m.Guarantee()
	p := &external.Promise{Metric: g.Metric, Delta: g.Delta, Reason: g.Reason}
	if g.Holds() {
		p.Factor = g.Epsilon / s.settings.Epsilon
		if math.Abs(p.Factor-1) < 1e-15 {
			p.Factor = 1
		}
	}
	parameters := mechanisms.Parameters{"variant": string(s.settings.Variant), "policy": string(s.options.Policy)}
	for name, v := range s.settings.Parameters {
		parameters[name] = v
	}
	parameters["embedding"] = s.env.Space.Name + " " + strconv.Itoa(s.env.Space.Dimension) + "d"
	aligned := s.options.Policy != mechanisms.Drop
	return external.Hello{
		Name: s.settings.Mechanism, Version: "mldp " + mldpVersion(), Guarantee: p, Parameters: parameters,
		Repeatable: true, Aligned: &aligned,
	}
}

func (s *server) documents(ctx context.Context, epsilon float64, documents [][]string, seeds []stream.Seed) ([][]string,
	error) {
	m, err := s.at(epsilon)
	if err != nil {
		return nil, fmt.Errorf("epsilon %v: %w", epsilon, err)
	}
	return mechanisms.PrivatizeText(ctx, m, documents, mechanisms.TextOptions{Policy: s.options.Policy, Seeds: seeds,
		Workers: s.options.Workers})
}

// texts reads and writes as mldp privatize does.
func (s *server) texts(ctx context.Context, epsilon float64, texts []string, seeds []stream.Seed) ([]string,
	external.Counts, error) {
	m, err := s.at(epsilon)
	if err != nil {
		return nil, external.Counts{}, fmt.Errorf("epsilon %v: %w", epsilon, err)
	}
	o := s.options
	o.Mechanism = m
	p, err := privatize.New(o)
	if err != nil {
		return nil, external.Counts{}, err
	}
	after, sum, err := p.Texts(ctx, texts, seeds)
	return after, external.Counts{Words: sum.Words, Changed: sum.Changed, Unknown: sum.Unknown}, err
}
