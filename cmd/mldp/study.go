package main

import (
	"github.com/spf13/cobra"

	"mldpbench/experiments"
)

func init() { addCommand(studyGroup, newStudyCommand) }

// newStudyCommand is about the files of studies.
func newStudyCommand() *cobra.Command {
	list := command("study-list", "")
	answers(list, func(cmd *cobra.Command, call experiments.Call, _ []string) (*experiments.Outcome, error) {
		return experiments.ListStudies(cmd.Context(), call)
	})
	show := completes(command("study-show", "NAME"), studies)
	show.RunE = func(cmd *cobra.Command, args []string) error {
		source, err := experiments.Builtin.Source(args[0])
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(source)
		return err
	}
	keys := command("study-keys", "")
	answers(keys, func(cmd *cobra.Command, call experiments.Call, _ []string) (*experiments.Outcome, error) {
		return experiments.ListKeys(cmd.Context(), call)
	})
	return group("study", list, show, newStudyCheckCommand(), keys)
}

// newStudyCheckCommand says whether a study can be run.
func newStudyCheckCommand() *cobra.Command {
	var c experiments.StudyChecking
	cmd := completes(command("study-check", "STUDY|FILE.yaml"), studies)
	setFlag(cmd.Flags(), &c.Overrides.Set)
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, args []string) (*experiments.Outcome, error) {
		c.Call = call
		c.Study = args[0]
		return experiments.CheckStudy(cmd.Context(), c)
	})
}
