// Package experiments runs studies: it reads a study file, has it divided into
// units and passes these to the engine.
//
//	s, err := experiments.Builtin.Open("mini")
//	summary, err := experiments.Run(ctx, s, "", engine.Options{Out: "runs/mini"})
package experiments

import (
	"context"
	"embed"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
)

//go:embed studies/*.yaml
var studies embed.FS

// Builtin holds the studies of this program.
var Builtin = study.Library{Files: studies}

// Run plans a study and runs its unfinished units; see plan.Plan.Run.
func Run(ctx context.Context, s *study.Study, root string, o engine.Options) (*engine.Summary, error) {
	p, err := plan.New(s)
	if err != nil {
		return nil, err
	}
	return p.Run(ctx, root, o)
}
