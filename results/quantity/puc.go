package quantity

import (
	"fmt"
	"strconv"
	"strings"
)

// The composite at equal weights, which is registered; at other weights it differs in name and title.
const (
	pucPrefix = "puc_"
	equalPUC  = pucPrefix + "50"
)

// PUC is the name of the composite at a weight of utility.
func PUC(alpha float64) string { return fmt.Sprintf(pucPrefix+"%.4g", 100*alpha) }

// ofPUC is the composite at a weight that is not the study's.
func ofPUC(name string) (Quantity, bool) {
	percent, err := strconv.ParseFloat(strings.TrimPrefix(name, pucPrefix), 64)
	if err != nil || PUC(percent/100) != name || name == equalPUC {
		return Quantity{}, false
	}
	q := Must(equalPUC)
	q.Name = name
	q.Title = fmt.Sprintf("PUC α=%.4g", percent/100)
	return q, true
}
