package metrics

import (
	"fmt"

	"mldpbench/internal/check"
)

// PUCAlphas are the weights of utility that the study reports.
var PUCAlphas = []float64{0.75, 0.5, 0.25}

// Composite is what the privacy-utility composite of the study is made of,
// all in percent (Sw: distinct outputs of 100 runs).
type Composite struct {
	Accuracy, BaselineAccuracy float64
	Nw, Sw, PP, CS, Low        float64
}

// PUC is the privacy-utility composite with weight alpha on utility ([M24] eq. 4):
//
//	α·100·Acc/BAcc + (1−α)·((100−N_w)+S_w+PP+CS+(100−LOW))/5
//
// The ratio of accuracies is not clipped, so a cell above its baseline may
// exceed 100. A missing part (NaN) makes the result missing.
func (c Composite) PUC(alpha float64) float64 {
	utility := 100 * c.Accuracy / c.BaselineAccuracy
	privacy := ((100 - c.Nw) + c.Sw + c.PP + c.CS + (100 - c.Low)) / 5
	return alpha*utility + (1-alpha)*privacy
}

// Term is one metric of the general composite.
type Term struct {
	Name       string
	Value      float64
	Worst      float64 // value that scores 0
	Best       float64 // value that scores full marks; below Worst where less is better
	Weight     float64 // >= 0, relative to the other terms of its side
	NotClipped bool    // may score beyond [0, scale], like the accuracy ratio of eq. 4
}

// GeneralPUC is the composite for any set of metrics ([M24] eq. 5): every
// metric is mapped linearly to [0, scale] so that more is better, averaged by
// weight within utility and within privacy, and the two sides are weighted by
// alpha and 1−alpha. A value outside its range is an error unless the term
// says otherwise. PUC is the case with scale 100, utility Acc on [0, BAcc]
// (not clipped) and the five privacy metrics on [0, 100], weights equal.
func GeneralPUC(alpha, scale float64, utility, privacy []Term) (float64, error) {
	if err := check.Within("alpha", alpha, 0, 1); err != nil {
		return 0, err
	}
	if err := check.Positive("scale", scale); err != nil {
		return 0, err
	}
	u, err := weightedScore(scale, utility)
	if err != nil {
		return 0, fmt.Errorf("utility: %w", err)
	}
	p, err := weightedScore(scale, privacy)
	if err != nil {
		return 0, fmt.Errorf("privacy: %w", err)
	}
	return alpha*u + (1-alpha)*p, nil
}

func weightedScore(scale float64, terms []Term) (float64, error) {
	var sum, weights float64
	for _, t := range terms {
		if err := check.NonNegative(t.Name+" weight", t.Weight); err != nil {
			return 0, err
		}
		if t.Best == t.Worst {
			return 0, fmt.Errorf("%s: best = worst = %v: must differ", t.Name, t.Best)
		}
		if !t.NotClipped {
			if err := check.Within(t.Name, t.Value, min(t.Worst, t.Best), max(t.Worst, t.Best)); err != nil {
				return 0, err
			}
		}
		sum += t.Weight * scale * (t.Value - t.Worst) / (t.Best - t.Worst)
		weights += t.Weight
	}
	if err := check.Positive("sum of weights", weights); err != nil {
		return 0, err
	}
	return sum / weights, nil
}
