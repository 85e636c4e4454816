package experiments

import (
	"context"
	"fmt"
	"io"
	"maps"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

// Service says which mechanism is served.
type Service struct {
	Call
	Instance // its Epsilon is that of the guarantee in the hello
	Words    TextWords
	Keep     string // words that pass unchanged, or a file of them; "" is none
	Seed     uint64 // of the random choices when a mechanism is built
	Workers  int    // cores
	Stdin    io.Reader
	Stdout   io.Writer
}

// Serve answers the requests of docs/external.md until they end.
func Serve(ctx context.Context, s Service) error {
	call := s.answer().call
	options, err := s.Words.options()
	if err != nil {
		return err
	}
	options.Workers = s.Workers
	settings, env, err := s.open(ctx, call, stream.FromUint64(s.Seed))
	if err != nil {
		return err
	}
	m, err := mechanisms.New(env, settings)
	if err != nil {
		return err
	}
	var kept []string
	if s.Keep != "" {
		kept, err = wordsOf(s.Keep)
		if err != nil {
			return err
		}
	}
	options.Mechanism = mechanisms.KeepWords(m, kept)
	options.Vectors = env.Space.Fingerprint()
	server := &server{options, s.Version}
	in := interruptible(ctx, s.Stdin)
	return external.Serve(ctx, in, s.Stdout, server.hello(env.Space), server.answer)
}

// server keeps the mechanism at the ε of the last request. It serves one request
// at a time.
type server struct {
	options privatize.Options
	version string
}

// hello describes the mechanism and its guarantee.
func (s *server) hello(space *embeddings.Space) external.Hello {
	g := s.options.Mechanism.Guarantee()
	settings := s.options.Mechanism.Settings()
	p := &external.Promise{Metric: g.Metric, Delta: g.Delta, Reason: g.Reason}
	if g.Holds() {
		p.Factor = g.Epsilon / settings.Epsilon
	}
	parameters := mechanisms.Parameters{"variant": string(settings.Variant), "policy": string(s.options.Policy),
		"embedding": fmt.Sprintf("%s %dd", space.Name, space.Dimension)}
	maps.Copy(parameters, settings.Parameters)
	aligned := s.options.Policy != mechanisms.Drop
	return external.Hello{
		Name: settings.Mechanism, Version: "mldp " + s.version, Guarantee: p, Parameters: parameters,
		Repeatable: true, Aligned: &aligned,
	}
}

// answer privatises documents, or texts as Privatize does.
func (s *server) answer(ctx context.Context, q external.Request,
	seeds []stream.Seed) (a external.Answer, err error) {
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
		a.Documents, err = mechanisms.PrivatizeText(ctx, m, q.Documents, mechanisms.TextOptions{
			Policy: s.options.Policy, Seeds: seeds, Workers: s.options.Workers})
		return a, err
	}
	for i, text := range q.Texts {
		seeds[i] = p.Noise(seeds[i], "", text)
	}
	var sum privatize.Summary
	a.Texts, sum, err = p.Texts(ctx, q.Texts, seeds)
	a.Words = sum.Words
	a.Changed = sum.Changed
	a.Unknown = sum.Unknown
	return a, err
}
