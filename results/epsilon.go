package results

import (
	"fmt"
	"math"
)

// epsilonColumns are the columns of a table by ε, ascending. NaN, the last, is
// for what is privatised without a stated ε, such as text made elsewhere, and
// for records of which none has an ε, such as a study of baselines.
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

// atEpsilon says whether a record belongs in a column of epsilonColumns.
func atEpsilon(r Record, e float64) bool {
	return float64(r.Epsilon) == e || math.IsNaN(e) && !r.Epsilon.Known()
}
