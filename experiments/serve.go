package experiments

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"

	"mldpbench/embeddings"
	"mldpbench/internal/progress"
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
	Keyed           // in place of Seed, and of the seeds of requests, which then have ids
	Workers  int    // cores
	Listen   string // a socket that is made for any number of programs; "" is Stdin and Stdout
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
	root := stream.FromUint64(s.Seed)
	if s.Key != "" {
		root, err = s.readKey(&options)
		if err != nil {
			return err
		}
	}
	if s.Keep != "" {
		asked, err := parseInstance(s.Mechanism)
		if err == nil {
			err = checkTakesWords(asked)
		}
		if err != nil {
			return Usage(err)
		}
	}
	settings, env, err := s.open(ctx, call, root)
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
	server := &server{options: options, version: s.Version}
	hello := server.hello(env.Space)
	if s.Listen != "" {
		served := external.Served{Hello: hello, Handle: server.answer}
		served.Said = func(err error) { progress.Note(ctx, "a program that was connected: %v", err) }
		return external.ServeSocket(ctx, s.Listen, s.Stdout, served)
	}
	in := interruptible(ctx, s.Stdin)
	return external.Serve(ctx, in, s.Stdout, hello, server.answer)
}

// server keeps the mechanism at the ε of the last request. It serves one request
// at a time, on all cores.
type server struct {
	mu      sync.Mutex
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
	hello := external.Hello{
		Name: settings.Mechanism, Version: "mldp " + s.version, Guarantee: p, Parameters: parameters,
		Repeatable: true, Aligned: &aligned,
	}
	if d := s.options.Mechanism.Documents(); d != nil {
		aligned = false
		hello.Input = external.Text
		parameters["texts"] = d.Fingerprint()
	}
	return hello
}

// answer privatises documents, or texts as Privatize does.
func (s *server) answer(ctx context.Context, q external.Request,
	seeds []stream.Seed) (a external.Answer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.options.Mechanism.At(q.Epsilon)
	if err != nil {
		return a, fmt.Errorf("epsilon %v: %w", q.Epsilon, err)
	}
	s.options.Mechanism = m
	p := privatize.New(s.options)
	if s.options.Key != nil || q.IDs != nil {
		return s.answerKeyed(ctx, p, q)
	}
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
	return answerOf(p.Texts(ctx, q.Texts, seeds))
}

// answerKeyed privatises texts as Privatize does the rows of a table with their ids.
func (s *server) answerKeyed(ctx context.Context, p *privatize.Stream, q external.Request) (external.Answer, error) {
	switch {
	case s.options.Key == nil:
		return external.Answer{}, errors.New("there is no --key, which ids need")
	case q.IDs == nil:
		return external.Answer{}, errors.New("there is a --key: a request has texts and ids, no seeds")
	}
	seeds, err := p.KeyedSeeds(q.Column, q.IDs, q.Texts)
	if err != nil {
		return external.Answer{}, err
	}
	return answerOf(p.Texts(ctx, q.Texts, seeds))
}

// answerOf is an answer of texts.
func answerOf(texts []string, sum privatize.Summary, err error) (external.Answer, error) {
	return external.Answer{Texts: texts, Words: sum.Words, Changed: sum.Changed, Unknown: sum.Unknown}, err
}
