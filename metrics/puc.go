package metrics

// Part is a metric of a composite: its value in 0–100, more being better, and its weight.
type Part struct{ Value, Weight float64 }

// PUC returns the privacy-utility composite of metrics U of utility and P of privacy, with
// weight alpha on utility ([M24] Definition 5.1):
//
//	α·Σ wᵢUᵢ/Σ wᵢ + (1−α)·Σ wⱼPⱼ/Σ wⱼ
//
// The study's own choice (eq. 4) is U = 100·Acc/BAcc, which is not clipped, so that a
// cell above its baseline may exceed 100, and P = 100−N_w, S_w, PP, CS and 100−LOW
// with equal weights. A missing part (NaN) makes the result missing.
func PUC(alpha float64, utility, privacy []Part) float64 {
	return alpha*mean(utility) + (1-alpha)*mean(privacy)
}

// mean is the weighted mean.
func mean(parts []Part) float64 {
	sum := 0.0
	weights := 0.0
	for _, p := range parts {
		sum += p.Weight * p.Value
		weights += p.Weight
	}
	return sum / weights
}
