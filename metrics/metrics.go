// Package metrics turns outcomes into numbers: one file per metric, pure
// functions of counts, tokens or distributions.
//
// It believes that a metric is a formula with a source, and that the counts
// behind it are worth more than the number: functions return counts where
// they can, and the number is one division away. It stops before files,
// mechanisms and models: sampling a mechanism or training an attack is the
// caller's business. Percentages are 0–100, shares 0–1.
//
// Its names are many because each metric is one function with one type for its
// counts, and none needs another to be understood.
//
// Sources, as cited in the comments: [M24] Meisenbacher et al. 2024 (the
// comparative study), [F20] Feyisetan et al. 2020, [X21] Xu et al. 2021b,
// [C23] Carvalho et al. 2023, [FK21] Feyisetan & Kasiviswanathan 2021.
package metrics

import "math"

// Percent is 100·part/whole, NaN when whole is 0: nothing was measured.
func Percent(part, whole int) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return 100 * float64(part) / float64(whole)
}
