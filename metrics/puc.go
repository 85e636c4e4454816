package metrics

// PUCAlphas are the weights of utility that the study reports.
var PUCAlphas = []float64{0.75, 0.5, 0.25}

// Composite holds the parts of the study's privacy-utility composite, all in
// percent (Sw: distinct outputs of 100 runs).
type Composite struct {
	Accuracy, BaselineAccuracy float64
	Nw, Sw, PP, CS, Low        float64
}

// PUC returns the privacy-utility composite with weight alpha on utility ([M24]
// eq. 4):
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
