package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"mldpbench/mechanisms/external"
)

// commandOptions choose a mechanism that is a command.
type commandOptions struct {
	line    string
	timeout time.Duration
}

func (o *commandOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.line, "command", "", "a mechanism that is a command speaking the protocol of EXTERNAL.md; no shell is run")
	f.DurationVar(&o.timeout, "command-timeout", 10*time.Minute, "time for the command to answer one request")
}

// open starts the command.
func (o *commandOptions) open(ctx context.Context) (*external.Command, error) {
	args, err := external.Split(o.line)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return external.Open(ctx, args, external.Options{Request: o.timeout})
}
