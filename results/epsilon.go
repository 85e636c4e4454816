package results

import (
	"fmt"
	"math"
)

// epsilonColumns returns the columns of a table by ε, ascending. NaN, the last,
// is for text privatised without a stated ε, such as text made elsewhere, and
// for records without any ε, such as a study of baselines.
func epsilonColumns(records []Record) []float64 {
	columns := Epsilons(records)
	unstated := Where(records, func(r Record) bool { return !r.IsBaseline() && !r.Epsilon.Known() })
	if len(unstated) > 0 || len(columns) == 0 {
		columns = append(columns, math.NaN())
	}
	return columns
}

// epsilonTitle heads a column of epsilonColumns.
func epsilonTitle(e float64) string {
	if math.IsNaN(e) {
		return "no ε"
	}
	return fmt.Sprintf("ε=%g", e)
}

// atEpsilon reports whether a record belongs in a column of epsilonColumns.
func atEpsilon(r Record, e float64) bool {
	return float64(r.Epsilon) == e || math.IsNaN(e) && !r.Epsilon.Known()
}
