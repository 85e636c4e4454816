package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/stream"
)

// commandOptions are the flags of a mechanism that is a command.
type commandOptions struct {
	line    string
	timeout time.Duration
}

func (o *commandOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.line, "command", "", "a mechanism that is a command speaking the protocol of docs/external.md; "+
		"no shell is run")
	f.DurationVar(&o.timeout, "command-timeout", 0, "time for the command to start, and to answer one request "+
		"(default: 1m and 10m)")
}

// open starts the command; vectors writes the file of {vectors}, nil for none.
func (o *commandOptions) open(ctx context.Context, vectors func(io.Writer) error) (*external.Command, error) {
	args, err := external.Split(o.line)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return external.Open(ctx, args, external.Options{Start: o.timeout, Request: o.timeout, Vectors: vectors})
}

// orBuiltIn opens the mechanism that is sampled word by word: the command if
// there is one, else the built-in mechanism of o. end closes it.
func (o *commandOptions) orBuiltIn(ctx context.Context, built *instanceOptions,
	root stream.Seed) (m mechanisms.Mechanism, end func() error, err error) {
	end = func() error { return nil }
	if o.line == "" {
		m, err = built.open(ctx, root)
		return m, end, err
	}
	if err := check.Positive("epsilon", built.epsilon); err != nil {
		return nil, end, &exitError{exitUsage, err}
	}
	env, err := built.space.environment(ctx, false, root)
	if err != nil {
		return nil, end, err
	}
	c, err := o.open(ctx, env.Space.WriteText)
	if err != nil {
		return nil, end, err
	}
	r, err := c.At(built.epsilon)
	if err == nil {
		m, err = mechanisms.WordByWord(ctx, r, env.Space)
	}
	if err != nil {
		_ = c.Close() // it was not used yet
		return nil, end, err
	}
	return m, c.Close, nil
}
