package main

import (
	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/experiments"
)

func init() { addCommand(studyGroup, newDataCommand) }

// newDataCommand is about the data of studies.
func newDataCommand() *cobra.Command {
	return group("data", newDataListCommand(), newDataFetchCommand(), newDataDescribeCommand())
}

// newDataListCommand lists what data there is.
func newDataListCommand() *cobra.Command {
	var l experiments.DataListing
	cmd := command("data-list", "")
	cmd.Flags().BoolVar(&l.Verbose, "verbose", false, "licence, citation, addresses and checksums as well")
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, _ []string) (*experiments.Outcome, error) {
		l.Call = call
		return experiments.ListData(cmd.Context(), l)
	})
}

// newDataFetchCommand downloads data.
func newDataFetchCommand() *cobra.Command {
	cmd := completes(command("data-fetch", "[NAME...]"), experiments.FetchNames)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		call, err := callOf(cmd)
		if err != nil {
			return err
		}
		_, err = experiments.FetchData(cmd.Context(), experiments.Fetching{Call: call, Names: args})
		return err
	}
	return cmd
}

// newDataDescribeCommand tabulates data sets as a study prepares them.
func newDataDescribeCommand() *cobra.Command {
	var d experiments.DataDescription
	cmd := completes(command("data-describe", "[NAME...]"), datasets.Names)
	f := cmd.Flags()
	f.StringVar(&d.Own.File, "file", "", "read this file of your own")
	f.StringSliceVar((*[]string)(&d.Own.Text), "text", nil, "its text columns")
	f.StringVar(&d.Own.Label, "label", "", "its label column")
	f.StringArrayVar(&d.Set, "set", nil, "key=value of a data set of a study, as in train=200, encoding=latin1 or "+
		"balance=no; may be given more than once")
	f.Uint64Var(&d.Seed, "seed", 2024, "study seed, which determines the sample")
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, names []string) (*experiments.Outcome, error) {
		d.Call = call
		d.Names = names
		return experiments.DescribeData(cmd.Context(), d)
	})
}
