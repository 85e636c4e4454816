package audit

import (
	"slices"

	"mldpbench/mechanisms"
)

// Cells returns every registered mechanism of words or vectors × variant × ε, with default
// parameters.
func Cells(epsilons []float64) []mechanisms.Settings {
	var cells []mechanisms.Settings
	for _, d := range mechanisms.Definitions() {
		if d.Documents {
			continue
		}
		for _, v := range d.Variants {
			for _, e := range slices.Compact(slices.Sorted(slices.Values(epsilons))) {
				cells = append(cells, mechanisms.Settings{
					Mechanism: d.Name,
					Variant:   v,
					Epsilon:   e,
				})
			}
		}
	}
	return cells
}
