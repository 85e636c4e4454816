// Package published holds the numbers that Meisenbacher et al. 2024 print and
// joins them with what was measured here: printed value, ours, difference and one
// verdict. Causes are sentences of the reports, not of this package.
package published

import (
	_ "embed"
	"math"
	"sync"

	"mldpbench/results/quantity"

	"github.com/gocarina/gocsv"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
)

// Number is a printed number beside ours.
type Number struct {
	results.Place         // of print, in our names; the setting of our classifier
	Quantity      string  `csv:"quantity"`
	Printed       float64 `csv:"printed"`
	As            string  `csv:"-"`
	Ours          float64 `csv:"-"`
	N             int     `csv:"-"` // measurements
	Verdict       Verdict `csv:"-"`
}

//go:embed printed.csv
var printedCSV []byte

// Printed are the printed numbers alone, in the order of the paper's tables.
var Printed = sync.OnceValue(func() (all []Number) {
	if err := gocsv.UnmarshalBytes(printedCSV, &all); err != nil {
		panic("printed.csv: " + err.Error()) // embedded, and tested
	}
	return all
})

// Verdict says what became of a printed number. Same: to the digits printed. Near:
// within the tolerance of rule. Undefined: the mechanism does not exist there. Other encoder:
// by another encoder than the study's.
type Verdict string

// Verdicts.
const (
	Same         Verdict = "same"
	Near         Verdict = "near"
	Apart        Verdict = "apart"
	undefined    Verdict = "undefined"
	otherEncoder Verdict = "other encoder"
)

// rule is the tolerance, in words.
const rule = "Near: N_w and S_w within three standard deviations of one draw of 25 words with 100 runs each (at " +
	"most that of 2,500 independent trials) and of our mean; a share of a text, CS and PUC within 1.5 points; " +
	"accuracy within 2. CS, and PUC with it, by another encoder than the study's has no verdict."

// digits are those printed, as many as ours have.
func (n Number) digits() int { return quantity.Must(n.Quantity).Digits }

// tolerance is the difference that is near. A share of draws m in %, of words
// that are the same, has a variance of at most m(100-m)/2500: words that differ
// among themselves have a smaller one. So has the number of distinct outputs in 100
// draws, whose indicators are negatively correlated.
func (n Number) tolerance() float64 {
	q := quantity.Must(n.Quantity)
	switch {
	case q.OfWords:
		m := min(max((n.Ours+n.Printed)/2, 0), 100)
		return n.rounding() + 3*math.Sqrt((1+1/float64(n.N))*m*(100-m)/2500)
	case q.OfModel && q.Counted:
		return 2
	}
	return 1.5
}

func (n Number) rounding() float64 { return math.Pow10(-n.digits()) / 2 }

// beside compares a printed number with the mean of our measurements.
func (n Number) beside(ours results.Cells) Number {
	if ours.Cells[0].Status == results.StatusUndefined {
		n.Ours = math.NaN()
		n.Verdict = undefined
		return n
	}
	x := ours.Values(n.Quantity)
	if n.Quantity == "s_w" { // printed without the word itself
		others := list.Map(ours.Cells, results.Cell.SwOthers)
		x = results.Where(others, func(v float64) bool { return !math.IsNaN(v) })
	}
	n.N = len(x)
	n.Ours = stats.Mean(x)
	d := math.Abs(n.Ours - n.Printed)
	switch {
	case d <= n.rounding()+1e-9:
		n.Verdict = Same
	case d <= n.tolerance():
		n.Verdict = Near
	default:
		n.Verdict = Apart
	}
	return n
}
