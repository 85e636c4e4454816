package plots

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"mldpbench/results"
)

// Axis describes one axis of a panel.
type Axis struct {
	Label string
	Log   bool
	// Bound, if not nil, is the possible range of values, for example 0 and 100
	// of a percentage.
	Bound *[2]float64
	// Ticks are the values to mark; none leaves the choice to the panel.
	Ticks []plot.Tick
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// axisRange collects what an axis must show.
type axisRange struct {
	axis     Axis
	min, max float64
}

func newRange(a Axis) *axisRange {
	return &axisRange{
		axis: a,
		min:  math.Inf(1),
		max:  math.Inf(-1),
	}
}

func (r *axisRange) add(values ...float64) {
	for _, v := range values {
		if finite(v) && (!r.axis.Log || v > 0) {
			r.min = min(r.min, v)
			r.max = max(r.max, v)
		}
	}
}

// stretch makes room for intervals, but at most half the range of the data to
// either side, so wide intervals do not flatten the data. cut means that some
// need more.
func (r *axisRange) stretch(bars []float64) (cut bool) {
	if r.min > r.max {
		return false
	}
	room := max((r.max-r.min)/2, 0.02*math.Abs(r.max))
	least := r.min - room
	most := r.max + room
	if r.axis.Log {
		factor := max(1.5, math.Sqrt(r.max/r.min))
		least = r.min / factor
		most = r.max * factor
	}
	if r.axis.Bound != nil {
		least = max(least, r.axis.Bound[0])
		most = min(most, r.axis.Bound[1])
	}
	for _, v := range bars {
		if !finite(v) {
			continue
		}
		r.add(min(most, max(least, v)))
		cut = cut || v < least || v > most
	}
	return cut
}

// apply sets range, scale and ticks of a plot's axis; pad is a share of the range.
func (r *axisRange) apply(a *plot.Axis, pad float64) {
	if r.axis.Log {
		r.applyLogarithmic(a, pad)
	} else {
		r.applyLinear(a, pad)
	}
	ticks := r.axis.Ticks
	if ticks == nil {
		ticks = r.niceTicks(a.Min, a.Max)
	}
	a.Tick.Marker = plot.ConstantTicks(results.Where(ticks, func(t plot.Tick) bool {
		return t.Value >= a.Min && t.Value <= a.Max
	}))
}

// applyLogarithmic sets range and scale of a logarithmic axis.
func (r *axisRange) applyLogarithmic(a *plot.Axis, pad float64) {
	low := r.min
	high := r.max
	if low == high {
		low /= 2
		high *= 2
	}
	factor := math.Pow(high/low, pad)
	// The library takes an infinite end for 0, which has no logarithm.
	a.Min = max(low/factor, math.SmallestNonzeroFloat64)
	a.Max = min(high*factor, math.MaxFloat64)
	a.Scale = plot.LogScale{}
}

// applyLinear sets the range of a linear axis.
func (r *axisRange) applyLinear(a *plot.Axis, pad float64) {
	low := r.min
	high := r.max
	if high-low <= 1e-9*max(math.Abs(low), math.Abs(high)) { // equal but for rounding
		room := cmp.Or(math.Abs(low)/2, 1)
		low -= room
		high += room
	}
	room := (high - low) * pad
	a.Min = low - room
	a.Max = high + room
	if r.axis.Bound != nil {
		// A marker on the bound still needs half its height.
		a.Min = max(a.Min, r.axis.Bound[0]-room/2)
		a.Max = min(a.Max, r.axis.Bound[1]+room/2)
	}
}

// niceTicks returns at most six round values between lo and hi.
func (r *axisRange) niceTicks(lo, hi float64) []plot.Tick {
	if r.axis.Log {
		return decadeTicks(lo, hi)
	}
	step := math.Pow(10, math.Floor(math.Log10(hi-lo)))
	for _, f := range []float64{0.1, 0.2, 0.5, 1, 2, 5} {
		if (hi-lo)/(step*f) <= 5.5 {
			step *= f
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		v := i * step
		ticks = append(ticks, plot.Tick{Value: v, Label: number(v, step)})
	}
	return ticks
}

// decadeTicks returns powers of ten between lo and hi, with 2 and 5 times them where there are few.
func decadeTicks(lo, hi float64) []plot.Tick {
	first := math.Floor(math.Log10(lo))
	last := math.Ceil(math.Log10(hi))
	factors := []float64{1}
	if math.Log10(hi/lo) < 2 {
		factors = []float64{1, 2, 5}
	}
	stride := max(1, math.Ceil((last-first)/6))
	var ticks []plot.Tick
	for e := first; e <= last; e += stride {
		for _, f := range factors {
			if v := f * math.Pow(10, e); v >= lo && v <= hi {
				ticks = append(ticks, plot.Tick{Value: v, Label: magnitude(v)})
			}
		}
	}
	return ticks
}

// number formats v with the digits that step needs.
func number(v, step float64) string {
	digits := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	return minus(strconv.FormatFloat(v+0, 'f', digits, 64))
}

// magnitude writes 20000 as 20k.
func magnitude(v float64) string {
	for _, u := range []struct {
		size float64
		unit string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.size*(1-1e-9) {
			return short(v/u.size) + u.unit
		}
	}
	return short(v)
}

// short writes at most four significant digits.
func short(v float64) string { return minus(strconv.FormatFloat(v, 'g', 4, 64)) }

func minus(s string) string {
	if s == "-0" {
		return "0"
	}
	return strings.Replace(s, "-", "−", 1)
}

// marked is an axis with marks at the values that were run, logarithmic if they are
// far apart.
func marked(label string, values []float64) Axis {
	values = slices.Compact(slices.Sorted(slices.Values(values)))
	a := Axis{Label: label}
	if len(values) == 0 {
		return a
	}
	lo := values[0]
	hi := values[len(values)-1]
	a.Log = lo > 0 && hi/lo > 12
	if a.Log && len(values) > 8 {
		return a // those that mechanisms were calibrated to
	}
	at := func(v float64) float64 {
		if a.Log {
			return math.Log(v/lo) / math.Log(hi/lo)
		}
		return (v - lo) / (hi - lo)
	}
	// Labels of a panel of half a column, about 80 points, must not touch: each
	// takes its width and a space.
	style := textStyle(regular(tickSize))
	free := math.Inf(-1)
	for _, v := range values {
		half := float64(style.Width(short(v))/2+2) / 80
		if hi > lo && at(v)-half < free {
			continue
		}
		free = at(v) + half
		a.Ticks = append(a.Ticks, plot.Tick{Value: v, Label: short(v)})
	}
	return a
}
