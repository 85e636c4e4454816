// Package metrics computes metrics from outcomes: one file per metric, each a
// pure function of counts, tokens or distributions.
//
// Every metric is a formula with a source. Functions return the counts behind a
// metric where they can, because counts say more than the quotient. Files,
// mechanisms and models are outside this package: the caller samples mechanisms
// and trains attacks. Percentages are 0–100, shares 0–1.
//
// The package exports many names because each metric is one function with its
// own type of counts, and can be understood without the others.
//
// Sources, as cited in the comments: [M24] Meisenbacher et al. 2024 (the
// comparative study), [F20] Feyisetan et al. 2020, [X21] Xu et al. 2021b,
// [C23] Carvalho et al. 2023, [FK21] Feyisetan & Kasiviswanathan 2021.
package metrics

import "math"

// Percent returns 100·part/whole, NaN when whole is 0 because nothing was
// measured.
func Percent(part, whole int) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return 100 * float64(part) / float64(whole)
}
