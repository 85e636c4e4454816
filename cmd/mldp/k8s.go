package main

import (
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/experiments/cluster"
)

func init() { commands = append(commands, newKubernetesCommand) }

func newKubernetesCommand() *cobra.Command {
	var o planOptions
	var job cluster.Kubernetes
	var out string
	var replan bool
	cmd := &cobra.Command{
		Use:   "k8s STUDY|FILE.yaml",
		Short: "Print a study as a Kubernetes Indexed Job",
		Long: `K8s makes the schedule of a study in a folder (plan.jsonl, see mldp plan) and
prints the manifest of an Indexed Job: one pod per task, each retried up to
three times. Pods expect that folder, under its own name, on the volume of
--results-claim, with your study file inside it if you use one; --data-claim
holds the data folder. The image is built by the Dockerfile of the project.

mldp status and mldp missing work on the folder; they do not ask Kubernetes.`,
		Example: `  mldp k8s mini --tasks 8 --concurrent 4 --out results/mini --image registry.example.org/mldp:1 > mini.yaml`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			study, err := o.study.study(args[0], cmd.Flags())
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join("results", study.Name)
			}
			schedule, err := o.shared(cmd.Context(), args[0], cmd.Flags(), out, replan)
			if err != nil {
				return err
			}
			describeSchedule(cmd.ErrOrStderr(), schedule)
			folder := filepath.Base(out)
			job.Name, job.Tasks, job.Study, job.Flags = jobName(schedule), schedule.Tasks(), args[0],
				o.study.studyFlags(cmd.Flags())
			if ext := filepath.Ext(args[0]); ext == ".yaml" || ext == ".yml" {
				job.Study = path.Join("/results", folder, filepath.Base(args[0]))
			}
			return job.Manifest(cmd.OutOrStdout(), folder)
		},
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.StringVarP(&out, "out", "o", "", "local folder of the schedule and later the results (default: results/STUDY)")
	f.BoolVar(&replan, "replan", false, "replace an existing schedule")
	f.IntVar(&job.Concurrent, "concurrent", 1, "pods at a time")
	f.IntVar(&job.CPUs, "cpus", 1, "processors per pod")
	f.StringVar(&job.Memory, "mem", "4Gi", "memory per pod")
	f.StringVar(&job.Image, "image", "mldp:latest", "container image")
	f.StringVar(&job.Namespace, "namespace", "", "namespace (default: the current one)")
	f.StringVar(&job.ResultsClaim, "results-claim", "mldp-results", "PersistentVolumeClaim mounted at /results")
	f.StringVar(&job.DataClaim, "data-claim", "", "PersistentVolumeClaim with the data folder, mounted at /data")
	return cmd
}
