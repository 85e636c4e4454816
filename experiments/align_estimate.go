package experiments

import (
	"context"
	"os"
	"time"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
)

// usualSearches is at how many ε the quantity of a level is measured for a mechanism on a data set: 3 to 6 for three
// mechanisms of mini.
const usualSearches = 4

// estimateAligned is how long a run at levels takes: usualSearches times one unit of the quantity for each mechanism
// and data set, and all else at two ε around each level. Units are run in a folder that is removed, as the ε of the
// run are not known before.
func estimateAligned(ctx context.Context, a *aligning) (summary *engine.Summary, err error) {
	folder, err := os.MkdirTemp("", "mldp-estimate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	a.options.Out = folder
	a.options.Force = true
	s, err := a.at(searching)
	if err != nil {
		return nil, err
	}
	searched, err := a.sampled(ctx, s, a.quantity)
	if err != nil {
		return nil, err
	}
	for k, epsilons := range a.searched {
		middle := epsilons[0]
		for range a.levels.At {
			a.around[k] = append(a.around[k], middle, 1.1*middle)
			middle *= 2
		}
	}
	s, err = a.at(measuring)
	if err != nil {
		return nil, err
	}
	summary, err = a.sampled(ctx, s, "")
	if err != nil {
		return nil, err
	}
	searches := usualSearches * len(a.levels.At)
	summary.Total += searches * searched.Total
	summary.Left = summary.Whole + searched.Whole*time.Duration(searches)
	summary.Ran = 0 // of the run itself
	summary.Reused = 0
	return summary, nil
}

// sampled runs one unit of each kind of a study: of one quantity, or "" for all.
func (a *aligning) sampled(ctx context.Context, s *study.Study, only string) (*engine.Summary, error) {
	p, err := plan.New(s)
	if err != nil {
		return nil, err
	}
	if only != "" {
		p.Only(only)
	}
	return p.Run(ctx, a.root, a.options)
}
