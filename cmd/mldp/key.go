package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mldpbench/experiments"
	"mldpbench/mechanisms/privatize"
)

func init() { addCommand(privatiseGroup, newKeyCommand) }

// newKeyCommand makes a key.
func newKeyCommand() *cobra.Command {
	cmd := command("key", "")
	var out string
	outFlag(cmd.Flags(), &out, "", "file to write, which must not be there")
	require(cmd, "out")
	cmd.RunE = func(*cobra.Command, []string) error { return privatize.CreateKey(out) }
	return cmd
}

// keyFlags are the flags of noise that a key repeats.
func keyFlags(f *pflag.FlagSet, k *experiments.Keyed) {
	f.StringVar(&k.Key, "key", "", "file of mldp key: the same text of the same --id comes out the same for "+
		"who has it")
	f.StringVar(&k.Release, "release", experiments.DefaultRelease, "name of the release; another one is another draw")
}
