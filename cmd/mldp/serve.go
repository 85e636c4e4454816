package main

import (
	"github.com/spf13/cobra"

	"mldpbench/experiments"
)

func init() { addCommand(privatiseGroup, newServeCommand) }

// newServeCommand privatises for other programs.
func newServeCommand() *cobra.Command {
	var s experiments.Service
	cmd := command("serve", "")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		s.Call, err = callOf(cmd)
		if err != nil {
			return err
		}
		s.Stdin = cmd.InOrStdin()
		s.Stdout = cmd.OutOrStdout()
		return experiments.Serve(cmd.Context(), s)
	}
	instanceFlags(cmd, &s.Instance)
	f := cmd.Flags()
	epsilon := f.Lookup("epsilon")
	epsilon.DefValue = "1"
	epsilon.Usage = "privacy parameter of the guarantee stated in the hello"
	s.Epsilon = 1
	wordFlags(f, &s.Words)
	f.StringVar(&s.Keep, "keep-words", "", "words that pass unchanged, such as stop words: "+wordsHelp)
	f.Uint64Var(&s.Seed, "seed", 0, "seed of the random choices when a mechanism is built")
	f.StringVar(&s.Listen, "listen", "", "a Unix socket to make, for any number of programs; ends when all have gone")
	keyFlags(f, &s.Keyed)
	cmd.MarkFlagsMutuallyExclusive("key", "seed")
	coresFlag(f, &s.Workers)
	require(cmd, "mechanism", "embedding")
	return cmd
}
