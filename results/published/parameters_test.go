package published

import (
	"fmt"
	"math"
	"testing"

	"mldpbench/internal/records"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/compare"
)

// TestOtherParametersFollowTheirRecords: what report 1 says of other values of
// a mechanism's parameters is what `mldp compare --align` finds in axes.
func TestOtherParametersFollowTheirRecords(t *testing.T) {
	t.Parallel()
	p := records.View(t, "axes")
	least, most, pairs := math.Inf(1), 0.0, 0
	var kept string // by a larger k, at 0.9
	for _, level := range []float64{0.4, 0.5, 0.6, 0.7, 0.9} {
		for _, a := range compare.Align(p, compare.Question{}, level) {
			for _, x := range a.Pairs {
				one, other := a.Lines[x.A], a.Lines[x.B]
				switch {
				case one.Mechanism != other.Mechanism:
				case level < 0.9:
					pairs++
					least, most = min(least, x.Detectable), max(most, x.Detectable)
					if x.Told {
						t.Errorf("%g: %s and %s are told apart: %+v", level, one.Name, other.Name, x)
					}
				case one.Mechanism == "kth":
					kept = fmt.Sprintf("%.1f ± %.1f points more with k = 4 than 2", math.Abs(x.Difference), (x.High-x.Low)/2)
					if (one.Parameters == "k=4") != (x.Difference > 0) {
						t.Errorf("%s against %s: %+.1f", one.Name, other.Name, x.Difference)
					}
				}
			}
		}
	}
	t.Logf("%d pairs", pairs)
	if pairs < 20 {
		t.Errorf("%d pairs", pairs)
	}
	holds(t, "reports/1-equal-privacy.md", kept, fmt.Sprintf("(differences of %.1f to %.1f points would be)", least, most))
}

// TestMaskedWithChannelOnRecords: on real text the masked model with the channel
// names no fewer words than either part alone, within noise: each release by two
// proportions with Bonferroni's correction (the same words are guessed, which
// makes this test cautious: it finds some 7 points in one), and the mean over all.
func TestMaskedWithChannelOnRecords(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"masked-channel-alone", "masked-channel-model"} {
		var gains []float64
		smallest, worst := 1.0, ""
		for _, c := range records.View(t, "attacks").Cells {
			both, ok := c.At("masked-channel-accuracy")
			alone, also := c.At(part)
			if !ok || !also || !both.Value.Known() || !alone.Value.Known() {
				continue
			}
			a, b, n := float64(both.Value), float64(alone.Value), float64(both.Whole)
			gains = append(gains, a-b)
			if e := math.Sqrt((a*(1-a) + b*(1-b)) / n); e > 0 && a < b {
				if x := stats.NewTest(a-b, e, math.Inf(1)); x.P < smallest {
					smallest, worst = x.P, fmt.Sprintf("%s %s %v ε=%v repetition %d: %+.1f points, p = %.2g", c.Dataset,
						c.Mechanism, c.Variant, c.Epsilon, c.Repetition, 100*(a-b), x.P)
				}
			}
		}
		mean := stats.Mean(gains)
		t.Logf("%s: %d releases, mean gain %.2f points, worst %s", part, len(gains), 100*mean, worst)
		if len(gains) < 200 || mean < 0 || smallest*float64(len(gains)) < 0.05 {
			t.Errorf("%s: %d releases, mean gain %.2f points, worst %s", part, len(gains), 100*mean, worst)
		}
	}
}

// TestFewDrawsAreOutsideTheInterval: an interval of E_M that was learned from 10
// draws holds the error of the draws that it was measured on, not the bias of those
// learned from; the intervals of extended hold what more draws would do.
func TestFewDrawsAreOutsideTheInterval(t *testing.T) {
	t.Parallel()
	type cell struct {
		dataset string
		results.Instance
		epsilon results.Float
	}
	of := func(c results.Cell) cell { return cell{c.Dataset, c.Instance(), c.Epsilon} }
	const quantity = "e_m_full_uniform"
	better := map[cell]results.Measured{}
	for _, c := range records.View(t, "extended").Cells {
		if m, ok := c.At(quantity); ok && m.Value.Known() {
			better[of(c)] = m
		}
	}
	outside, all := 0, map[cell]bool{}
	for _, c := range records.View(t, "few-draws").Cells {
		ten, ok := c.At(quantity)
		m, both := better[of(c)]
		if !ok || all[of(c)] {
			continue
		}
		if all[of(c)] = true; !both || m.Whole <= ten.Whole {
			t.Fatalf("%v: %d draws in extended, %d in few-draws", of(c), m.Whole, ten.Whole)
		}
		if m.Value < ten.Low {
			outside++
		}
		if half := m.High - m.Value; m.Value-m.Low < half*0.99 {
			t.Errorf("%v: the rest is not in [%v, %v] of %v", of(c), m.Low, m.High, m.Value)
		}
	}
	t.Logf("%d of %d outside", outside, len(all))
	if len(all) != 84 || outside < len(all)/2 {
		t.Errorf("%d of %d outside", outside, len(all))
	}
}
